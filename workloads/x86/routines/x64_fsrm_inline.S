/* x64-fsrm-inline: the kernel's user copy since 2023 where FSRM is there: rep movsb at the call site, with the length
   in rcx before and the bytes not copied in rcx after. What the call adds here belongs to the harness and is
   subtracted; so this is the whole routine. */
#include "../routine.h"

ROUTINE x64_fsrm_inline, "x64-fsrm-inline", KIND_USER_COPY
    mov rcx, rdx
    OPEN_USER
    MAY_FAULT 1f, rep movsb
1:  CLOSE_USER
    mov rax, rcx
    ret
END x64_fsrm_inline
