/* i386-csumcopy-486: 1995. A 16-bit move aligns a destination that is 2 modulo 4; then 32 bytes per iteration as four
   pairs through ebx and edx, the carry alive across iterations because lea and dec leave it alone; words; the last one
   to three bytes as one number (a 16-bit word in the upper half counts as in the lower). 32-bit registers and operands
   inside 64-bit mode. */
#include "../routine.h"
#include "i386_csumcopy.inc"

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
