/* x64-copy-erms: the kernel's copy_user_enhanced_fast_string, 2012 to 2023: one rep movsb. */
#include "../routine.h"
#include "x64_copy_user.inc"

ROUTINE x64_copy_erms, "x64-copy-erms", KIND_USER_COPY
    OPEN_USER
    RETRY_BYTES
END x64_copy_erms
