/* i386-copy-user-intel: 2002, for 64 bytes and more: 64 per iteration as pairs of loads and pairs of stores through two
   registers, after early touches; the rest by rep movsl and rep movsb. Nothing is aligned. 32-bit registers and
   operands inside 64-bit mode. */
#include "../routine.h"
#include "i386_copy_user.inc"

ROUTINE i386_copy_user_intel, "i386-copy-user-intel", KIND_USER_COPY
    COPY_BY_64 COPY_64_PAIRS
END i386_copy_user_intel
