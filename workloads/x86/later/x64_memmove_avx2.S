/* x64-memmove-avx2: 32 bytes a register; x64_memmove_vector.inc. */
#include "x64_memmove_vector.inc"

MEMMOVE_VECTOR x64_memmove_avx2, "x64-memmove-avx2", NEEDS_AVX2, 32, ymm, vmovdqu, vmovdqa, vzeroupper
