/* x64-crc32c-sse42: CRC-32C by the instruction of SSE4.2, eight bytes at a time, one after the other; the rest by bytes. */
#include "../routine.h"

CHECKSUM_LIKE crc32c, x64_crc32c_sse42, "x64-crc32c-sse42", NEEDS_SSE4_2
    mov eax, -1
    mov rcx, rsi
    shr rcx, 3
    jz 2f
1:  crc32 rax, qword ptr [rdi]
    add rdi, 8
    dec rcx
    jnz 1b
2:  and esi, 7
    jz 4f
3:  crc32 eax, byte ptr [rdi]
    inc rdi
    dec esi
    jnz 3b
4:  not eax
    ret
END x64_crc32c_sse42
