/* rvv-csum-m4: a loop of vector loads and widening adds, words of four registers to elements of eight (RVV 1.0);
   rvv_csum.inc. */
#include "rvv_csum.inc"

CSUM_RVV rvv_csum_m4, "rvv-csum-m4", m4, m8
