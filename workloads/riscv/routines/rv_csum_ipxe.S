/* rv-csum-ipxe: 16-bit words until the pointer is word-aligned, then words with the carry counted by comparison; 16-bit
   words, a last byte, one fold. Halves and carries are summed apart from the words, in the high accumulator. Written for
   even starts: from an odd one the pointer never becomes aligned and everything goes by misaligned 16-bit words, slow but
   right. */
#include "../routine.h"

ROUTINE rv_csum_ipxe, "rv-csum-ipxe", KIND_CHECKSUM, MISALIGNED
    add a3, a0, a1                      /* end */
    li a4, 0                            /* low: words */
    li a5, 0                            /* high: halves and carries */
    addi a6, a3, -1                     /* a half fits below this, */
    addi a7, a3, -(W - 1)               /* a word below this */
    bgeu a0, a3, 6f
1:  andi t0, a0, W - 1
    beqz t0, 2f
    bgeu a0, a6, 5f
    lhu t1, 0(a0)
    addi a0, a0, 2
    add a5, a5, t1
    j 1b
2:  bgeu a0, a7, 4f
3:  ld t0, 0(a0)
    addi a0, a0, W
    add a4, a4, t0
    sltu t1, a4, t0
    add a5, a5, t1
    bltu a0, a7, 3b
4:  bgeu a0, a6, 5f
    lhu t1, 0(a0)
    addi a0, a0, 2
    add a5, a5, t1
    j 4b
5:  bgeu a0, a3, 6f
    lbu t1, 0(a0)
    add a5, a5, t1
6:  add a4, a4, a5
    sltu t0, a4, a5
    add a4, a4, t0
    srli t0, a4, 32
    slli a4, a4, 32
    srli a4, a4, 32
    add a4, a4, t0                      /* 33 bits */
    srli t0, a4, 16
    slli a4, a4, 48
    srli a4, a4, 48
    add a4, a4, t0                      /* 18 bits */
    srli t0, a4, 16
    slli a4, a4, 48
    srli a4, a4, 48
    add a4, a4, t0
    srli t0, a4, 16                     /* once more for the carry of that */
    slli a4, a4, 48
    srli a4, a4, 48
    add a0, a4, t0
    ret
END rv_csum_ipxe
