/* Every routine on the host's own processor: a Linux program that links the guest's routines, its checked call and its
   exception table. `hosted` lists the routines; `hosted NAME...` tests those and prints a line for each: "ok NAME",
   "skip NAME: reason" or "FAIL NAME: what".

   Each buffer ends at a page that cannot be accessed, and so does what lies before it. All lie below 4 GiB, where
   32-bit code expects them. */
#define _GNU_SOURCE
#include <cpuid.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "../../harness/arch.h"
#include "../../harness/data.h"
#include "../../harness/exceptions.h"

enum { PAGE = 4096, ROOM = 20 << 20, OFFSETS = 16, SIZES = 512, OVER_REPORT = 63 };

u32 cpu_counts_instructions; /* call.S asks for it; no rdpmc here */

static struct buffer {
    u8 *start, *end; /* of the accessible pages */
} source, destination;
static u8 *image; /* what the source is filled from */
static const struct routine *routine;
static u32 parameter;
static sigjmp_buf unexpected;
static volatile u64 fault_address;

static const char *failure(const char *what, u64 n, u64 src, u64 dst, u64 a, u64 b) {
    static char text[200];
    snprintf(text, sizeof text, "%s: size %llu, source %#llx, destination %#llx, parameter %u (%#llx, %#llx)", what,
             (unsigned long long)n, (unsigned long long)src % PAGE, (unsigned long long)dst % PAGE, parameter,
             (unsigned long long)a, (unsigned long long)b);
    return text;
}

static void on_fault(int number, siginfo_t *info, void *context) {
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    u64 fixup = number == SIGSEGV ? exception_fixup((u64)registers[REG_RIP]) : 0;
    fault_address = (u64)info->si_addr;
    if (!fixup)
        siglongjmp(unexpected, 1);
    registers[REG_RIP] = (greg_t)fixup;
}

static struct buffer make_buffer(u64 at) {
    u8 *p = mmap((void *)at, ROOM + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (p == MAP_FAILED || mprotect(p + PAGE, ROOM, PROT_READ | PROT_WRITE)) {
        perror("mmap");
        exit(2);
    }
    return (struct buffer){p + PAGE, p + PAGE + ROOM};
}

static int has_destination(void) { return routine->kind != KIND_CHECKSUM; }
static int is_set(void) { return routine->kind == KIND_SET; }
static int has_sum(void) { return routine->kind == KIND_CHECKSUM || routine->kind == KIND_COPY_CHECKSUM; }

static u64 reference(const u8 *p, u64 n) {
    u64 sum = 0;
    for (u64 i = 0; i < n; i++)
        sum += (u64)p[i] << (i & 1) * 8;
    return checksum_fold(sum);
}

static int differs(const u8 *p, u8 byte, u64 n) { return n && (*p != byte || memcmp(p, p + 1, n - 1)); }

/* One call, everything checked; `limit`: bytes before the inaccessible page (n: all of them). Null: right. */
static const char *check(u8 *dst, u8 *src, u64 n, u64 limit) {
    u64 before = (u64)(dst - destination.start) < BAND ? (u64)(dst - destination.start) : BAND;
    u64 after = (u64)(destination.end - dst) < n + BAND ? (u64)(destination.end - dst) : n + BAND;
    if (has_destination())
        memset(dst - before, PATTERN_BYTE, before + after);
    u64 ret = 0, copied = n;
    struct job job = has_destination() ? (struct job){routine->fn, {(u64)dst, (u64)src, n}, parameter}
                                       : (struct job){routine->fn, {(u64)src, n, 0}, parameter};
    u8 byte = (u8)(n % 255 == PATTERN_BYTE ? 0 : n % 255);
    if (is_set())
        job.arg[1] = 0x1234500 | byte;
    u64 damage = arch_checked_call(&job, &ret);
    if (damage)
        return failure("registers damaged", n, (u64)src, (u64)dst, damage, 0);
    u64 readable = (u64)(source.end - src) < n ? (u64)(source.end - src) : n;
    u64 sum = checksum_fold((u32)ret), expected = has_sum() ? reference(src, readable) : sum;
    if (!checksum_matches(sum, expected, routine->kind))
        return failure("wrong sum", n, (u64)src, (u64)dst, sum, expected);
    if (!has_destination())
        return 0;
    if (routine->kind == KIND_USER_COPY) {
        u64 least = n - limit;
        if (ret < least || ret > n || ret > (least ? least + OVER_REPORT : 0))
            return failure("wrong return value", n, (u64)src, (u64)dst, ret, least);
        copied = n - ret;
    }
    if (is_set() ? differs(dst, byte, n) : memcmp(dst, src, copied))
        return failure("wrong output", n, (u64)src, (u64)dst, 0, 0);
    for (u64 i = copied; i < after; i++)
        if (dst[i] != PATTERN_BYTE && !(!is_set() && i < limit && i < readable && dst[i] == src[i]))
            return failure("written beyond the end", n, (u64)src, (u64)dst, i, copied);
    for (u64 i = 1; i <= before; i++)
        if (dst[-(int64_t)i] != PATTERN_BYTE)
            return failure("written before the start", n, (u64)src, (u64)dst, i, 0);
    return 0;
}

#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        const char *problem_ = call;                                                                                   \
        if (problem_)                                                                                                  \
            return problem_;                                                                                           \
    } while (0)

