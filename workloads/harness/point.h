#pragma once

#include "arch.h"

/* Runs one point and fills in everything of its result but the index. */
void point_run(const struct point *point, struct result *result);

/* Runs a point of no routine's, so that the first one finds the harness in the caches. For an engine that goes back to a
   snapshot every point is the first. */
void point_rehearse(void);
