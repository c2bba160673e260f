/* One point: buffers prepared, the routine checked, measured, checked again.

   Compiled five times: the states in the second level need more code between two measurements, and have it in an object of
   their own (SECOND_LEVEL defined), those that a network driver leaves in another (PACKETS); routines that came later, sets
   and moves have a third, for every state (LATER); sequences, other checksums and what clears a fourth (LATER and KINDS). So
   the other points run the same instructions at the same places as without them: branch predictors and caches see both. */
#ifdef SECOND_LEVEL
#define HAS_LEVELS
#define point_run point_run_second_level
#elif defined PACKETS
#define HAS_PACKETS
#define point_run point_run_packets
#elif defined KINDS
#define HAS_LEVELS
#define HAS_PACKETS
#define point_run point_run_kinds
#define mixing_run mixing_run_kinds
#elif defined LATER
#define HAS_LEVELS
#define HAS_PACKETS
#define point_run point_run_later
#endif
#ifdef LATER
#define LATER_ONLY(...) __VA_ARGS__
#else
#define LATER_ONLY(...)
#define __routines_start __first_routines_start
#define __routines_end __first_routines_end
#endif
#ifdef KINDS
#define KINDS_ONLY(...) __VA_ARGS__
#define OTHERWISE(...)
#define __routines_end __all_routines_end
#else
#define KINDS_ONLY(...)
#define OTHERWISE(...) __VA_ARGS__
#endif
#include "point.h"

#include "data.h"
#include "packets.h"
#include "states.h"
#include "stats.h"
#include "streaming.h"
#ifdef LATER
#include "mixes.h"
#endif

enum { PAGE = 4096 };
/* A fault inside an unrolled turn may count the whole turn, 8 words, as not copied. */
enum { OVER_REPORT = 63 };

#ifdef KINDS
#include "sequence.h"
#endif

/* One of the two calls that a point is about; of a stream, its first and its last. */
struct work {
    u64 src, dst, size;
    u64 limit; /* bytes before the unmapped page; size: all of them */
    struct stream expected; /* in the destination, from its first whole word on */
};

struct plan {
    const struct routine *routine;
    struct work work[2];
    struct job jobs[2];
    int works;
    int interleaved, streams;
    struct streaming streaming;
    u64 fault_page; /* unmapped during calls; 0: none */
    u32 calls;
    struct stream stream;
    int verify;
    LATER_ONLY(int64_t distance; u64 made; u32 value;) /* moves.inc */
    LATER_ONLY(int mixed; struct mixing mixing; u64 drawn;) /* mixes.inc */
    KINDS_ONLY(struct sequence sequence; int narrow;) /* kinds.inc */
#ifdef HAS_PACKETS
    struct packets packets;
#endif
};

/* What the other objects keep lies behind everything else, too (guest.ld). */
#ifdef SECOND_LEVEL
#define KEPT static __attribute__((section(".late")))
enum { LAST_STATE = SOURCE_COLD_DESTINATION_L2 };
#elif defined HAS_PACKETS
#define KEPT static __attribute__((section(".late")))
enum { LAST_STATE = CACHE_STATES - 1 };
#else
#define KEPT static
enum { LAST_STATE = BOTH_COLD };
#endif

KEPT struct plan plan;
enum { KNOWN_FLAGS = POINT_FLAGS LATER_ONLY(| POINT_DISTANCE) };

#ifdef LATER
#define is_packets(p) ((p)->cache_state >= RECEIVE)
#elif defined PACKETS
#define is_packets(p) 1
#else
#define is_packets(p) 0
#endif

/* Whether a point's cycles are the slope of many calls: never from a state that only the first call would find. */
#if defined SECOND_LEVEL || defined PACKETS
#define is_slope(p) 0
#else
#define is_slope(p) ((p)->measure == THROUGHPUT || (p)->measure == INTERLEAVED)
#endif

