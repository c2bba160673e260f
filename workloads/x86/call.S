/* Calling routines: checked, measured. */
#include "cpu.h"
.intel_syntax noprefix

/* struct job, struct sample */
#define FN 0
#define ARG0 8
#define ARG1 16
#define ARG2 24
#define PARAMETER 32
#define JOB 40
#define CYCLES 0
#define INSTRUCTIONS 8
#define RET 16

#define KNOWN 0x5a5a0ff1ce5a5a00
#define FXSAVE_TAGS 4
#define FXSAVE_MXCSR 24

.macro PUSH_CALLEE_SAVED
    .irp r, rbx, rbp, r12, r13, r14, r15
    push \r
    .endr
.endm
.macro POP_CALLEE_SAVED
    .irp r, r15, r14, r13, r12, rbp, rbx
    pop \r
    .endr
.endm

/* If `a` is not `b`, bit `bit` of r11. */
.macro CHECK a:req, b:req, bit:req
    xor r10d, r10d
    cmp \a, \b
    setne r10b
    shl r10d, \bit
    or r11d, r10d
.endm

/* Waits until every earlier access and instruction is done, and lets none begin: six bytes that start-up turns into a call of
   serialise_by_cpuid on a processor without SSE2's fences. rax, rcx, rdx and r9 are scratch. */
.macro SERIALISE
.Lsite\@:
    mfence
    lfence
    .pushsection .fence_sites, "a"
    .balign 4
    .long .Lsite\@ - .
    .popsection
.endm

.macro READ_CYCLES cycles:req
    SERIALISE
    rdtsc
    shl rdx, 32
    lea \cycles, [rax+rdx]
.endm
.macro READ_INSTRUCTIONS to:req
    xor eax, eax
    cmp dword ptr cpu_counts_instructions[rip], 0
    je .Lnone\@
    mov ecx, PMC_INSTRUCTIONS
    rdpmc
    shl rdx, 32
    or rax, rdx
.Lnone\@:
    mov \to, rax
.endm

    .bss
    .balign 16
saved_sp:
    .zero 8
    .balign 16
fxsave_area:
    .zero 512

    .text

/* u64 arch_checked_call(const struct job *job, u64 *ret): bits 0-5 rbx, rbp, r12-r15, 8 the direction flag, 9 MMX
   registers left in use, 10 mxcsr's control bits, 24 rsp. */
    .balign 64
    .globl arch_checked_call
arch_checked_call:
    PUSH_CALLEE_SAVED
    push rsi
    mov saved_sp[rip], rsp
    mov r11, rdi
    emms
    push MXCSR_DEFAULT
    ldmxcsr [rsp]
    pop rax
    movabs rax, KNOWN
    mov rbx, rax
    lea rbp, [rax+1]
    lea r12, [rax+2]
    lea r13, [rax+3]
    lea r14, [rax+4]
    lea r15, [rax+5]
    mov rdi, [r11+ARG0]
    mov rsi, [r11+ARG1]
    mov rdx, [r11+ARG2]
    mov rcx, [r11+PARAMETER]
    call [r11+FN]
    mov r8, rsp
    mov rsp, saved_sp[rip]
    xor r11d, r11d
    pushfq
    pop rcx
    and ecx, RFLAGS_DF
    CHECK ecx, 0, 8
    cld
    CHECK r8, rsp, 24
    movabs rcx, KNOWN
    CHECK rbx, rcx, 0
    .set bit, 1
    .irp r, rbp, r12, r13, r14, r15
    inc rcx
    CHECK \r, rcx, bit
    .set bit, bit + 1
    .endr
    fxsave fxsave_area[rip]
    movzx ecx, byte ptr fxsave_area[rip+FXSAVE_TAGS]
    CHECK ecx, 0, 9
    mov ecx, fxsave_area[rip+FXSAVE_MXCSR]
    and ecx, MXCSR_CONTROL
    CHECK ecx, MXCSR_DEFAULT, 10
    pop rsi
    mov [rsi], rax
    mov eax, r11d
    POP_CALLEE_SAVED
    ret

#ifdef CALL_SITES
#define LOOP_ALIGNMENT 64 /* a fetch line */
#else
#define LOOP_ALIGNMENT 16
#endif
/* Calls rbx r15 times with the arguments in rbp and r12 to r14. [rsp]: the counter before; r8: after; r15: what the last call
   returned. */
.macro MEASURED_CALLS
    READ_CYCLES rax
    mov [rsp], rax
    SERIALISE
    .balign LOOP_ALIGNMENT
