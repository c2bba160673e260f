/* x64-memset-avx2-erms: 32 bytes a register, rep stosb from a length on (2048); x64_memset_vector.inc. */
#include "x64_memset_vector.inc"

MEMSET x64_memset_avx2_erms, "x64-memset-avx2-erms", NEEDS_AVX2, 32, ymm, vmovdqu, vmovdqa, 2048, vzeroupper
