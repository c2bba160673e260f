/* rvv-memcpy-m4: a loop of vector loads and stores of bytes, register groups of 4 (RVV 1.0). */
#include "rvv_memcpy.inc"

MEMCPY_RVV rvv_memcpy_m4, "rvv-memcpy-m4", m4
