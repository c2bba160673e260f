/* i386-k7-copy-page: 2000, a page of 4096 bytes. Each 64 bytes alternate a load with a non-temporal store, through
   eight MMX registers, five lines ahead; the last 320 bytes do not prefetch; sfence. What a copy has beyond whole
   pages, which the original is not asked for, goes by rep movsl and rep movsb. Saving the interrupted program's MMX
   registers is not in it. 32-bit registers and operands inside 64-bit mode. */
#include "../routine.h"
#include "i386_mmx.inc"

.macro ALTERNATE
    .irp r, 0, 1, 2, 3, 4, 5, 6, 7
    movq mm\r, [rsi+8*\r]
    movntq [rdi+8*\r], mm\r
    .endr
.endm

ROUTINE i386_k7_copy_page, "i386-k7-copy-page", KIND_COPY
    mov eax, edx
    shr eax, 12
    jz 4f
1:  FETCH_FIVE_LINES
    mov ecx, (4096 - AHEAD) / 64
2:  prefetch [rsi+AHEAD]
    ALTERNATE
    NEXT_64
    jnz 2b
    mov ecx, AHEAD / 64
3:  ALTERNATE
    NEXT_64
    jnz 3b
    sfence
    emms
    dec eax
    jnz 1b
4:  mov ecx, edx
    and ecx, 4095
    PLAIN_REST
END i386_k7_copy_page
