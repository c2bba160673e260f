/* rv-glibc-noalign: glibc's memcpy for machines whose misaligned accesses are fast. The first word as it lies, then on
   from the destination's next word boundary (one to eight bytes further): iterations of sixteen words (eight loads,
   eight stores, twice), single words, and the last word as it lies, overlapping what is already there. Below a word:
   two overlapping halves, or first, middle and last byte without a branch. */
#include "../routine.h"

ROUTINE rv_glibc_noalign, "rv-glibc-noalign", KIND_COPY, MISALIGNED
    add a4, a1, a2                      /* end of the source */
    add a3, a0, a2                      /* end of the destination */
    li t0, W
    bltu a2, t0, 4f

    ld t1, 0(a1)
    andi t0, a0, -W
    addi t0, t0, W                      /* the next boundary */
    sub t2, t0, a0
    add a1, a1, t2
    sd t1, 0(a0)
    sub t3, a3, t0                      /* bytes from there to the end */
    andi t4, t3, -(16 * W)
    beqz t4, 2f
    add t4, t0, t4
1:  ld a5, 0*W(a1)
    ld a6, 1*W(a1)
    ld a7, 2*W(a1)
    ld t1, 3*W(a1)
    ld t2, 4*W(a1)
    ld t5, 5*W(a1)
    ld t6, 6*W(a1)
    ld a2, 7*W(a1)
    sd a5, 0*W(t0)
    sd a6, 1*W(t0)
    sd a7, 2*W(t0)
    sd t1, 3*W(t0)
    sd t2, 4*W(t0)
    sd t5, 5*W(t0)
    sd t6, 6*W(t0)
    sd a2, 7*W(t0)
    ld a5, 8*W(a1)
    ld a6, 9*W(a1)
    ld a7, 10*W(a1)
    ld t1, 11*W(a1)
    ld t2, 12*W(a1)
    ld t5, 13*W(a1)
    ld t6, 14*W(a1)
    ld a2, 15*W(a1)
    addi a1, a1, 16*W
    sd a5, 8*W(t0)
    sd a6, 9*W(t0)
    sd a7, 10*W(t0)
    sd t1, 11*W(t0)
    sd t2, 12*W(t0)
    sd t5, 13*W(t0)
    sd t6, 14*W(t0)
    sd a2, 15*W(t0)
    addi t0, t0, 16*W
    bltu t0, t4, 1b

2:  addi t4, a3, -W                     /* the last word */
    bgeu t0, t4, 7f
3:  ld a5, 0(a1)
    addi a1, a1, W
    sd a5, 0(t0)
    addi t0, t0, W
    bltu t0, t4, 3b
7:  ld a5, -W(a4)
    sd a5, -W(a3)
    ret

4:  li t0, 4
    bltu a2, t0, 5f
    lw t1, 0(a1)
    lw t2, -4(a4)
    sw t1, 0(a0)
    sw t2, -4(a3)
    ret
5:  beqz a2, 6f
    srli t0, a2, 1                      /* the middle one of up to three */
    add t3, a1, t0
    add t4, a0, t0
    lbu t1, 0(a1)
    lbu t2, 0(t3)
    lbu t5, -1(a4)
    sb t1, 0(a0)
    sb t2, 0(t4)
    sb t5, -1(a3)
6:  ret
END rv_glibc_noalign
