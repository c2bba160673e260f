/* Stands in for a C library's header with macros for assembly, which code in C also includes. */
#ifdef __ASSEMBLER__
#include <stand_in_libc/assembly.h>
#elif defined(__riscv)
#define PTRLOG 3
#define SZREG 8
#endif
