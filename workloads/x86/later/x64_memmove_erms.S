/* x64-memmove-erms: the kernel's with fast rep movsb, which moves everything from 32 bytes on that goes forwards;
   x64_memmove.inc. */
#include "x64_memmove.inc"

MEMMOVE_KERNEL x64_memmove_erms, "x64-memmove-erms", 1
