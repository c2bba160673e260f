/* x64-csum-dumazet: E. Dumazet, November 2021. 64 bytes per iteration, then 32, 16 and 8, then one load of eight with
   zeros for what is missing. An odd start adds its byte in the upper half and swaps the folded result. */
#include "../routine.h"
#include "x64_csum.inc"

ROUTINE x64_csum_dumazet, "x64-csum-dumazet", KIND_CHECKSUM
    xor eax, eax
    mov r8d, edi
    and r8d, 1
    jz 1f
    test esi, esi
    jz 4f
    movzx eax, byte ptr [rdi]
    shl eax, 8
    inc rdi
    dec esi
1:  cmp esi, 64
    jb 3f
2:  ADD_BYTES 64
    adc rax, 0
    add rdi, 64
    sub esi, 64
    cmp esi, 64
    jae 2b
3:  ADD_32_16_8
    ADD_LAST_ZEROPAD
    FOLD_64
    test r8d, r8d
    jz 4f
    mov edx, eax
    shr edx, 16
    add ax, dx
    adc ax, 0
    rol ax, 8
    movzx eax, ax
4:  ret
END x64_csum_dumazet
