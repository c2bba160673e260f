/* crc32c-table-c: CRC-32C a byte at a time by a table of 256 words. */
#include "crc32c.inc"
#include "routine.h"

static const uint32_t table[256] = CRC32C_AFTER_0;

static uint32_t crc32c_table_c(const void *data, size_t n) {
    const uint8_t *p = data, *end = p + n;
    uint32_t crc = ~UINT32_C(0);
    while (p < end)
        crc = crc >> 8 ^ table[(uint8_t)(crc ^ *p++)];
    return ~crc;
}

CHECKSUM_LIKE(crc32c, crc32c_table_c, "crc32c-table-c", 0);
