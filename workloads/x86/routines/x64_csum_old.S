/* x64-csum-old: the kernel's do_csum, A. Kleen, 2002 to 2021. Aligns to 2, 4 and 8 bytes; 64 bytes a turn as one chain
   of add, seven adc, adc 0; words; then 4, 2 and 1 bytes. An odd start adds its byte in the upper half and swaps the
   result. */
#include "../routine.h"
#include "x64_csum.inc"

ROUTINE x64_csum_old, "x64-csum-old", KIND_CHECKSUM
    xor eax, eax
    test esi, esi
    jz 9f
    mov r8d, edi
    test dil, 1
    jz 1f
    movzx eax, byte ptr [rdi]
    shl eax, 8
    inc rdi
    dec esi
1:  cmp esi, 2
    jb 7f
    test dil, 2
    jz 2f
    movzx edx, word ptr [rdi]
    add rax, rdx
    add rdi, 2
    sub esi, 2
2:  cmp esi, 4
    jb 7f
    test dil, 4
    jz 3f
    mov edx, [rdi]
    add rax, rdx
    add rdi, 4
    sub esi, 4
3:  mov ecx, esi
    shr ecx, 6
    jz 5f
4:  ADD_BYTES 64
    adc rax, 0
    add rdi, 64
    dec ecx
    jnz 4b
5:  mov ecx, esi
    shr ecx, 3
    and ecx, 7
    jz 8f
6:  add rax, [rdi]
    adc rax, 0
    add rdi, 8
    dec ecx
    jnz 6b
8:  FOLD_64
7:  ADD_LAST_421
    FOLD_64
    test r8b, 1
    jz 9f
    mov edx, eax                         /* to 16 bits, swapped */
    shr edx, 16
    add ax, dx
    adc ax, 0
    rol ax, 8
    movzx eax, ax
9:  ret
END x64_csum_old
