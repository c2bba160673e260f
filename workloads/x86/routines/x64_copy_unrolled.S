/* x64-copy-unrolled: the kernel's copy_user_generic_unrolled, 2002 to 2023, and the two that fall back on it.

   Bytes until the destination is aligned to 8, then 64 bytes a turn through four registers, then words, then bytes. The
   source's alignment is ignored. */
#include "../routine.h"
#include "x64_copy_user.inc"

ROUTINE x64_copy_unrolled, "x64-copy-unrolled", KIND_USER_COPY
    OPEN_USER
    ALIGN_DESTINATION 3f, 7f
    mov ecx, edx
    and edx, 63
    shr ecx, 6
    jz 2f
1:  COPY_64 6f, mov
    lea rsi, [rsi+64]
    lea rdi, [rdi+64]
    dec ecx
    jnz 1b
.Lshort_tail:
2:  COPY_WORDS 5f, mov
3:  COPY_BYTES 4f
    CLOSE_USER
    xor eax, eax
    ret
4:  xor edx, edx                         /* ecx bytes */
    jmp 7f
5:  lea edx, [rdx+8*rcx]                 /* ecx words and edx bytes */
    jmp 8f
6:  shl ecx, 6                           /* ecx turns and edx bytes */
7:  add edx, ecx
8:  RETRY_BYTES
END x64_copy_unrolled

/* x64-copy-erms-short: 2017. Below 64 bytes the end of the unrolled copy, which does not align; otherwise rep movsb. */
ROUTINE x64_copy_erms_short, "x64-copy-erms-short", KIND_USER_COPY
    OPEN_USER
    cmp edx, 64
    jb .Lshort_tail
    RETRY_BYTES
END x64_copy_erms_short

/* x64-copy-erms-threshold: proposed in 2018. Copies shorter than the parameter go the unrolled way, others by rep movsb;
   64, 128 (the default) and 256 were argued for. */
ROUTINE x64_copy_erms_threshold, "x64-copy-erms-threshold", KIND_USER_COPY, 0, 128
    cmp edx, ecx
    jb x64_copy_unrolled
    OPEN_USER
    RETRY_BYTES
END x64_copy_erms_threshold
