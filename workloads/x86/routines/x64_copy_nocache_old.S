/* x64-copy-nocache-old: the kernel's __copy_user_nocache, 2006 to 2023: the skeleton of x64-copy-unrolled with movnti
   for stores. Below eight bytes nothing is aligned. After the words, four bytes by a 32-bit movnti if the destination
   is a multiple of 4 (it is, but for a copy that was shorter than eight), other bytes through the cache. sfence at the
   end. */
#include "../routine.h"
#include "x64_copy_user.inc"

ROUTINE x64_copy_nocache_old, "x64-copy-nocache-old", KIND_USER_COPY, NEEDS_SSE2
    OPEN_USER
    cmp edx, 8
    jb 3f
    ALIGN_DESTINATION 4f, 7f
    mov ecx, edx
    and edx, 63
    shr ecx, 6
    jz 2f
1:  COPY_64 6f, movnti
    lea rsi, [rsi+64]
    lea rdi, [rdi+64]
    dec ecx
    jnz 1b
2:  COPY_WORDS 5f, movnti
3:  cmp edx, 4
    jb 4f
    test edi, 3
    jnz 4f
    MAY_FAULT 8f, mov r8d, [rsi]
    MAY_FAULT 8f, movnti [rdi], r8d
    lea rsi, [rsi+4]
    lea rdi, [rdi+4]
    sub edx, 4
4:  COPY_BYTES 9f
    CLOSE_USER
    xor eax, eax
    sfence
    ret
5:  lea edx, [rdx+8*rcx]                 /* ecx words and edx bytes */
    jmp 8f
6:  shl ecx, 6                           /* ecx iterations and edx bytes */
7:  add edx, ecx
8:  sfence
    RETRY_BYTES
9:  mov edx, ecx
    jmp 8b
END x64_copy_nocache_old
