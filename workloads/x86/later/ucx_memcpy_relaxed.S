/* ucx-memcpy-relaxed: UCX's on Intel: rep movsb for lengths between 1 KiB (the parameter) and 8 MiB, neither included;
   the C library's copy otherwise, here x64-memmove-avx2. */
#include "../routine.h"

ROUTINE ucx_memcpy_relaxed, "ucx-memcpy-relaxed", KIND_COPY, NEEDS_AVX2, 1024
    cmp rdx, rcx
    jbe x64_memmove_avx2
    cmp rdx, 8 << 20
    jae x64_memmove_avx2
    mov rcx, rdx
    rep movsb
    ret
END ucx_memcpy_relaxed
