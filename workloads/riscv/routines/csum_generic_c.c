/* csum-generic-c: the portable checksum in C. An odd first byte and a 16-bit word bring the pointer to four bytes; then
   32-bit words, the carry found by comparison and added one iteration later; the rest; folded, bytes exchanged when the
   start was odd. */
#include "../routine.h"

typedef uint16_t __attribute__((may_alias)) half;
typedef uint32_t __attribute__((may_alias)) word;

static uint32_t fold_once(uint64_t sum) { return (uint32_t)((sum & 0xffff) + (sum >> 16)); }

uint32_t csum_generic_c(const void *buffer, size_t n) {
    const uint8_t *p = buffer, *end = p + n;
    int odd = (uintptr_t)p & 1;
    uint64_t sum = 0;
    if (n == 0)
        return 0;
    if (odd)
        sum = (uint32_t)*p++ << 8; /* the upper byte of a word that starts one byte earlier */
    if (end - p >= 2 && (uintptr_t)p & 2) {
        sum += *(const half *)p;
        p += 2;
    }
    if (end - p >= 4) {
        const uint8_t *last = p + ((end - p) & ~3);
        uint32_t s = (uint32_t)sum, carry = 0;
        do {
            uint32_t w = *(const word *)p;
            p += 4;
            s += carry;
            s += w;
            carry = w > s;
        } while (p < last);
        sum = (uint64_t)s + carry;
        sum = (sum & 0xffff) + (sum >> 16);
    }
    if ((end - p) & 2) {
        sum += *(const half *)p;
        p += 2;
    }
    if ((end - p) & 1)
        sum += *p;
    uint32_t folded = fold_once(fold_once(fold_once(sum)));
    return odd ? (folded >> 8 & 0xff) | (folded & 0xff) << 8 : folded;
}

ROUTINE(csum_generic_c, "csum-generic-c", KIND_CHECKSUM, 0);
