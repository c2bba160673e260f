/* x64-copy-nocache-old: the kernel's __copy_user_nocache, 2006 to 2023: the skeleton of x64-copy-unrolled with movnti for
   stores. Below eight bytes nothing is aligned. After the words, four bytes by a 32-bit movnti if the destination is a
   multiple of 4 (it is, but for a copy that was shorter than eight), other bytes through the cache. sfence at the end. */
#include "../routine.h"
#include "x64_copy_user.inc"

ROUTINE x64_copy_nocache_old, "x64-copy-nocache-old", KIND_USER_COPY
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
6:  shl ecx, 6                           /* ecx turns and edx bytes */
7:  add edx, ecx
8:  sfence
    RETRY_BYTES
9:  mov edx, ecx
    jmp 8b
END x64_copy_nocache_old

/* x64-copy-nocache-2023: its successor. The destination is aligned by a byte and a 16-bit store through the cache and a
   32-bit movnti; 64 bytes a turn, eight, then four by movnti, sfence, and two and one through the cache. */
ROUTINE x64_copy_nocache_2023, "x64-copy-nocache-2023", KIND_USER_COPY
    OPEN_USER
    cmp rdx, 8
    jb 5f
    test dil, 1
    jz 1f
    MAY_FAULT 9f, mov al, [rsi]
    MAY_FAULT 9f, mov [rdi], al
    inc rsi
    inc rdi
    dec rdx
1:  test dil, 2
    jz 2f
    MAY_FAULT 9f, mov ax, [rsi]
    MAY_FAULT 9f, mov [rdi], ax
    add rsi, 2
    add rdi, 2
    sub rdx, 2
2:  test dil, 4
    jz 3f
    MAY_FAULT 9f, mov eax, [rsi]
    MAY_FAULT 9f, movnti [rdi], eax
    add rsi, 4
    add rdi, 4
    sub rdx, 4
3:  cmp rdx, 64
    jb 5f
4:  COPY_64 9f, movnti
    add rsi, 64
    add rdi, 64
    sub rdx, 64
    cmp rdx, 64
    jae 4b
5:  cmp rdx, 8
    jb 6f
    MAY_FAULT 9f, mov rax, [rsi]
    MAY_FAULT 9f, movnti [rdi], rax
    add rsi, 8
    add rdi, 8
    sub rdx, 8
    jmp 5b
6:  test dl, 4
    jz 7f
    MAY_FAULT 9f, mov eax, [rsi]
    MAY_FAULT 9f, movnti [rdi], eax
    add rsi, 4
    add rdi, 4
    sub rdx, 4
7:  sfence
    test dl, 2
    jz 8f
    MAY_FAULT 9f, mov ax, [rsi]
    MAY_FAULT 9f, mov [rdi], ax
    add rsi, 2
    add rdi, 2
    sub rdx, 2
8:  test dl, 1
    jz 10f
    MAY_FAULT 9f, mov al, [rsi]
    MAY_FAULT 9f, mov [rdi], al
    dec rdx
10: CLOSE_USER
    mov rax, rdx
    ret
9:  sfence
    RETRY_BYTES
END x64_copy_nocache_2023
