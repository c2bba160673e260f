/* x64-memset-stosq: rep stosq, and rep stosb for the last fewer than eight bytes. */
#include "../routine.h"

ROUTINE x64_memset_stosq, "x64-memset-stosq", KIND_SET
    movzx eax, sil
    movabs r8, 0x0101010101010101
    imul rax, r8
    mov rcx, rdx
    and edx, 7
    shr rcx, 3
    rep stosq
    mov ecx, edx
    rep stosb
    ret
END x64_memset_stosq
