/* Minimum, total and median of up to a million measurements in bounded memory. */
#pragma once

#include "contract.h"

/* More measurements than this and the median is that of every k-th one, k the smallest that fits. */
enum { MAX_SAMPLES = 1001 };

struct stats {
    u64 min, total;
    u32 stride, taken, kept;
};

void stats_start(struct stats *s, u32 repetitions);
void stats_add(struct stats *s, u64 cycles, u64 instructions);
/* The lower median of the cycles, and the instructions of that measurement. */
void stats_median(struct stats *s, u64 *cycles, u64 *instructions);
