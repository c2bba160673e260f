/* x64-csum-avx2: 64 bytes per iteration, 32-bit lanes widened to 64 by unpacking with zero, into four sums, which
   cannot overflow; then all lanes together. What is left of 64 bytes goes through general registers. Saving the
   interrupted program's vector registers, which a kernel has to do before, is not in it. */
#include "../routine.h"
#include "x64_csum.inc"

ROUTINE x64_csum_avx2, "x64-csum-avx2", KIND_CHECKSUM, NEEDS_AVX2
    xor eax, eax
    mov ecx, esi
    shr ecx, 6
    jz 2f
    vpxor xmm0, xmm0, xmm0
    vpxor xmm1, xmm1, xmm1
    vpxor xmm2, xmm2, xmm2
    vpxor xmm3, xmm3, xmm3
    vpxor xmm4, xmm4, xmm4
1:  vmovdqu ymm5, [rdi]
    vmovdqu ymm6, [rdi+32]
    vpunpckldq ymm7, ymm5, ymm0
    vpunpckhdq ymm5, ymm5, ymm0
    vpunpckldq ymm8, ymm6, ymm0
    vpunpckhdq ymm6, ymm6, ymm0
    vpaddq ymm1, ymm1, ymm7
    vpaddq ymm2, ymm2, ymm5
    vpaddq ymm3, ymm3, ymm8
    vpaddq ymm4, ymm4, ymm6
    add rdi, 64
    dec ecx
    jnz 1b
    vpaddq ymm1, ymm1, ymm2
    vpaddq ymm3, ymm3, ymm4
    vpaddq ymm1, ymm1, ymm3
    vextracti128 xmm2, ymm1, 1
    vpaddq xmm1, xmm1, xmm2
    vpsrldq xmm2, xmm1, 8
    vpaddq xmm1, xmm1, xmm2
    vmovq rax, xmm1
    vzeroupper
2:  ADD_32_16_8
    ADD_LAST_421
    FOLD_64
    ret
END x64_csum_avx2
