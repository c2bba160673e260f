/* The harness as a Linux program on x86-64: the time-stamp counter, clflush, signals as traps. User pages stay open: stac
   and clac are three-byte nops here. */
#define _GNU_SOURCE
#include "../native/native.h"

#include <ucontext.h>

#include "../harness/exceptions.h"
#include "cpu.h"
#include "trap.h"

/* The counter advanced by 26 ticks at a time on the EPYC of Zen 4 that this was written on; a chain unit's loop. */
enum { LINE = 64, STEP_TICKS = 128, STRAY_TICKS = 100, UNROLLED = 64 };

u32 cpu_counts_instructions;

void trap(struct frame *f);
extern u32 call_site; /* call.S */
static u64 trap_cause;
struct context recover_context; /* trap.S fills both */
u64 recover_armed;

void arch_flush(u64 address, u64 length) {
    for (u64 at = address & ~(u64)(LINE - 1); at < address + length; at += LINE)
        __asm__ volatile("clflush %0" : "+m"(*(volatile char *)at));
    __asm__ volatile("mfence" ::: "memory");
}

const char *native_cannot_flush(void) { return 0; }

void arch_disarm(void) { recover_armed = 0; }

u64 arch_trap_cause(void) { return trap_cause; }

void native_choose_call_site(const void *fn) {
    static const void *owners[CALL_SITES];
    for (call_site = 0; call_site < CALL_SITES - 1 && owners[call_site] && owners[call_site] != fn; call_site++)
        ;
    owners[call_site] = fn;
}

/* As in the guest (trap.c), but that the kernel makes pages appear. */
void trap(struct frame *f) {
    u64 fixup = f->vector == VECTOR_PAGE_FAULT ? exception_fixup(f->rip) : 0;
    if (fixup) {
        f->rip = fixup;
        return;
    }
    if (!recover_armed)
        arch_fail(FAIL_TRAP_IN_HARNESS);
    recover_armed = 0;
    trap_cause = f->vector;
    const struct context *c = &recover_context;
    f->rbx = c->rbx, f->rbp = c->rbp, f->r12 = c->r12, f->r13 = c->r13, f->r14 = c->r14, f->r15 = c->r15;
    f->rsp = c->rsp, f->rip = c->rip;
    f->rflags &= ~(u64)RFLAGS_DF;
    f->rax = 1;
}

static u64 vector_of(int number) {
    switch (number) {
    case SIGSEGV: return VECTOR_PAGE_FAULT;
    case SIGILL: return 6;
    case SIGFPE: return 0;
    default: return 17;
    }
}

/* What trap.S does in the guest: the registers that trap() reads and changes. */
void native_signal(int number, siginfo_t *info, void *context) {
    (void)info;
    greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
    struct frame f = {
        .vector = vector_of(number), .rip = (u64)r[REG_RIP], .rsp = (u64)r[REG_RSP], .rflags = (u64)r[REG_EFL],
        .rax = (u64)r[REG_RAX], .rbx = (u64)r[REG_RBX], .rbp = (u64)r[REG_RBP], .r12 = (u64)r[REG_R12],
        .r13 = (u64)r[REG_R13], .r14 = (u64)r[REG_R14], .r15 = (u64)r[REG_R15],
    };
    trap(&f);
    r[REG_RIP] = (greg_t)f.rip, r[REG_RSP] = (greg_t)f.rsp, r[REG_EFL] = (greg_t)f.rflags;
    r[REG_RAX] = (greg_t)f.rax, r[REG_RBX] = (greg_t)f.rbx, r[REG_RBP] = (greg_t)f.rbp, r[REG_R12] = (greg_t)f.r12;
    r[REG_R13] = (greg_t)f.r13, r[REG_R14] = (greg_t)f.r14, r[REG_R15] = (greg_t)f.r15;
}

struct native_counter native_choose_counter(void) {
    return (struct native_counter){.name = "tsc", .step = STEP_TICKS, .stray = STRAY_TICKS};
}

static u64 ticks(void) {
    u32 low, high;
    __asm__ volatile("mfence\n\tlfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high)::"memory");
    return (u64)high << 32 | low;
}

/* Of registers: of constants, some processors do several a cycle. */
u64 native_chain(u64 n) {
    u64 start = ticks(), sum = 1, one = 1;
    for (n /= UNROLLED; n; n--)
        __asm__ volatile(".rept %c2\n\tadd %1, %0\n\t.endr" : "+r"(sum) : "r"(one), "i"(UNROLLED));
    return ticks() - start;
}

/* Four bytes each, so that they fit into whatever keeps decoded ones. */
u64 native_wide(u64 n) {
    u64 start = ticks();
    for (n /= UNROLLED; n; n--)
        __asm__ volatile(".rept %c0\n\tnopl 0(%%rax)\n\t.endr" ::"i"(UNROLLED));
    return ticks() - start;
}