static const char *every_size_and_offset(void) {
    u8 *src = source.start + 64 * PAGE, *dst = destination.start + 96 * PAGE;
    for (u64 n = 0; n <= SIZES; n++)
        for (u64 s = 0; s < OFFSETS; s++)
            for (u64 d = 0; d < (has_destination() ? OFFSETS : 1); d++)
                TRY(check(dst + d, src + s, n, n));
    return 0;
}

/* The last byte is the last that can be accessed, or the first the first, on either side; a page boundary within. */
static const char *page_boundaries(void) {
    u8 *src = source.start + 64 * PAGE, *dst = destination.start + 96 * PAGE;
    for (u64 n = 0; n <= SIZES; n++)
        for (u64 other = 0; other < OFFSETS; other++) {
            TRY(check(dst + other, source.end - n, n, n));
            TRY(check(dst + other, source.start, n, n));
            TRY(check(destination.end - n, src + other, n, n));
            TRY(check(destination.start, src + other, n, n));
            TRY(check(dst - 100 + other, src - n / 2, n, n));
        }
    return 0;
}

static const char *large(void) {
    static const u64 sizes[] = {1000, 1408, 1448, 2047, 4095, 4096, 4097, 8192 + 13, 65536 + 77, (1 << 20) + 333};
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (u64 o = 0; o < OFFSETS; o += 5)
            TRY(check(destination.start + 3 * PAGE + (o * 7) % 64, source.start + PAGE + o, sizes[i], sizes[i]));
    /* Source and destination at nearly the same place within their pages. */
    for (u64 d = 0; d < 600; d += 37)
        TRY(check(destination.start + PAGE + d, source.start + PAGE + 256, 5000, 5000));
    TRY(check(destination.start + PAGE + 5, source.start + 5, 13 << 20, 13 << 20));
    TRY(check(destination.start + PAGE + 2048, source.start + 1, (12 << 20) + 99, (12 << 20) + 99));
    return 0;
}

/* For what is memmove in its library: buffers that overlap, either way. */
static const char *overlaps(void) {
    static u8 expected[1 << 16];
    for (u64 n = 1; n < sizeof expected; n += n / 8 + 1)
        for (u64 distance = 1; distance < n; distance += distance + n / 7) {
            u8 *low = destination.start + PAGE + n % 64, *high = low + distance;
            for (int up = 0; up < 2; up++) {
                u8 *src = up ? low : high, *dst = up ? high : low;
                memcpy(low, source.start, n + distance);
                memcpy(expected, src, n);
                struct job job = {routine->fn, {(u64)dst, (u64)src, n}, parameter};
                u64 ret;
                arch_checked_call(&job, &ret);
                if (memcmp(dst, expected, n))
                    return failure("wrong output of an overlapping copy", n, (u64)src, (u64)dst, distance, 0);
            }
        }
    return 0;
}

