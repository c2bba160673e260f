/* x64-rep-movs-alt-v2: rep movsq from 64 on; x64_rep_movs_alt.inc. */
#include "../routine.h"
#include "x64_rep_movs_alt.inc"

ALTERNATIVE x64_rep_movs_alt_v2, "x64-rep-movs-alt-v2", LARGE_MOVSQ, BYTES_LAST