/* Names are compared by words: they are padded with NULs on both sides. */
static const struct routine *find_routine(const char *name) {
    typedef const u64 __attribute__((may_alias)) word;
    word *want = (word *)name;
    for (const struct routine *r = __routines_start; r < __routines_end; r++) {
        word *have = (word *)r->name;
        if (want[0] == have[0] && want[1] == have[1] && want[2] == have[2] && want[3] == have[3] && want[4] == have[4])
            return r;
    }
    return 0;
}

static int in_range(const struct point *p) {
    int interleaved = p->measure == INTERLEAVED;
    if (p->measure > STREAM || p->cache_state > LAST_STATE || p->flags > KNOWN_FLAGS)
        return 0;
    if (p->measure != STREAM && p->flags & POINT_STREAM_FLAGS)
        return 0;
    if (p->size > MAX_SIZE || p->src_offset > MAX_OFFSET || p->dst_offset > MAX_OFFSET)
        return 0;
    if (interleaved && (p->size2 > MAX_SIZE || p->src_offset2 > MAX_OFFSET || p->dst_offset2 > MAX_OFFSET))
        return 0;
    if (p->repetitions < 1 || p->repetitions > MAX_REPETITIONS || p->warmup > MAX_REPETITIONS)
        return 0;
    if (is_packets(p) && (p->measure != LATENCY || p->size2 > MAX_SIZE || p->fault_at != NO_FAULT))
        return 0;
    if (p->measure == LATENCY)
        return p->calls <= 1;
    if (p->measure == STREAM)
        return p->calls >= 1 && p->size >= 1 && p->size * p->calls <= MAX_STREAM && p->fault_at == NO_FAULT;
    return p->cache_state == WARM && p->calls >= 1 && p->calls <= MAX_CALLS;
}

#ifdef LATER
#include "moves.inc"
#endif
#ifdef KINDS
#include "kinds.inc"
#else
#define source_flags(flags) (flags)
#define destination_flags(flags) (flags)
#endif

static int has_destination(void) {
    return plan.routine->kind != KIND_CHECKSUM KINDS_ONLY(&& !is_other_checksum());
}
static int has_sum(void) { return plan.routine->kind == KIND_CHECKSUM || plan.routine->kind == KIND_COPY_CHECKSUM; }

/* Where byte `fault_at` lies decides which page is taken away, and that how much can be copied. */
static int place_fault(u64 fault_at) {
    if (fault_at == NO_FAULT)
        return 1;
    struct work *w = &plan.work[0];
    int destination = fault_at >> 63 != 0;
    u64 index = fault_at & FAULT_INDEX, start = destination ? w->dst : w->src;
    if (index > w->size || (fault_at & ~(FAULT_DESTINATION | FAULT_INDEX)))
        return 0;
    if (destination && !has_destination())
        return 0;
    plan.fault_page = (start + index) & ~(u64)(PAGE - 1);
    u64 limit = plan.fault_page > start ? plan.fault_page - start : 0;
    if (limit < w->size)
        w->limit = limit;
    return limit >= w->size || plan.routine->kind == KIND_USER_COPY;
}

static void plan_work(int i, u64 src, u64 dst, u64 size, u64 parameter) {
    struct work *w = &plan.work[i];
    w->src = src;
    w->dst = dst;
    w->size = w->limit = size;
    if (has_destination())
        stream_from(&w->expected, &plan.stream, w->src % 8 + -w->dst % 8);
    plan.jobs[i] = has_destination() ? (struct job){plan.routine->fn, {w->dst, w->src, w->size}, parameter}
                                     : (struct job){plan.routine->fn, {w->src, w->size, 0}, parameter};
    LATER_ONLY(plan_set(&plan.jobs[i]);)
}

