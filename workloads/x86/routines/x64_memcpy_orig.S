/* x64-memcpy-orig: the kernel's memcpy without FSRM, by Ma Ling, 2010. Below 32 bytes a ladder of overlapping loads and
   stores without a loop. From 32 on 32 bytes per iteration, backwards if the source address's low byte is less, as a
   signed number, than the destination's, so that no load has the low bits of a store just before it. */
#include "../routine.h"

.macro LOAD_32 at:req, step:req
    mov r8, [rsi+\at]
    mov r9, [rsi+\at+\step]
    mov r10, [rsi+\at+2*\step]
    mov r11, [rsi+\at+3*\step]
.endm
.macro STORE_32 at:req, step:req
    mov [rdi+\at], r8
    mov [rdi+\at+\step], r9
    mov [rdi+\at+2*\step], r10
    mov [rdi+\at+3*\step], r11
.endm

ROUTINE x64_memcpy_orig, "x64-memcpy-orig", KIND_COPY
    mov rax, rdi
    cmp rdx, 32
    jb 4f
    cmp sil, dil
    jl 2f
    sub rdx, 32
1:  sub rdx, 32
    LOAD_32 0, 8
    lea rsi, [rsi+32]
    STORE_32 0, 8
    lea rdi, [rdi+32]
    jae 1b
    add edx, 32
    jmp 4f
2:  add rsi, rdx
    add rdi, rdx
    sub rdx, 32
3:  sub rdx, 32
    LOAD_32 -8, -8
    lea rsi, [rsi-32]
    STORE_32 -8, -8
    lea rdi, [rdi-32]
    jae 3b
    add edx, 32
    sub rsi, rdx
    sub rdi, rdx
4:  cmp edx, 16
    jb 5f
    mov r8, [rsi]
    mov r9, [rsi+8]
    mov r10, [rsi+rdx-16]
    mov r11, [rsi+rdx-8]
    mov [rdi], r8
    mov [rdi+8], r9
    mov [rdi+rdx-16], r10
    mov [rdi+rdx-8], r11
    ret
5:  cmp edx, 8
    jb 6f
    mov r8, [rsi]
    mov r9, [rsi+rdx-8]
    mov [rdi], r8
    mov [rdi+rdx-8], r9
    ret
6:  cmp edx, 4
    jb 7f
    mov ecx, [rsi]
    mov r8d, [rsi+rdx-4]
    mov [rdi], ecx
    mov [rdi+rdx-4], r8d
    ret
7:  sub edx, 1
    jb 9f
    movzx ecx, byte ptr [rsi]
    jz 8f
    movzx r8d, byte ptr [rsi+1]
    movzx r9d, byte ptr [rsi+rdx]
    mov [rdi+1], r8b
    mov [rdi+rdx], r9b
8:  mov [rdi], cl
9:  ret
END x64_memcpy_orig
