/* i386-copy-user-mmx: the loop of i386-copy-user-intel with eight bytes an access through two MMX registers, as B.
   Pulavarty suggested in 2002. Saving the interrupted program's MMX registers is not in it. 32-bit registers and
   operands inside 64-bit mode. */
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

ROUTINE i386_copy_user_mmx, "i386-copy-user-mmx", KIND_USER_COPY
    COPY_BY_64 COPY_64_MMX, emms
END i386_copy_user_mmx
