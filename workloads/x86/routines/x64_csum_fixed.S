/* x64-csum-fixed: what a compiler makes inline of a constant length: 0, 2, 4, 8, 14, 16, 20 and 40 bytes as exact
   chains, any other the call of x64-csum-old. As a routine it must find the chain first, by a table: that costs, and
   the original has no such cost. */
#include "../routine.h"
#include "x64_csum.inc"

#define LONGEST 40

    .section .rodata
    .balign 64
.Lchains:
    .quad .Lchain_0, .Lother, .Lchain_2, .Lother, .Lchain_4, .Lother, .Lother, .Lother
    .quad .Lchain_8, .Lother, .Lother, .Lother, .Lother, .Lother, .Lchain_14, .Lother
    .quad .Lchain_16, .Lother, .Lother, .Lother, .Lchain_20, .Lother, .Lother, .Lother
    .quad .Lother, .Lother, .Lother, .Lother, .Lother, .Lother, .Lother, .Lother
    .quad .Lother, .Lother, .Lother, .Lother, .Lother, .Lother, .Lother, .Lother
    .quad .Lchain_40

ROUTINE x64_csum_fixed, "x64-csum-fixed", KIND_CHECKSUM
    cmp esi, LONGEST
    ja .Lother
    mov ecx, esi
    jmp [8*rcx+.Lchains]
.Lother:
    jmp x64_csum_old
.Lchain_0:
    xor eax, eax
    ret
.Lchain_2:
    movzx eax, word ptr [rdi]
    ret
.Lchain_4:
    mov eax, [rdi]
    ret
.Lchain_8:
    mov eax, [rdi]
    add eax, [rdi+4]
    adc eax, 0
    ret
.Lchain_14:
    mov rax, [rdi]
    mov ecx, [rdi+8]
    movzx edx, word ptr [rdi+12]
    add rax, rcx
    adc rax, rdx
    adc rax, 0
    FOLD_64
    ret
.Lchain_16:
    mov rax, [rdi]
    add rax, [rdi+8]
    adc rax, 0
    FOLD_64
    ret
.Lchain_20:
    mov rax, [rdi]
    mov ecx, [rdi+16]
    add rax, [rdi+8]
    adc rax, rcx
    adc rax, 0
    FOLD_64
    ret
.Lchain_40:
    mov rax, [rdi]
    add rax, [rdi+8]
    adc rax, [rdi+16]
    adc rax, [rdi+24]
    adc rax, [rdi+32]
    adc rax, 0
    FOLD_64
    ret
END x64_csum_fixed
