/* rvv-memcpy-m8-aligned: rvv-memcpy-m8 that first brings the destination to a multiple of a vector register. */
#include "rvv_memcpy.inc"

MEMCPY_RVV rvv_memcpy_m8_aligned, "rvv-memcpy-m8-aligned", m8, 1
