/* llvm-libc-memcpy-avx2: 32 bytes a register, 64 per iteration; llvm_libc_memcpy.inc. */
#include "../routine.h"
#include "llvm_libc_memcpy.inc"

MEMCPY llvm_libc_memcpy_avx2, "llvm-libc-memcpy-avx2", NEEDS_AVX2, 32, ymm, vmovdqu, vmovdqa, 64, vzeroupper
