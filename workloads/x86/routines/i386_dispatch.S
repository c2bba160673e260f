/* Who takes the 64-byte loop of i386-copy-user-intel:
     anand-src8  M. Anand's patch of 2002: copies of 64 bytes and more whose source is no multiple of 8; others are
                 i386-movsl-plain
     anand-dst8  its zeroing form: the destination decides
     movsl-mask  what the kernel then did on a Pentium II or III: copies of 64 bytes and more whose pointers differ in
                 their low three bits; others are i386-copy-user-generic
   32-bit registers and operands inside 64-bit mode. */
#include "../routine.h"

.macro ANAND symbol:req, name:req, pointer:req
ROUTINE \symbol, "\name", KIND_USER_COPY
    cmp edx, 63
    jbe i386_movsl_plain
    test \pointer, 7
    jz i386_movsl_plain
    jmp i386_copy_user_intel
END \symbol
.endm

ANAND anand_src8, "anand-src8", esi
ANAND anand_dst8, "anand-dst8", edi

ROUTINE movsl_mask, "movsl-mask", KIND_USER_COPY
    cmp edx, 64
    jb i386_copy_user_generic
    mov eax, esi
    xor eax, edi
    test eax, 7
    jz i386_copy_user_generic
    jmp i386_copy_user_intel
END movsl_mask
