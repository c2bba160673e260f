/* The guest's routines and harness as a Linux program: the same points, measured on the processor that runs it.

   x86-native POINTS RESULTS ROUNDS CPU: runs every point of a points file ROUNDS times, the whole file a round, pinned
   to a CPU; leaves ROUNDS * N results. Cycles are core cycles: what the time-stamp counter counts, scaled by a chain of
   dependent additions (one a cycle on every x86-64 core) that is timed just before and after the point. A point during
   which the clock changed is run again. Prints core cycles a tick: least, median, greatest; and the points that never
   saw a steady clock.

   The counter may advance in steps far longer than a short copy (26 ticks at a time on Zen). So what the harness takes
   for one measurement is the mean of many, each begun at a random moment of such a step, without those that an interrupt
   hit; of a cold point it is one measurement, as the next would be warm, and so of a stream.

   Privileged work is left out: user pages are not closed to the routine (stac and clac stay three-byte nops) and no
   instructions are counted. Pages are taken away with mprotect; a signal is what a trap is in the guest. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <ucontext.h>
#include <unistd.h>

#include "../harness/exceptions.h"
#include "../harness/point.h"
#include "../harness/windows.h"
#include "cpu.h"
#include "trap.h"

enum { LINE = 64, CHAIN = 16384, CHAIN_TRIES = 3, POINT_TRIES = 6 };
/* Samples of a mean: so many, or fewer of a call so long that a step of the counter is nothing beside it. */
enum { SAMPLES = 256, FEW_SAMPLES = 16, LONG_TICKS = 4096 };
/* A sample this much above the median was interrupted; a step of the counter is less. */
enum { STRAY_TICKS = 100, STRAY_SHARE = 8 };
/* Means are handed to the harness in this part of a tick. */
enum { PARTS = 64, DITHER_CYCLES = 256 };
/* Clocks before and after a point that differ by less are the same clock. */
static const double STEADY = 0.005;

u32 cpu_counts_instructions;
static int one_sample; /* of a cold point, or a stream */
static struct {
    u64 first, last;
} mapped[BUFFERS];

void trap(struct frame *f);
static u64 trap_cause;
struct context recover_context; /* trap.S fills both */
u64 recover_armed;

u64 __real_arch_measure(const struct job jobs[2], u64 calls, struct sample *sample, int interleaved);
u64 __wrap_arch_measure(const struct job jobs[2], u64 calls, struct sample *sample, int interleaved);

static _Noreturn void give_up(const char *what) {
    perror(what);
    exit(2);
}

/* As in the guest (windows.c). */
u64 arch_buffer(unsigned which) {
    u64 stream = which < STREAM_SOURCE ? 0 : which - STREAM_SOURCE, window = (which - stream) * WINDOW;
    return WINDOWS_VIRTUAL + window + stream * STREAM_WINDOW + HUGE + 0x10000 + which * UINT64_C(0x5000);
}

static void protect(u64 first, u64 last, int protection) {
    if (last > first && mprotect((void *)first, last - first, protection))
        give_up("mprotect");
}

void arch_unmap_all(void) {
    for (unsigned i = 0; i < BUFFERS; i++) {
        protect(mapped[i].first, mapped[i].last, PROT_NONE);
        mapped[i].first = mapped[i].last = 0;
    }
}

void arch_map(unsigned which, u64 first, u64 last, u32 flags) {
    first &= ~(PAGE - 1);
    last = (last + PAGE - 1) & ~(PAGE - 1);
    mapped[which].first = first;
    mapped[which].last = last;
    protect(first, last, PROT_READ | PROT_WRITE);
    if (flags & MAP_ON_TOUCH && madvise((void *)first, last - first, MADV_DONTNEED))
        give_up("madvise");
}

void arch_set_present(u64 address, int present) {
    address &= ~(PAGE - 1);
    for (unsigned i = 0; i < BUFFERS; i++)
        if (mapped[i].first <= address && address < mapped[i].last)
            protect(address, address + PAGE, present ? PROT_READ | PROT_WRITE : PROT_NONE);
}

void arch_tlb_flush(void) {}

void arch_flush(u64 address, u64 length) {
    for (u64 at = address & ~(u64)(LINE - 1); at < address + length; at += LINE)
        __asm__ volatile("clflush %0" : "+m"(*(volatile char *)at));
    __asm__ volatile("mfence" ::: "memory");
}

int arch_user_access(int open) {
    (void)open;
    return 0;
}

_Noreturn void arch_fail(u64 code) {
    fprintf(stderr, "the harness gave up with code %llu\n", (unsigned long long)code);
    exit(2);
}

void arch_disarm(void) { recover_armed = 0; }

