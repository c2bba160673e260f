/* Copy and checksum in one, of the 32-bit kernels. The sum starts at 0, as the caller's did then; faults, which the originals
   report, do not occur here. 32-bit registers and operands inside 64-bit mode.

   i386-csumcopy-486: a 16-bit move aligns a destination that is 2 modulo 4; then 32 bytes a turn as four pairs through ebx
   and edx, the carry alive across turns because lea and dec leave it alone; words; the last one to three bytes as one
   number (a 16-bit word in the upper half counts as in the lower). */
#include "../routine.h"

/* The last edx & 3 bytes. */
.macro LAST_BYTES
    and edx, 3
    jz .Ldone\@
    xor ecx, ecx
    cmp edx, 2
    jb .Lbyte\@
    mov cx, [rsi]
    lea rsi, [rsi+2]
    mov [rdi], cx
    lea rdi, [rdi+2]
    je .Ladd\@
    shl ecx, 16
.Lbyte\@:
    mov cl, [rsi]
    mov [rdi], cl
.Ladd\@:
    add eax, ecx
    adc eax, 0
.Ldone\@:
.endm

ROUTINE i386_csumcopy_486, "i386-csumcopy-486", KIND_COPY_CHECKSUM
    push rbx
    push rbp
    xor eax, eax
    mov ecx, edx
    test edi, 2
    jz 2f
    sub ecx, 2
    jae 1f
    add ecx, 2                           /* fewer than two bytes */
    jmp 2f
1:  mov bx, [rsi]
    lea rsi, [rsi+2]
    mov [rdi], bx
    lea rdi, [rdi+2]
    add ax, bx
    adc eax, 0
2:  mov ebp, ecx
    shr ecx, 5
    jz 4f
    test esi, esi
3:  .irp at, 0, 8, 16, 24
    mov ebx, [rsi+\at]
    mov edx, [rsi+\at+4]
    adc eax, ebx
    mov [rdi+\at], ebx
    adc eax, edx
    mov [rdi+\at+4], edx
    .endr
    lea rsi, [rsi+32]
    lea rdi, [rdi+32]
    dec ecx
    jne 3b
    adc eax, 0
4:  mov ecx, ebp
    mov edx, ebp
    and ecx, 0x1c
    je 6f
    shr ecx, 2
    test esi, esi
5:  mov ebx, [rsi]
    adc eax, ebx
    mov [rdi], ebx
    lea rsi, [rsi+4]
    lea rdi, [rdi+4]
    dec ecx
    jne 5b
    adc eax, 0
6:  LAST_BYTES
    pop rbp
    pop rbx
    ret
END i386_csumcopy_486

/* i386-csumcopy-ppro: 64 bytes a turn, 16 times load, adc, store. What is over of the words, up to 15, comes first: a jump
   into the turn. Each whole turn begins by touching its two lines of 32 bytes. The groups have eight bytes of code each. */
.macro GROUP at:req, add=adc
    mov ebx, [rsi+\at]
    \add eax, ebx
    mov [rdi+\at], ebx
.endm

ROUTINE i386_csumcopy_ppro, "i386-csumcopy-ppro", KIND_COPY_CHECKSUM
    push rbx
    push rdx
    mov ecx, edx
    mov ebx, edx
    shr ecx, 6
    and ebx, 0x3c
    neg rbx
    sub rsi, rbx
    sub rdi, rbx
    lea rdx, [rsi-1]
    and rdx, -32
    lea rbx, [2*rbx+2f]
    xor eax, eax                         /* no carry */
    jmp rbx
1:  add rsi, 64
    add rdi, 64
    mov bl, [rdx-32]
    mov bl, [rdx]
    GROUP -64, add
    .irp at, -60, -56, -52, -48, -44, -40, -36, -32, -28, -24, -20, -16, -12, -8, -4
    GROUP \at
    .endr
2:  adc eax, 0
    add rdx, 64
    dec ecx
    jge 1b
    pop rdx
    LAST_BYTES
    pop rbx
    ret
END i386_csumcopy_ppro
