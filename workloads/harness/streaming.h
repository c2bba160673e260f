/* The stream: chunk after chunk into one large buffer, as a program does that writes a file or fills a socket. */
#pragma once

#include "contract.h"

struct streaming {
    void *fn;
    u64 arg[3], step[3]; /* of the first call; what each further call adds */
    u64 parameter, calls;
    u64 read; /* bytes at the first argument that are read, a word a line, after each call */
};

/* All calls. Returns what the last one did, or (`accumulate`: bytes not copied) everything or-ed together. */
u64 streaming_run(const struct streaming *s, u64 accumulate);
