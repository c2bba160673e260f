/* rvv-copy-csum: a copy with its checksum by vectors (RVV 1.0): bytes are loaded and stored, so that no alignment matters, a
   register group of 4 at a time, and taken as 32-bit words, each of which is added to a 64-bit element of a group of 8; the
   elements are summed at the end, the last one to three bytes copied and added one by one. */
#include "../routine.h"

ROUTINE rvv_copy_csum, "rvv-copy-csum", KIND_COPY_CHECKSUM, NEEDS_V
    vsetvli t0, zero, e64, m8, ta, ma
    vmv.v.i v8, 0
    srli t1, a2, 2                      /* whole words */
    andi a2, a2, 3
    beqz t1, 2f
1:  vsetvli t0, t1, e32, m4, ta, ma
    slli t2, t0, 2
    vsetvli zero, t2, e8, m4, ta, ma
    vle8.v v0, (a1)
    add a1, a1, t2
    sub t1, t1, t0
    vse8.v v0, (a0)
    add a0, a0, t2
    vsetvli zero, t0, e32, m4, tu, ma
    vwaddu.wv v8, v8, v0
    bnez t1, 1b
2:  vsetvli t0, zero, e64, m8, ta, ma
    vmv.s.x v0, zero
    vredsum.vs v0, v8, v0
    vmv.x.s a4, v0
    li t3, 0                            /* the last bytes' place in a word */
    add a3, a1, a2
3:  bgeu a1, a3, 4f
    lbu t2, 0(a1)
    addi a1, a1, 1
    sb t2, 0(a0)
    addi a0, a0, 1
    sll t2, t2, t3
    addi t3, t3, 8
    add a4, a4, t2
    sltu t2, a4, t2
    add a4, a4, t2
    j 3b
4:  srli t0, a4, 32                     /* 64 bits to 32, the carry around */
    slli a4, a4, 32
    srli a4, a4, 32
    add a4, a4, t0
    srli t0, a4, 32
    addw a0, a4, t0
    ret
END rvv_copy_csum
