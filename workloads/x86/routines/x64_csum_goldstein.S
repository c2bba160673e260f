/* x64-csum-goldstein: N. Goldstein, 2023. 40 bytes on their own; 64 bytes per iteration as two groups of four into two
   sums, each begun by an add that breaks the chain, the carries counted in a third register; then 32, 16 and 8, then
   one load of eight with zeros for what is missing. The fold is one rotate, one add, one shift. */
#include "../routine.h"
#include "x64_csum.inc"

.macro ROTATE_FOLD
    mov rdx, rax
    ror rdx, 32
    add rax, rdx
    shr rax, 32
.endm

ROUTINE x64_csum_goldstein, "x64-csum-goldstein", KIND_CHECKSUM
    xor eax, eax
    cmp esi, 40
    jne 1f
    ADD_BYTES 40
    adc rax, 0
    ROTATE_FOLD
    ret
1:  cmp esi, 64
    jb 3f
    xor edx, edx
    xor ecx, ecx
2:  ADD_BYTES 32
    adc ecx, 0
    ADD_BYTES 32, rdx, 32
    adc ecx, 0
    add rdi, 64
    sub esi, 64
    cmp esi, 64
    jae 2b
    add rax, rdx
    adc rax, rcx
    adc rax, 0
3:  ADD_32_16_8
    ADD_LAST_ZEROPAD
    ROTATE_FOLD
    ret
END x64_csum_goldstein
