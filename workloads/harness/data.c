#include "data.h"

typedef u64 __attribute__((may_alias)) word;
#define WORD UINT64_C(8)
#define PATTERN (UINT64_C(0x0101010101010101) * PATTERN_BYTE)

/* What the buffers hold lies behind plain integers: the compiler must not know. */
static word *words_at(u64 address) { return (word *)(uintptr_t)address; }
static u8 *bytes_at(u64 address) { return (u8 *)(uintptr_t)address; }
static u64 down(u64 address) { return address & ~(WORD - 1); }
static u64 up(u64 address) { return down(address + WORD - 1); }

struct stream stream_of(u32 seed, int checksum) {
    /* A copied byte never equals the pattern's (whose top bit is set), so an unwritten byte is always noticed.
       A checksum needs the top bits: they make the carries. */
    struct stream s = {.mask = checksum ? ~UINT64_C(0) : ~UINT64_C(0x8080808080808080)};
    if (seed == SEED_ONES) {
        s.base = ~UINT64_C(0);
    } else if (seed != SEED_ZEROS) {
        s.base = (seed + UINT64_C(1)) * UINT64_C(0xd1342543de82ef95);
        s.step = UINT64_C(0x9e3779b97f4a7c15);
    }
    return s;
}

void stream_write(const struct stream *s, u64 address, u64 n) {
    word *p = words_at(down(address)), *end = words_at(up(address + n));
    u64 w = s->base, step = s->step, mask = s->mask;
    for (; end - p >= 4; p += 4) {
        p[0] = w & mask;
        w += step;
        p[1] = w & mask;
        w += step;
        p[2] = w & mask;
        w += step;
        p[3] = w & mask;
        w += step;
    }
    for (; p < end; p++, w += step)
        *p = w & mask;
}

int stream_intact(const struct stream *s, u64 address, u64 n) {
    const word *p = words_at(down(address)), *end = words_at(up(address + n));
    u64 w = s->base, step = s->step, mask = s->mask, wrong = 0;
    for (; end - p >= 4; p += 4) {
        wrong |= p[0] ^ (w & mask);
        w += step;
        wrong |= p[1] ^ (w & mask);
        w += step;
        wrong |= p[2] ^ (w & mask);
        w += step;
        wrong |= p[3] ^ (w & mask);
        w += step;
    }
    for (; p < end; p++, w += step)
        wrong |= *p ^ (w & mask);
    return wrong == 0;
}

static u64 stream_word(const struct stream *s, u64 i) { return (s->base + i * s->step) & s->mask; }

u8 stream_byte(const struct stream *s, u64 index) { return (u8)(stream_word(s, index / WORD) >> (index % WORD * 8)); }

static u64 compare_bytes(const struct stream *s, u64 phase, u64 address, u64 from, u64 to) {
    while (from < to && *bytes_at(address + from) == stream_byte(s, phase + from))
        from++;
    return from;
}

/* The number of leading words among `count` that agree, in steps of four: a disagreement lies within the next four. */
static u64 compare_words(const struct stream *s, u64 index, const word *p, u64 count) {
    u64 shift = index % WORD * 8, step = s->step, mask = s->mask;
    u64 w = s->base + index / WORD * step, done = 0;
    if (shift == 0) {
        for (; count - done >= 4; done += 4, p += 4) {
            u64 wrong = p[0] ^ (w & mask);
            w += step;
            wrong |= p[1] ^ (w & mask);
            w += step;
            wrong |= p[2] ^ (w & mask);
            w += step;
            wrong |= p[3] ^ (w & mask);
            w += step;
            if (wrong)
                break;
        }
        return done;
    }
    u64 a = w & mask, b;
    for (; count - done >= 4; done += 4, p += 4) {
        u64 wrong;
        b = (w += step) & mask;
        wrong = p[0] ^ (a >> shift | b << (64 - shift));
        a = (w += step) & mask;
        wrong |= p[1] ^ (b >> shift | a << (64 - shift));
        b = (w += step) & mask;
        wrong |= p[2] ^ (a >> shift | b << (64 - shift));
        a = (w += step) & mask;
        wrong |= p[3] ^ (b >> shift | a << (64 - shift));
        if (wrong)
            break;
    }
    return done;
}

u64 stream_compare(const struct stream *s, u64 phase, u64 address, u64 n) {
    u64 head = up(address) - address;
    if (head > n)
        head = n;
    u64 good = compare_bytes(s, phase, address, 0, head);
    if (good < head)
        return good;
    good += WORD * compare_words(s, phase + head, words_at(address + head), (n - head) / WORD);
    return compare_bytes(s, phase, address, good, n);
}

u64 checksum_fold(u64 sum) {
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return ~sum & 0xffff;
}

int checksum_matches(u64 folded, u64 expected, u32 kind) {
    int zeros = folded % 0xffff == 0 && expected % 0xffff == 0;
    return folded == expected || (kind == KIND_COPY_CHECKSUM && zeros);
}

u64 stream_checksum(const struct stream *s, u64 phase, u64 n) {
    u64 shift = phase * 8, w = s->base, sum = 0;
    u64 a = w & s->mask;
    for (;;) {
        u64 b = (w += s->step) & s->mask;
        u64 data = shift ? a >> shift | b << (64 - shift) : a;
        if (n < WORD) {
            data &= (UINT64_C(1) << n * 8) - 1;
            return checksum_fold(sum + (u32)data + (data >> 32));
        }
        sum += (u32)data + (data >> 32);
        n -= WORD;
        a = b;
    }
}

void pattern_fill(u64 address, u64 n) {
    word *p = words_at(down(address - BAND)), *end = words_at(up(address + n + BAND));
    for (; end - p >= 4; p += 4) {
        p[0] = PATTERN;
        p[1] = PATTERN;
        p[2] = PATTERN;
        p[3] = PATTERN;
    }
    for (; p < end; p++)
        *p = PATTERN;
}

/* The first byte of [from, to) that is not the pattern's; `to`: none. */
static u64 pattern_end(u64 from, u64 to) {
    for (; from < to && from % WORD; from++)
        if (*bytes_at(from) != PATTERN_BYTE)
            return from;
    while (to - from >= WORD && *words_at(from) == PATTERN)
        from += WORD;
    while (from < to && *bytes_at(from) == PATTERN_BYTE)
        from++;
    return from;
}

int64_t pattern_damage(u64 address, u64 n) {
    u64 before = pattern_end(down(address - BAND), address);
    if (before < address)
        return (int64_t)(before - address);
    u64 last = up(address + n + BAND), after = pattern_end(address + n, last);
    if (after == last)
        return 0;
    return after == address ? 1 : (int64_t)(after - address);
}
