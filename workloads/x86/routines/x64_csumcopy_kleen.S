/* x64-csumcopy-kleen: A. Kleen, 2002 to 2020. Alignment is left to the caller; it starts from the caller's sum, here 0.
   */
#include "../routine.h"
#include "x64_csumcopy.inc"

ROUTINE x64_csumcopy_kleen, "x64-csumcopy-kleen", KIND_COPY_CHECKSUM
    SAVE
    xor eax, eax
    COPY_AND_SUM
    RESTORE
    ret
END x64_csumcopy_kleen
