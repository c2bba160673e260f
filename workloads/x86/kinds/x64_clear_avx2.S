/* x64-clear-avx2: zeros by stores of 32 bytes; x64_clear_vector.inc. */
#include "x64_clear_vector.inc"

CLEAR x64_clear_avx2, "x64-clear-avx2", NEEDS_AVX2, 32, ymm, vmovdqu, 0, vzeroupper
