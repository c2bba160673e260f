/* All that the harness needs of an instruction set. Implemented once per ISA; everything else is shared C. */
#pragma once

#include "contract.h"

/* A call: the routine and its arguments, and the parameter of one that has any (none on RISC-V so far, where it is not
   passed; on x86 the fourth argument). */
struct job {
    void *fn;
    u64 arg[3], parameter;
};

struct sample {
    u64 cycles, instructions;
    u64 ret[2]; /* what the last call of each job returned */
};

/* The buffers that a point may use; the second pair belongs to the interleaved measure, the third to a stream. */
enum { SOURCE, DESTINATION, SOURCE2, DESTINATION2, STREAM_SOURCE, STREAM_DESTINATION, BUFFERS };
enum { MAP_USER = 1, MAP_HUGE = 2, MAP_ON_TOUCH = 4 };

/* Why a guest gives up: the code of its `m5 fail`. */
enum { FAIL_POINTS_FILE = 1, FAIL_POINTS_SHORT = 2, FAIL_TRAP_IN_HARNESS = 3, FAIL_TRAP_IN_MACHINE_MODE = 4 };

/* The host: gem5 pseudo-ops, or their stand-in. */
u64 arch_readfile(void *buffer, u64 length, u64 offset);
u64 arch_writefile(const void *buffer, u64 length, u64 offset, const char *name);
_Noreturn void arch_exit(void);
/* What is measured begins and ends: breakeven's engine simulates in detail what lies between, and executes the rest
   functionally. A real gem5 takes no notice. */
void arch_work_begin(void);
void arch_work_end(void);
_Noreturn void arch_fail(u64 code);

/* Buffers: where page 0 lies, and which bytes [first, last) of it are mapped during this point: at once, or
   (MAP_ON_TOUCH, a stream's buffers only) each page, filled with zeros, when it is first touched. */
u64 arch_buffer(unsigned which);
void arch_unmap_all(void);
void arch_map(unsigned which, u64 first, u64 last, u32 flags);
void arch_tlb_flush(void);
/* The same after pages were mapped to appear on touch; and what the first of them would still have to set up is there. */
void arch_ready_pages(void);
/* Takes one mapped 4 KiB page away (present = 0), or gives it back. */
void arch_set_present(u64 address, int present);
/* Writes back and evicts the lines of [address, address + length) from every cache. */
void arch_flush(u64 address, u64 length);

/* Whether supervisor code may touch user pages: open for the harness, closed when a routine starts.
   Returns what it was. */
int arch_user_access(int open);

/* Switches on the state that a routine with these flags needs and start-up leaves off. x86 only. */
void arch_extend_state(u32 flags);

/* One call with every callee-saved register holding a known value; what was damaged, as a bit mask (0: nothing). */
u64 arch_checked_call(const struct job *job, u64 *ret);
/* `calls` calls between two counter readings: of jobs[0], or of jobs[0] and jobs[1] in turn. Not 0: damage, as above. */
u64 arch_measure(const struct job jobs[2], u64 calls, struct sample *sample, int interleaved);
/* A routine that returns at once. */
void arch_empty(void);
/* How often it is measured, once for warming up. The branch predictors of the presets learn it within 6 measurements; those
   of k7, katmai and pentium3 (gshare) never do. */
enum { OVERHEADS = 10 };

/* Like setjmp: 0 now, 1 when a trap that nothing expects has occurred since. */
__attribute__((returns_twice)) u64 arch_recover(void);
/* From here on a trap is the harness's own fault again. */
void arch_disarm(void);
/* That trap's cause. */
u64 arch_trap_cause(void);

/* All routines; those but the ones that came last; those that point.c finds without LATER. */
extern const struct routine __routines_start[], __all_routines_end[];
extern const struct routine __routines_end[];
extern const struct routine __first_routines_start[], __first_routines_end[];
