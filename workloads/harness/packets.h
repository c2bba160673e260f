/* A call's buffers as a network driver keeps them: one side is the next buffer of a ring, which the driver has filled with
   what a device received (or will empty, for a device to send), the other a program's buffer that is walked through. */
#pragma once

#include "contract.h"
#include "data.h"

struct packets {
    int receive; /* the ring is the source */
    u64 size; /* of a call */
    u64 ring, stride, buffers; /* the first buffer's bytes; distance and number of the buffers */
    u64 walked, step, steps; /* the program's buffer: its first call's bytes; what lies between two calls; calls in it */
    u64 pages; /* the device's */
    u64 calls; /* in a round */
    u64 call, packet; /* how many there have been */
};

/* Where everything lies, by the addresses of a first call's ring and program's buffer, whose length is `window`
   (0: one call). Not 0: it fits. */
int packets_plan(struct packets *p, u64 ring, u64 walked, u64 window, u64 size);
/* Bytes from the first to the last of: the ring, the program's buffer, the device's pages. */
u64 packets_ring_bytes(const struct packets *p);
u64 packets_walked_bytes(const struct packets *p);
u64 packets_page_bytes(void);
/* What the program sends, into all its buffer. */
void packets_fill(const struct packets *p, const struct stream *contents);
/* How many rounds use every buffer and every part of the program's buffer. */
u64 packets_rounds(const struct packets *p);
/* The driver's work of a round, `contents` coming in: before its calls on receive, after them on send. */
void packets_drive(struct packets *p, const struct stream *contents);
/* The next call's addresses. */
void packets_next(struct packets *p, u64 *ring, u64 *walked);
