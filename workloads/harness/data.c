#include "data.h"

typedef u64 __attribute__((may_alias)) word;
#define WORD UINT64_C(8)
#define PATTERN (UINT64_C(0x0101010101010101) * PATTERN_BYTE)

/* What the buffers hold lies behind plain integers: the compiler must not know. */
static word *words_at(u64 address) { return (word *)(uintptr_t)address; }
static u8 *bytes_at(u64 address) { return (u8 *)(uintptr_t)address; }
static u64 down(u64 address) { return address & ~(WORD - 1); }
static u64 up(u64 address) { return down(address + WORD - 1); }

static void extend(struct stream *s) {
    s->word[LAG] = s->word[0] ^ s->word[1];
    s->word[LAG + 1] = s->word[1] ^ s->word[2];
}

void stream_of(struct stream *s, u32 seed, int checksum) {
    /* A copied byte never equals the pattern's (whose top bit is set), so an unwritten byte is always noticed.
       A checksum needs the top bits: they make the carries. */
    u64 mask = checksum ? ~UINT64_C(0) : ~UINT64_C(0x8080808080808080);
    u64 mix = seed + UINT64_C(1), constant = seed == SEED_ONES || seed == SEED_ZEROS;
    s->flip = seed == SEED_ONES ? mask : 0;
    if (constant)
        mask = 0;
    for (int i = 0; i < LAG; i++) {
        mix = (mix + UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xd1342543de82ef95);
        s->word[i] = (mix ^ mix >> 32) & mask;
    }
    extend(s);
}

/* F(j, j + 1) for every j below LAG, the last one's neighbour being 0: the words stay in registers. */
#define EACH(F) \
    F(0, 1) F(1, 2) F(2, 3) F(3, 4) F(4, 5) F(5, 6) F(6, 7) F(7, 8) F(8, 9) F(9, 10) F(10, 11) F(11, 12) F(12, 13) \
    F(13, 14) F(14, 0)
#define LOAD(j, next) u64 w##j = s->word[j];
#define VALUE(j, next) w##j,
#define WRITE(j, next) (p[j] = w##j ^ flip, w##j ^= w##next);
#define COMPARE(j, next) (wrong |= p[j] ^ w##j ^ flip, w##j ^= w##next);

static inline __attribute__((always_inline)) void write_words(const struct stream *s, word *p, u64 count, u64 flip) {
    EACH(LOAD)
    for (; count >= LAG; count -= LAG, p += LAG) {
        EACH(WRITE)
    }
    const u64 rest[LAG] = {EACH(VALUE)};
    for (u64 i = 0; i < count; i++)
        p[i] = rest[i] ^ flip;
}

/* Not 0: some of `count` words, or of the `tail` bytes (fewer than eight) behind them, differ. */
static inline __attribute__((always_inline)) u64 compare_words(const struct stream *s, const word *p, u64 count,
                                                               u64 tail, u64 flip) {
    u64 wrong = 0;
    EACH(LOAD)
    for (; count >= LAG; count -= LAG, p += LAG) {
        EACH(COMPARE)
    }
    const u64 rest[LAG] = {EACH(VALUE)};
    for (u64 i = 0; i < count; i++)
        wrong |= p[i] ^ rest[i] ^ flip;
    return tail ? wrong | (p[count] ^ rest[count] ^ flip) << (64 - tail * 8) : wrong;
}

/* A constant sequence takes an instruction more a word, which the others are spared. */
static u64 differ(const struct stream *s, u64 address, u64 count, u64 tail) {
    const word *p = words_at(address);
    return s->flip ? compare_words(s, p, count, tail, s->flip) : compare_words(s, p, count, tail, 0);
}

void stream_write(const struct stream *s, u64 address, u64 n) {
    word *p = words_at(down(address));
    u64 count = (up(address + n) - down(address)) / WORD;
    if (s->flip)
        write_words(s, p, count, s->flip);
    else
        write_words(s, p, count, 0);
}

int stream_intact(const struct stream *s, u64 address, u64 n) {
    return !differ(s, down(address), (up(address + n) - down(address)) / WORD, 0);
}

void stream_from(struct stream *from, const struct stream *s, u64 byte) {
    const u64 *next = s->word + byte / WORD;
    u64 shift = byte % WORD * 8, w = *next++;
    for (int i = 0; i < LAG; i++) {
        u64 low = w >> shift;
        w = *next++;
        from->word[i] = low | w << 1 << (63 - shift); /* nothing of w if there is no shift */
    }
    extend(from);
    from->flip = s->flip;
}

/* The word before the sequence's first. */
static u64 word_before(const struct stream *s) { return s->word[LAG - 1] ^ s->word[0]; }

static u64 next_word(struct stream *s) {
    u64 first = s->word[0];
    for (int i = 0; i < LAG; i++)
        s->word[i] = s->word[i + 1];
    extend(s);
    return first ^ s->flip;
}

/* As stream_compare, byte by byte. */
static u64 first_difference(const struct stream *s, u64 address, u64 n) {
    struct stream rest = *s;
    u64 w = word_before(s) ^ s->flip;
    for (u64 i = 0; i < n; i++) {
        if ((address + i) % WORD == 0)
            w = next_word(&rest);
        if (*bytes_at(address + i) != (u8)(w >> (address + i) % WORD * 8))
            return i;
    }
    return n;
}

u64 stream_compare(const struct stream *s, u64 address, u64 n) {
    u64 head = up(address) - address;
    if (n < head)
        return first_difference(s, address, n);
    u64 wrong = differ(s, address + head, (n - head) / WORD, (n - head) % WORD);
    if (head)
        wrong |= (*words_at(down(address)) ^ word_before(s) ^ s->flip) >> (64 - head * 8);
    return wrong ? first_difference(s, address, n) : n;
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

u64 stream_checksum(const struct stream *s, u64 n) {
    struct stream rest = *s;
    u64 sum = 0;
    for (; n >= WORD; n -= WORD) {
        u64 data = next_word(&rest);
        sum += (u32)data + (data >> 32);
    }
    u64 data = next_word(&rest) & ((UINT64_C(1) << n * 8) - 1);
    return checksum_fold(sum + (u32)data + (data >> 32));
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
