/* Calling routines: checked, measured. In a Linux program (HOSTED) the C library's gp and tp are put back after a checked
   call, instructions are not counted, and the counter is the timer or what native.c makes of a reading of it. */
#define JOB 40 /* sizeof(struct job) */

#ifdef HOSTED
.macro READ_CYCLES to:req
.Lsite\@:
    rdtime \to
    .pushsection counter_sites, "a"
    .balign 4
    .word .Lsite\@ - .
    .popsection
.endm
.macro READ_INSTRUCTIONS to:req
    li \to, 0
.endm
#else
.macro READ_CYCLES to:req
    rdcycle \to
.endm
.macro READ_INSTRUCTIONS to:req
    rdinstret \to
.endm
#endif

.macro PUSH_CALLEE_SAVED
    addi sp, sp, -144
    sd ra, 0(sp)
    .irp r, 0,1,2,3,4,5,6,7,8,9,10,11
    sd s\r, 8+8*\r(sp)
    .endr
    sd a0, 104(sp)
    sd a1, 112(sp)
    sd a2, 120(sp)
    lla t0, saved_sp
    sd sp, 0(t0)
.endm

.macro POP_CALLEE_SAVED
    ld ra, 0(sp)
    .irp r, 0,1,2,3,4,5,6,7,8,9,10,11
    ld s\r, 8+8*\r(sp)
    .endr
    addi sp, sp, 144
.endm

/* If `reg` is not `value`, bit `bit` of a3. */
.macro CHECK reg:req, value:req, bit:req
    xor t2, \reg, \value
    snez t2, t2
    slli t2, t2, \bit
    or a3, a3, t2
.endm

    .bss
    .balign 8
saved_sp:
    .zero 8

    .text

/* u64 arch_checked_call(const struct job *job, u64 *ret): bits 0-11 s0-s11, 12-23 fs0-fs11, 24 sp, 25 gp, 26 tp.
   The harness uses no floating point, gp or tp, so these need not be kept. */
    .balign 64
    .globl arch_checked_call
arch_checked_call:
    PUSH_CALLEE_SAVED
#ifdef HOSTED
    sd gp, 128(sp)
    sd tp, 136(sp)
#endif
    li t1, 0x5a5a0ff1ce5a5a00
    .irp r, 0,1,2,3,4,5,6,7,8,9,10,11
    addi s\r, t1, \r
    fmv.d.x fs\r, s\r
    .endr
    addi gp, t1, 25
    addi tp, t1, 26
    ld t0, 0(a0)
    ld a1, 16(a0)
    ld a2, 24(a0)
    ld a0, 8(a0)
    jalr t0
    li t1, 0x5a5a0ff1ce5a5a00
    li a3, 0
    .irp r, 0,1,2,3,4,5,6,7,8,9,10,11
    addi t3, t1, \r
    CHECK s\r, t3, \r
    fmv.x.d t4, fs\r
    CHECK t4, t3, 12+\r
    .endr
    addi t3, t1, 25
    CHECK gp, t3, 25
    addi t3, t1, 26
    CHECK tp, t3, 26
    lla t0, saved_sp
    ld t0, 0(t0)
    CHECK sp, t0, 24
    mv sp, t0
#ifdef HOSTED
    ld gp, 128(sp)
    ld tp, 136(sp)
#endif
    ld a1, 112(sp)
    sd a0, 0(a1)
    POP_CALLEE_SAVED
    mv a0, a3
    ret

/* u64 arch_measure(const struct job jobs[2], u64 calls, struct sample *, int interleaved)
   Arguments, count and start stay in callee-saved registers: nothing between the counter readings touches memory but the
   routine. The fences keep its accesses inside. Returns bits 0-7 for s0-s7, 24 for sp. */
    .balign 64
    .globl arch_measure
arch_measure:
    PUSH_CALLEE_SAVED
    ld s0, 0(a0)
    ld s1, 8(a0)
    ld s2, 16(a0)
    ld s3, 24(a0)
    ld s4, JOB+0(a0)
    ld s5, JOB+8(a0)
    ld s6, JOB+16(a0)
    ld s7, JOB+24(a0)
    mv s8, a1
    bnez a3, 2f

    READ_INSTRUCTIONS t0
    sd t0, 128(sp)
    fence
    READ_CYCLES s10
    .balign 16
1:  mv a0, s1
    mv a1, s2
    mv a2, s3
    jalr s0
    addi s8, s8, -1
    bnez s8, 1b
    fence
    READ_CYCLES t3
    READ_INSTRUCTIONS t4
    mv s11, a0
    j 5f

2:  rdinstret t0
    sd t0, 128(sp)
    fence
    READ_CYCLES s10
    .balign 16
3:  mv a0, s1
    mv a1, s2
    mv a2, s3
    jalr s0
    mv s11, a0
    addi s8, s8, -1
    beqz s8, 4f
    mv a0, s5
    mv a1, s6
    mv a2, s7
    jalr s4
    mv s9, a0
    addi s8, s8, -1
    bnez s8, 3b
4:  fence
    READ_CYCLES t3
    READ_INSTRUCTIONS t4

5:  li a3, 0
    lla t0, saved_sp
    ld t0, 0(t0)
    CHECK sp, t0, 24
    mv sp, t0
    ld a0, 104(sp)
    .irp r, 0,1,2,3
    ld t0, 8*\r(a0)
    CHECK s\r, t0, \r
    .endr
    .irp r, 4,5,6,7
    ld t0, JOB+8*(\r-4)(a0)
    CHECK s\r, t0, \r
    .endr
    ld a2, 120(sp)
    ld t0, 128(sp)
    sub t3, t3, s10
    sub t4, t4, t0
    sd t3, 0(a2)
    sd t4, 8(a2)
    sd s11, 16(a2)
    sd s9, 24(a2)
    POP_CALLEE_SAVED
    mv a0, a3
    ret

    .balign 64
    .globl arch_empty
arch_empty:
    ret

/* u64 arch_recover(void) */
    .balign 16
    .globl arch_recover
arch_recover:
    lla t0, recover_context
    sd ra, 0(t0)
    sd sp, 8(t0)
    .irp r, 0,1,2,3,4,5,6,7,8,9,10,11
    sd s\r, 16+8*\r(t0)
    .endr
    lla t0, recover_armed
    li t1, 1
    sd t1, 0(t0)
    li a0, 0
    ret