static void plan_stream(const struct point *p, u64 parameter) {
    u64 src = arch_buffer(STREAM_SOURCE) + p->src_offset, dst = arch_buffer(STREAM_DESTINATION) + p->dst_offset;
    u64 src_step = p->flags & POINT_MOVING_SOURCE ? p->size : 0, before_last = p->calls - 1;
    plan.works = before_last ? 2 : 1;
    plan_work(0, src, dst, p->size, parameter);
    plan_work(1, src + before_last * src_step, dst + before_last * p->size, p->size, parameter);
    struct streaming *s = &plan.streaming;
    *s = (struct streaming){.fn = plan.routine->fn, .parameter = parameter, .calls = p->calls};
    for (int i = 0; i < 3; i++)
        s->arg[i] = plan.jobs[0].arg[i];
    s->step[has_destination()] = src_step;
    if (has_destination())
        s->step[0] = p->size;
    LATER_ONLY(if (is_set()) s->step[1] = 0;)
    if (has_destination() && p->flags & POINT_READER)
        s->read = p->size;
}

#ifdef HAS_PACKETS
static int plan_packets(const struct point *p) {
    struct packets *k = &plan.packets;
    const struct work *w = &plan.work[0];
    k->receive = p->cache_state == RECEIVE;
    k->pages = arch_buffer(SOURCE2);
    if (!k->receive && !has_destination())
        return 0;
    return k->receive ? packets_plan(k, w->src, w->dst, p->size2, w->size)
                      : packets_plan(k, w->dst, w->src, p->size2, w->size);
}
#endif

static int make_plan(const struct point *p) {
    plan.interleaved = p->measure == INTERLEAVED;
    plan.streams = p->measure == STREAM;
    plan.works = plan.interleaved ? 2 : 1;
    plan.calls = p->measure == LATENCY || plan.streams ? 1 : p->calls;
    plan.verify = !(p->flags & POINT_NO_VERIFY);
    /* Pages that appear are full of zeros. */
    stream_of(&plan.stream, p->flags & POINT_UNTOUCHED_SOURCE ? SEED_ZEROS : p->seed, !has_destination());
    plan.fault_page = 0;
    LATER_ONLY(if (!plan_distance(p)) return 0;)
    u64 parameter = p->parameter ? p->parameter : plan.routine->parameter;
    if (!plan.routine->parameter && p->parameter)
        return 0;
    KINDS_ONLY(if (is_other_checksum()) { if (p->parameter) return 0; parameter = 0; })
    if (plan.streams) {
        plan_stream(p, parameter);
        return 1;
    }
    plan_work(0, arch_buffer(SOURCE) + p->src_offset, arch_buffer(DESTINATION) + p->dst_offset, p->size, parameter);
    LATER_ONLY(if (plan.distance) plan_work(0, move_source(p), move_source(p) + (u64)plan.distance, p->size, parameter);)
    if (plan.interleaved)
        plan_work(1, arch_buffer(SOURCE2) + p->src_offset2, arch_buffer(DESTINATION2) + p->dst_offset2, p->size2, parameter);
#ifdef HAS_PACKETS
    plan.packets.call = 0;
    if (is_packets(p) && !plan_packets(p))
        return 0;
#endif
    return place_fault(p->fault_at) LATER_ONLY(&& fault_is_beyond());
}

static void map_stream_source(const struct point *p, u32 flags) {
    const struct work *last = &plan.work[plan.works - 1];
    if (p->flags & POINT_UNTOUCHED_SOURCE)
        flags |= MAP_ON_TOUCH;
    arch_map(STREAM_SOURCE, plan.work[0].src, last->src + last->size + BAND, source_flags(flags));
}

static void map_stream(const struct point *p, u32 flags) {
    const struct work *last = &plan.work[plan.works - 1];
    map_stream_source(p, flags);
    if (has_destination())
        arch_map(STREAM_DESTINATION, plan.work[0].dst - BAND - 8, last->dst + last->size + BAND + 8,
                 destination_flags(flags));
}

static u32 map_flags(const struct point *p) {
    u32 flags = plan.routine->kind == KIND_USER_COPY ? MAP_USER : 0;
    return p->flags & POINT_HUGE_PAGES && !plan.fault_page ? flags | MAP_HUGE : flags;
}

