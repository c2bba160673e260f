/* x64-rep-movs-alt-v1: 64 bytes per iteration from 64 on; x64_rep_movs_alt.inc. */
#include "../routine.h"
#include "x64_rep_movs_alt.inc"

ALTERNATIVE x64_rep_movs_alt_v1, "x64-rep-movs-alt-v1", LARGE_UNROLLED, BYTES_LAST
