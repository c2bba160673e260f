/* glibc-vec-erms-avx512: __memmove_avx512_unaligned_erms of before 2021, which ends with vzeroupper; glibc_vec_erms.inc. */
#include "../routine.h"
#include "../routines/glibc_vec_erms.inc"

MEMMOVE glibc_vec_erms_avx512, "glibc-vec-erms-avx512", NEEDS_AVX512, 64, zmm, vmovdqu64, vmovdqa64, vmovntdq, vzeroupper
