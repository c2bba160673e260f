/* rvv-memcpy-m1: a loop of vector loads and stores of bytes, register groups of 1 (RVV 1.0). */
#include "rvv_memcpy.inc"

MEMCPY_RVV rvv_memcpy_m1, "rvv-memcpy-m1", m1
