/* x64-copy-string: the kernel's copy_user_generic_string in its later form. Below eight bytes rep movsb alone;
   otherwise the destination is aligned to 8 by bytes, rep movsq, and rep movsb of what is left, be it nothing. */
#include "../routine.h"
#include "x64_copy_user.inc"

ROUTINE x64_copy_string, "x64-copy-string", KIND_USER_COPY
    OPEN_USER
    cmp edx, 8
    jb 1f
    ALIGN_DESTINATION 1f, 2f
    mov ecx, edx
    shr ecx, 3
    and edx, 7
    MAY_FAULT 3f, rep movsq
1:  RETRY_BYTES
2:  add edx, ecx
    jmp 1b
3:  lea edx, [rdx+8*rcx]
    jmp 1b
END x64_copy_string
