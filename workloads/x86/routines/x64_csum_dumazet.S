/* x64-csum-dumazet: E. Dumazet, November 2021. 64 bytes a turn, then 32, 16 and 8, then one load of eight with zeros for what
   is missing. An odd start adds its byte in the upper half and swaps the folded result. */
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

/* x64-csum40-...: ways to sum the 40 bytes of an IPv6 header, collected by A. van de Ven in 2021; any other length is
   x64-csum-dumazet. The sum starts at a zero that is not known to be one, except in -zero.
     chain  one chain of five
     adx    words 1 to 3 on word 0 by adcx, word 4 by adox, then both together
     2s     the same with adc, one after the other
     4x32   ten 32-bit words in four chains; nothing is left to fold from 64 bits
     zero   chain, begun with the first word */
.macro FORTY symbol:req, name:req, flags=0
ROUTINE \symbol, "\name", KIND_CHECKSUM, \flags
    cmp esi, 40
    jne x64_csum_dumazet
.endm

FORTY x64_csum40_chain, "x64-csum40-chain"
    xor eax, eax
    ADD_BYTES 40
    adc rax, 0
    FOLD_64
    ret
END x64_csum40_chain

FORTY x64_csum40_adx, "x64-csum40-adx", NEEDS_ADX
    xor eax, eax                         /* neither carry nor overflow */
    mov rdx, [rdi]
    mov ecx, 0
    adcx rdx, [rdi+8]
    adox rax, [rdi+32]
    adcx rdx, [rdi+16]
    adox rax, rcx
    adcx rdx, [rdi+24]
    adcx rdx, rcx
    add rax, rdx
    adc rax, 0
    FOLD_64
    ret
END x64_csum40_adx

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

FORTY x64_csum40_zero, "x64-csum40-zero"
    mov rax, [rdi]
    add rax, [rdi+8]
    adc rax, [rdi+16]
    adc rax, [rdi+24]
    adc rax, [rdi+32]
    adc rax, 0
    FOLD_64
    ret
END x64_csum40_zero
