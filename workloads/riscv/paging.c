/* Sv39: the guest itself in two identity-mapped 2 MiB pages, and the buffer windows. Accessed and dirty bits are set in
   advance. */
#include "../harness/windows.h"
#include "csr.h"

#define WINDOWS_PHYSICAL UINT64_C(0x88000000)
#define GUEST UINT64_C(0x80000000)
#define GUEST_PAGES 2 /* of 2 MiB; guest.ld asserts it */
#define CACHE_BLOCK UINT64_C(64)
#define SATP_SV39 (UINT64_C(8) << 60)

enum { V = 1, R = 2, WR = 4, X = 8, U = 16, G = 32, A = 64, D = 128 };

static table root, guest_table;

u64 paging_init(void);

static u64 entry(u64 physical, u64 bits) { return physical >> 12 << 10 | bits; }

u64 arch_page_entry(u64 offset, u32 flags) {
    return entry(WINDOWS_PHYSICAL + offset, V | R | WR | A | D | (flags & MAP_USER ? U : 0));
}

u64 arch_table_entry(const u64 *next) { return entry((u64)next, V); }

/* Runs in machine mode before translation is on. */
u64 paging_init(void) {
    root[WINDOWS_VIRTUAL >> 30] = arch_table_entry(window_table);
    root[GUEST >> 30] = arch_table_entry(guest_table);
    for (u64 i = 0; i < GUEST_PAGES; i++)
        guest_table[i] = entry(GUEST + i * HUGE, V | R | WR | X | G | A | D);
    windows_init();
    return SATP_SV39 | (u64)root >> 12;
}

void arch_tlb_flush(void) { __asm__ volatile("sfence.vma" ::: "memory"); }
void arch_tlb_flush_page(u64 address) { __asm__ volatile("sfence.vma %0, zero" ::"r"(address) : "memory"); }

void arch_page_appeared(u64 address) { arch_tlb_flush_page(address); }

void arch_flush(u64 address, u64 length) {
    for (u64 at = address & ~(CACHE_BLOCK - 1); at < address + length; at += CACHE_BLOCK)
        __asm__ volatile(".insn i 0x0f, 2, x0, %0, 2" ::"r"(at) : "memory"); /* cbo.flush */
    __asm__ volatile("fence" ::: "memory");
}
