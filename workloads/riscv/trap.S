/* Trap entries of both modes, and machine mode's accesses to memory as the trapped mode sees it. */
#include "csr.h"

.macro SAVE_ALL scratch:req
    .irp r, 1,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    sd x\r, 8*\r(sp)
    .endr
    csrr t0, \scratch
    sd t0, 16(sp)
.endm

.macro RESTORE_ALL
    .irp r, 1,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,2
    ld x\r, 8*\r(sp)
    .endr
.endm

    .text
    .balign 64
    .globl machine_trap_entry
machine_trap_entry:
    csrrw sp, mscratch, sp
    beqz sp, 1f
    addi sp, sp, -FRAME_SIZE
    SAVE_ALL mscratch
    csrw mscratch, zero
    csrr t0, mepc
    csrr t1, mstatus
    sd t0, FRAME_PC(sp)
    sd t1, FRAME_STATUS(sp)
    mv a0, sp
    csrr a1, mcause
    csrr a2, mtval
    call machine_trap
    ld t0, FRAME_PC(sp)
    ld t1, FRAME_STATUS(sp)
    csrw mepc, t0
    csrw mstatus, t1
    addi t0, sp, FRAME_SIZE
    csrw mscratch, t0
    RESTORE_ALL
    mret
1:  csrrw sp, mscratch, sp               /* a trap in machine mode itself: nothing can go on */
    tail machine_trap_fatal

    .balign 64
    .globl supervisor_trap_entry
supervisor_trap_entry:
    csrrw sp, sscratch, sp
    addi sp, sp, -FRAME_SIZE
    SAVE_ALL sscratch
    addi t0, sp, FRAME_SIZE
    csrw sscratch, t0
    csrr t0, sepc
    sd t0, FRAME_PC(sp)
    mv a0, sp
    csrr a1, scause
    call supervisor_trap
    ld t0, FRAME_PC(sp)
    csrw sepc, t0
    RESTORE_ALL
    sret

/* uint64_t mprv_load_u8(uint64_t address, struct nested *), void mprv_store_u8(uint64_t address, struct nested *, value),
   uint64_t mprv_fetch_u16(uint64_t address, struct nested *): one access with the trapped mode's translation and rights.
   A fault is noted in *nested (cause, address) and the access skipped. */
.macro AS_TRAPPED_MODE symbol:req, bits:req, insn:vararg
    .balign 16
    .globl \symbol
\symbol:
    lla t0, access_faulted
    li t1, \bits
    csrrw t0, mtvec, t0
    csrs mstatus, t1
    \insn
    csrc mstatus, t1
    csrw mtvec, t0
    ret
.endm

    AS_TRAPPED_MODE mprv_load_u8, MSTATUS_MPRV, lbu a0, 0(a0)
    AS_TRAPPED_MODE mprv_store_u8, MSTATUS_MPRV, sb a2, 0(a0)
    AS_TRAPPED_MODE mprv_fetch_u16, MSTATUS_MPRV | MSTATUS_MXR, lhu a0, 0(a0)

    .balign 16
access_faulted:
    csrc mstatus, t1
    csrw mtvec, t0
    csrr t0, mcause
    sd t0, 0(a1)
    csrr t0, mtval
    sd t0, 8(a1)
    ret

/* Floating-point registers by number: uint64_t fpr_read(number), void fpr_write_d(number, bits), fpr_write_s (NaN-boxed). */
.macro FPR_TABLE symbol:req, what:req
    .balign 16
    .globl \symbol
\symbol:
    slli a0, a0, 3
    lla t0, 1f
    add t0, t0, a0
    jr t0
    .balign 8
1:
    .option push
    .option norvc
    .irp r, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    .if \what == 0
    fmv.x.d a0, f\r
    .elseif \what == 1
    fmv.d.x f\r, a1
    .else
    fmv.w.x f\r, a1
    .endif
    ret
    .endr
    .option pop
.endm

    FPR_TABLE fpr_read, 0
    FPR_TABLE fpr_write_d, 1
    FPR_TABLE fpr_write_s, 2
