/* x64-rep-movs-alt-v4: as -v3, the last bytes of a short copy by an overlapping word; x64_rep_movs_alt.inc. */
#include "../routine.h"
#include "x64_rep_movs_alt.inc"

ALTERNATIVE x64_rep_movs_alt_v4, "x64-rep-movs-alt-v4", LARGE_ALIGNED, WORD_LAST
