/* rvv-memcpy-m8: a loop of vector loads and stores of bytes, register groups of 8 (RVV 1.0). */
#include "rvv_memcpy.inc"

MEMCPY_RVV rvv_memcpy_m8, "rvv-memcpy-m8", m8
