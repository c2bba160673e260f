/* The harness as a Linux program on RISC-V: a counter that Linux lets a program read, cbo.flush where it does, signals as
   traps.

   Counter: the cycle counter, if reading it does not trap (an event of perf's, mapped, makes Linux 6.6 and later allow
   it; earlier kernels always do) and it counts; else the timer, a tick of which is hundreds of cycles. User pages stay
   open: an access to sstatus, which only supervisor mode may make, becomes a no-operation when it is first executed, in
   the checked call that precedes what is measured. */
#define _GNU_SOURCE
#include "../native/native.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "../harness/exceptions.h"
#include "csr.h"

enum { PAGE_BYTES = 4096, BLOCK = 64, INSN_BYTES = 4, PROBE_CHAIN = 16384 };
enum { CAUSE_ILLEGAL = 2, CAUSE_BREAKPOINT = 3 };
/* csrrs and csrrc of sstatus, also with an immediate; addi rd, zero, 0. */
enum { SYSTEM = 0x73, SSTATUS = 0x100, LOAD_ZERO = 0x13 };
/* What turns a reading of the timer, CSR 0xc01, into one of the cycle counter, 0xc00. */
#define TIME_NOT_CYCLE (UINT32_C(1) << 20)
/* The cycle counter's index in an event's page. */
enum { INDEX_OF_CYCLE = 1 };

/* Filled by arch_recover: ra, sp, s0..s11. */
u64 recover_context[14];
u64 recover_armed;
static u64 trap_cause;
/* Of the C library: routines are called with other values in these registers, and may fault. */
u64 native_gp, native_tp;
static volatile int probing; /* 1: an illegal instruction is skipped and noted */
static int flushes;

/* Where the timer is read: what native_choose_counter makes readings of the cycle counter (call.S, ticks). */
extern const int32_t __start_counter_sites[], __stop_counter_sites[];

void on_signal(int number, siginfo_t *info, void *context);

__asm__(".text\n"
        ".globl native_signal\n"
        "native_signal:\n"
        "    lla t0, native_gp\n"
        "    ld gp, 0(t0)\n"
        "    lla t0, native_tp\n"
        "    ld tp, 0(t0)\n"
        "    tail on_signal\n");

static u32 insn_at(u64 pc) {
    u32 insn;
    memcpy(&insn, (const void *)pc, sizeof insn); /* two bytes aligned */
    return insn;
}

static void replace(u64 pc, u32 insn) {
    u64 first = pc & ~(u64)(PAGE_BYTES - 1), last = (pc + INSN_BYTES + PAGE_BYTES - 1) & ~(u64)(PAGE_BYTES - 1);
    if (mprotect((void *)first, last - first, PROT_READ | PROT_WRITE | PROT_EXEC))
        give_up("cannot change an instruction");
    memcpy((void *)pc, &insn, sizeof insn);
    __builtin___clear_cache((char *)pc, (char *)pc + INSN_BYTES);
}

static int is_user_access(u32 insn) {
    return (insn & 0x7f) == SYSTEM && insn >> 20 == SSTATUS && (insn >> 12 & 3) >= 2;
}

static void illegal(u64 *pc, u32 insn) {
    if (probing) {
        probing = 0;
        *pc += INSN_BYTES;
    } else {
        replace(*pc, LOAD_ZERO | (insn & 0xf80));
    }
}

static u64 cause_of(int number) {
    switch (number) {
    case SIGSEGV: return CAUSE_LOAD_PAGE;
    case SIGILL: return CAUSE_ILLEGAL;
    case SIGBUS: return CAUSE_MISALIGNED_LOAD;
    default: return CAUSE_BREAKPOINT;
    }
}

/* As in the guest (supervisor_trap.c), but that the kernel makes pages appear. */
void on_signal(int number, siginfo_t *info, void *context) {
    (void)info;
    unsigned long *x = ((ucontext_t *)context)->uc_mcontext.__gregs; /* pc in the place of x0 */
    u64 pc = x[0], fixup = number == SIGSEGV ? exception_fixup(pc) : 0;
    if (fixup) {
        x[0] = fixup;
        return;
    }
    if (number == SIGILL && (probing || is_user_access(insn_at(pc)))) {
        illegal(&pc, insn_at(pc));
        x[0] = pc;
        return;
    }
    if (!recover_armed)
        arch_fail(FAIL_TRAP_IN_HARNESS);
    recover_armed = 0;
    trap_cause = cause_of(number);
    x[0] = x[1] = recover_context[0];
    x[2] = recover_context[1];
    x[3] = native_gp, x[4] = native_tp;
    x[8] = recover_context[2];
    x[9] = recover_context[3];
    for (int i = 2; i < 12; i++)
        x[16 + i] = recover_context[2 + i];
    x[10] = 1;
}

