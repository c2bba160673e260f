/* x64-memset-stosb: rep stosb of all bytes. */
#include "../routine.h"

ROUTINE x64_memset_stosb, "x64-memset-stosb", KIND_SET
    mov eax, esi
    mov rcx, rdx
    rep stosb
    ret
END x64_memset_stosb
