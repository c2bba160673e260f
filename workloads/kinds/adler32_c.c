/* adler32-c: Adler-32 a byte at a time; both sums are reduced after 5552 bytes, the most that 32 bits hold. */
#include "routine.h"

enum { PRIME = 65521, BYTES = 5552 };

static uint32_t adler32_c(const void *data, size_t n) {
    const uint8_t *p = data, *end = p + n;
    uint32_t a = 1, b = 0;
    while (p < end) {
        const uint8_t *stop = end - p > BYTES ? p + BYTES : end;
        while (p < stop) {
            a += *p++;
            b += a;
        }
        a %= PRIME;
        b %= PRIME;
    }
    return b << 16 | a;
}

CHECKSUM_LIKE(adler32, adler32_c, "adler32-c", 0);
