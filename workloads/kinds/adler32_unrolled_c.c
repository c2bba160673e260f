/* adler32-unrolled-c: Adler-32 sixteen bytes an iteration, without a test between; the rest one by one. Both sums are reduced
   after 5552 bytes, the most that 32 bits hold. */
#include "routine.h"

enum { PRIME = 65521, BYTES = 5552 };

#define ADD(i) a += p[i], b += a;
#define ADD_4(i) ADD(i) ADD(i + 1) ADD(i + 2) ADD(i + 3)

static uint32_t adler32_unrolled_c(const void *data, size_t n) {
    const uint8_t *p = data, *end = p + n;
    uint32_t a = 1, b = 0;
    while (p < end) {
        const uint8_t *stop = end - p > BYTES ? p + BYTES : end;
        for (; stop - p >= 16; p += 16) {
            ADD_4(0) ADD_4(4) ADD_4(8) ADD_4(12)
        }
        while (p < stop) {
            a += *p++;
            b += a;
        }
        a %= PRIME;
        b %= PRIME;
    }
    return b << 16 | a;
}

CHECKSUM_LIKE(adler32, adler32_unrolled_c, "adler32-unrolled-c", 0);
