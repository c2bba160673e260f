/* Buffer contents: made from the seed, checked against the seed, a word at a time and aligned, so that preparing and
   verifying cost less than what is measured and never trap on a machine without misaligned access. */
#pragma once

#include "contract.h"

/* An endless sequence of words, word i = (base + i * step) & mask. The word at the source address rounded down to eight
   is word 0, so byte j of a copy is byte (source address % 8) + j of the sequence. */
struct stream {
    u64 base, step, mask;
};

enum { BAND = 64, PATTERN_BYTE = 0xa5 };

struct stream stream_of(u32 seed, int checksum);
/* The sequence into the words that hold [address, address + n). */
void stream_write(const struct stream *s, u64 address, u64 n);
/* Whether those words still hold it. */
int stream_intact(const struct stream *s, u64 address, u64 n);
/* The first of the n bytes at `address` that is not byte `phase` + j of the sequence; n: all are. */
u64 stream_compare(const struct stream *s, u64 phase, u64 address, u64 n);
u8 stream_byte(const struct stream *s, u64 index);
/* The Internet checksum, folded and complemented, of n bytes of the sequence from byte `phase` on. */
u64 stream_checksum(const struct stream *s, u64 phase, u64 n);

/* The pattern over [address, address + n) and a band of at least BAND bytes on either side. */
void pattern_fill(u64 address, u64 n);
/* The first damaged byte of the two bands as an offset from `address`, or 0: they are whole (offset 0 is no band byte of
   a copy of at least one byte; of an empty one it is, and then the answer is 1). */
int64_t pattern_damage(u64 address, u64 n);

/* Folds to 16 bits with end-around carry and complements, as a packet's checksum field holds it. */
u64 checksum_fold(u64 sum);
/* Whether a folded sum is the expected one. A copy with a checksum may start at ~0, so that zero has two spellings there. */
int checksum_matches(u64 folded, u64 expected, u32 kind);
