/* The guest's routines and harness as a Linux program: the same points, measured on the processor that runs it.

   <isa>-native POINTS RESULTS ROUNDS CPU: runs every point of a points file ROUNDS times, the whole file a round, pinned
   to a CPU; leaves ROUNDS * N results. Cycles are core cycles: what a counter of the host's counts, scaled by a chain of
   dependent additions (one a cycle on every core known to us) that is timed just before and after the point. A point
   during which the clock changed, or the core was shared, is run again. Prints core cycles a tick: least, median, greatest;
   the points that never saw a steady clock and a whole core; and the counter.

   The counter may advance in steps far longer than a short copy (26 ticks of the time-stamp counter at a time on Zen; a
   tick of a RISC-V timer is hundreds of cycles). So what the harness takes for one measurement is the mean of many, each
   begun at a random moment of such a step, without those that an interrupt hit; of a cold point it is one measurement, as
   the next would be warm, and so of a stream.

   Privileged work is left out: user pages are not closed to the routine and no instructions are counted. Pages are taken
   away with mprotect; a signal is what a trap is in the guest. */
#define _GNU_SOURCE
#include "native.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../harness/exceptions.h"
#include "../harness/point.h"
#include "../harness/windows.h"

enum { CHAIN_TRIES = 3, POINT_TRIES = 6 };
/* A chain lasts this many cycles, and this many ticks: a tick more or less is then less than STEADY. */
enum { CHAIN = 16384, CHAIN_TICKS = 512 };
/* Samples of a mean: enough that a tick too many or too few is no more than MEAN_ERROR cycles in it (std. error), or a
   share of the call (one in CALL_SHARE); the time that they may take bounds them. */
enum { SAMPLES = 256, FEW_SAMPLES = 16, MOST_SAMPLES = 16384, MEAN_ERROR = 2, CALL_SHARE = 1000 };
/* Means of an empty call that a median is taken of. */
enum { EMPTY_MEANS = 31 };
/* A sample above the median by this share of it, and by what the counter says, was interrupted. */
enum { STRAY_SHARE = 8 };
/* Means are handed to the harness in this part of a tick. */
enum { PARTS = 64, DITHER_CYCLES = 256 };
/* Clocks before and after a point that differ by less are the same clock. */
static const double STEADY = 0.005;
/* A core that is narrower than at its widest by more shares itself with a busy hardware thread, a cloud machine's
   neighbour perhaps: chains show nothing of it, wide code takes up to twice as long. So many seconds of its time in all are spent
   on waiting for its end. */
static const double WIDE = 1.12, PATIENCE = 10;

static struct native_counter counter;
static u64 samples = SAMPLES, dither = DITHER_CYCLES, chain_length = CHAIN;
static int one_sample; /* of a cold point, or a stream */
static u64 empty_cycles; /* of the present point's empty call; 0: not measured yet */
static struct {
    u64 first, last;
} mapped[BUFFERS];

u64 __real_arch_measure(const struct job jobs[2], u64 calls, struct sample *sample, int interleaved);
u64 __wrap_arch_measure(const struct job jobs[2], u64 calls, struct sample *sample, int interleaved);

