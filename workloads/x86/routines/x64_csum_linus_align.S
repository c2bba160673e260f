/* x64-csum-linus-align: the self-aligning form that L. Torvalds suggested in 2016: aligned words only, what does not
   belong to the buffer shifted out of the first and the last, so no load leaves a page that holds a byte of it; the
   result is rotated by eight bits if the start was odd. Whole words go 64 bytes per iteration and then one at a time
   (our choice). */
#include "../routine.h"
#include "x64_csum.inc"

ROUTINE x64_csum_linus_align, "x64-csum-linus-align", KIND_CHECKSUM
    xor eax, eax
    test esi, esi
    jz 7f
    mov r9d, edi
    lea r8, [rdi+rsi]                    /* the end */
    lea ecx, [8*rdi]                     /* shifts count modulo 64 */
    and rdi, -8
    mov rax, [rdi]
    shr rax, cl
    shl rax, cl
    add rdi, 8
    mov rsi, r8
    sub rsi, rdi
    jbe 5f
    mov ecx, esi
    shr ecx, 6
    jz 2f
1:  ADD_BYTES 64
    adc rax, 0
    add rdi, 64
    dec ecx
    jnz 1b
2:  mov ecx, esi
    shr ecx, 3
    and ecx, 7
    jz 4f
3:  add rax, [rdi]
    adc rax, 0
    add rdi, 8
    dec ecx
    jnz 3b
4:  and esi, 7
    jz 6f
    mov rdx, [rdi]
    mov ecx, esi
    neg ecx
    shl ecx, 3
    shl rdx, cl
    shr rdx, cl
    add rax, rdx
    adc rax, 0
    jmp 6f
5:  mov ecx, esi                         /* one word: the bytes after the end */
    neg ecx
    shl ecx, 3
    shl rax, cl
    shr rax, cl
6:  FOLD_64
    test r9b, 1
    jz 7f
    rol eax, 8
7:  ret
END x64_csum_linus_align
