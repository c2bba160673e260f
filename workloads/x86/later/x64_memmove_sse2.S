/* x64-memmove-sse2: 16 bytes a register; x64_memmove_vector.inc. */
#include "x64_memmove_vector.inc"

MEMMOVE_VECTOR x64_memmove_sse2, "x64-memmove-sse2", NEEDS_SSE2, 16, xmm, movups, movaps
