/* Walking the page table by hand, as a kernel does at a fault. Linked last (harness/faults.h). */
#include "../harness/faults.h"

#define ADDRESS UINT64_C(0x000ffffffffff000)

u64 *arch_root_table(void) {
    u64 root;
    __asm__ volatile("mov %0, cr3" : "=r"(root));
    return (u64 *)(root & ADDRESS);
}

u64 *arch_next_table(u64 entry) { return (u64 *)(entry & ADDRESS); }
