/* rv-copy-user-2017: what a RISC-V kernel had before v5.14. Words, one load and the store that depends on it per
   iteration, when source and destination are aligned alike; bytes for everything otherwise. */
#include "../routine.h"

ROUTINE rv_copy_user_2017, "rv-copy-user-2017", KIND_USER_COPY
    li t6, SSTATUS_SUM
    csrs sstatus, t6
    add a3, a1, a2                      /* end of the source */
    add a4, a0, a2                      /* end of the destination */
    xor t0, a0, a1
    andi t0, t0, W - 1
    bnez t0, 3f
    addi t1, a1, W - 1
    andi t1, t1, -W                     /* the source's first whole word */
    andi t2, a3, -W                     /* the end of its last one */
    bgeu t1, t2, 3f
    bgeu a1, t1, 2f
1:  MAY_FAULT 6f, lb t0, 0(a1)
    MAY_FAULT 6f, sb t0, 0(a0)
    addi a1, a1, 1
    addi a0, a0, 1
    bltu a1, t1, 1b
2:  MAY_FAULT 6f, ld t0, 0(a1)
    MAY_FAULT 6f, sd t0, 0(a0)
    addi a1, a1, W
    addi a0, a0, W
    bltu a1, t2, 2b
3:  bgeu a1, a3, 5f
4:  MAY_FAULT 6f, lb t0, 0(a1)
    MAY_FAULT 6f, sb t0, 0(a0)
    addi a1, a1, 1
    addi a0, a0, 1
    bltu a1, a3, 4b
5:  csrc sstatus, t6
    li a0, 0
    ret
6:  csrc sstatus, t6
    sub a0, a4, a0
    ret
END rv_copy_user_2017