static const char *fault_at_every_byte(void) {
    static const u64 sizes[] = {1, 2, 3, 7, 8, 9, 30, 63, 64, 65, 71, 72, 100, 128, 136, 200, 321};
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (u64 k = 0; k < sizes[i]; k++)
            for (u64 other = 0; other < OFFSETS; other += i % 3 + 1) {
                TRY(check(destination.start + PAGE + other, source.end - k, sizes[i], k));
                TRY(check(destination.end - k, source.start + PAGE + other, sizes[i], k));
            }
    return 0;
}

static void fill_source(void) { memcpy(source.start, image, ROOM); }

/* Constant contents: a missing carry and a superfluous one. */
static const char *extreme_contents(void) {
    static const u8 contents[] = {0xff, 0x00, 0x04, 0x01};
    const char *problem = 0;
    for (unsigned i = 0; i < sizeof contents && !problem; i++) {
        memset(source.start, contents[i], 130 * PAGE);
        problem = every_size_and_offset();
        for (u64 n = 1400; n < 3100 && !problem; n += 61)
            problem = check(destination.start + PAGE, source.start + PAGE + n % 16, n, n);
    }
    fill_source();
    return problem;
}

static const char *missing(u32 flags) {
    unsigned a, b = 0, c, d;
    if (!(flags & (ROUTINE_NEEDS_ADX | ROUTINE_NEEDS_AVX2 | ROUTINE_NEEDS_AVX512)))
        return 0;
    __get_cpuid_count(7, 0, &a, &b, &c, &d);
    if (flags & ROUTINE_NEEDS_ADX && !(b >> 19 & 1))
        return "this host has no ADX";
    if (flags & ROUTINE_NEEDS_AVX2 && !__builtin_cpu_supports("avx2"))
        return "this host has no AVX2";
    if (flags & ROUTINE_NEEDS_AVX512 && !(__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")))
        return "this host has no AVX-512";
    return 0;
}

static const char *test_with_parameter(void) {
    TRY(every_size_and_offset());
    TRY(page_boundaries());
    if (routine->kind == KIND_USER_COPY)
        TRY(fault_at_every_byte());
    return 0;
}

static const char *test(void) {
    static const u32 others[] = {1, 65, 300, 1 << 20};
    if (sigsetjmp(unexpected, 1))
        return failure("unexpected fault", 0, 0, 0, fault_address, (u64)source.start);
    parameter = (u32)routine->parameter;
    TRY(test_with_parameter());
    TRY(large());
    if (routine->kind == KIND_MOVE || !strncmp(routine->name, "glibc-", 6))
        TRY(overlaps());
    if (has_sum())
        TRY(extreme_contents());
    for (unsigned i = 0; routine->parameter && i < sizeof others / sizeof *others; i++) {
        parameter = others[i];
        TRY(test_with_parameter());
        TRY(large());
    }
    return 0;
}

static const struct routine *find(const char *name) {
    for (const struct routine *r = __routines_start; r < __routines_end; r++)
        if (!strcmp(r->name, name))
            return r;
    return 0;
}

static int report(const char *name) {
    routine = find(name);
    if (!routine) {
        printf("FAIL %s: there is no such routine\n", name);
        return 1;
    }
    const char *reason = missing(routine->flags);
    if (reason) {
        printf("skip %s: %s\n", name, reason);
        return 0;
    }
    const char *problem = test();
    printf(problem ? "FAIL %s: %s\n" : "ok %s\n", name, problem);
    fflush(stdout);
    return problem != 0;
}

int main(int argc, char **argv) {
    if (argc < 2) {
        for (const struct routine *r = __routines_start; r < __routines_end; r++)
            printf("%s %u\n", r->name, r->kind);
        return 0;
    }
    static u8 stack[65536] __attribute__((aligned(16)));
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, 0);
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE};
    for (unsigned i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], &action, 0);
    source = make_buffer(0x60000000);
    destination = make_buffer(0x70000000);
    image = malloc(ROOM);
    u64 state = 1;
    for (u64 i = 0; i < ROOM; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        image[i] = (u8)(state >> 56);
        if (image[i] == PATTERN_BYTE)
            image[i] = 0;
    }
    fill_source();
    int failures = 0;
    for (int i = 1; i < argc; i++)
        failures += report(argv[i]);
    return failures != 0;
}