#ifdef HAS_PACKETS
/* A kernel reaches its buffers through large pages. */
static void map_packets(u32 flags) {
    const struct packets *k = &plan.packets;
    const struct work *w = &plan.work[0];
    u64 ring = packets_ring_bytes(k), walked = packets_walked_bytes(k);
    u32 src = k->receive ? flags | MAP_HUGE : flags, dst = k->receive ? flags : flags | MAP_HUGE;
    arch_map(SOURCE, w->src, w->src + (k->receive ? ring : walked) + BAND, source_flags(src));
    if (has_destination())
        arch_map(DESTINATION, w->dst - BAND - 8, w->dst + (k->receive ? walked : ring) + BAND + 8, destination_flags(dst));
    arch_map(SOURCE2, k->pages, k->pages + packets_page_bytes(), flags | MAP_HUGE);
}
#else
#define map_packets(flags) (void)0
#endif

static void prepare(const struct point *p) {
    u32 flags = map_flags(p);
    arch_unmap_all();
    LATER_ONLY(if (plan.distance) { prepare_move(flags); return; })
    if (plan.streams)
        map_stream(p, flags);
    if (is_packets(p))
        map_packets(flags);
    for (int i = 0; i < plan.works && !plan.streams && !is_packets(p); i++) {
        struct work *w = &plan.work[i];
        arch_map(i ? SOURCE2 : SOURCE, w->src, w->src + w->size + BAND, source_flags(flags));
        if (has_destination())
            arch_map(i ? DESTINATION2 : DESTINATION, w->dst - BAND - 8, w->dst + w->size + BAND + 8,
                     destination_flags(flags));
    }
    arch_tlb_flush();
    for (int i = 0; i < plan.works; i++) {
        if (!(p->flags & POINT_UNTOUCHED_SOURCE))
            stream_write(&plan.stream, plan.work[i].src, plan.work[i].size);
        if (has_destination())
            pattern_fill(plan.work[i].dst, plan.work[i].size);
    }
}

/* What a routine finds when it starts: user pages closed to it, the page that is to fault gone. */
static void enter(void) {
    if (plan.fault_page)
        arch_set_present(plan.fault_page, 0);
    arch_user_access(0);
}

/* Not 0: the routine left user pages open. */
static int leave(void) {
    int left_open = arch_user_access(1);
    if (plan.fault_page)
        arch_set_present(plan.fault_page, 1);
    return left_open;
}

static int fail(struct result *r, u32 status, u64 detail) {
    r->status = status;
    r->detail = detail;
    return 0;
}

/* After a fault: what the routine says it copied is there, and beyond it nothing but bytes it may have copied. */
static int check_rest(const struct work *w, u64 copied, struct result *r) {
    const u8 *dst = (const u8 *)(uintptr_t)w->dst, *src = (const u8 *)(uintptr_t)w->src; /* compared in the end */
    for (u64 j = copied; j < w->size; j++) {
        int may_be_copied = j < w->limit && dst[j] == src[j];
        if (dst[j] != PATTERN_BYTE && !may_be_copied)
            return fail(r, WRONG_OUTPUT, j);
    }
    return 1;
}

