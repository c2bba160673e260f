/* For routines in C of every instruction set. */
#ifdef __riscv
#include "../riscv/routine.h"
#else
#include "../x86/routine.h"
#endif

/* The checksums that breakeven has a reference of (harness/references.c). */
extern const struct reference like_crc32c, like_adler32;
