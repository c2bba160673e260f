/* The sizes are those of Linux 5.13 with the driver stmmac: docs/guests.md says where each comes from. */
#include "packets.h"

#include "arch.h"
#include "states.h"

enum {
    LINE = 64,
    PAGE_BYTES = 4096,
    PAYLOAD = 1448, /* of a packet: MTU 1500 */
    FRAME_LINES = 24, /* its frame: 66 bytes of headers and the payload */
    DEVICE_PAGES = 512, /* DMA_DEFAULT_RX_SIZE */
    POLLED = 64, /* packets that the driver takes at a time: NAPI_POLL_WEIGHT */
    /* Of a buffer beside the payload: NET_SKB_PAD and NET_IP_ALIGN, the headers, struct skb_shared_info. */
    AROUND = 64 + 2 + 66 + 320,
};
#define MOST_BYTES (UINT64_C(16) << 20) /* a buffer window's */

static u64 up(u64 n, u64 to) { return (n + to - 1) / to * to; }
static u64 pieces(const struct packets *p) { return p->size ? up(p->size, PAYLOAD) / PAYLOAD : 1; }

int packets_plan(struct packets *p, u64 ring, u64 walked, u64 window, u64 size) {
    p->size = size;
    p->calls = up(POLLED, pieces(p)) / pieces(p);
    p->ring = ring;
    p->stride = up(size + AROUND, LINE);
    p->buffers = p->calls + up(p->calls, 3) / 3; /* a third more than are in use at once: 32 KiB hold 17 of 1448 bytes */
    p->walked = walked;
    p->step = up(walked % 8 + size, 8);
    p->steps = window > p->step && p->step ? window / p->step : 1;
    p->call = p->packet = 0;
    return packets_ring_bytes(p) <= MOST_BYTES && packets_walked_bytes(p) <= MOST_BYTES;
}

u64 packets_ring_bytes(const struct packets *p) { return p->buffers * p->stride; }
u64 packets_walked_bytes(const struct packets *p) { return p->steps * p->step; }
u64 packets_page_bytes(void) { return (u64)DEVICE_PAGES * PAGE_BYTES; }

void packets_fill(const struct packets *p, const struct stream *contents) {
    for (u64 i = 0; i < p->steps && !p->receive; i++)
        stream_write(contents, p->walked + i * p->step, p->size);
}

u64 packets_rounds(const struct packets *p) {
    u64 calls = p->buffers > p->steps ? p->buffers : p->steps;
    return up(calls, p->calls) / p->calls;
}

static u64 buffer_of(const struct packets *p, u64 call) { return p->ring + call % p->buffers * p->stride; }

static void write_lines(u64 start) {
    for (u64 i = 0; i < FRAME_LINES; i++)
        *(volatile u64 *)(uintptr_t)(start + i * LINE) = i;
}

/* A packet between the device's next page and `at`. The device does not see the caches: the page is flushed when it is
   handed over, to the processor and to the device. */
static void drive_packet(struct packets *p, u64 at, u64 bytes) {
    u64 page = p->pages + p->packet++ % DEVICE_PAGES * PAGE_BYTES;
    if (p->receive) {
        arch_flush(page, FRAME_LINES * LINE);
        touch(page, FRAME_LINES * LINE);
    } else {
        touch(at, bytes);
        write_lines(page);
    }
    arch_flush(page, FRAME_LINES * LINE);
}

void packets_drive(struct packets *p, const struct stream *contents) {
    u64 first = p->receive ? p->call : p->call - p->calls;
    for (u64 call = first; call < first + p->calls; call++) {
        u64 at = buffer_of(p, call);
        for (u64 done = 0; done < p->size; done += PAYLOAD)
            drive_packet(p, at + done, p->size - done < PAYLOAD ? p->size - done : PAYLOAD);
        if (p->receive)
            stream_write(contents, at, p->size);
    }
}

void packets_next(struct packets *p, u64 *ring, u64 *walked) {
    *ring = buffer_of(p, p->call);
    *walked = p->walked + p->call % p->steps * p->step;
    p->call++;
}
