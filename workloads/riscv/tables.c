/* Walking the page table by hand, as a kernel does at a fault. Linked last (harness/faults.h). */
#include "../harness/faults.h"
#include "csr.h"

#define PAGE_NUMBER ((UINT64_C(1) << 44) - 1)

u64 *arch_root_table(void) { return (u64 *)((read_csr(satp) & PAGE_NUMBER) << 12); }

u64 *arch_next_table(u64 entry) { return (u64 *)((entry >> 10 & PAGE_NUMBER) << 12); }