void arch_disarm(void) { recover_armed = 0; }

u64 arch_trap_cause(void) { return trap_cause; }

#define FLUSH(address) __asm__ volatile(".insn i 0x0f, 2, x0, %0, 2" ::"r"(address) : "memory") /* cbo.flush */

void arch_flush(u64 address, u64 length) {
    for (u64 at = address & ~(u64)(BLOCK - 1); flushes && at < address + length; at += BLOCK)
        FLUSH(at);
    __asm__ volatile("fence" ::: "memory");
}

/* One call instruction for all: what it costs is not known of any host. */
void native_choose_call_site(const void *fn) { (void)fn; }

const char *native_cannot_flush(void) {
    return flushes ? 0 : "cold points need cbo.flush, which this host does not let a program execute";
}

/* The instruction that call.S reads its counter with. */
static u64 ticks(void) {
    u64 now;
    __asm__ volatile("fence\n"
                     "0: rdtime %0\n"
                     ".pushsection counter_sites, \"a\"\n"
                     ".balign 4\n"
                     ".word 0b - .\n"
                     ".popsection"
                     : "=r"(now)::"memory");
    return now;
}

u64 native_chain(u64 n) {
    u64 start = ticks(), sum = 1, one = 1;
    for (n /= NATIVE_CHAIN_UNIT; n; n--)
        __asm__ volatile(".rept %2\n\tadd %0, %0, %1\n\t.endr" : "+r"(sum) : "r"(one), "i"(NATIVE_CHAIN_UNIT));
    return ticks() - start;
}

/* Has perf count cycles, in every mode (misaligned accesses may trap), and asks for leave to read the counter. Not 0: it
   is the cycle counter. */
static int open_cycle_counter(void) {
    struct perf_event_attr attr = {
        .type = PERF_TYPE_HARDWARE, .size = sizeof attr, .config = PERF_COUNT_HW_CPU_CYCLES, .pinned = 1};
    int event = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
    if (event < 0)
        return 0;
    const volatile struct perf_event_mmap_page *page = mmap(0, PAGE_BYTES, PROT_READ, MAP_SHARED, event, 0);
    if (page != MAP_FAILED && page->cap_user_rdpmc && page->index == INDEX_OF_CYCLE)
        return 1;
    close(event);
    return 0;
}

/* Whether the cycle counter may be read, and counts. */
static int cycles_count(void) {
    u64 before = 0, after = 0;
    probing = 1;
    __asm__ volatile("rdcycle %0" : "+r"(before)::"memory");
    if (!probing)
        return 0;
    native_chain(PROBE_CHAIN);
    __asm__ volatile("rdcycle %0" : "+r"(after)::"memory");
    probing = 0;
    return after > before;
}

static void probe_flush(void) {
    static u8 block[BLOCK] __attribute__((aligned(BLOCK)));
    probing = 1;
    FLUSH(block);
    flushes = probing;
    probing = 0;
}

struct native_counter native_choose_counter(void) {
    static const struct native_counter timer = {.name = "rdtime", .step = 1, .stray = 4};
    struct native_counter cycles = {.name = "rdcycle", .step = 16, .stray = 100};
    const char *wanted = getenv("BREAKEVEN_COUNTER");
    __asm__ volatile("mv %0, gp\n\tmv %1, tp" : "=r"(native_gp), "=r"(native_tp));
    probe_flush();
    if (wanted && !strcmp(wanted, timer.name))
        return timer;
    if (open_cycle_counter())
        cycles.name = "rdcycle,perf";
    if (!cycles_count())
        return timer;
    for (const int32_t *site = __start_counter_sites; site < __stop_counter_sites; site++) {
        u64 pc = (u64)site + (u64)(int64_t)*site;
        replace(pc, insn_at(pc) & ~TIME_NOT_CYCLE);
    }
    return cycles;
}

u64 native_wide(u64 n) {
    (void)n;
    return 0;
}
