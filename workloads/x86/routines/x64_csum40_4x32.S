/* x64-csum40-4x32: ten 32-bit words in four chains; nothing is left to fold from 64 bits; any other length is
   x64-csum-dumazet. */
#include "../routine.h"
#include "x64_csum40.inc"

FORTY x64_csum40_4x32, "x64-csum40-4x32"
    xor eax, eax
    mov ecx, [rdi+12]
    mov edx, [rdi+24]
    mov r8d, [rdi+32]
    add eax, [rdi]
    adc eax, [rdi+4]
    adc eax, [rdi+8]
    adc eax, 0
    add ecx, [rdi+16]
    adc ecx, [rdi+20]
    adc ecx, 0
    add edx, [rdi+28]
    adc edx, 0
    add r8d, [rdi+36]
    adc r8d, 0
    add eax, ecx
    adc edx, r8d
    adc eax, edx
    adc eax, 0
    ret
END x64_csum40_4x32
