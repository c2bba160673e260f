/* llvm-libc-memcpy: 16 bytes a register, 32 per iteration; llvm_libc_memcpy.inc. */
#include "../routine.h"
#include "llvm_libc_memcpy.inc"

MEMCPY llvm_libc_memcpy, "llvm-libc-memcpy", 0, 16, xmm, movups, movaps, 32
