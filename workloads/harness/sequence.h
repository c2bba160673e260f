/* A copy and a checksum of the same bytes, one after the other, as one routine. */
#pragma once

#include "contract.h"

enum { COPY_THEN_SUM, SUM_THEN_COPY };

struct sequence {
    const struct routine *copy, *sum;
    int order;
};

/* What a sequence's point calls: as a routine of KIND_COPY_CHECKSUM. */
void *sequence_function(const struct sequence *s);
