/* i386-copy-user-nocache: H. Yoshioka, 2005: i386-copy-user-intel with movnti for stores and sfence after the
   iterations; up to 64 bytes it is i386-copy-user-generic. 32-bit registers and operands inside 64-bit mode. */
#include "../routine.h"
#include "i386_copy_user.inc"

.macro COPY_64_NOCACHE fixup:req
    COPY_64_PAIRS \fixup, movnti
.endm

ROUTINE i386_copy_user_nocache, "i386-copy-user-nocache", KIND_USER_COPY, NEEDS_SSE2
    cmp edx, 64
    jbe i386_copy_user_generic
    COPY_BY_64 COPY_64_NOCACHE, sfence
END i386_copy_user_nocache
