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

#define LAST __attribute__((section(".last_text"), noinline))

/* The median of the later half: that changes places with the first samples and is sorted there. */
LAST static u64 later_median(const struct stats *s) {
    struct stats half = *s;
    half.kept = s->kept - s->kept / 2;
    for (u32 i = 0; i < half.kept; i++) {
        u32 from = s->kept - half.kept + i;
        u64 c = samples[i].cycles, n = samples[i].instructions;
        samples[i].cycles = samples[from].cycles;
        samples[i].instructions = samples[from].instructions;
        samples[from].cycles = c;
        samples[from].instructions = n;
    }
    u64 cycles, instructions;
    stats_median(&half, &cycles, &instructions);
    return cycles;
}

LAST void stats_medians(struct stats *s, u64 *cycles, u64 *instructions, u64 *later) {
    if (s->kept >= LEAST_HALVED)
        *later = later_median(s);
    stats_median(s, cycles, instructions);
}
