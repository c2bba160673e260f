/* What the harness as a Linux program needs of an instruction set, beside arch.h. */
#pragma once

#include <signal.h>

#include "../harness/arch.h"

/* arch_measure calls this routine from a place that calls no other one, if it can. */
void native_choose_call_site(const void *fn);

/* The counter that arch_measure and native_chain read. */
struct native_counter {
    const char *name; /* one word */
    u32 step;         /* ticks that it may advance by at a time, at most */
    u32 stray;        /* a sample so many ticks above the median may still be sound: steps, not an interrupt */
};

/* Once, pinned and with signals caught. */
struct native_counter native_choose_counter(void);
/* Ticks of n dependent additions of registers, n a multiple of NATIVE_CHAIN_UNIT. */
enum { NATIVE_CHAIN_UNIT = 512 };
u64 native_chain(u64 n);
/* Ticks of n instructions that depend on nothing, n as above: how wide the core is just now. 0: not known here. */
u64 native_wide(u64 n);
/* Why arch_flush does nothing on this host, in words; null: it works. */
const char *native_cannot_flush(void);
/* What SIGSEGV, SIGBUS, SIGILL and SIGFPE end in: what a trap does in the guest. */
void native_signal(int number, siginfo_t *info, void *context);

/* To stand right behind what makes checked calls: they leave registers changed that the harness, which uses no floating
   point, has no need of. This program has. */
#ifdef __riscv
#define FORGET_REGISTERS()                                                                                             \
    __asm__ volatile("" ::: "fs0", "fs1", "fs2", "fs3", "fs4", "fs5", "fs6", "fs7", "fs8", "fs9", "fs10", "fs11")
#else
#define FORGET_REGISTERS() ((void)0)
#endif

/* Says what failed, and why (errno), and ends the program. */
_Noreturn void give_up(const char *what);
