/* glibc-vec-erms-sse2: __memmove_sse2_unaligned_erms; glibc_vec_erms.inc. */
#include "../routine.h"
#include "glibc_vec_erms.inc"

MEMMOVE glibc_vec_erms_sse2, "glibc-vec-erms-sse2", 0, 16, xmm, movups, movaps, movntps
