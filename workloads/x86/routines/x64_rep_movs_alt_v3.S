/* x64-rep-movs-alt-v3: an aligned destination and rep movsq from 64 on; x64_rep_movs_alt.inc. */
#include "../routine.h"
#include "x64_rep_movs_alt.inc"

ALTERNATIVE x64_rep_movs_alt_v3, "x64-rep-movs-alt-v3", LARGE_ALIGNED, BYTES_LAST
