/* anand-src8: M. Anand's patch of 2002: copies of 64 bytes and more whose source is no multiple of 8 take
   i386-copy-user-intel, others i386-movsl-plain. 32-bit registers and operands inside 64-bit mode. */
#include "../routine.h"

ROUTINE anand_src8, "anand-src8", KIND_USER_COPY
    cmp edx, 63
    jbe i386_movsl_plain
    test esi, 7
    jz i386_movsl_plain
    jmp i386_copy_user_intel
END anand_src8
