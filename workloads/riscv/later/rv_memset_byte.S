/* rv-memset-byte: one byte an iteration. */
#include "../routine.h"

ROUTINE rv_memset_byte, "rv-memset-byte", KIND_SET
    add a3, a0, a2
1:  bgeu a0, a3, 2f
    sb a1, 0(a0)
    addi a0, a0, 1
    j 1b
2:  ret
END rv_memset_byte
