/* anand-dst8: the zeroing form of M. Anand's patch of 2002: as anand-src8, but the destination decides. 32-bit
   registers and operands inside 64-bit mode. */
#include "../routine.h"

ROUTINE anand_dst8, "anand-dst8", KIND_USER_COPY
    cmp edx, 63
    jbe i386_movsl_plain
    test edi, 7
    jz i386_movsl_plain
    jmp i386_copy_user_intel
END anand_dst8
