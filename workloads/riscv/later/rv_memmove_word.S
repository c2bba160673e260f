/* rv-memmove-word: words where source and destination are aligned alike, four an iteration and then one, bytes before
   and after them and for everything else; backwards if the destination lies within the source's bytes. An iteration's
   loads precede its stores. */
#include "../routine.h"

ROUTINE rv_memmove_word, "rv-memmove-word", KIND_MOVE
    add a3, a1, a2                      /* ends of source and destination */
    add a4, a0, a2
    xor t0, a0, a1
    andi t5, t0, W - 1
    sub t0, a0, a1
    bltu t0, a2, 6f

    bnez t5, 4f
    addi t1, a1, W - 1
    andi t1, t1, -W                     /* the source's first whole word, and the end of its last */
    andi t2, a3, -W
    bgeu t1, t2, 4f
1:  bgeu a1, t1, 2f
    lbu t0, 0(a1)
    addi a1, a1, 1
    sb t0, 0(a0)
    addi a0, a0, 1
    j 1b
2:  addi t1, t2, -4 * W
    bltu t1, a1, 3f
21: ld t3, 0(a1)
    ld t4, W(a1)
    ld t5, 2 * W(a1)
    ld t6, 3 * W(a1)
    addi a1, a1, 4 * W
    sd t3, 0(a0)
    sd t4, W(a0)
    sd t5, 2 * W(a0)
    sd t6, 3 * W(a0)
    addi a0, a0, 4 * W
    bgeu t1, a1, 21b
3:  bgeu a1, t2, 4f
    ld t3, 0(a1)
    addi a1, a1, W
    sd t3, 0(a0)
    addi a0, a0, W
    j 3b
4:  bgeu a1, a3, 5f
    lbu t0, 0(a1)
    addi a1, a1, 1
    sb t0, 0(a0)
    addi a0, a0, 1
    j 4b
5:  ret

6:  bnez t5, 10f
    andi t1, a3, -W                     /* the end of the source's last whole word, and its first */
    addi t2, a1, W - 1
    andi t2, t2, -W
    bgeu t2, t1, 10f
7:  bgeu t1, a3, 8f
    addi a3, a3, -1
    lbu t0, 0(a3)
    addi a4, a4, -1
    sb t0, 0(a4)
    j 7b
8:  addi t1, t2, 4 * W
    bltu a3, t1, 9f
81: ld t3, -W(a3)
    ld t4, -2 * W(a3)
    ld t5, -3 * W(a3)
    ld t6, -4 * W(a3)
    addi a3, a3, -4 * W
    sd t3, -W(a4)
    sd t4, -2 * W(a4)
    sd t5, -3 * W(a4)
    sd t6, -4 * W(a4)
    addi a4, a4, -4 * W
    bgeu a3, t1, 81b
9:  bgeu t2, a3, 10f
    ld t3, -W(a3)
    addi a3, a3, -W
    sd t3, -W(a4)
    addi a4, a4, -W
    j 9b
10: bgeu a1, a3, 11f
    addi a3, a3, -1
    lbu t0, 0(a3)
    addi a4, a4, -1
    sb t0, 0(a4)
    j 10b
11: ret
END rv_memmove_word
