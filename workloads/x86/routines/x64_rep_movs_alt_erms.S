/* x64-rep-movs-alt-erms: rep movsb from 64 on, in every version where ERMS is there; x64_rep_movs_alt.inc. */
#include "../routine.h"
#include "x64_rep_movs_alt.inc"

ALTERNATIVE x64_rep_movs_alt_erms, "x64-rep-movs-alt-erms", LARGE_ERMS, BYTES_LAST