static int check_work(const struct work *w, u64 ret, struct result *r) {
    LATER_ONLY(if (plan.distance || is_set()) return check_further(w, r);)
    KINDS_ONLY(if (is_other_checksum()) return check_other_checksum(w, ret, r);)
    u64 copied = w->size;
    if (has_sum()) {
        struct stream bytes;
        stream_from(&bytes, &plan.stream, w->src % 8);
        u64 expected = stream_checksum(&bytes, w->size);
        if (!checksum_matches(checksum_fold((u32)ret), expected, plan.routine->kind))
            return fail(r, WRONG_RETURN, expected);
        if (!has_destination())
            return 1;
    }
    if (plan.routine->kind == KIND_USER_COPY) {
        u64 least = w->size - w->limit, most = least ? least + OVER_REPORT : 0;
        if (ret < least || ret > most || ret > w->size)
            return fail(r, WRONG_RETURN, least);
        copied = w->size - ret;
    }
    u64 wrong = stream_compare(&w->expected, w->dst, copied);
    if (wrong < copied)
        return fail(r, WRONG_OUTPUT, wrong);
    if (!check_rest(w, copied, r))
        return 0;
    if (plan.streams LATER_ONLY(|| plan.mixed))
        return 1; /* the neighbouring chunks lie where the bands were */
#ifdef HAS_PACKETS
    if (plan.packets.call)
        return 1; /* as do other calls' buffers */
#endif
    int64_t damaged = pattern_damage(w->dst, w->size);
    return damaged ? fail(r, DAMAGE, (u64)damaged) : 1;
}

static int check(const u64 ret[2], int first, struct result *r) {
    if (!plan.verify)
        return 1;
    for (int i = first; i < plan.works; i++)
        if (!check_work(&plan.work[i], ret[i], r))
            return 0;
    return 1;
}

static int sources_intact(struct result *r) {
    LATER_ONLY(if (plan.distance) return 1;)
    for (int i = 0; plan.verify && i < plan.works; i++)
        if (!stream_intact(&plan.stream, plan.work[i].src, plan.work[i].size))
            return fail(r, DAMAGE, DAMAGED_SOURCE);
    return 1;
}

static int first_calls(u64 ret[2], struct result *r) {
    for (int i = 0; i < plan.works; i++) {
        enter();
        u64 damage = arch_checked_call(&plan.jobs[i], &ret[i]);
        LATER_ONLY(plan.made++;)
        if (leave())
            damage |= DAMAGED_ACCESS;
        if (damage)
            return fail(r, DAMAGE, DAMAGED_REGISTERS | damage);
    }
    return check(ret, 0, r);
}

#ifdef HAS_LEVELS
/* Brings the buffers that belong in `place` into the caches. */
static void touch_those(struct places at, enum place place) {
    for (int i = 0; i < plan.works; i++) {
        if (at.source == place)
            touch(plan.work[i].src, plan.work[i].size);
        if (at.destination == place && has_destination())
            touch(plan.work[i].dst, plan.work[i].size);
    }
}

static void chill_levels(const struct point *p) {
    struct places at = places_of(p->cache_state);
    for (int i = 0; i < plan.works; i++) {
        if (at.source == IN_MEMORY)
            arch_flush(plan.work[i].src, plan.work[i].size);
        if (at.destination == IN_MEMORY && has_destination())
            arch_flush(plan.work[i].dst, plan.work[i].size);
    }
    touch_those(at, IN_L2); /* arch_flush may have emptied all caches */
    displace_first_level();
    touch_those(at, IN_L1);
    touch_stack();
}
#endif

#ifdef SECOND_LEVEL
#define chill chill_levels
#else
static void chill_stream(const struct point *p) {
    const struct work *first = &plan.work[0], *last = &plan.work[plan.works - 1];
    if (p->flags & POINT_UNTOUCHED_SOURCE) {
        map_stream_source(p, map_flags(p));
        arch_ready_pages();
    } else if (p->cache_state & SOURCE_COLD) {
        arch_flush(first->src, last->src + last->size - first->src);
    }
    if (p->cache_state & DESTINATION_COLD && has_destination())
        arch_flush(first->dst, last->dst + last->size - first->dst);
}

static void chill(const struct point *p) {
    LATER_ONLY(if (p->cache_state > BOTH_COLD) { chill_levels(p); return; })
    if (plan.streams) {
        chill_stream(p);
        return;
    }
    for (int i = 0; i < plan.works; i++) {
        if (p->cache_state & SOURCE_COLD)
            arch_flush(plan.work[i].src, plan.work[i].size);
        if (p->cache_state & DESTINATION_COLD && has_destination())
            arch_flush(plan.work[i].dst, plan.work[i].size);
    }
}
#endif

