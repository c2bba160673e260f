/* rvv-clear-m8: zeros by a loop of vector stores of bytes, a register group of 8 (RVV 1.0). */
#include "../routine.h"

ROUTINE rvv_clear_m8, "rvv-clear-m8", KIND_CLEAR, NEEDS_V
    beqz a1, 2f
    vsetvli t0, a1, e8, m8, ta, ma
    vmv.v.i v0, 0
1:  vsetvli t0, a1, e8, m8, ta, ma
    sub a1, a1, t0
    vse8.v v0, (a0)
    add a0, a0, t0
    bnez a1, 1b
2:  ret
END rvv_clear_m8
