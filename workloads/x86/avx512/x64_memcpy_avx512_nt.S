/* x64-memcpy-avx512-nt: as x64-memcpy-avx512-aligned, past the caches: a whole line by each non-temporal store. The masked tail
   goes through the caches, since no masked store is non-temporal; x64_avx512.inc. */
#include "x64_avx512.inc"

COPY_AVX512 x64_memcpy_avx512_nt, "x64-memcpy-avx512-nt", vmovntdq, 1, sfence
