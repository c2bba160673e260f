/* Four buffer windows, mapped point by point. */
#include "windows.h"

#define LEAF_TABLES 9 /* a window: 16 MiB, an offset and bands, from the second 2 MiB on */
#define PRESENT UINT64_C(1)

table window_table;
static table leaf_tables[BUFFERS][LEAF_TABLES];

/* What the last point mapped, to be taken away again. */
static struct {
    u64 first, last; /* virtual, whole pages */
    int huge;
} mapped[BUFFERS];

/* Buffers start at different distances from a 2 MiB boundary, so that the sources and destinations of short copies do
   not meet in one set of a direct-mapped cache. */
static u64 buffer_offset(unsigned which) { return HUGE + 0x10000 + which * UINT64_C(0x5000); }

u64 arch_buffer(unsigned which) { return WINDOWS_VIRTUAL + which * WINDOW + buffer_offset(which); }

static u64 *window_entry(u64 virtual) { return &window_table[virtual / HUGE % TABLE]; }

static u64 *leaf_entry(u64 virtual) {
    u64 which = (virtual - WINDOWS_VIRTUAL) / WINDOW;
    return &leaf_tables[which][virtual % WINDOW / HUGE - 1][virtual / PAGE % TABLE];
}

static void link_leaf_tables(unsigned which) {
    for (u64 i = 0; i < LEAF_TABLES; i++)
        *window_entry(WINDOWS_VIRTUAL + which * WINDOW + (i + 1) * HUGE) = arch_table_entry(leaf_tables[which][i]);
}

void windows_init(void) {
    for (unsigned i = 0; i < BUFFERS; i++)
        link_leaf_tables(i);
}

void arch_unmap_all(void) {
    for (unsigned i = 0; i < BUFFERS; i++) {
        if (mapped[i].huge)
            link_leaf_tables(i);
        else
            for (u64 at = mapped[i].first; at < mapped[i].last; at += PAGE)
                *leaf_entry(at) = 0;
        mapped[i].first = mapped[i].last = 0;
        mapped[i].huge = 0;
    }
}

void arch_map(unsigned which, u64 first, u64 last, u32 flags) {
    u64 page = flags & MAP_HUGE ? HUGE : PAGE;
    first &= ~(page - 1);
    last = (last + page - 1) & ~(page - 1);
    for (u64 at = first; at < last; at += page)
        *(flags & MAP_HUGE ? window_entry(at) : leaf_entry(at)) = arch_page_entry(at - WINDOWS_VIRTUAL, flags);
    mapped[which].first = first;
    mapped[which].last = last;
    mapped[which].huge = (flags & MAP_HUGE) != 0;
}

void arch_set_present(u64 address, int present) {
    u64 *leaf = leaf_entry(address);
    *leaf = present ? *leaf | PRESENT : *leaf & ~PRESENT;
    arch_tlb_flush_page(address);
}
