/* Buffer contents: made from the seed, checked against the seed, a word at a time and aligned, so that preparing and
   verifying cost less than what is measured and never trap on a machine without misaligned access. */
#pragma once

#include "contract.h"

/* An endless sequence of words: each is the exclusive or of the ones LAG and LAG - 1 before it (x^15 + x + 1, primitive:
   it repeats after 2^15 - 1 words), or the constant `flip`, all words then being 0. No carry crosses a byte, so the same
   sequence from any byte on obeys the same rule: whatever its alignment, a word costs one instruction and no mask.
   The word at the source address rounded down to eight is word 0, so byte j of a copy is byte (source address % 8) + j. */
enum { LAG = 15 };
struct stream {
    u64 word[LAG + 2]; /* the first words: LAG of them, and what follows from these */
    u64 flip; /* in every word */
};

enum { BAND = 64, PATTERN_BYTE = 0xa5 };

void stream_of(struct stream *s, u32 seed, int checksum);
/* The sequence into the words that hold [address, address + n). */
void stream_write(const struct stream *s, u64 address, u64 n);
/* Whether those words still hold it. */
int stream_intact(const struct stream *s, u64 address, u64 n);
/* The sequence from its byte `byte`, below 15, on. */
void stream_from(struct stream *from, const struct stream *s, u64 byte);
/* The first of the n bytes at `address` that differs from a sequence whose first word belongs at `address` rounded up to
   eight (the bytes before come from the word before); n: none does. */
u64 stream_compare(const struct stream *s, u64 address, u64 n);
/* The Internet checksum, folded and complemented, of the sequence's first n bytes. */
u64 stream_checksum(const struct stream *s, u64 n);

/* The pattern over [address, address + n) and a band of at least BAND bytes on either side. */
void pattern_fill(u64 address, u64 n);
/* The first damaged byte of the two bands as an offset from `address`, or 0: they are whole (offset 0 is no band byte of
   a copy of at least one byte; of an empty one it is, and then the answer is 1). */
int64_t pattern_damage(u64 address, u64 n);

/* Folds to 16 bits with end-around carry and complements, as a packet's checksum field holds it. */
u64 checksum_fold(u64 sum);
/* Whether a folded sum is the expected one. A copy with a checksum may start at ~0, so that zero has two spellings there. */
int checksum_matches(u64 folded, u64 expected, u32 kind);
