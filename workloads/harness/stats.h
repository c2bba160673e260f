/* Minimum, total and median of up to a million measurements in bounded memory. */
#pragma once

#include "contract.h"

/* More measurements than this and the median is that of every k-th one, k the smallest that fits. */
enum { MAX_SAMPLES = 1001 };
/* Of fewer measurements half of them say nothing. */
enum { LEAST_HALVED = 5 };

struct stats {
    u64 min, total;
    u32 stride, taken, kept;
};

void stats_start(struct stats *s, u32 repetitions);
void stats_add(struct stats *s, u64 cycles, u64 instructions);
/* The lower median of the cycles, and the instructions of that measurement. */
void stats_median(struct stats *s, u64 *cycles, u64 *instructions);
/* The same, and the lower median of the later half of LEAST_HALVED measurements and more. Its code lies behind all that runs between two
   measurements, which so keeps its place (guest.ld). */
void stats_medians(struct stats *s, u64 *cycles, u64 *instructions, u64 *later);
