/* x64-memcpy-avx512: unaligned vectors of 64 bytes and a masked tail; x64_avx512.inc. */
#include "x64_avx512.inc"

COPY_AVX512 x64_memcpy_avx512, "x64-memcpy-avx512", vmovdqu64
