/* x64-clear-unrolled: zeros by words, eight an iteration, as kernels clear pages without fast strings; single words, bytes. */
#include "../routine.h"

ROUTINE x64_clear_unrolled, "x64-clear-unrolled", KIND_CLEAR
    xor eax, eax
    mov rcx, rsi
    shr rcx, 6
    jz 2f
1:  mov [rdi], rax
    mov [rdi+8], rax
    mov [rdi+16], rax
    mov [rdi+24], rax
    mov [rdi+32], rax
    mov [rdi+40], rax
    mov [rdi+48], rax
    mov [rdi+56], rax
    add rdi, 64
    dec rcx
    jnz 1b
2:  and esi, 63
    sub esi, 8
    jb 4f
3:  mov [rdi], rax
    add rdi, 8
    sub esi, 8
    jae 3b
4:  add esi, 8
    jz 6f
5:  mov [rdi], al
    inc rdi
    dec esi
    jnz 5b
6:  ret
END x64_clear_unrolled
