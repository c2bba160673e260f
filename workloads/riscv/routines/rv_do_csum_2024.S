/* rv-do-csum-2024: rv_do_csum_2024.inc with shifts and adds only. */
#include "../routine.h"
#include "rv_do_csum_2024.inc"

DO_CSUM rv_do_csum_2024, "rv-do-csum-2024", 0, 0
