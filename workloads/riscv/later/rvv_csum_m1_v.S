/* rvv-csum-m1: a loop of vector loads and widening adds, words of one register to elements of two (RVV 1.0); rvv_csum.inc. */
#include "rvv_csum.inc"

CSUM_RVV rvv_csum_m1, "rvv-csum-m1", m1, m2
