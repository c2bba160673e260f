/* x64-byte: a byte per iteration. */
#include "../routine.h"

ROUTINE x64_byte, "x64-byte", KIND_COPY
    test rdx, rdx
    jz 2f
    xor ecx, ecx
1:  movzx eax, byte ptr [rsi+rcx]
    mov [rdi+rcx], al
    inc rcx
    cmp rcx, rdx
    jb 1b
2:  ret
END x64_byte