#ifdef LATER
static void shuffle_calls(void);
#endif
#include "measure.inc"

static void report_return(u64 ret, struct result *r) {
    if (has_sum())
        r->ret = checksum_fold((u32)ret);
    else if (plan.routine->kind == KIND_USER_COPY)
        r->ret = ret;
    KINDS_ONLY(else if (is_other_checksum()) r->ret = narrowed(ret);)
}

#ifdef LATER
#include "mixes.inc"
#endif

static void run(const struct point *p, struct result *r) {
    KEPT u64 ret[2];
    LATER_ONLY(if (p->measure == MIX) { run_mix(p, r); return; })
    if (!in_range(p) || !make_plan(p)) {
        r->status = OUT_OF_RANGE;
        return;
    }
    if (arch_recover()) {
        leave();
        fail(r, UNEXPECTED_TRAP, arch_trap_cause());
        return;
    }
    prepare(p);
    if (first_calls(ret, r) && measure(p, ret, r) && check(ret, plan.streams ? plan.works - 1 : 0, r))
        sources_intact(r);
    arch_disarm();
    report_return(ret[0], r);
}

/* In a guest that only checks: the byte that should be where a wrong one is, and that one. */
#ifdef REPORT_VALUES
static void report_values(struct result *r) {
    LATER_ONLY(if (plan.distance || is_set()) return;) /* check_further has */
    const struct work *w = &plan.work[0];
    int in_copy = r->status == WRONG_OUTPUT, in_band = r->status == DAMAGE && !(r->detail >> 61 == 1 || r->detail >> 61 == 2);
    if (!in_copy && !in_band)
        return;
    u64 index = r->detail;
    stream_write(&plan.stream, w->src, w->size); /* the routine may have written there */
    int copied = in_copy && index < w->limit && (plan.routine->kind != KIND_USER_COPY || index < w->size - r->ret);
    r->cycles_min = copied ? *(const u8 *)(uintptr_t)(w->src + index) : PATTERN_BYTE;
    r->cycles_median = *(const u8 *)(uintptr_t)(w->dst + index);
}
#else
static void report_values(struct result *r) { (void)r; }
#endif

void point_run(const struct point *p, struct result *r) {
    plan.routine = OTHERWISE(find_routine(p->routine)) KINDS_ONLY(find_of_kinds(p->routine));
    if (!plan.routine) {
        r->status = UNKNOWN_ROUTINE;
        return;
    }
    run(p, r);
    report_values(r);
}

#ifdef KINDS
#include "kinds_last.inc"
#elif defined LATER
#include "later.inc"
#elif defined PACKETS
void points_further(const struct point *points, struct result *results, u64 count) {
    points_second_level(points, results, count);
    for (u64 i = 0; i < count; i++) {
        if (points[i].cache_state < RECEIVE || points[i].measure != LATENCY)
            continue;
        results[i] = (struct result){.index = results[i].index};
        point_run(&points[i], &results[i]);
    }
}
#elif defined SECOND_LEVEL
void points_second_level(const struct point *points, struct result *results, u64 count) {
    for (u64 i = 0; i < count; i++) {
        if (points[i].cache_state <= BOTH_COLD || points[i].measure == STREAM)
            continue;
        results[i] = (struct result){.index = results[i].index};
        point_run(&points[i], &results[i]);
    }
}
#else
static u64 copy_bytes(u8 *dst, const u8 *src, u64 n) {
    for (u64 i = 0; i < n; i++)
        dst[i] = src[i];
    return 0;
}

void point_rehearse(void) {
    static const struct routine copy = {.kind = KIND_COPY, .fn = (void *)copy_bytes};
    static const struct point point = {
        .size = 307, .src_offset = 3, .repetitions = 3, .calls = 1, .warmup = 2, .fault_at = NO_FAULT};
    static struct result result;
    plan.routine = &copy;
    run(&point, &result);
}
#endif
