/* Calls of many sizes at many places, in a row. */
#pragma once

#include "contract.h"

struct mixing {
    void *fn;
    u64 parameter, value; /* of a set: the byte */
    u32 kind, read; /* not 0: every line of a call's destination is read after it */
    const struct call *calls;
    u64 count, src, dst; /* where both buffers begin */
};

/* All calls. Returns what the last one did, or (a user copy's bytes not copied) everything or-ed together. */
u64 mixing_run(const struct mixing *m);
