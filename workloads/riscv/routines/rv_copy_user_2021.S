/* rv-copy-user-2021: v5.14. Copies below nine words go byte by byte, and so does a last full iteration of 8 words. */
#include "../routine.h"
#include "rv_copy_user_2021.inc"

COPY_USER_SHIFT rv_copy_user_2021, "rv-copy-user-2021", 9*W, bltu a0, t5
