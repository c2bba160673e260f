/* x64-csum-avx512: 128 bytes an iteration in four sums of 64-bit lanes: of each 64-bit word the low half (a mask) and the high one
   (a shift), which cannot overflow; the last up to 128 bytes by masked loads, whose other lanes are zero. */
#include "x64_avx512.inc"
#include "../routines/x64_csum.inc"

.macro SUM_64 from:req, low:req, high:req
    vpsrlq zmm17, \from, 32
    vpandq \from, \from, zmm16
    vpaddq \high, \high, zmm17
    vpaddq \low, \low, \from
.endm

ROUTINE x64_csum_avx512, "x64-csum-avx512", KIND_CHECKSUM, NEEDS_AVX512
    mov eax, -1
    vpbroadcastq zmm16, rax
    .irp n, 20, 21, 22, 23
    vpxord zmm\n, zmm\n, zmm\n
    .endr
    sub rsi, 128
    jb 2f
1:  vmovdqu64 zmm18, [rdi]
    vmovdqu64 zmm19, [rdi+64]
    SUM_64 zmm18, zmm20, zmm21
    SUM_64 zmm19, zmm22, zmm23
    add rdi, 128
    sub rsi, 128
    jae 1b
2:  add esi, 128                        /* fewer than 128 */
    LOW_LANES rsi
    vmovdqu8 zmm18{k1}{z}, [rdi]
    SUM_64 zmm18, zmm20, zmm21
    sub esi, 64
    jbe 3f
    LOW_LANES rsi
    vmovdqu8 zmm19{k1}{z}, [rdi+64]
    SUM_64 zmm19, zmm22, zmm23
3:  vpaddq zmm20, zmm20, zmm21
    vpaddq zmm22, zmm22, zmm23
    vpaddq zmm20, zmm20, zmm22
    vextracti64x4 ymm17, zmm20, 1
    vpaddq ymm20, ymm20, ymm17
    vextracti32x4 xmm17, ymm20, 1
    vpaddq xmm20, xmm20, xmm17
    vpextrq rcx, xmm20, 1
    vmovq rax, xmm20
    add rax, rcx
    adc rax, 0
    FOLD_64
    ret
END x64_csum_avx512
