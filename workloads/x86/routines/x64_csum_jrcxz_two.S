/* x64-csum-jrcxz-two: x64-csum-jrcxz with two words per iteration (2010 and 2024); an odd word goes first. */
#include "../routine.h"
#include "x64_csum.inc"

ROUTINE x64_csum_jrcxz_two, "x64-csum-jrcxz-two", KIND_CHECKSUM
    ODD_WORD
    COUNT_UP 16
1:  jrcxz 2f
    adc rax, [rdi+rcx]
    adc rax, [rdi+rcx+8]
    lea rcx, [rcx+16]
    jmp 1b
2:  adc rax, 0
    FINISH_421
END x64_csum_jrcxz_two
