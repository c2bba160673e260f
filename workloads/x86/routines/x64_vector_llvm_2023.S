/* llvm-libc-memcpy-avx2-2023: llvm-libc-memcpy-avx2 since 64 and 128 bytes are each the longest of their class, not the
   shortest of the next: two and four loads and stores in place of four and eight; llvm_libc_memcpy.inc. */
#include "../routine.h"
#include "llvm_libc_memcpy.inc"

MEMCPY llvm_libc_memcpy_avx2_2023, "llvm-libc-memcpy-avx2-2023", NEEDS_AVX2, 32, ymm, vmovdqu, vmovdqa, 64, \
    vzeroupper, jbe
