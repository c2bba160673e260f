/* x64-csum-old: the kernel's csum_partial around do_csum, A. Kleen, 2002 to 2021. Aligns to 2, 4 and 8 bytes; 64 bytes
   per iteration as one chain of add, seven adc, adc of a zero; words; folded, the last 4, 2 and 1 bytes without a
   carry; the caller's sum, here 0. An odd start is thought unlikely: it adds its byte in the upper half and swaps the
   result. */
#include "../routine.h"
#include "x64_csum.inc"

/* `bit` bytes at rdi if esi says so; the folded sum has room. */
.macro ADD_TAIL bit:req, load:vararg
    test sil, \bit
    jz .Lno\@
    \load
    add rdi, \bit
    add rax, rdx
.Lno\@:
.endm

/* `bit` bytes at rdi if it is not aligned to more; ecx counts such units. */
.macro ALIGN_BY bit:req, load:vararg
    test dil, \bit
    jz .Laligned\@
    \load
    add rax, rdx
    dec ecx
    sub esi, \bit
    add rdi, \bit
.Laligned\@:
.endm

ROUTINE x64_csum_old, "x64-csum-old", KIND_CHECKSUM
    xor eax, eax
    xor r9d, r9d                         /* the caller's sum */
    test esi, esi
    jz 9f
    mov r8d, edi
    and r8d, 1
    jnz 10f
1:  mov ecx, esi
    shr ecx, 1                           /* units of 2 bytes */
    jz 7f
    ALIGN_BY 2, movzx edx, word ptr [rdi]
    shr ecx, 1                           /* of 4 */
    jz 6f
    ALIGN_BY 4, mov edx, [rdi]
    shr ecx, 1                           /* of 8 */
    xor r10d, r10d
    mov edx, ecx
    shr edx, 3
    jz 3f
2:  ADD_BYTES 64
    adc rax, r10
    add rdi, 64
    dec edx
    jnz 2b
3:  and ecx, 7
    jz 5f
4:  add rax, [rdi]
    adc rax, r10
    add rdi, 8
    dec ecx
    jnz 4b
5:  FOLD_64
    ADD_TAIL 4, mov edx, [rdi]
6:  ADD_TAIL 2, movzx edx, word ptr [rdi]
7:  ADD_TAIL 1, movzx edx, byte ptr [rdi]
    FOLD_64
    test r8d, r8d
    jnz 11f
9:  add eax, r9d
    adc eax, 0
    ret
10: movzx eax, byte ptr [rdi]
    shl eax, 8
    inc rdi
    dec esi
    jmp 1b
11: mov edx, eax                         /* to 16 bits, swapped */
    shr edx, 16
    add ax, dx
    adc ax, 0
    rol ax, 8
    movzx eax, ax
    jmp 9b
END x64_csum_old
