/* folly-memcpy: 16 bytes a register; folly_memcpy.inc. */
#include "../routine.h"
#include "folly_memcpy.inc"

FOLLY folly_memcpy, "folly-memcpy", 0, 16, xmm, movups
