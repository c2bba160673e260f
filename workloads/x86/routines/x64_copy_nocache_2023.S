/* x64-copy-nocache-2023: the kernel's uncached user copy since April 2023. The destination is aligned by a byte and a
   16-bit store through the cache and a 32-bit movnti; 64 bytes per iteration, eight, then four by movnti, sfence, and
   two and one through the cache. */
#include "../routine.h"
#include "x64_copy_user.inc"

ROUTINE x64_copy_nocache_2023, "x64-copy-nocache-2023", KIND_USER_COPY, NEEDS_SSE2
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
