/* rv-copy-csum: a copy with its checksum, without misaligned accesses. Below 16 bytes bytes; otherwise bytes up to the
   destination's first whole word. Where the source is then aligned, too, eight words an iteration, four loads before four
   stores; else two words, each put together by shifts of the aligned words that it lies in. Single words, bytes. Every stored
   word is added once, and carries are counted apart: the sum is a chain of one addition a word. It is kept at its place in the
   destination's words, so an odd start rotates the result by a byte. */
#include "../routine.h"

.macro COPY_AND_ADD_FOUR at:req
    ld t0, \at(a1)
    ld t1, \at+W(a1)
    ld t2, \at+2*W(a1)
    ld t3, \at+3*W(a1)
    sd t0, \at(a0)
    add a6, a6, t0
    sd t1, \at+W(a0)
    sltu t4, a6, t0
    add a6, a6, t1
    add a7, a7, t4
    sd t2, \at+2*W(a0)
    sltu t5, a6, t1
    add a6, a6, t2
    add a7, a7, t5
    sd t3, \at+3*W(a0)
    sltu t4, a6, t2
    add a6, a6, t3
    add a7, a7, t4
    sltu t5, a6, t3
    add a7, a7, t5
.endm

ROUTINE rv_copy_csum, "rv-copy-csum", KIND_COPY_CHECKSUM
    add a3, a0, a2                      /* end of the destination */
    li a6, 0                            /* sum */
    li a7, 0                            /* carries */
    andi a5, a0, 1
    slli t6, a5, 3                      /* where the next byte belongs in a word of two */
    li t0, 2 * W
    bltu a2, t0, 8f
    andi t0, a0, W - 1
    beqz t0, 2f
1:  lbu t1, 0(a1)
    addi a1, a1, 1
    sb t1, 0(a0)
    addi a0, a0, 1
    sll t1, t1, t6
    andi t0, a0, W - 1
    xori t6, t6, 8
    add a6, a6, t1
    bnez t0, 1b
2:  andi t4, a1, W - 1
    andi a2, a3, -W                     /* end of the destination's last whole word */
    bnez t4, 5f
    addi a4, a2, -8 * W
    bltu a4, a0, 4f
3:  COPY_AND_ADD_FOUR 0
    COPY_AND_ADD_FOUR 4 * W
    addi a0, a0, 8 * W
    addi a1, a1, 8 * W
    bgeu a4, a0, 3b
4:  bgeu a0, a2, 7f
41: ld t0, 0(a1)
    addi a1, a1, W
    addi a0, a0, W
    add a6, a6, t0
    sd t0, -W(a0)
    sltu t1, a6, t0
    add a7, a7, t1
    bltu a0, a2, 41b
    j 7f
5:  slli t4, t4, 3                      /* the source's words begin so many bits earlier */
    neg t5, t4
    andi a1, a1, -W
    ld t3, 0(a1)
    addi a4, a2, -2 * W
    bltu a4, a0, 62f
6:  ld t0, W(a1)
    ld t1, 2*W(a1)
    srl t3, t3, t4
    addi a1, a1, 2 * W
    sll t2, t0, t5
    srl t0, t0, t4
    or t2, t2, t3
    sll t6, t1, t5
    sd t2, 0(a0)
    or t0, t0, t6
    add a6, a6, t2
    sd t0, W(a0)
    sltu t2, a6, t2
    add a6, a6, t0
    add a7, a7, t2
    sltu t6, a6, t0
    addi a0, a0, 2 * W
    mv t3, t1
    add a7, a7, t6
    bgeu a4, a0, 6b
62: bgeu a0, a2, 63f
    ld t0, W(a1)
    srl t3, t3, t4
    addi a1, a1, W
    sll t0, t0, t5
    addi a0, a0, W
    or t0, t0, t3
    sd t0, -W(a0)
    add a6, a6, t0
    sltu t1, a6, t0
    add a7, a7, t1
63: srli t4, t4, 3
    add a1, a1, t4
7:  li t6, 0
8:  bgeu a0, a3, 9f
81: lbu t1, 0(a1)
    addi a1, a1, 1
    addi a0, a0, 1
    sb t1, -1(a0)
    sll t1, t1, t6
    xori t6, t6, 8
    add a6, a6, t1
    sltu t0, a6, t1
    add a7, a7, t0
    bltu a0, a3, 81b
9:  add a6, a6, a7
    sltu t0, a6, a7
    add a6, a6, t0
    srli t0, a6, 32                     /* 64 bits to 32, the carry around */
    slli a6, a6, 32
    srli a6, a6, 32
    add a6, a6, t0
    srli t0, a6, 32
    addw a0, a6, t0
    beqz a5, 10f
    slliw t0, a0, 8
    srliw a0, a0, 24
    or a0, a0, t0
10: ret
END rv_copy_csum
