/* rv-do-csum-2024-zbb: rv_do_csum_2024.inc with rotations and byte reversal. */
#include "../routine.h"
#include "rv_do_csum_2024.inc"

DO_CSUM rv_do_csum_2024_zbb, "rv-do-csum-2024-zbb", NEEDS_ZBB, 1
