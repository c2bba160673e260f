/* Routines that are wrong, each in one way: what the harness must notice. */
#include "../../routine.h"

.macro COPY n=rdx
    mov rcx, \n
    mov r8, rdi
    mov r9, rsi
    rep movsb
    mov rdi, r8
    mov rsi, r9
.endm

ROUTINE whole, "whole", KIND_COPY
    COPY
    ret
END whole

ROUTINE broken_short, "broken-short", KIND_COPY
    lea r10, [rdx-1]
    COPY r10
    ret
END broken_short

ROUTINE broken_byte, "broken-byte", KIND_COPY
    COPY
    mov byte ptr [rdi+rdx-2], 0
    ret
END broken_byte

ROUTINE broken_after, "broken-after", KIND_COPY
    COPY
    mov byte ptr [rdi+rdx], 0
    ret
END broken_after

ROUTINE broken_before, "broken-before", KIND_COPY
    COPY
    mov byte ptr [rdi-3], 0
    ret
END broken_before

ROUTINE broken_source, "broken-source", KIND_COPY
    COPY
    mov byte ptr [rsi], 0
    ret
END broken_source

ROUTINE broken_r12, "broken-r12", KIND_COPY
    COPY
    inc r12
    ret
END broken_r12

ROUTINE broken_sp, "broken-sp", KIND_COPY
    COPY
    ret 16
END broken_sp

ROUTINE broken_direction, "broken-direction", KIND_COPY
    COPY
    std
    ret
END broken_direction

ROUTINE broken_mmx, "broken-mmx", KIND_COPY
    COPY
    movq mm0, rax
    ret
END broken_mmx

ROUTINE broken_mxcsr, "broken-mxcsr", KIND_COPY
    COPY
    push 0x9f80
    ldmxcsr [rsp]
    pop rax
    ret
END broken_mxcsr

ROUTINE broken_wild, "broken-wild", KIND_COPY
    COPY
    mov rax, 0x30000000
    mov [rax], rax
    ret
END broken_wild

ROUTINE broken_jump, "broken-jump", KIND_COPY
    COPY
    mov rax, 0x30000000
    jmp rax
END broken_jump

ROUTINE broken_opcode, "broken-opcode", KIND_COPY
    COPY
    ud2
END broken_opcode

ROUTINE broken_user, "broken-user", KIND_USER_COPY
    OPEN_USER
    COPY
    xor eax, eax
    ret
END broken_user

ROUTINE broken_no_access, "broken-no-access", KIND_USER_COPY
    COPY
    xor eax, eax
    ret
END broken_no_access

ROUTINE broken_return, "broken-return", KIND_USER_COPY
    OPEN_USER
    COPY
    CLOSE_USER
    mov eax, 1
    ret
END broken_return

ROUTINE broken_sum, "broken-sum", KIND_CHECKSUM
    xor eax, eax
    ret
END broken_sum

ROUTINE broken_copy_sum, "broken-copy-sum", KIND_COPY_CHECKSUM
    COPY
    xor eax, eax
    ret
END broken_copy_sum
