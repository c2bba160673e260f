/* One function per load and store that exists, and all registers once: what emulation.c tries at every misalignment.
   Loads: uint64_t f(uint64_t address). Stores: void f(uint64_t address, uint64_t value). A floating-point load answers
   with all 64 bits of the register. */

.macro LOAD name:req, insn:vararg
    .globl load_\name
load_\name:
    \insn
    ret
.endm

.macro FP_LOAD name:req, insn:vararg
    .globl load_\name
load_\name:
    fmv.d.x fa0, zero
    \insn
    fmv.x.d a0, fa0
    ret
.endm

.macro STORE name:req, insn:vararg
    .globl store_\name
store_\name:
    \insn
    ret
.endm

.macro FP_STORE name:req, insn:vararg
    .globl store_\name
store_\name:
    fmv.d.x fa0, a1
    \insn
    ret
.endm

    .text
    .option push
    .option norvc
    LOAD lh, lh a0, 0(a0)
    LOAD lhu, lhu a0, 0(a0)
    LOAD lw, lw a0, 0(a0)
    LOAD lwu, lwu a0, 0(a0)
    LOAD ld, ld a0, 0(a0)
    FP_LOAD flw, flw fa0, 0(a0)
    FP_LOAD fld, fld fa0, 0(a0)
    STORE sh, sh a1, 0(a0)
    STORE sw, sw a1, 0(a0)
    STORE sd, sd a1, 0(a0)
    FP_STORE fsw, fsw fa0, 0(a0)
    FP_STORE fsd, fsd fa0, 0(a0)
    .option pop

    LOAD c_lw, c.lw a0, 0(a0)
    LOAD c_ld, c.ld a0, 0(a0)
    FP_LOAD c_fld, c.fld fa0, 0(a0)
    STORE c_sw, c.sw a1, 0(a0)
    STORE c_sd, c.sd a1, 0(a0)
    FP_STORE c_fsd, c.fsd fa0, 0(a0)

.macro ON_STACK insn:vararg
    mv t0, sp
    addi sp, a0, -16
    \insn
    mv sp, t0
.endm
    LOAD c_lwsp, ON_STACK c.lwsp a0, 16(sp)
    LOAD c_ldsp, ON_STACK c.ldsp a0, 16(sp)
    FP_LOAD c_fldsp, ON_STACK c.fldsp fa0, 16(sp)
    STORE c_swsp, ON_STACK c.swsp a1, 16(sp)
    STORE c_sdsp, ON_STACK c.sdsp a1, 16(sp)
    FP_STORE c_fsdsp, ON_STACK c.fsdsp fa0, 16(sp)

/* Atomics, which nothing can make up. */
    LOAD lr_w, lr.w a0, (a0)
    LOAD amoadd_w, amoadd.w a0, a0, (a0)

.macro SAVE_REGISTERS
    addi sp, sp, -128
    .irp r, 0,1,2,3,4,5,6,7,8,9,10,11
    sd s\r, 8*\r(sp)
    .endr
    sd ra, 96(sp)
    sd gp, 104(sp)
    sd tp, 112(sp)
    lla t0, kept_sp
    sd sp, 0(t0)
.endm

.macro RESTORE_REGISTERS
    lla t0, kept_sp
    ld sp, 0(t0)
    .irp r, 0,1,2,3,4,5,6,7,8,9,10,11
    ld s\r, 8*\r(sp)
    .endr
    ld ra, 96(sp)
    ld gp, 104(sp)
    ld tp, 112(sp)
    addi sp, sp, 128
.endm

    .bss
    .balign 8
kept_sp: .zero 8
    .text

/* void load_every_register(uint64_t address, uint64_t out[64]): x0..x31 then f0..f31, each loaded from `address`. The base
   is a0, for a0 itself a1 (which then swaps back); likewise for the pointer to the results. */
    .globl load_every_register
load_every_register:
    SAVE_REGISTERS
    .irp r, 0,1,2,3,4,5,6,7,8,9,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    ld x\r, 0(a0)
    sd x\r, 8*\r(a1)
    .endr
    mv t0, a0
    ld a0, 0(t0)
    sd a0, 80(a1)
    mv a0, a1
    ld a1, 0(t0)
    sd a1, 88(a0)
    .irp r, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    fld f\r, 0(t0)
    fsd f\r, 256+8*\r(a0)
    .endr
    RESTORE_REGISTERS
    ret

/* void store_every_register(uint64_t address, uint64_t distance): register n is stored at address + n * distance, x0..x31
   then f0..f31, each holding its number but x10 and x11 (address of the store, distance) and x0. */
    .globl store_every_register
store_every_register:
    SAVE_REGISTERS
    .irp r, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    .if (\r != 10) && (\r != 11)
    li x\r, \r
    .endif
    sd x\r, 0(a0)
    add a0, a0, a1
    .endr
    .irp r, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    li t0, \r
    fmv.d.x f\r, t0
    fsd f\r, 0(a0)
    add a0, a0, a1
    .endr
    RESTORE_REGISTERS
    ret
