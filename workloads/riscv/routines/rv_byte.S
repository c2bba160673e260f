/* rv-byte: one byte per iteration. The floor that every other copy is compared with. */
#include "../routine.h"

ROUTINE rv_byte, "rv-byte", KIND_COPY
    add a2, a1, a2
    bgeu a1, a2, 2f
1:  lbu t0, 0(a1)
    sb t0, 0(a0)
    addi a1, a1, 1
    addi a0, a0, 1
    bltu a1, a2, 1b
2:  ret
END rv_byte
