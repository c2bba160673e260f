/* x64-clear-stosq: zeros by rep stosq, as kernels clear pages without ERMS; rep stosb for the last fewer than eight bytes. */
#include "../routine.h"

ROUTINE x64_clear_stosq, "x64-clear-stosq", KIND_CLEAR
    xor eax, eax
    mov rcx, rsi
    shr rcx, 3
    rep stosq
    mov ecx, esi
    and ecx, 7
    rep stosb
    ret
END x64_clear_stosq
