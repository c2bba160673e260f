/* x64-memcpy-avx512-aligned: as x64-memcpy-avx512, the destination aligned to 64 bytes first; x64_avx512.inc. */
#include "x64_avx512.inc"

COPY_AVX512 x64_memcpy_avx512_aligned, "x64-memcpy-avx512-aligned", vmovdqa64, 1
