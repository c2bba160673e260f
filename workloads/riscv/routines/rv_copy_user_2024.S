/* rv-copy-user-2024: the routine of 2021 with the threshold one byte lower and the last full iteration by words. */
#include "../routine.h"
#include "rv_copy_user_2021.inc"

COPY_USER_SHIFT rv_copy_user_2024, "rv-copy-user-2024", 9*W-1, bleu a0, t5
