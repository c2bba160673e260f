/* x64-csum-herbert: T. Herbert's csum_partial of March 2016; x64_csum_herbert.inc. */
#include "../routine.h"
#include "x64_csum_herbert.inc"

ROUTINE x64_csum_herbert, "x64-csum-herbert", KIND_CHECKSUM
    HERBERT
END x64_csum_herbert
