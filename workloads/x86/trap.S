/* Exception entries, 16 bytes apart. */
#include "trap.h"
.intel_syntax noprefix

    .text
    .balign 64
    .globl trap_entries
trap_entries:
    .set vector, 0
    .rept VECTORS
    .balign 16
    /* These push an error code of their own: 8, 10 to 14, 17, 21, 29, 30. */
    .if !((0x60227d00 >> vector) & 1)
    push 0
    .endif
    push vector
    jmp trap_common
    .set vector, vector + 1
    .endr

    .balign 64
trap_common:
    .irp r, rax, rbx, rcx, rdx, rsi, rdi, rbp, r8, r9, r10, r11, r12, r13, r14, r15
    push \r
    .endr
    cld
    mov rdi, rsp
    mov rbx, rsp
    and rsp, -16
    call trap
    mov rsp, rbx
    .irp r, r15, r14, r13, r12, r11, r10, r9, r8, rbp, rdi, rsi, rdx, rcx, rbx, rax
    pop \r
    .endr
    add rsp, 16
    iretq

/* u64 arch_recover(void) */
    .balign 16
    .globl arch_recover
arch_recover:
    lea rax, recover_context[rip]
    mov [rax], rbx
    mov [rax+8], rbp
    mov [rax+16], r12
    mov [rax+24], r13
    mov [rax+32], r14
    mov [rax+40], r15
    lea rcx, [rsp+8]
    mov [rax+48], rcx
    mov rcx, [rsp]
    mov [rax+56], rcx
    mov qword ptr recover_armed[rip], 1
    xor eax, eax
    ret
.section .note.GNU-stack, "", @progbits
