#include "stats.h"

static struct {
    u64 cycles, instructions;
} samples[MAX_SAMPLES];

void stats_start(struct stats *s, u32 repetitions) {
    *s = (struct stats){.min = UINT64_MAX, .stride = (repetitions + MAX_SAMPLES - 1) / MAX_SAMPLES};
}

void stats_add(struct stats *s, u64 cycles, u64 instructions) {
    if (cycles < s->min)
        s->min = cycles;
    s->total += cycles;
    if (s->taken++ % s->stride == 0) {
        samples[s->kept].cycles = cycles;
        samples[s->kept++].instructions = instructions;
    }
}

void stats_median(struct stats *s, u64 *cycles, u64 *instructions) {
    /* Shell sort: in place, quick for a handful, and good enough for a thousand. */
    u32 gap = 1;
    while (gap < s->kept / 3)
        gap = 3 * gap + 1;
    for (; gap > 0; gap /= 3) {
        for (u32 i = gap; i < s->kept; i++) {
            u64 c = samples[i].cycles, n = samples[i].instructions;
            u32 j = i;
            for (; j >= gap && samples[j - gap].cycles > c; j -= gap)
                samples[j] = samples[j - gap];
            samples[j].cycles = c;
            samples[j].instructions = n;
        }
    }
    *cycles = samples[(s->kept - 1) / 2].cycles;
    *instructions = samples[(s->kept - 1) / 2].instructions;
}
