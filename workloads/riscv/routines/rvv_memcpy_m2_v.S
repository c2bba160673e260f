/* rvv-memcpy-m2: a loop of vector loads and stores of bytes, register groups of 2 (RVV 1.0). */
#include "rvv_memcpy.inc"

MEMCPY_RVV rvv_memcpy_m2, "rvv-memcpy-m2", m2
