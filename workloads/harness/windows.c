/* The buffer windows, mapped point by point. */
#include "faults.h"

#define LEAF_TABLES 9 /* a window: 16 MiB, an offset and bands, from the second 2 MiB on */
#define STREAM_LEAF_TABLES 34 /* a stream's: MAX_STREAM and the same */
#define PRESENT UINT64_C(1)

table window_table;
static table leaf_tables[STREAM_SOURCE][LEAF_TABLES];
/* Cleared when a stream is mapped, not at the start: few points are streams. */
static table stream_tables[BUFFERS - STREAM_SOURCE][STREAM_LEAF_TABLES] __attribute__((section(".uncleared")));

/* What the last point mapped, to be taken away again. */
static struct {
    u64 first, last; /* virtual, whole pages */
    u32 flags;
} mapped[BUFFERS];

/* Of a mapping, beside its flags: faults.c knows of it. */
#define READY (UINT32_C(1) << 31)

static int is_stream(unsigned which) { return which >= STREAM_SOURCE; }

/* Buffers start at different distances from a 2 MiB boundary, so that the sources and destinations of short copies do
   not meet in one set of a direct-mapped cache. */
static u64 buffer_offset(unsigned which) { return HUGE + 0x10000 + which * UINT64_C(0x5000); }

static u64 window_start(unsigned which) {
    u64 offset = is_stream(which) ? STREAM_SOURCE * WINDOW + (which - STREAM_SOURCE) * STREAM_WINDOW : which * WINDOW;
    return WINDOWS_VIRTUAL + offset;
}

u64 arch_buffer(unsigned which) { return window_start(which) + buffer_offset(which); }

static unsigned window_of(u64 virtual) {
    u64 offset = virtual - WINDOWS_VIRTUAL;
    if (offset < STREAM_SOURCE * WINDOW)
        return (unsigned)(offset / WINDOW);
    return (unsigned)(STREAM_SOURCE + (offset - STREAM_SOURCE * WINDOW) / STREAM_WINDOW);
}

static table *tables_of(unsigned which) {
    return is_stream(which) ? stream_tables[which - STREAM_SOURCE] : leaf_tables[which];
}

static u64 *window_entry(u64 virtual) { return &window_table[virtual / HUGE % TABLE]; }

static u64 *leaf_entry(u64 virtual) {
    unsigned which = window_of(virtual);
    return &tables_of(which)[(virtual - window_start(which)) / HUGE - 1][virtual / PAGE % TABLE];
}

static void link_leaf_tables(unsigned which) {
    u64 count = is_stream(which) ? STREAM_LEAF_TABLES : LEAF_TABLES;
    for (u64 i = 0; i < count; i++)
        *window_entry(window_start(which) + (i + 1) * HUGE) = arch_table_entry(tables_of(which)[i]);
}

static void clear_stream_tables(unsigned which) {
    for (u64 i = 0; i < STREAM_LEAF_TABLES; i++)
        for (u64 j = 0; j < TABLE; j++)
            stream_tables[which - STREAM_SOURCE][i][j] = 0;
}

void windows_init(void) {
    for (unsigned i = 0; i < STREAM_SOURCE; i++)
        link_leaf_tables(i);
}

void arch_unmap_all(void) {
    for (unsigned i = 0; i < BUFFERS; i++) {
        if (mapped[i].flags & MAP_HUGE)
            link_leaf_tables(i);
        else
            for (u64 at = mapped[i].first; at < mapped[i].last; at += PAGE)
                *leaf_entry(at) = 0;
        mapped[i].first = mapped[i].last = 0;
        mapped[i].flags = 0;
    }
}

static u64 page_of(u32 flags) { return flags & MAP_HUGE ? HUGE : PAGE; }

static u64 *entry_of(u64 virtual, u32 flags) { return flags & MAP_HUGE ? window_entry(virtual) : leaf_entry(virtual); }

void arch_map(unsigned which, u64 first, u64 last, u32 flags) {
    u64 page = page_of(flags);
    first &= ~(page - 1);
    last = (last + page - 1) & ~(page - 1);
    if (is_stream(which)) {
        clear_stream_tables(which);
        link_leaf_tables(which);
    }
    for (u64 at = first; at < last; at += page)
        *entry_of(at, flags) = flags & MAP_ON_TOUCH ? 0 : arch_page_entry(at - WINDOWS_VIRTUAL, flags);
    mapped[which].first = first;
    mapped[which].last = last;
    mapped[which].flags = flags;
}

static void clear_page(u64 start, u64 bytes) {
    int open = arch_user_access(1);
    for (u64 *p = (u64 *)start, *end = (u64 *)(start + bytes); p < end; p += 8)
        p[0] = p[1] = p[2] = p[3] = p[4] = p[5] = p[6] = p[7] = 0;
    arch_user_access(open);
}

/* Behind everything else, as the rest of what only untouched pages need (guest.ld). */
#define LATE __attribute__((section(".late_text"), noinline))

LATE static void make_ready(unsigned which) {
    faults_prepare(mapped[which].first, mapped[which].last, mapped[which].flags);
    mapped[which].flags |= READY;
}

LATE void arch_ready_pages(void) {
    arch_tlb_flush();
    for (unsigned i = STREAM_SOURCE; i < BUFFERS; i++)
        if (mapped[i].flags & MAP_ON_TOUCH)
            make_ready(i);
}

#ifdef __x86_64__
__attribute__((aligned(128))) /* what follows stays where it was when this was longer */
#endif
int windows_touch(u64 address) {
    for (unsigned i = STREAM_SOURCE; i < BUFFERS; i++) {
        if (address < mapped[i].first || address >= mapped[i].last || !(mapped[i].flags & MAP_ON_TOUCH))
            continue;
        if (!(mapped[i].flags & READY))
            make_ready(i);
        u64 page = page_of(mapped[i].flags), start = address & ~(page - 1);
        if (!faults_page_in(start, mapped[i].flags))
            return 0;
        clear_page(start, page); /* through the new mapping: the guest has no other of it */
        return 1;
    }
    return 0;
}

void arch_set_present(u64 address, int present) {
    u64 *leaf = leaf_entry(address);
    *leaf = present ? *leaf | PRESENT : *leaf & ~PRESENT;
    arch_tlb_flush_page(address);
}
