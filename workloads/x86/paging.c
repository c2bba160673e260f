/* Four levels: the guest itself in two identity-mapped 2 MiB pages, the pages that hold the descriptor table it was
   started with, and the buffer windows. Accessed and dirty bits are set in advance. */
#include "../harness/windows.h"
#include "cpu.h"

#define WINDOWS_PHYSICAL UINT64_C(0x8000000)
#define GUEST UINT64_C(0x200000)
#define GUEST_PAGES 2 /* of 2 MiB; guest.ld asserts it */
#define BOOT_FIRST UINT64_C(0x70000)
#define BOOT_LAST UINT64_C(0x78000)

enum { P = 1, RW = 2, US = 4, A = 32, D = 64, PS = 128 };

static table root, gigabytes, low_table, boot_table;

u64 paging_init(void);

u64 arch_page_entry(u64 offset, u32 flags) {
    return (WINDOWS_PHYSICAL + offset) | P | RW | A | D | (flags & MAP_USER ? US : 0) | (flags & MAP_HUGE ? PS : 0);
}

/* The lowest level decides who may access. */
u64 arch_table_entry(const u64 *next) { return (u64)next | P | RW | US | A; }

u64 paging_init(void) {
    root[0] = arch_table_entry(gigabytes);
    gigabytes[0] = arch_table_entry(low_table);
    gigabytes[WINDOWS_VIRTUAL >> 30] = arch_table_entry(window_table);
    low_table[0] = arch_table_entry(boot_table);
    for (u64 at = BOOT_FIRST; at < BOOT_LAST; at += PAGE)
        boot_table[at / PAGE] = at | P | RW | A | D;
    for (u64 at = GUEST; at < GUEST + GUEST_PAGES * HUGE; at += HUGE)
        low_table[at / HUGE] = at | P | RW | A | D | PS;
    windows_init();
    return (u64)root;
}

void arch_tlb_flush(void) {
    u64 root_register;
    __asm__ volatile("mov %0, cr3\n\tmov cr3, %0" : "=r"(root_register)::"memory");
}

void arch_tlb_flush_page(u64 address) { __asm__ volatile("invlpg [%0]" ::"r"(address) : "memory"); }

/* An absent entry is never cached. */
void arch_page_appeared(u64 address) { (void)address; }

void arch_flush(u64 address, u64 length) {
    if (!cpu_line) {
        __asm__ volatile("wbinvd" ::: "memory");
        return;
    }
    for (u64 at = address & ~(u64)(cpu_line - 1); at < address + length; at += cpu_line)
        __asm__ volatile("clflush [%0]" ::"r"(at) : "memory");
    cpu_serialise();
}
