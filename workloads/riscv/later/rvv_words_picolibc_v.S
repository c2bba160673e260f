/* rvv-memcpy-picolibc-2026: picolibc's of May 2026 (its pull request 1256). Below 16 bytes a loop of bytes; from there on bytes to
   the destination's next multiple of 4, then, where the source lies alike, a loop of 32-bit elements; bytes for the rest, and
   where it does not. Register groups of 8 (RVV 1.0). */
#include "../routine.h"

ROUTINE rvv_words_picolibc, "rvv-memcpy-picolibc-2026", KIND_COPY, NEEDS_V
    mv a3, a0
    li t0, 16
    bltu a2, t0, 3f
    neg t1, a3
    andi t1, t1, 3                      /* bytes to the boundary */
    beqz t1, 1f
    vsetvli zero, t1, e8, m1, ta, ma
    vle8.v v0, (a1)
    add a1, a1, t1
    sub a2, a2, t1
    vse8.v v0, (a3)
    add a3, a3, t1
1:  andi t1, a1, 3
    bnez t1, 3f
    srli t1, a2, 2                      /* whole elements */
    andi a2, a2, 3
2:  vsetvli t0, t1, e32, m8, ta, ma
    vle32.v v0, (a1)
    slli t2, t0, 2
    add a1, a1, t2
    sub t1, t1, t0
    vse32.v v0, (a3)
    add a3, a3, t2
    bnez t1, 2b
3:  beqz a2, 5f
4:  vsetvli t0, a2, e8, m8, ta, ma
    vle8.v v0, (a1)
    add a1, a1, t0
    sub a2, a2, t0
    vse8.v v0, (a3)
    add a3, a3, t0
    bnez a2, 4b
5:  ret
END rvv_words_picolibc
