/* x64-copy-erms-threshold: proposed in 2018. Copies shorter than the parameter go the unrolled way, others by rep
   movsb; 64, 128 (the default) and 256 were argued for. */
#include "../routine.h"
#include "x64_copy_user.inc"

ROUTINE x64_copy_erms_threshold, "x64-copy-erms-threshold", KIND_USER_COPY, 0, 128
    cmp edx, ecx
    jb x64_copy_unrolled
    OPEN_USER
    RETRY_BYTES
END x64_copy_erms_threshold
