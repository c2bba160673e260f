/* folly-memcpy-avx2: 32 bytes a register; folly_memcpy.inc. */
#include "../routine.h"
#include "folly_memcpy.inc"

FOLLY folly_memcpy_avx2, "folly-memcpy-avx2", NEEDS_AVX2, 32, ymm, vmovdqu, vzeroupper
