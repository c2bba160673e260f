/* i386-copy-user-generic: 2002 to 2022. From eight bytes on the destination is aligned to 8 by rep movsb, then rep
   movsl and rep movsb; below, rep movsb alone. 32-bit registers and operands inside 64-bit mode. */
#include "../routine.h"
#include "i386_copy_user.inc"

ROUTINE i386_copy_user_generic, "i386-copy-user-generic", KIND_USER_COPY
    OPEN_USER
    mov ecx, edx
    cmp ecx, 7
    jbe 1f
    mov ecx, edi
    neg ecx
    and ecx, 7
    sub edx, ecx
    MAY_FAULT 3f, rep movsb
    mov ecx, edx
    shr ecx, 2
    and edx, 3
    MAY_FAULT 2f, rep movsd
    mov ecx, edx
1:  MAY_FAULT 4f, rep movsb
    jmp 4f
2:  shl ecx, 2
3:  add ecx, edx
4:  CLOSE_USER
    mov eax, ecx
    ret
END i386_copy_user_generic
