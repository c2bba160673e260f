/* What start-up found out about the machine, and the registers behind it. */
#pragma once

#define CR0_MP 0x2
#define CR0_EM 0x4
#define CR0_TS 0x8
#define CR0_NE 0x20
#define CR0_AM 0x40000
#define CR4_OSFXSR 0x200
#define CR4_OSXMMEXCPT 0x400
#define CR4_OSXSAVE 0x40000
#define CR4_SMAP 0x200000

#define RFLAGS_DF 0x400
#define RFLAGS_AC 0x40000

#define MXCSR_DEFAULT 0x1f80
#define MXCSR_CONTROL 0xffc0 /* all but the sticky flags */

/* rdpmc's number of the instructions retired. */
#define PMC_INSTRUCTIONS 0x40000000

#ifndef __ASSEMBLER__
#include "../harness/contract.h"

extern u32 cpu_has_smap;
extern u32 cpu_counts_instructions; /* rdpmc has PMC_INSTRUCTIONS */
extern u32 cpu_line;                /* bytes that a clflush covers; 0: it has none */

void cpu_init(void);
/* Waits until every earlier instruction and access is done. */
void cpu_serialise(void);
#endif