1:  mov rdi, rbp
    mov rsi, r12
    mov rdx, r13
    mov rcx, r14
    call rbx
    dec r15
    jnz 1b
    mov r15, rax
    READ_CYCLES r8
.endm

#ifdef CALL_SITES
/* In a program one call instruction mostly calls one routine. Where it has had several targets, processors predict the target
   later (Zen 5 by two cycles). So on a host each routine has a call instruction of its own: number call_site of CALL_SITES. */
    .bss
    .globl call_site
    .balign 4
call_site:
    .zero 4
    .text
#define SITE_SHIFT 8
    .balign 1 << SITE_SHIFT
call_sites:
    .rept CALL_SITES
    .balign 1 << SITE_SHIFT
    MEASURED_CALLS
    jmp measured
    .endr
    .org call_sites + (CALL_SITES << SITE_SHIFT) /* an error if one is longer than SITE_SHIFT says */
#endif

/* u64 arch_measure(const struct job jobs[2], u64 calls, struct sample *, int interleaved)
   With one job, arguments and count stay in callee-saved registers: nothing between the counter readings touches memory
   but the routine and its call. With two, the arguments are read from the jobs each turn. Returns bits as above, of the
   registers that hold something known, and of rsp. */
    .balign 64
    .globl arch_measure
arch_measure:
    PUSH_CALLEE_SAVED
    push rdi                             /* [rsp+32] */
    push rdx                             /* [rsp+24] the sample */
    sub rsp, 24                          /* [rsp] cycles, [rsp+8] instructions at the start; calls stay aligned */
    mov saved_sp[rip], rsp
    mov r15, rsi
    test ecx, ecx
    jnz 2f

    mov rbx, [rdi+FN]
    mov rbp, [rdi+ARG0]
    mov r12, [rdi+ARG1]
    mov r13, [rdi+ARG2]
    mov r14, [rdi+PARAMETER]
    READ_INSTRUCTIONS [rsp+8]
#ifdef CALL_SITES
    mov eax, call_site[rip]
    shl rax, SITE_SHIFT
    lea rcx, call_sites[rip]
    add rax, rcx
    jmp rax
measured:
#else
    MEASURED_CALLS
#endif
    READ_INSTRUCTIONS r9
    xor r11d, r11d
    CHECK rsp, saved_sp[rip], 24
    mov rsp, saved_sp[rip]
    mov rdi, [rsp+32]
    CHECK rbp, [rdi+ARG0], 1
    CHECK rbx, [rdi+FN], 0
    CHECK r12, [rdi+ARG1], 2
    CHECK r13, [rdi+ARG2], 3
    CHECK r14, [rdi+PARAMETER], 4
    mov r12, r15
    jmp 5f

2:  mov rbx, rdi
    READ_INSTRUCTIONS [rsp+8]
    READ_CYCLES rax
    mov [rsp], rax
    SERIALISE
    .balign 16
3:  mov rdi, [rbx+ARG0]
    mov rsi, [rbx+ARG1]
    mov rdx, [rbx+ARG2]
    mov rcx, [rbx+PARAMETER]
    call [rbx+FN]
    mov r12, rax
    dec r15
    jz 4f
    mov rdi, [rbx+JOB+ARG0]
    mov rsi, [rbx+JOB+ARG1]
    mov rdx, [rbx+JOB+ARG2]
    mov rcx, [rbx+JOB+PARAMETER]
    call [rbx+JOB+FN]
    mov r13, rax
    dec r15
    jnz 3b
4:  READ_CYCLES r8
    READ_INSTRUCTIONS r9
    xor r11d, r11d
    CHECK rsp, saved_sp[rip], 24
    mov rsp, saved_sp[rip]
    CHECK rbx, [rsp+32], 0

5:  mov rdx, [rsp+24]
    sub r8, [rsp]
    sub r9, [rsp+8]
    mov [rdx+CYCLES], r8
    mov [rdx+INSTRUCTIONS], r9
    mov [rdx+RET], r12
    mov [rdx+RET+8], r13
    cld
    add rsp, 40
    mov eax, r11d
    POP_CALLEE_SAVED
    ret

    .globl serialise_by_cpuid
serialise_by_cpuid:
    mov r9, rbx
    xor eax, eax
    cpuid
    mov rbx, r9
    ret

    .balign 64
    .globl arch_empty
arch_empty:
    ret
.section .note.GNU-stack, "", @progbits
