/* glibc-vec-erms-avx2: __memmove_avx_unaligned_erms; glibc_vec_erms.inc. */
#include "../routine.h"
#include "glibc_vec_erms.inc"

MEMMOVE glibc_vec_erms_avx2, "glibc-vec-erms-avx2", NEEDS_AVX2, 32, ymm, vmovdqu, vmovdqa, vmovntdq, vzeroupper
