/* Copies through MMX registers, 1999 and 2000. Saving the interrupted program's MMX registers, which a kernel has to do
   before, is not in them. 32-bit registers and operands inside 64-bit mode. `prefetch` is 3DNow!'s.

   i386-mmx-memcpy: five lines fetched ahead, then 64 bytes a turn as four loads and four stores, twice; the last five turns
   do not prefetch, as it would lie beyond the source. The rest by rep movsl and rep movsb. */
#include "../routine.h"

#define AHEAD 320

.macro FETCH_FIVE_LINES
    .irp at, 0, 64, 128, 192, 256
    prefetch [rsi+\at]
    .endr
.endm

/* The rest of a copy, ecx bytes. */
.macro PLAIN_REST
    mov eax, ecx
    shr ecx, 2
    rep movsd
    and eax, 3
    jz .Ldone\@
    mov ecx, eax
    rep movsb
.Ldone\@:
    ret
.endm

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

.macro NEXT_64
    add rsi, 64
    add rdi, 64
    dec ecx
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

/* i386-k7-copy-page: a page of 4096 bytes. Each 64 bytes alternate a load with a non-temporal store, through eight
   registers, five lines ahead; the last 320 bytes do not prefetch; sfence. What a copy has beyond whole pages, which the
   original is not asked for, goes by rep movsl and rep movsb. */
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
