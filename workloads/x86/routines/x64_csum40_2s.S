/* x64-csum40-2s: the two sums of x64-csum40-adx by adc, one after the other; any other length is x64-csum-dumazet. */
#include "../routine.h"
#include "x64_csum40.inc"

FORTY x64_csum40_2s, "x64-csum40-2s"
    xor eax, eax
    mov rcx, [rdi]
    add rcx, [rdi+8]
    adc rcx, [rdi+16]
    adc rcx, [rdi+24]
    adc rcx, 0
    add rax, [rdi+32]
    adc rax, 0
    add rax, rcx
    adc rax, 0
    FOLD_64
    ret
END x64_csum40_2s
