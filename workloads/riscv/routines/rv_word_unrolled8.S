/* rv-word-unrolled8: eight loads, then eight stores per iteration; single words for what is left, bytes around the
   whole words. Bytes for everything when source and destination are not aligned alike. */
#include "../routine.h"

ROUTINE rv_word_unrolled8, "rv-word-unrolled8", KIND_COPY
    add a3, a1, a2                      /* end of the source */
    xor t0, a0, a1
    andi t0, t0, W - 1
    bnez t0, 5f
    addi t1, a1, W - 1
    andi t1, t1, -W                     /* its first whole word */
    andi a2, a3, -W                     /* the end of its last one */
    bgeu t1, a2, 5f
    bgeu a1, t1, 2f
1:  lbu t0, 0(a1)
    sb t0, 0(a0)
    addi a1, a1, 1
    addi a0, a0, 1
    bltu a1, t1, 1b
2:  sub t1, a2, a1
    andi t1, t1, -(8 * W)
    beqz t1, 4f
    add t1, a1, t1                      /* end of the iterations of eight */
3:  ld a4, 0*W(a1)
    ld a5, 1*W(a1)
    ld a6, 2*W(a1)
    ld a7, 3*W(a1)
    ld t2, 4*W(a1)
    ld t3, 5*W(a1)
    ld t4, 6*W(a1)
    ld t5, 7*W(a1)
    sd a4, 0*W(a0)
    sd a5, 1*W(a0)
    sd a6, 2*W(a0)
    sd a7, 3*W(a0)
    sd t2, 4*W(a0)
    sd t3, 5*W(a0)
    sd t4, 6*W(a0)
    sd t5, 7*W(a0)
    addi a1, a1, 8*W
    addi a0, a0, 8*W
    bltu a1, t1, 3b
    bgeu a1, a2, 5f
4:  ld t0, 0(a1)
    addi a1, a1, W
    addi a0, a0, W
    sd t0, -W(a0)
    bltu a1, a2, 4b
5:  bgeu a1, a3, 7f
6:  lbu t0, 0(a1)
    sb t0, 0(a0)
    addi a1, a1, 1
    addi a0, a0, 1
    bltu a1, a3, 6b
7:  ret
END rv_word_unrolled8
