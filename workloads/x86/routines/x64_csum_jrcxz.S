/* x64-csum-jrcxz: D. Laight, 2016: four instructions a word, jrcxz, adc, lea, jmp, of which only adc touches a flag.
   Nothing is aligned; the last bytes by 4, 2 and 1. */
#include "../routine.h"
#include "x64_csum.inc"

ROUTINE x64_csum_jrcxz, "x64-csum-jrcxz", KIND_CHECKSUM
    xor eax, eax
    COUNT_UP 8
1:  jrcxz 2f
    adc rax, [rdi+rcx]
    lea rcx, [rcx+8]
    jmp 1b
2:  adc rax, 0
    FINISH_421
END x64_csum_jrcxz
