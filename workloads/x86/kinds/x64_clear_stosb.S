/* x64-clear-stosb: zeros by rep stosb, as kernels clear pages with ERMS. */
#include "../routine.h"

ROUTINE x64_clear_stosb, "x64-clear-stosb", KIND_CLEAR
    xor eax, eax
    mov rcx, rsi
    rep stosb
    ret
END x64_clear_stosb
