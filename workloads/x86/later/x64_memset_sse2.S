/* x64-memset-sse2: 16 bytes a register; x64_memset_vector.inc. */
#include "x64_memset_vector.inc"

MEMSET x64_memset_sse2, "x64-memset-sse2", NEEDS_SSE2, 16, xmm, movups, movaps
