/* x64-clear-sse2: zeros by stores of 16 bytes; x64_clear_vector.inc. */
#include "x64_clear_vector.inc"

CLEAR x64_clear_sse2, "x64-clear-sse2", NEEDS_SSE2, 16, xmm, movdqu
