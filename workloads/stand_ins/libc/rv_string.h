/* Stands in for a header of picolibc's and newlib's, which chooses a file's variant: vectors where the compiler may use them,
   else the one in assembly or the general one; a file holds one of these two. */
#pragma once
#ifdef __riscv_vector
#define _MACHINE_RISCV_MEMCPY_VECTOR_
#define _MACHINE_RISCV_MEMMOVE_VECTOR_
#define _MACHINE_RISCV_MEMSET_VECTOR_
#else
#define _MACHINE_RISCV_MEMCPY_ASM_
#define _MACHINE_RISCV_MEMMOVE_ASM_
#define _MACHINE_RISCV_MEMSET_ASM_
#define _MACHINE_RISCV_MEMCPY_C_
#define _MACHINE_RISCV_MEMMOVE_C_
#define _MACHINE_RISCV_MEMMOVE_GENERIC_
#define _MACHINE_RISCV_MEMSET_C_
#endif
