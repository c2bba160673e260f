/* What CRC-32C and Adler-32 are: plain and slow, against which routines are checked. */
#include "../kinds/routine.h"

/* Castagnoli's polynomial, bits reflected; begins and ends with the complement (RFC 3720). A bit at a time. */
static uint64_t crc32c_reference(const void *data, uint64_t size) {
    const uint8_t *p = data;
    uint32_t crc = ~UINT32_C(0);
    for (uint64_t i = 0; i < size; i++) {
        crc ^= p[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (UINT32_C(0x82f63b78) & -(crc & 1));
    }
    return (uint32_t)~crc;
}
REFERENCE(crc32c, crc32c_reference);

/* The sum of all bytes and one, and the sum of its values, both modulo the greatest prime below 2^16 (RFC 1950). */
static uint64_t adler32_reference(const void *data, uint64_t size) {
    const uint8_t *p = data;
    uint32_t a = 1, b = 0;
    for (uint64_t i = 0; i < size; i++) {
        a = (a + p[i]) % 65521;
        b = (b + a) % 65521;
    }
    return b << 16 | a;
}
REFERENCE(adler32, adler32_reference);
