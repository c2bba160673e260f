/* A copy and a checksum as one function, u32 f(dst, src, n): what harness/sequence.c says is called. The arguments wait on the
   stack, so that a callee-saved register which one of both damages is seen by the caller. */
.intel_syntax noprefix
.section .note.GNU-stack, "", @progbits

#define COPY sequence_now[rip]
#define SUM sequence_now[rip+8]
#define COPY_PARAMETER sequence_now[rip+16]
#define SUM_PARAMETER sequence_now[rip+24]

.macro BEGIN symbol:req
    .text
    .balign 64
    .globl \symbol
\symbol:
.endm

/* With `user` a copy that ends early, as a user copy may, leaves no sum. */
.macro COPY_SUM symbol:req, user:req
BEGIN \symbol
    push rdi
    push rdx
    sub rsp, 8                          /* aligned, as every caller has the stack */
    mov rcx, COPY_PARAMETER
    call qword ptr COPY
    add rsp, 8
    pop rsi
    pop rdi
.if \user
    test rax, rax
    jnz 1f
.endif
    xor edx, edx
    mov rcx, SUM_PARAMETER
    jmp qword ptr SUM
.if \user
1:  xor eax, eax
    ret
.endif
.endm

.macro SUM_COPY symbol:req, user:req
BEGIN \symbol
    push rdi
    push rsi
    push rdx
    mov rdi, rsi
    mov rsi, rdx
    xor edx, edx
    mov rcx, SUM_PARAMETER
    call qword ptr SUM
    pop rdx
    pop rsi
    pop rdi
    push rax
    mov rcx, COPY_PARAMETER
    call qword ptr COPY
.if \user
    mov rcx, rax
.endif
    pop rax
.if \user
    test rcx, rcx
    jz 1f
    xor eax, eax
1:
.endif
    ret
.endm

    COPY_SUM sequence_copy_sum, 0
    COPY_SUM sequence_user_copy_sum, 1
    SUM_COPY sequence_sum_copy, 0
    SUM_COPY sequence_sum_user_copy, 1
