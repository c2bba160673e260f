/* i386-copy-user-intel: 2002, for 64 bytes and more: 64 a turn as pairs of loads and pairs of stores through two registers,
   after early touches; the rest by rep movsl and rep movsb. Nothing is aligned. Its MMX form moves eight bytes an access
   (as B. Pulavarty suggested), and its non-temporal form of 2005 stores by movnti and ends the turns with sfence. Below 64
   bytes each is its own end; the non-temporal form is i386-copy-user-generic up to 64.
   32-bit registers and operands inside 64-bit mode. */
#include "../routine.h"
#include "i386_copy_user.inc"

.macro COPY_64_MMX fixup:req
    .irp at, 0, 16, 32, 48
    MAY_FAULT \fixup, movq mm0, [rsi+\at]
    MAY_FAULT \fixup, movq mm1, [rsi+\at+8]
    MAY_FAULT \fixup, movq [rdi+\at], mm0
    MAY_FAULT \fixup, movq [rdi+\at+8], mm1
    .endr
.endm

.macro COPY_64_NOCACHE fixup:req
    COPY_64_PAIRS \fixup, movnti
.endm

.macro COPY_USER symbol:req, name:req, copy64:req, after
ROUTINE \symbol, "\name", KIND_USER_COPY
    .ifc \after, sfence
    cmp edx, 64
    jbe i386_copy_user_generic
    .endif
    OPEN_USER
    mov ecx, edx
    cmp ecx, 63
    jbe 1f
    TURNS_OF_64 2f, \copy64
    \after
1:  MOVSL_MOVSB
2:  \after
    CLOSE_USER
    mov eax, ecx
    ret
END \symbol
.endm

COPY_USER i386_copy_user_intel, "i386-copy-user-intel", COPY_64_PAIRS
COPY_USER i386_copy_user_mmx, "i386-copy-user-mmx", COPY_64_MMX, emms
COPY_USER i386_copy_user_nocache, "i386-copy-user-nocache", COPY_64_NOCACHE, sfence
