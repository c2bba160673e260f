/* rv-memset-word: below 16 bytes bytes; otherwise bytes to the first whole word, eight words an iteration, words, bytes. */
#include "../routine.h"

ROUTINE rv_memset_word, "rv-memset-word", KIND_SET
    add a3, a0, a2
    sltiu t0, a2, 16
    bnez t0, 4f
    andi a1, a1, 0xff
    slli t0, a1, 8
    or a1, a1, t0
    slli t0, a1, 16
    or a1, a1, t0
    slli t0, a1, 32
    or a1, a1, t0
    addi t1, a0, W - 1
    andi t1, t1, -W
    andi t2, a3, -W
1:  bgeu a0, t1, 2f
    sb a1, 0(a0)
    addi a0, a0, 1
    j 1b
2:  addi t1, t2, -8 * W
    bltu t1, a0, 3f
21: sd a1, 0(a0)
    sd a1, W(a0)
    sd a1, 2 * W(a0)
    sd a1, 3 * W(a0)
    sd a1, 4 * W(a0)
    sd a1, 5 * W(a0)
    sd a1, 6 * W(a0)
    sd a1, 7 * W(a0)
    addi a0, a0, 8 * W
    bgeu t1, a0, 21b
3:  bgeu a0, t2, 4f
    sd a1, 0(a0)
    addi a0, a0, W
    j 3b
4:  bgeu a0, a3, 5f
    sb a1, 0(a0)
    addi a0, a0, 1
    j 4b
5:  ret
END rv_memset_word
