/* rvv-copy-user-2024: the kernel's user copy with vectors (A. Chiu, v6.8): below 768 bytes rv-copy-user-2024, from there on a
   loop of register groups of 8. After a fault rv-copy-user-2024 goes on behind what has been stored, which vstart tells
   of a store. What the kernel does before (saving a program's vector registers) is not in it. */
#include "../routine.h"

ROUTINE rvv_usercopy, "rvv-copy-user-2024", KIND_USER_COPY, NEEDS_V
    li t0, 768
    bltu a2, t0, 4f
    li t6, SSTATUS_SUM
    csrs sstatus, t6
1:  vsetvli t0, a2, e8, m8, ta, ma
    MAY_FAULT 3f, vle8.v v0, (a1)
    MAY_FAULT 2f, vse8.v v0, (a0)
    sub a2, a2, t0
    add a1, a1, t0
    add a0, a0, t0
    bnez a2, 1b
    csrc sstatus, t6
    li a0, 0
    ret
2:  csrr t1, vstart
    add a0, a0, t1
    add a1, a1, t1
    sub a2, a2, t1
3:  csrw vstart, zero
    csrc sstatus, t6
4:  tail rv_copy_user_2024
END rvv_usercopy
