/* rvv-memmove-m8: as many bytes as a register group of 8 holds, again and again, the last time what is left; from the end
   if the destination lies within the source's bytes (RVV 1.0). An iteration's load precedes its store. */
#include "../routine.h"

ROUTINE rvv_memmove_m8, "rvv-memmove-m8", KIND_MOVE, NEEDS_V
    beqz a2, 2f
    sub t1, a0, a1
    bltu t1, a2, 3f
    mv a3, a0
1:  vsetvli t0, a2, e8, m8, ta, ma
    vle8.v v0, (a1)
    add a1, a1, t0
    sub a2, a2, t0
    vse8.v v0, (a3)
    add a3, a3, t0
    bnez a2, 1b
2:  ret
3:  add a1, a1, a2
    add a3, a0, a2
4:  vsetvli t0, a2, e8, m8, ta, ma
    sub a1, a1, t0
    vle8.v v0, (a1)
    sub a2, a2, t0
    sub a3, a3, t0
    vse8.v v0, (a3)
    bnez a2, 4b
    ret
END rvv_memmove_m8
