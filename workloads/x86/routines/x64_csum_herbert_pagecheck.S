/* x64-csum-herbert-pagecheck: x64-csum-herbert after a test that sends a buffer that crosses a page to x64-csum-old. */
#include "../routine.h"
#include "x64_csum_herbert.inc"

ROUTINE x64_csum_herbert_pagecheck, "x64-csum-herbert-pagecheck", KIND_CHECKSUM
    mov eax, edi
    and eax, 4095
    add eax, esi
    cmp eax, 4096
    ja x64_csum_old
    HERBERT
END x64_csum_herbert_pagecheck
