/* i386-csumcopy-ppro: 1998. 64 bytes per iteration, 16 times load, adc, store. What is over of the words, up to 15,
   comes first: a jump into the iteration. Each whole iteration begins by touching its two lines of 32 bytes. The groups
   have eight bytes of code each. 32-bit registers and operands inside 64-bit mode. */
#include "../routine.h"
#include "i386_csumcopy.inc"

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
