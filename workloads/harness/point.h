#pragma once

#include "arch.h"

/* Runs one point and fills in everything of its result but the index. */
void point_run(const struct point *point, struct result *result);
/* Runs, after it, those points whose cache state is above BOTH_COLD; point_run has refused them. */
void points_further(const struct point *points, struct result *results, u64 count);
/* The batch that the guest runs. */
extern struct point points[];
/* Runs, after both, points of routines that came later, sets, and copies within one buffer. A guest does so when it writes. */
void points_later(const struct point *points, struct result *results, u64 count);
/* Runs, after all these, sequences and routines of kinds that came last. */
void points_kinds(const struct point *points, struct result *results, u64 count);
/* Of points_further's, those in the second level. */
void points_second_level(const struct point *points, struct result *results, u64 count);

/* Runs a point of no routine's, so that the first one finds the harness in the caches. For an engine that goes back to a
   snapshot every point is the first. */
void point_rehearse(void);
