/* rv-memmove-byte: one byte an iteration, backwards if the destination lies within the source's bytes. */
#include "../routine.h"

ROUTINE rv_memmove_byte, "rv-memmove-byte", KIND_MOVE
    sub t0, a0, a1
    bltu t0, a2, 3f
    add a3, a1, a2
1:  bgeu a1, a3, 2f
    lbu t0, 0(a1)
    addi a1, a1, 1
    sb t0, 0(a0)
    addi a0, a0, 1
    j 1b
2:  ret
3:  add a3, a1, a2
    add a4, a0, a2
4:  addi a3, a3, -1
    lbu t0, 0(a3)
    addi a4, a4, -1
    sb t0, 0(a4)
    bltu a1, a3, 4b
    ret
END rv_memmove_byte
