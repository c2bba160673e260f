/* Sv39: the guest itself in two identity-mapped 2 MiB pages, four buffer windows mapped point by point.

   A window is 32 MiB of virtual and of physical addresses that agree in their low 25 bits, so that 2 MiB pages fit. Only
   what a point needs is mapped: the pages around it are guards. Accessed and dirty bits are set in advance. */
#include "../harness/arch.h"
#include "csr.h"

#define PAGE UINT64_C(4096)
#define HUGE (UINT64_C(2) << 20)
#define WINDOW (UINT64_C(32) << 20)
#define WINDOWS_VIRTUAL UINT64_C(0x40000000)
#define WINDOWS_PHYSICAL UINT64_C(0x88000000)
#define GUEST UINT64_C(0x80000000)
#define GUEST_PAGES 2 /* of 2 MiB; guest.ld asserts it */
#define TABLE 512
#define LEAF_TABLES 9 /* a window: 16 MiB, an offset and bands, from the second 2 MiB on */
#define CACHE_BLOCK UINT64_C(64)
#define SATP_SV39 (UINT64_C(8) << 60)

enum { V = 1, R = 2, WR = 4, X = 8, U = 16, G = 32, A = 64, D = 128 };

typedef u64 table[TABLE] __attribute__((aligned(4096)));

static table root, guest_table, window_table, leaf_tables[BUFFERS][LEAF_TABLES];

/* What the last point mapped, to be taken away again. */
static struct {
    u64 first, last; /* virtual, whole pages */
    int huge;
} mapped[BUFFERS];

u64 paging_init(void);

static u64 entry(u64 physical, u64 bits) { return physical >> 12 << 10 | bits; }

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
        *window_entry(WINDOWS_VIRTUAL + which * WINDOW + (i + 1) * HUGE) = entry((u64)leaf_tables[which][i], V);
}

/* Runs in machine mode before translation is on. */
u64 paging_init(void) {
    root[WINDOWS_VIRTUAL >> 30] = entry((u64)window_table, V);
    root[GUEST >> 30] = entry((u64)guest_table, V);
    for (u64 i = 0; i < GUEST_PAGES; i++)
        guest_table[i] = entry(GUEST + i * HUGE, V | R | WR | X | G | A | D);
    for (unsigned i = 0; i < BUFFERS; i++)
        link_leaf_tables(i);
    return SATP_SV39 | (u64)root >> 12;
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
    u64 bits = V | R | WR | A | D | (flags & MAP_USER ? U : 0);
    first &= ~(page - 1);
    last = (last + page - 1) & ~(page - 1);
    for (u64 at = first; at < last; at += page) {
        u64 leaf = entry(at - WINDOWS_VIRTUAL + WINDOWS_PHYSICAL, bits);
        if (flags & MAP_HUGE)
            *window_entry(at) = leaf;
        else
            *leaf_entry(at) = leaf;
    }
    mapped[which].first = first;
    mapped[which].last = last;
    mapped[which].huge = (flags & MAP_HUGE) != 0;
}

void arch_tlb_flush(void) { __asm__ volatile("sfence.vma" ::: "memory"); }

void arch_set_present(u64 address, int present) {
    u64 *leaf = leaf_entry(address);
    *leaf = present ? *leaf | V : *leaf & ~(u64)V;
    __asm__ volatile("sfence.vma %0, zero" ::"r"(address) : "memory");
}

void arch_flush(u64 address, u64 length) {
    for (u64 at = address & ~(CACHE_BLOCK - 1); at < address + length; at += CACHE_BLOCK)
        __asm__ volatile(".insn i 0x0f, 2, x0, %0, 2" ::"r"(at) : "memory"); /* cbo.flush */
    __asm__ volatile("fence" ::: "memory");
}
