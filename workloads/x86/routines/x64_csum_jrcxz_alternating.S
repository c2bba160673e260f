/* x64-csum-jrcxz-alternating: for processors whose adc takes two cycles from register to register but one from flag to
   flag (Sandy Bridge to Haswell): the carry goes from one sum to the other, 32 bytes per iteration; 8 and 16 bytes
   first if the length has them; the last bytes by 4, 2 and 1. */
#include "../routine.h"
#include "x64_csum.inc"

ROUTINE x64_csum_jrcxz_alternating, "x64-csum-jrcxz-alternating", KIND_CHECKSUM
    ODD_WORD
    mov ecx, esi
    xor edx, edx
    and ecx, -32
    mov r8, rcx
    neg rcx
    bt esi, 4
    jnc 1f
    add rax, [rdi]
    adc rdx, [rdi+8]
    lea rdi, [rdi+16]
1:  lea rdi, [rdi+r8]
2:  jrcxz 3f
    adc rax, [rdi+rcx]
    adc rdx, [rdi+rcx+8]
    adc rax, [rdi+rcx+16]
    adc rdx, [rdi+rcx+24]
    lea rcx, [rcx+32]
    jmp 2b
3:  adc rax, rdx
    adc rax, 0
    FINISH_421
END x64_csum_jrcxz_alternating
