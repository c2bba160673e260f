/* i386-movsl-plain: the kernel's user copy up to 2.5.18 or so: words by rep movsl, the rest by rep movsb; nothing
   aligned. 32-bit registers and operands inside 64-bit mode. */
#include "../routine.h"
#include "i386_copy_user.inc"

ROUTINE i386_movsl_plain, "i386-movsl-plain", KIND_USER_COPY
    OPEN_USER
    mov ecx, edx
    MOVSL_MOVSB
END i386_movsl_plain
