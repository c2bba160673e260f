/* crc32c-slicing8-c: CRC-32C eight bytes at a time by eight tables of 256 words (8 KiB), after Kounavis and Berry's slicing-by-8.
   Bytes up to the first whole word and behind the last one. */
#include "crc32c.inc"
#include "routine.h"

typedef uint64_t __attribute__((may_alias)) word;

static const uint32_t table[8][256] __attribute__((aligned(64))) = {
    CRC32C_AFTER_0, CRC32C_AFTER_1, CRC32C_AFTER_2, CRC32C_AFTER_3,
    CRC32C_AFTER_4, CRC32C_AFTER_5, CRC32C_AFTER_6, CRC32C_AFTER_7,
};

static uint32_t crc32c_slicing8_c(const void *data, size_t n) {
    const uint8_t *p = data, *end = p + n;
    uint32_t crc = ~UINT32_C(0);
    for (; p < end && (uintptr_t)p % 8; p++)
        crc = crc >> 8 ^ table[0][(uint8_t)(crc ^ *p)];
    for (; end - p >= 8; p += 8) {
        uint64_t w = *(const word *)p ^ crc;
        crc = table[7][(uint8_t)w] ^ table[6][(uint8_t)(w >> 8)] ^ table[5][(uint8_t)(w >> 16)] ^
              table[4][(uint8_t)(w >> 24)] ^ table[3][(uint8_t)(w >> 32)] ^ table[2][(uint8_t)(w >> 40)] ^
              table[1][(uint8_t)(w >> 48)] ^ table[0][w >> 56];
    }
    for (; p < end; p++)
        crc = crc >> 8 ^ table[0][(uint8_t)(crc ^ *p)];
    return ~crc;
}

CHECKSUM_LIKE(crc32c, crc32c_slicing8_c, "crc32c-slicing8-c", 0);
