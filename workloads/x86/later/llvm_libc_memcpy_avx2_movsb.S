/* llvm-libc-memcpy-avx2-movsb: llvm-libc-memcpy-avx2 built with a size from which rep movsb copies everything, asked before
   any other test (here 1024; 1: always); ../routines/llvm_libc_memcpy.inc. */
#include "../routine.h"
#include "../routines/llvm_libc_memcpy.inc"

MEMCPY llvm_libc_memcpy_avx2_movsb, "llvm-libc-memcpy-avx2-movsb", NEEDS_AVX2, 32, ymm, vmovdqu, vmovdqa, 64, vzeroupper, jb, 1024
