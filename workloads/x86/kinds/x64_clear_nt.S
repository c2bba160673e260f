/* x64-clear-nt: zeros by non-temporal stores of 16 bytes, past the caches; x64_clear_vector.inc. */
#include "x64_clear_vector.inc"

CLEAR x64_clear_nt, "x64-clear-nt", NEEDS_SSE2, 16, xmm, movdqu, 1
