/* x64-memset-unrolled: below eight bytes bytes; otherwise eight bytes at the start, the destination advanced to a multiple
   of eight, 64 bytes an iteration by words, words, and the last eight bytes over what has been set. */
#include "../routine.h"

ROUTINE x64_memset_unrolled, "x64-memset-unrolled", KIND_SET
    cmp rdx, 8
    jb 4f
    movzx eax, sil
    movabs r8, 0x0101010101010101
    imul rax, r8
    lea r9, [rdi+rdx-8]                 /* where the last word goes */
    mov [rdi], rax
    add rdi, 8
    and rdi, -8
    lea r10, [r9-56]                    /* 64 bytes from here on still fit */
    cmp rdi, r10
    ja 2f
1:  .irp at, 0, 8, 16, 24, 32, 40, 48, 56
    mov [rdi+\at], rax
    .endr
    add rdi, 64
    cmp rdi, r10
    jbe 1b
2:  cmp rdi, r9
    jae 3f
    mov [rdi], rax
    add rdi, 8
    jmp 2b
3:  mov [r9], rax
    ret
4:  test edx, edx
    jz 6f
5:  mov [rdi], sil
    inc rdi
    dec edx
    jnz 5b
6:  ret
END x64_memset_unrolled
