/* x64-csum-dec-lea: A. Duyck, 2016: 64 bytes per iteration, counted and advanced by dec and lea, which leave the carry
   alone. Nothing is aligned; words one at a time, the last bytes by 4, 2 and 1. */
#include "../routine.h"
#include "x64_csum.inc"

ROUTINE x64_csum_dec_lea, "x64-csum-dec-lea", KIND_CHECKSUM
    mov ecx, esi
    shr ecx, 6
    xor eax, eax
    test ecx, ecx
    jz 2f
1:  ADC_BYTES 64
    lea rdi, [rdi+64]
    dec ecx
    jnz 1b
    adc rax, 0
2:  mov ecx, esi
    shr ecx, 3
    and ecx, 7
    jz 4f
3:  adc rax, [rdi]
    lea rdi, [rdi+8]
    dec ecx
    jnz 3b
    adc rax, 0
4:  FINISH_421
END x64_csum_dec_lea
