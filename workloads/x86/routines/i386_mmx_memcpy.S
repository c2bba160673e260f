/* i386-mmx-memcpy: 1999. Five lines fetched ahead, then 64 bytes per iteration as four loads and four stores, twice;
   the last five iterations do not prefetch, as it would lie beyond the source. The rest by rep movsl and rep movsb.
   Saving the interrupted program's MMX registers is not in it. 32-bit registers and operands inside 64-bit mode. */
#include "../routine.h"
#include "i386_mmx.inc"

.macro FOUR_AND_FOUR
    .irp at, 0, 32
    movq mm0, [rsi+\at]
    movq mm1, [rsi+\at+8]
    movq mm2, [rsi+\at+16]
    movq mm3, [rsi+\at+24]
    movq [rdi+\at], mm0
    movq [rdi+\at+8], mm1
    movq [rdi+\at+16], mm2
    movq [rdi+\at+24], mm3
    .endr
.endm

ROUTINE i386_mmx_memcpy, "i386-mmx-memcpy", KIND_COPY
    mov ecx, edx
    shr ecx, 6
    FETCH_FIVE_LINES
    cmp ecx, 5
    jbe 2f
1:  prefetch [rsi+AHEAD]
    FOUR_AND_FOUR
    NEXT_64
    cmp ecx, 5
    ja 1b
2:  test ecx, ecx
    jz 4f
3:  FOUR_AND_FOUR
    NEXT_64
    jnz 3b
4:  emms
    mov ecx, edx
    and ecx, 63
    PLAIN_REST
END i386_mmx_memcpy
