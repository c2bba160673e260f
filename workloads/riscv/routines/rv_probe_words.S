/* rv-probe-words: the word half of the yardstick by which a kernel decides whether misaligned access is fast. Eight
   loads, eight stores per iteration, wherever the words lie. The probe rounds the length down to whole iterations; here
   the up to 63 bytes left are copied one by one, so that every size is right. Multiples of 64 run as in the probe. */
#include "../routine.h"

ROUTINE rv_probe_words, "rv-probe-words", KIND_COPY, MISALIGNED
    add a3, a1, a2                      /* end of the source */
    andi a4, a2, -(8 * W)
    beqz a4, 2f
    add a4, a1, a4
1:  ld a5, 0*W(a1)
    ld a6, 1*W(a1)
    ld a7, 2*W(a1)
    ld t0, 3*W(a1)
    ld t1, 4*W(a1)
    ld t2, 5*W(a1)
    ld t3, 6*W(a1)
    ld t4, 7*W(a1)
    sd a5, 0*W(a0)
    sd a6, 1*W(a0)
    sd a7, 2*W(a0)
    sd t0, 3*W(a0)
    sd t1, 4*W(a0)
    sd t2, 5*W(a0)
    sd t3, 6*W(a0)
    sd t4, 7*W(a0)
    addi a0, a0, 8*W
    addi a1, a1, 8*W
    bltu a1, a4, 1b
2:  bgeu a1, a3, 4f
3:  lbu t0, 0(a1)
    sb t0, 0(a0)
    addi a1, a1, 1
    addi a0, a0, 1
    bltu a1, a3, 3b
4:  ret
END rv_probe_words
