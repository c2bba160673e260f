/* x64-memset-avx512: to 64 bytes a masked store; above, a vector, the destination advanced to a multiple of 64, four aligned
   vectors an iteration, and the last four, two or one over what has been set. */
#include "x64_avx512.inc"

ROUTINE x64_memset_avx512, "x64-memset-avx512", KIND_SET, NEEDS_AVX512
    vpbroadcastb zmm16, esi
    cmp rdx, 64
    ja 1f
    LOW_LANES rdx
    vmovdqu8 [rdi]{k1}, zmm16
    ret
1:  lea r8, [rdi+rdx]
    vmovdqu64 [rdi], zmm16
    vmovdqu64 [r8-64], zmm16
    cmp rdx, 128
    jbe 3f
    vmovdqu64 [rdi+64], zmm16
    vmovdqu64 [r8-128], zmm16
    cmp rdx, 256
    jbe 3f
    vmovdqu64 [r8-192], zmm16
    vmovdqu64 [r8-256], zmm16
    add rdi, 128
    and rdi, -64
    sub r8, 256
    cmp rdi, r8
    jae 3f
2:  .irp at, 0, 64, 128, 192
    vmovdqa64 [rdi+\at], zmm16
    .endr
    add rdi, 256
    cmp rdi, r8
    jb 2b
3:  ret
END x64_memset_avx512
