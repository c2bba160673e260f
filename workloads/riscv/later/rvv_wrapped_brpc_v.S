/* rvv-memcpy-brpc-2026: brpc's cut-off of July 2026 (its pull request 3375): below 64 bytes the library's copy, for which
   rv-word-unrolled8 stands, from there on rvv-memcpy-m8. */
#include "../routine.h"

ROUTINE rvv_wrapped_brpc, "rvv-memcpy-brpc-2026", KIND_COPY, NEEDS_V
    li t0, 64
    bgeu a2, t0, 1f
    tail rv_word_unrolled8
1:  tail rvv_memcpy_m8
END rvv_wrapped_brpc