_Noreturn void give_up(const char *what) {
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
void arch_ready_pages(void) {}

int arch_user_access(int open) {
    (void)open;
    return 0;
}

_Noreturn void arch_fail(u64 code) {
    fprintf(stderr, "the harness gave up with code %llu\n", (unsigned long long)code);
    exit(2);
}

static int ascending(const void *a, const void *b) {
    u64 x = *(const u64 *)a, y = *(const u64 *)b;
    return (x > y) - (x < y);
}

static void wait_a_moment(void) {
    static u32 state = 1;
    state ^= state << 13, state ^= state >> 17, state ^= state << 5;
    for (u64 n = state % dither; n; n--)
        __asm__ volatile("" : "+r"(n));
}

/* How many samples a call of so many ticks needs. */
static u64 enough(u64 ticks) {
    u64 share = ticks ? (u64)counter.step * CALL_SHARE / 2 / ticks : MOST_SAMPLES, needed = share * share;
    return share >= MOST_SAMPLES || needed > samples ? samples : needed < FEW_SAMPLES ? FEW_SAMPLES : needed;
}

/* The mean of many measurements, in parts of a tick. */
static u64 mean(const struct job jobs[2], u64 calls, struct sample *sample, int interleaved) {
    static u64 ticks[MOST_SAMPLES], sorted[MOST_SAMPLES];
    u64 damage = 0, sum = 0, kept = 0, least = UINT64_MAX, count = one_sample ? 1 : samples;
    native_choose_call_site(jobs[0].fn);
    for (u64 i = 0; i < count; i++) {
        wait_a_moment();
        damage |= __real_arch_measure(jobs, calls, sample, interleaved);
        ticks[i] = sorted[i] = sample->cycles;
        least = ticks[i] < least ? ticks[i] : least;
        if (i + 1 == FEW_SAMPLES)
            count = enough(least);
    }
    qsort(sorted, count, sizeof *sorted, ascending);
    u64 most = sorted[count / 2] + counter.stray + sorted[count / 2] / STRAY_SHARE;
    for (u64 i = 0; i < count; i++)
        if (ticks[i] <= most)
            sum += ticks[i], kept++;
    sample->cycles = sum * PARTS / kept;
    return damage;
}

/* In the place of arch_measure (the linker's --wrap). The harness subtracts the cheapest of a few empty calls from the
   median of a routine's. Means scatter by some cycles, and the cheapest would be a lucky one: all empty calls of a point are
   one median. */
u64 __wrap_arch_measure(const struct job jobs[2], u64 calls, struct sample *sample, int interleaved) {
    u64 means[EMPTY_MEANS], damage = 0;
    if (jobs[0].fn != (void *)arch_empty)
        return mean(jobs, calls, sample, interleaved);
    for (int i = 0; !empty_cycles && i < EMPTY_MEANS; i++) {
        damage |= mean(jobs, calls, sample, interleaved);
        means[i] = sample->cycles;
    }
    if (!empty_cycles) {
        qsort(means, EMPTY_MEANS, sizeof *means, ascending);
        empty_cycles = means[EMPTY_MEANS / 2];
    }
    *sample = (struct sample){.cycles = empty_cycles};
    return damage;
}

/* Core cycles a tick, now. What it costs to begin and end cancels between a chain and one twice as long. */
static double clock_now(void) {
    u64 shorter = UINT64_MAX, longer = UINT64_MAX;
    for (int i = 0; i < CHAIN_TRIES; i++) {
        u64 a = native_chain(chain_length), b = native_chain(2 * chain_length);
        shorter = a < shorter ? a : shorter;
        longer = b < longer ? b : longer;
    }
    return longer > shorter ? (double)chain_length / (double)(longer - shorter) : 0;
}

/* Cycles of a stretch of wide code over the fewest seen; 1: not known. */
static double narrowness(double clock) {
    static double fewest;
    u64 ticks = UINT64_MAX;
    for (int i = 0; i < CHAIN_TRIES; i++) {
        u64 now = native_wide(chain_length);
        ticks = now < ticks ? now : ticks;
    }
    double cycles = (double)ticks * clock;
    if (cycles <= 0)
        return 1;
    fewest = fewest <= 0 || cycles < fewest ? cycles : fewest;
    return cycles / fewest;
}

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Makes chains and means long enough for the counter's ticks. */
static void suit_the_counter(void) {
    double tick = clock_now();
    if (tick * CHAIN_TICKS > CHAIN)
        chain_length = (u64)(tick * CHAIN_TICKS) / NATIVE_CHAIN_UNIT * NATIVE_CHAIN_UNIT;
    double half = tick / 2 / MEAN_ERROR;
    u64 needed = (u64)(half * half);
    samples = needed > MOST_SAMPLES ? MOST_SAMPLES : needed > SAMPLES ? needed : SAMPLES;
    if (4 * tick > DITHER_CYCLES)
        dither = (u64)(4 * tick);
}

static u64 scaled(u64 parts, double clock) { return (u64)((double)parts * clock / PARTS + 0.5); }

/* Whether a buffer must be in no cache when a measurement begins. */
static int goes_to_memory(const struct point *p) {
    return p->cache_state == SOURCE_L2_DESTINATION_COLD || p->cache_state == SOURCE_COLD_DESTINATION_L2 ||
           (p->cache_state != WARM && p->cache_state <= BOTH_COLD);
}

/* Runs a point until the clock is the same before and after, and the core wide; 0: it never was. */
static int run(const struct point *p, struct result *r, double *clock) {
    static double waited;
    u32 index = r->index;
    double before = clock_now(), narrow = narrowness(before);
    one_sample = p->cache_state != WARM || p->measure >= STREAM;
    if (goes_to_memory(p) && native_cannot_flush()) {
        fprintf(stderr, "%s: only --cache warm and the states in the second level\n", native_cannot_flush());
        exit(2);
    }
    for (int i = 0;; i++) {
        double start = seconds();
        *r = (struct result){.index = index};
        empty_cycles = 0;
        point_run(p, r);
        points_further(p, r, 1);
        points_later(p, r, 1);
        points_kinds(p, r, 1);
        FORGET_REGISTERS();
        double after = clock_now(), change = before > after ? before - after : after - before;
        *clock = (before + after) / 2;
        before = after;
        double still = narrowness(after), worse = narrow > still ? narrow : still;
        narrow = still;
        int steady = change <= STEADY * *clock, alone = worse <= WIDE;
        if (!steady && i + 1 < POINT_TRIES)
            continue;
        if (!alone && waited < PATIENCE) {
            waited += seconds() - start;
            continue;
        }
        r->cycles_min = scaled(r->cycles_min, *clock);
        r->cycles_median = scaled(r->cycles_median, *clock);
        r->cycles_total = scaled(r->cycles_total, *clock);
        r->overhead = scaled(r->overhead, *clock);
        if (r->status == RIGHT)
            r->detail = scaled(r->detail, *clock); /* the later median */
        return steady && alone;
    }
}

/* A file by its name. Of one that is open already (/dev/fd/N), which a confined program may not open, the number counts. */
static int open_named(const char *path, int flags) {
    static const char ready[] = "/dev/fd/";
    if (!strncmp(path, ready, sizeof ready - 1))
        return atoi(path + sizeof ready - 1);
    return open(path, flags, 0666);
}

static const u8 *points_file;
static u64 points_bytes;

u64 arch_readfile(void *buffer, u64 length, u64 offset) {
    u64 left = offset < points_bytes ? points_bytes - offset : 0, bytes = length < left ? length : left;
    memcpy(buffer, points_file + offset, bytes);
    return bytes;
}

static const struct point *read_points(const char *path, u64 *count) {
    struct stat facts;
    int file = open_named(path, O_RDONLY);
    if (file < 0 || fstat(file, &facts) || (u64)facts.st_size < sizeof(struct header))
        give_up(path);
    const struct header *h = mmap(0, (size_t)facts.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (h == MAP_FAILED)
        give_up(path);
    if (memcmp(h->magic, "BEPOINTS", 8) || h->record_bytes != sizeof(struct point) ||
        h->count > ((u64)facts.st_size - sizeof *h) / sizeof(struct point)) {
        fprintf(stderr, "%s is no points file\n", path);
        exit(2);
    }
    points_file = (const u8 *)h;
    points_bytes = (u64)facts.st_size;
    *count = h->count;
    return (const struct point *)(h + 1);
}

static void prepare(int cpu) {
    static u8 stack[65536] __attribute__((aligned(16)));
    static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE};
    struct sigaction action = {.sa_sigaction = native_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
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
    if (windows != (void *)WINDOWS_VIRTUAL)
        give_up("no room for the buffers");
    /* EINVAL: a kernel without huge pages has none to leave out. */
    if (madvise(windows, room, MADV_NOHUGEPAGE) && errno != EINVAL)
        give_up("cannot have small pages");
    counter = native_choose_counter();
    suit_the_counter();
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
    int results = open_named(argv[2], O_WRONLY | O_CREAT | O_TRUNC);
    FILE *out = results < 0 ? 0 : fdopen(results, "wb");
    u64 runs = count * strtoull(argv[3], 0, 10);
    double *clocks = calloc(runs + 1, sizeof *clocks);
    if (!out || !clocks)
        give_up(argv[2]);
    prepare(atoi(argv[4]));
    point_rehearse();
    FORGET_REGISTERS();
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
    printf("%.6f %.6f %.6f %llu %s\n", clocks[0], clocks[last / 2], clocks[last], (unsigned long long)unsteady,
           counter.name);
    return 0;
}

void arch_work_begin(void) {}
void arch_work_end(void) {}
