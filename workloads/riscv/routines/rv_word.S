/* rv-word: one aligned word per iteration, load and store kept apart by the pointer updates. Bytes up to the first
   aligned word and after the last one; bytes for everything when source and destination are not aligned alike. */
#include "../routine.h"

ROUTINE rv_word, "rv-word", KIND_COPY
    add a3, a1, a2                      /* end of the source */
    xor t0, a0, a1
    andi t0, t0, W - 1
    bnez t0, 3f
    addi t1, a1, W - 1
    andi t1, t1, -W                     /* its first whole word */
    andi t2, a3, -W                     /* the end of its last one */
    bgeu t1, t2, 3f
    bgeu a1, t1, 2f
1:  lbu t0, 0(a1)
    sb t0, 0(a0)
    addi a1, a1, 1
    addi a0, a0, 1
    bltu a1, t1, 1b
2:  ld t0, 0(a1)
    addi a1, a1, W
    addi a0, a0, W
    sd t0, -W(a0)
    bltu a1, t2, 2b
3:  bgeu a1, a3, 5f
4:  lbu t0, 0(a1)
    sb t0, 0(a0)
    addi a1, a1, 1
    addi a0, a0, 1
    bltu a1, a3, 4b
5:  ret
END rv_word
