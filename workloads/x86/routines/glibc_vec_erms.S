/* glibc-vec-erms-sse2 and -avx2: __memmove_sse2_unaligned_erms and __memmove_avx_unaligned_erms. */
#include "../routine.h"
#include "glibc_vec_erms.inc"

MEMMOVE glibc_vec_erms_sse2, "glibc-vec-erms-sse2", 0, 16, xmm, movups, movaps, movntps
MEMMOVE glibc_vec_erms_avx2, "glibc-vec-erms-avx2", NEEDS_AVX2, 32, ymm, vmovdqu, vmovdqa, vmovntdq, vzeroupper
