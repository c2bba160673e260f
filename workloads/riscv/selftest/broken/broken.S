/* Routines that are wrong, each in one way: what the harness must notice. */
#include "../../routine.h"

.macro COPY_BYTES n=a2
    mv t6, a0
    mv t5, a1
    add t4, a1, \n
    bgeu t5, t4, 2f
1:  lbu t0, 0(t5)
    sb t0, 0(t6)
    addi t5, t5, 1
    addi t6, t6, 1
    bltu t5, t4, 1b
2:
.endm

ROUTINE broken_short, "broken-short", KIND_COPY
    addi t3, a2, -1
    COPY_BYTES t3
    ret

ROUTINE broken_byte, "broken-byte", KIND_COPY
    COPY_BYTES
    add t0, a0, a2
    sb zero, -2(t0)
    ret

ROUTINE broken_after, "broken-after", KIND_COPY
    COPY_BYTES
    add t0, a0, a2
    sb zero, 0(t0)
    ret

ROUTINE broken_before, "broken-before", KIND_COPY
    COPY_BYTES
    sb zero, -3(a0)
    ret

ROUTINE broken_source, "broken-source", KIND_COPY
    COPY_BYTES
    sb zero, 0(a1)
    ret

ROUTINE broken_s3, "broken-s3", KIND_COPY
    COPY_BYTES
    addi s3, s3, 1
    ret

ROUTINE broken_fs11, "broken-fs11", KIND_COPY
    COPY_BYTES
    fmv.d.x fs11, zero
    ret

ROUTINE broken_sp, "broken-sp", KIND_COPY
    COPY_BYTES
    addi sp, sp, -16
    ret

ROUTINE broken_wild, "broken-wild", KIND_COPY
    COPY_BYTES
    sd zero, 0(zero)
    ret

ROUTINE broken_jump, "broken-jump", KIND_COPY
    li sp, 0
    jr zero

ROUTINE broken_user, "broken-user", KIND_USER_COPY
    li t0, SSTATUS_SUM
    csrs sstatus, t0
    COPY_BYTES
    li a0, 0
    ret

ROUTINE broken_no_sum, "broken-no-sum", KIND_USER_COPY
    COPY_BYTES
    li a0, 0
    ret

ROUTINE broken_return, "broken-return", KIND_USER_COPY
    li t0, SSTATUS_SUM
    csrs sstatus, t0
    COPY_BYTES
    li t0, SSTATUS_SUM
    csrc sstatus, t0
    li a0, 1
    ret

ROUTINE broken_sum, "broken-sum", KIND_CHECKSUM
    lbu a0, 0(a0)
    ret

/* And one that is right, to see that a broken one does no harm to what follows. */
ROUTINE whole, "whole", KIND_COPY
    COPY_BYTES
    ret
