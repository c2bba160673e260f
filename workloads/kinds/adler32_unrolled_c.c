/* adler32-unrolled-c: Adler-32 sixteen bytes an iteration, without a test between; the rest one by one. Both sums are reduced
   after 5552 bytes, the most that 32 bits hold. */
#define ADLER32 adler32_unrolled_c
#define ADD(i) a += p[i], b += a;
#define ADD_4(i) ADD(i) ADD(i + 1) ADD(i + 2) ADD(i + 3)
#define BLOCKS(p, stop, a, b)                                                                                          \
    for (; stop - p >= 16; p += 16) {                                                                                  \
        ADD_4(0) ADD_4(4) ADD_4(8) ADD_4(12)                                                                           \
    }
#include "adler32.inc"

CHECKSUM_LIKE(adler32, adler32_unrolled_c, "adler32-unrolled-c", 0);
