/* movsl-mask: what the kernel did on a Pentium II or III from 2002 on: copies of 64 bytes and more whose pointers
   differ in their low three bits take i386-copy-user-intel, others i386-copy-user-generic. 32-bit registers and
   operands inside 64-bit mode. */
#include "../routine.h"

ROUTINE movsl_mask, "movsl-mask", KIND_USER_COPY
    cmp edx, 64
    jb i386_copy_user_generic
    mov eax, esi
    xor eax, edi
    test eax, 7
    jz i386_copy_user_generic
    jmp i386_copy_user_intel
END movsl_mask
