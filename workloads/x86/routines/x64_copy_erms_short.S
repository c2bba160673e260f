/* x64-copy-erms-short: 2017. Below 64 bytes the end of the unrolled copy, which does not align; otherwise rep movsb. */
#include "../routine.h"
#include "x64_copy_user.inc"

ROUTINE x64_copy_erms_short, "x64-copy-erms-short", KIND_USER_COPY
    OPEN_USER
    cmp edx, 64
    jb 1f
    RETRY_BYTES
1:  COPY_SHORT_AND_RETURN
END x64_copy_erms_short
