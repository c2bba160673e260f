/* How a page appears on its first touch: what a kernel does from the fault to the new entry. Used by windows.c, of either
   instruction set; linked last, so that nothing else moves. */
#pragma once

#include "windows.h"

/* From now on the pages of [first, last), whole pages of the kind that `flags` say, are to appear. */
void faults_prepare(u64 first, u64 last, u32 flags);
/* The page that begins at `start` gets a frame and is mapped; its contents are the caller's affair. 0: nothing was done. */
int faults_page_in(u64 start, u32 flags);

/* What the ISA gives (its tables.c): the levels of its page table, the topmost one now in use, the one that an entry names. */
#ifdef __x86_64__
enum { TABLE_LEVELS = 4 };
#else
enum { TABLE_LEVELS = 3 };
#endif
u64 *arch_root_table(void);
u64 *arch_next_table(u64 entry);
