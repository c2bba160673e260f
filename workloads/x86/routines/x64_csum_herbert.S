/* x64-csum-herbert: T. Herbert's csum_partial of March 2016 (v5). Eight bytes: two 32-bit adds. Fewer: one load of eight, zeros
   for what is missing, masked. More: 64 bytes a turn while there are more than 64; a jump into eight adc of four code bytes
   each (that without a displacement has three, and a nop); the eight bytes that end the buffer, less those already in.
   Nothing is aligned.
   x64-csum-herbert-pagecheck: a test first sends a buffer that crosses a page to x64-csum-old. */
#include "../routine.h"
#include "x64_csum.inc"

.macro HERBERT
    xor eax, eax
    cmp esi, 8
    ja 2f
    jb 1f
    add eax, [rdi]
    adc eax, [rdi+4]
    adc eax, 0
    ret
1:  ADD_LAST_ZEROPAD
    FOLD_64
    ret
2:  cmp esi, 64
    jbe 4f
3:  ADD_BYTES 64
    adc rax, 0
    add rdi, 64
    sub esi, 64
    cmp esi, 64
    ja 3b
4:  mov ecx, esi
    shr ecx, 3
    mov edx, ecx
    neg rdx
    lea rdx, [4*rdx+.Lin\@]
    test eax, eax                        /* no carry */
    jmp rdx
    .irp at, 56, 48, 40, 32, 24, 16, 8
    adc rax, [rdi+\at]
    .endr
    adc rax, [rdi]
    nop
.Lin\@:
    adc rax, 0
    lea rdi, [rdi+8*rcx]
    and esi, 7
    jz 5f
    mov rdx, [rdi+rsi-8]
    shl esi, 3
    mov ecx, 64
    sub ecx, esi
    shr rdx, cl
    add rax, rdx
    adc rax, 0
5:  FOLD_64
    ret
.endm

ROUTINE x64_csum_herbert, "x64-csum-herbert", KIND_CHECKSUM
    HERBERT
END x64_csum_herbert

ROUTINE x64_csum_herbert_pagecheck, "x64-csum-herbert-pagecheck", KIND_CHECKSUM
    mov eax, edi
    and eax, 4095
    add eax, esi
    cmp eax, 4096
    ja x64_csum_old
    HERBERT
END x64_csum_herbert_pagecheck
