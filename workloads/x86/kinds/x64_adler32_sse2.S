/* x64-adler32-sse2: Adler-32 sixteen bytes at a time. psadbw sums the bytes, pmaddwd each times the number of those from it on
   within the sixteen; what was summed before counts sixteen times more. The vectors' sums are taken out and reduced after 5552
   bytes. The last fewer than sixteen bytes one by one. */
#include "../routine.h"

    .section .rodata
    .balign 16
weights:
    .short 16, 15, 14, 13, 12, 11, 10, 9
    .short 8, 7, 6, 5, 4, 3, 2, 1

/* to += the two or four words of a vector */
.macro ADD_SUM vector:req, to:req
    pshufd xmm6, \vector, 0x4e
    paddd \vector, xmm6
    pshufd xmm6, \vector, 0xb1
    paddd \vector, xmm6
    movd eax, \vector
    add \to, rax
.endm

.macro MODULO of:req
    mov rax, \of
    xor edx, edx
    div r10
    mov \of, rdx
.endm

CHECKSUM_LIKE adler32, x64_adler32_sse2, "x64-adler32-sse2", NEEDS_SSE2
    mov r8d, 1                          /* sums: of the bytes, of its values */
    xor r9d, r9d
    mov r10d, 65521
    pxor xmm5, xmm5
    movdqa xmm4, weights[rip]
    movdqa xmm3, weights[rip+16]
1:  mov rcx, rsi
    shr rcx, 4
    jz 4f
    mov eax, 5552 / 16
    cmp rcx, rax
    cmova rcx, rax
    mov r11, rcx
    shl r11, 4
    sub rsi, r11
    imul r11, r8
    add r9, r11
    pxor xmm0, xmm0                     /* of the bytes; of its values before each sixteen; of weighted bytes */
    pxor xmm1, xmm1
    pxor xmm2, xmm2
2:  movdqu xmm6, [rdi]
    add rdi, 16
    paddd xmm1, xmm0
    movdqa xmm7, xmm6
    movdqa xmm8, xmm6
    psadbw xmm6, xmm5
    punpcklbw xmm7, xmm5
    punpckhbw xmm8, xmm5
    pmaddwd xmm7, xmm4
    pmaddwd xmm8, xmm3
    paddd xmm0, xmm6
    paddd xmm2, xmm7
    paddd xmm2, xmm8
    dec rcx
    jnz 2b
    ADD_SUM xmm0, r8
    ADD_SUM xmm2, r9
    xor r11d, r11d
    ADD_SUM xmm1, r11
    shl r11, 4
    add r9, r11
    MODULO r8
    MODULO r9
    jmp 1b
4:  and esi, 15
    jz 6f
5:  movzx eax, byte ptr [rdi]
    inc rdi
    add r8, rax
    add r9, r8
    dec esi
    jnz 5b
    MODULO r8
    MODULO r9
6:  shl r9d, 16
    lea eax, [r9+r8]
    ret
END x64_adler32_sse2
