#pragma once

#include "arch.h"

/* Runs one point and fills in everything of its result but the index. */
void point_run(const struct point *point, struct result *result);
