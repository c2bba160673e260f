/* x64-memset-avx2: 32 bytes a register; x64_memset_vector.inc. */
#include "x64_memset_vector.inc"

MEMSET x64_memset_avx2, "x64-memset-avx2", NEEDS_AVX2, 32, ymm, vmovdqu, vmovdqa, 0, vzeroupper
