/* A copy and a checksum as one function, u32 f(dst, src, n): what harness/sequence.c says is called. The arguments wait on the
   stack, so that a callee-saved register which one of both damages is seen by the caller. */
#define COPY 0
#define SUM 8

.macro CALL what:req
    lla t0, sequence_now
    ld t0, \what(t0)
    jalr t0
.endm

.macro BEGIN symbol:req
    .text
    .balign 64
    .globl \symbol
\symbol:
.endm

/* With `user` a copy that ends early, as a user copy may, leaves no sum. */
.macro COPY_SUM symbol:req, user:req
BEGIN \symbol
    addi sp, sp, -32
    sd ra, 0(sp)
    sd a0, 8(sp)
    sd a2, 16(sp)
    CALL COPY
    ld ra, 0(sp)
.if \user
    bnez a0, 1f
.endif
    lla t0, sequence_now
    ld t0, SUM(t0)
    ld a0, 8(sp)
    ld a1, 16(sp)
    addi sp, sp, 32
    jr t0
.if \user
1:  li a0, 0
    addi sp, sp, 32
    ret
.endif
.endm

.macro SUM_COPY symbol:req, user:req
BEGIN \symbol
    addi sp, sp, -48
    sd ra, 0(sp)
    sd a0, 8(sp)
    sd a1, 16(sp)
    sd a2, 24(sp)
    mv a0, a1
    mv a1, a2
    CALL SUM
    sd a0, 32(sp)
    ld a0, 8(sp)
    ld a1, 16(sp)
    ld a2, 24(sp)
    CALL COPY
.if \user
    seqz t0, a0
    neg t0, t0
.endif
    ld a0, 32(sp)
    ld ra, 0(sp)
    addi sp, sp, 48
.if \user
    and a0, a0, t0
.endif
    ret
.endm

    COPY_SUM sequence_copy_sum, 0
    COPY_SUM sequence_user_copy_sum, 1
    SUM_COPY sequence_sum_copy, 0
    SUM_COPY sequence_sum_user_copy, 1