u64 arch_trap_cause(void) { return trap_cause; }

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
static void on_signal(int number, siginfo_t *info, void *context) {
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

static int ascending(const void *a, const void *b) {
    u64 x = *(const u64 *)a, y = *(const u64 *)b;
    return (x > y) - (x < y);
}

static void wait_a_moment(void) {
    static u32 state = 1;
    state ^= state << 13, state ^= state >> 17, state ^= state << 5;
    for (u32 n = state % DITHER_CYCLES; n; n--)
        __asm__ volatile("" : "+r"(n));
}

/* In the place of arch_measure (the linker's --wrap): the mean of many, in parts of a tick. */
u64 __wrap_arch_measure(const struct job jobs[2], u64 calls, struct sample *sample, int interleaved) {
    static u64 ticks[SAMPLES], sorted[SAMPLES];
    u64 damage = 0, sum = 0, kept = 0, count = one_sample ? 1 : SAMPLES;
    for (u64 i = 0; i < count; i++) {
        wait_a_moment();
        damage |= __real_arch_measure(jobs, calls, sample, interleaved);
        ticks[i] = sorted[i] = sample->cycles;
        if (i == FEW_SAMPLES && ticks[i] > LONG_TICKS)
            count = i;
    }
    qsort(sorted, count, sizeof *sorted, ascending);
    u64 most = sorted[count / 2] + STRAY_TICKS + sorted[count / 2] / STRAY_SHARE;
    for (u64 i = 0; i < count; i++)
        if (ticks[i] <= most)
            sum += ticks[i], kept++;
    sample->cycles = sum * PARTS / kept;
    return damage;
}

static u64 ticks(void) {
    u32 low, high;
    __asm__ volatile("mfence\n\tlfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high)::"memory");
    return (u64)high << 32 | low;
}

/* Ticks of n dependent additions of registers (of constants, some processors do several a cycle). */
static u64 chain(u64 n) {
    u64 start = ticks(), sum = 1, one = 1;
    for (n /= 64; n; n--)
        __asm__ volatile(".rept 64\n\tadd %1, %0\n\t.endr" : "+r"(sum) : "r"(one));
    return ticks() - start;
}

/* Core cycles a tick, now. What it costs to begin and end cancels between a chain and one twice as long. */
static double clock_now(void) {
    u64 shorter = UINT64_MAX, longer = UINT64_MAX;
    for (int i = 0; i < CHAIN_TRIES; i++) {
        u64 a = chain(CHAIN), b = chain(2 * CHAIN);
        shorter = a < shorter ? a : shorter;
        longer = b < longer ? b : longer;
    }
    return longer > shorter ? (double)CHAIN / (double)(longer - shorter) : 0;
}

static u64 scaled(u64 parts, double clock) { return (u64)((double)parts * clock / PARTS + 0.5); }

/* Runs a point until the clock is the same before and after; 0: it never was. */
static int run(const struct point *p, struct result *r, double *clock) {
    u32 index = r->index;
    double before = clock_now();
    one_sample = p->cache_state != WARM || p->measure == STREAM;
    for (int i = 0; i < POINT_TRIES; i++) {
        *r = (struct result){.index = index};
        point_run(p, r);
        points_second_level(p, r, 1);
        double after = clock_now();
        *clock = (before + after) / 2;
        double change = before > after ? before - after : after - before;
        before = after;
        if (change > STEADY * *clock && i + 1 < POINT_TRIES)
            continue;
        r->cycles_min = scaled(r->cycles_min, *clock);
        r->cycles_median = scaled(r->cycles_median, *clock);
        r->cycles_total = scaled(r->cycles_total, *clock);
        r->overhead = scaled(r->overhead, *clock);
        return change <= STEADY * *clock;
    }
    return 0;
}

static const struct point *read_points(const char *path, u64 *count) {
    struct stat facts;
    int file = open(path, O_RDONLY);
    if (file < 0 || fstat(file, &facts) || (u64)facts.st_size < sizeof(struct header))
        give_up(path);
    const struct header *h = mmap(0, (size_t)facts.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (h == MAP_FAILED)
        give_up(path);
    if (memcmp(h->magic, "BEPOINTS", 8) || h->record_bytes != sizeof(struct point) ||
        (u64)facts.st_size != sizeof *h + h->count * sizeof(struct point)) {
        fprintf(stderr, "%s is no points file\n", path);
        exit(2);
    }
    *count = h->count;
    return (const struct point *)(h + 1);
}

static void prepare(int cpu) {
    static u8 stack[65536] __attribute__((aligned(16)));
    static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE};
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set))
        give_up("cannot pin to the CPU");
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, 0);
    for (unsigned i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], &action, 0);
    const u64 room = STREAM_SOURCE * WINDOW + (BUFFERS - STREAM_SOURCE) * STREAM_WINDOW;
    void *windows = mmap((void *)WINDOWS_VIRTUAL, room, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (windows != (void *)WINDOWS_VIRTUAL || madvise(windows, room, MADV_NOHUGEPAGE))
        give_up("no room for the buffers");
}

static int ascending_clock(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv) {
    if (argc != 5) {
        fprintf(stderr, "usage: %s POINTS RESULTS ROUNDS CPU\n", argv[0]);
        return 2;
    }
    u64 count, unsteady = 0;
    const struct point *points = read_points(argv[1], &count);
    FILE *out = fopen(argv[2], "wb");
    u64 runs = count * strtoull(argv[3], 0, 10);
    double *clocks = calloc(runs + 1, sizeof *clocks);
    if (!out || !clocks)
        give_up(argv[2]);
    prepare(atoi(argv[4]));
    point_rehearse();
    for (u64 i = 0; i < runs; i++) {
        struct result r = {.index = (u32)(i % count)};
        unsteady += !run(&points[i % count], &r, &clocks[i]);
        if (fwrite(&r, sizeof r, 1, out) != 1)
            give_up(argv[2]);
    }
    if (fclose(out))
        give_up(argv[2]);
    qsort(clocks, runs, sizeof *clocks, ascending_clock);
    u64 last = runs > 0 ? runs - 1 : 0;
    printf("%.6f %.6f %.6f %llu\n", clocks[0], clocks[last / 2], clocks[last], (unsigned long long)unsteady);
    return 0;
}
