/* x64-crc32c-sse42-3way: CRC-32C by the instruction of SSE4.2, whose latency is three times what it can be repeated in: from 768
   bytes on three parts of 256 at the same time, put together by tables of what 256 bytes behind do to a CRC (4 KiB); the rest
   one after the other. */
#include "../../kinds/crc32c.inc"
#include "../../kinds/routine.h"

typedef uint64_t __attribute__((may_alias)) word;
enum { PART = 256 };

static const uint32_t behind[4][256] __attribute__((aligned(64))) = {
    CRC32C_TABLE(0xdcb17aa4, 0xbc8e83b9, 0x7cf17183, 0xf9e2e306, 0xf629b0fd, 0xe9bf170b, 0xd69258e7, 0xa8c8c73f),
    CRC32C_TABLE(0x547df88f, 0xa8fbf11e, 0x541b94cd, 0xa837299a, 0x558225c5, 0xab044b8a, 0x53e4e1e5, 0xa7c9c3ca),
    CRC32C_TABLE(0x4a7ff165, 0x94ffe2ca, 0x2c13b365, 0x582766ca, 0xb04ecd94, 0x6571edd9, 0xcae3dbb2, 0x902bc195),
    CRC32C_TABLE(0x25bbf5db, 0x4b77ebb6, 0x96efd76c, 0x2833d829, 0x5067b052, 0xa0cf60a4, 0x4472b7b9, 0x88e56f72),
};

static inline uint64_t add_word(uint64_t crc, const uint8_t *p) {
    __asm__("crc32 %0, %1" : "+r"(crc) : "m"(*(const word *)p));
    return crc;
}

static uint32_t shifted(uint64_t crc) {
    return behind[0][(uint8_t)crc] ^ behind[1][(uint8_t)(crc >> 8)] ^ behind[2][(uint8_t)(crc >> 16)] ^
           behind[3][(uint8_t)(crc >> 24)];
}

static uint32_t x64_crc32c_sse42_3way(const void *data, size_t n) {
    const uint8_t *p = data, *end = p + n;
    uint64_t a = ~UINT32_C(0);
    for (; end - p >= 3 * PART; p += 3 * PART) {
        uint64_t b = 0, c = 0;
        for (int i = 0; i < PART; i += 8) {
            a = add_word(a, p + i);
            b = add_word(b, p + PART + i);
            c = add_word(c, p + 2 * PART + i);
        }
        a = shifted(shifted(a) ^ b) ^ c;
    }
    for (; end - p >= 8; p += 8)
        a = add_word(a, p);
    uint32_t crc = (uint32_t)a;
    for (; p < end; p++)
        __asm__("crc32 %0, %1" : "+r"(crc) : "m"(*p));
    return ~crc;
}

CHECKSUM_LIKE(crc32c, x64_crc32c_sse42_3way, "x64-crc32c-sse42-3way", NEEDS_SSE4_2);
