/* x64-csum-naive-adc: adc, dec, jge: one word per iteration, from the last to the first (2016). dec leaves the carry
   alone, but writes the other flags. Nothing is aligned; the last bytes by 4, 2 and 1. */
#include "../routine.h"
#include "x64_csum.inc"

ROUTINE x64_csum_naive_adc, "x64-csum-naive-adc", KIND_CHECKSUM
    xor eax, eax
    mov ecx, esi
    shr ecx, 3
    lea rdx, [rdi+8*rcx]
    sub ecx, 1                           /* no carry if there is a word */
    jb 2f
1:  adc rax, [rdi+8*rcx]
    dec ecx
    jge 1b
    adc rax, 0
2:  mov rdi, rdx
    FINISH_421
END x64_csum_naive_adc
