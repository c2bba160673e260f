/* x64-copy-unrolled: the kernel's copy_user_generic_unrolled, 2002 to 2023. Bytes until the destination is aligned to
   8, then 64 bytes per iteration through four registers, then words, then bytes. The source's alignment is ignored. */
#include "../routine.h"
#include "x64_copy_user.inc"

ROUTINE x64_copy_unrolled, "x64-copy-unrolled", KIND_USER_COPY
    OPEN_USER
    ALIGN_DESTINATION 2f, 4f
    mov ecx, edx
    and edx, 63
    shr ecx, 6
    jz 2f
1:  COPY_64 3f, mov
    lea rsi, [rsi+64]
    lea rdi, [rdi+64]
    dec ecx
    jnz 1b
2:  COPY_SHORT_AND_RETURN
3:  shl ecx, 6                           /* ecx iterations and edx bytes */
4:  add edx, ecx
    RETRY_BYTES
END x64_copy_unrolled
