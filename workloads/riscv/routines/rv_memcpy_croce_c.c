/* rv-memcpy-croce-c: a memcpy in C. From two words on: bytes until the destination is aligned, then one word per
   iteration; when the source is not aligned too, each word is merged from two aligned ones, the upper of which is the
   next iteration's lower. The look-ahead word always holds bytes of the source. Bytes for the rest. */
#include "../routine.h"

typedef uint64_t __attribute__((may_alias)) word;
enum { WORD = sizeof(word) };

void rv_memcpy_croce_c(void *dst, const void *src, size_t n) {
    uint8_t *d = dst;
    const uint8_t *s = src;
    if (n >= 2 * WORD) {
        for (; (uintptr_t)d % WORD; n--)
            *d++ = *s++;
        word *to = (word *)d;
        uintptr_t distance = (uintptr_t)s % WORD;
        if (distance == 0) {
            const word *from = (const word *)s;
            for (; n >= WORD; n -= WORD)
                *to++ = *from++;
            s = (const uint8_t *)from;
        } else {
            const word *from = (const word *)(s - distance);
            word last, next = *from;
            for (; n >= WORD; n -= WORD) {
                last = next;
                next = from[1];
                *to++ = last >> distance * 8 | next << (WORD - distance) * 8;
                from++;
            }
            s = (const uint8_t *)from + distance;
        }
        d = (uint8_t *)to;
    }
    while (n--)
        *d++ = *s++;
}

ROUTINE(rv_memcpy_croce_c, "rv-memcpy-croce-c", KIND_COPY, 0);
