/* sol-kcopy-nta: uiomove's copy past the caches, 2008. From 128 bytes, both addresses multiples of 4 and the length of
   16: 16 bytes per iteration, prefetchnta 256 bytes ahead, two 8-byte loads, two movnti, a negative index counting up
   to 0; mfence. Anything else is sol-bcopy, with the parameter. */
#include "../routine.h"

ROUTINE sol_kcopy_nta, "sol-kcopy-nta", KIND_COPY, NEEDS_SSE2, 128
    cmp rdx, 128
    jb sol_bcopy
    mov eax, esi
    or eax, edi
    test eax, 3
    jnz sol_bcopy
    test edx, 15
    jnz sol_bcopy
    mov rcx, rdx
    shr rcx, 3
    lea rsi, [rsi+rdx]
    lea rdi, [rdi+rdx]
    neg rcx
1:  prefetchnta [rsi+8*rcx+256]
    mov rax, [rsi+8*rcx]
    mov r8, [rsi+8*rcx+8]
    movnti [rdi+8*rcx], rax
    movnti [rdi+8*rcx+8], r8
    add rcx, 2
    jnz 1b
    mfence
    ret
END sol_kcopy_nta
