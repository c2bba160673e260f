/* Buffer windows: a window is 32 MiB of virtual and of physical addresses that agree in their low 25 bits, so that 2 MiB
   pages fit; a stream's are 128 MiB each and lie behind the others. Only what a point needs is mapped: the pages around it
   are guards. Sv39 and x86-64 share the shape of the last two levels, 512 entries of 8 bytes with the present bit lowest;
   an ISA gives the entries' other bits. */
#pragma once

#include "arch.h"

#define PAGE UINT64_C(4096)
#define HUGE (UINT64_C(2) << 20)
#define WINDOW (UINT64_C(32) << 20)
#define STREAM_WINDOW (UINT64_C(128) << 20)
#define WINDOWS_VIRTUAL UINT64_C(0x40000000)
#define TABLE 512

typedef u64 table[TABLE] __attribute__((aligned(4096)));

/* The table of the 1 GiB at WINDOWS_VIRTUAL, a 2 MiB page or leaf table an entry. */
extern table window_table;
/* Links the leaf tables; the root is the caller's affair. */
void windows_init(void);
/* What a page fault at `address` asks first. Not 0: the page was one to appear on touch, and is there now, all zeros. */
int windows_touch(u64 address);

/* What the ISA gives: the entry of a page `offset` bytes into the windows (MAP_... flags), of a table, and a flush. */
u64 arch_page_entry(u64 offset, u32 flags);
u64 arch_table_entry(const u64 *next);
void arch_tlb_flush_page(u64 address);
/* Makes sure that the processor sees an entry that was absent until now. */
void arch_page_appeared(u64 address);
