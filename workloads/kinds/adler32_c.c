/* adler32-c: Adler-32 a byte at a time; both sums are reduced after 5552 bytes, the most that 32 bits hold. */
#define ADLER32 adler32_c
#define BLOCKS(p, stop, a, b)
#include "adler32.inc"

CHECKSUM_LIKE(adler32, adler32_c, "adler32-c", 0);
