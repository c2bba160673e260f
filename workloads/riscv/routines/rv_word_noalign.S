/* rv-word-noalign: one word per iteration wherever it lies, the last bytes one by one. */
#include "../routine.h"

ROUTINE rv_word_noalign, "rv-word-noalign", KIND_COPY, MISALIGNED
    add a3, a1, a2
    andi t1, a2, -W
    add t1, a1, t1                      /* end of the words */
    bgeu a1, t1, 2f
1:  ld t0, 0(a1)
    addi a1, a1, W
    addi a0, a0, W
    sd t0, -W(a0)
    bltu a1, t1, 1b
2:  bgeu a1, a3, 4f
3:  lbu t0, 0(a1)
    sb t0, 0(a0)
    addi a1, a1, 1
    addi a0, a0, 1
    bltu a1, a3, 3b
4:  ret
END rv_word_noalign
