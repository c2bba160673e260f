/* glibc-vec-fsrm-avx2: __memmove_avx_unaligned_erms as on a processor with FSRM: rep movsb from 2112 bytes on, unless the
   source lies less than 64 bytes above the destination; ../routines/glibc_vec_erms.inc. */
#include "../routine.h"
#include "../routines/glibc_vec_erms.inc"

MEMMOVE glibc_vec_fsrm_avx2, "glibc-vec-fsrm-avx2", NEEDS_AVX2, 32, ymm, vmovdqu, vmovdqa, vmovntdq, vzeroupper, 1
