/* rvv-memset-m8: a loop of vector stores of bytes, a register group of 8 (RVV 1.0). */
#include "../routine.h"

ROUTINE rvv_memset_m8, "rvv-memset-m8", KIND_SET, NEEDS_V
    beqz a2, 2f
    mv a3, a0
    vsetvli t0, a2, e8, m8, ta, ma
    vmv.v.x v0, a1
1:  vsetvli t0, a2, e8, m8, ta, ma
    sub a2, a2, t0
    vse8.v v0, (a3)
    add a3, a3, t0
    bnez a2, 1b
2:  ret
END rvv_memset_m8
