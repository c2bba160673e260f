/* The binary formats of docs/guests.md: what the host and the guest agree on. Little-endian, no padding. */
#pragma once

#include <stdint.h>

typedef uint8_t u8;
typedef uint32_t u32;
typedef uint64_t u64;

enum {
    POINT_NAME = 40,
    MAX_OFFSET = 4095,
    MAX_REPETITIONS = 1000000,
    MAX_CALLS = 1000000,
    MAX_MIX_CALLS = 65536,
};
#define MAX_SIZE (UINT64_C(1) << 24)
#define MAX_STREAM (UINT64_C(64) << 20) /* bytes of all calls of a stream */

/* Cold: in memory. L2: in the second level, not in the first. Receive, send: a network driver's ring (packets.h), of the
   latency measure alone. Of a stream only those up to BOTH_COLD. */
enum {
    WARM,
    SOURCE_COLD,
    DESTINATION_COLD,
    BOTH_COLD,
    SOURCE_L2,
    DESTINATION_L2,
    BOTH_L2,
    SOURCE_L2_DESTINATION_COLD,
    SOURCE_COLD_DESTINATION_L2,
    RECEIVE,
    SEND,
    CACHE_STATES,
};
/* Latency: one call between fences. Throughput, interleaved: what `calls` calls more take in a row, always warm. Mix: the
   calls of a list, in a row. */
enum { LATENCY, THROUGHPUT, INTERLEAVED, STREAM, MIX };
enum {
    POINT_HUGE_PAGES = 1,
    POINT_NO_VERIFY = 2,
    /* Of a stream alone; the reader of a mix, too: */
    POINT_MOVING_SOURCE = 4,
    POINT_UNTOUCHED_SOURCE = 8,
    POINT_READER = 16,
    POINT_FLAGS = 31,
    /* The destination lies `distance` bytes behind the source (before it, if negative), in the same buffer. */
    POINT_DISTANCE = 32,
    POINT_STREAM_FLAGS = 28,
};
enum {
    KIND_COPY,
    KIND_CHECKSUM,
    KIND_USER_COPY,
    KIND_COPY_CHECKSUM,
    KIND_SET,
    KIND_MOVE,
    KIND_CLEAR,
    KIND_OTHER_CHECKSUM, /* `parameter` is then its reference's address */
};
enum {
    ROUTINE_NEEDS_ZBB = 1,
    ROUTINE_MISALIGNED = 2,
    ROUTINE_NEEDS_ADX = 4,
    ROUTINE_NEEDS_AVX2 = 8,
    ROUTINE_NEEDS_SSE2 = 16,
    ROUTINE_NEEDS_V = 32,
    ROUTINE_NEEDS_AVX512 = 64, /* F, BW, CD, DQ and VL */
    ROUTINE_NEEDS_ZBC = 128,
    ROUTINE_NEEDS_SSE4_2 = 256,
    ROUTINE_NEEDS_ZICBOZ = 512,
};
enum { RIGHT, WRONG_OUTPUT, UNKNOWN_ROUTINE, OUT_OF_RANGE, UNEXPECTED_TRAP, WRONG_RETURN, DAMAGE };

/* `detail` of status 6: this bit and a mask of what a routine damaged, or DAMAGED_SOURCE, or the offset of the first
   damaged guard byte from the destination's start (a small number of either sign). */
#define DAMAGED_REGISTERS (UINT64_C(1) << 62)
#define DAMAGED_ACCESS (UINT64_C(1) << 32) /* user pages left open */
#define DAMAGED_SOURCE (UINT64_C(1) << 61)

#define NO_FAULT UINT64_MAX
#define FAULT_DESTINATION (UINT64_C(1) << 63)
#define FAULT_INDEX ((UINT64_C(1) << 62) - 1)

/* Seeds that stand for constant contents: what catches a missing and a superfluous carry. */
#define SEED_ONES UINT32_C(0xffffffff)
#define SEED_ZEROS UINT32_C(0xfffffffe)

struct header {
    char magic[8];
    u32 version, record_bytes;
    u64 count, reserved;
};

struct point {
    char routine[POINT_NAME];
    u64 size;
    u32 src_offset, dst_offset, cache_state, measure, repetitions, calls;
    u64 size2;
    u32 src_offset2, dst_offset2, warmup, seed;
    u64 fault_at;
    u32 flags, parameter;
    int32_t distance;
    u32 reserved;
    u64 mix; /* the name of its list of calls; `size` is then the bytes that they are spread over */
};

/* Behind the points: lists of calls, each a name (not 0), how many calls follow (not 0), and these. */
struct list {
    u64 name, calls;
};

struct call {
    u32 size, src, dst; /* offsets into the buffers */
};

/* `overhead`: an empty call's cycles, or those of a stream of them, which have been subtracted from each measurement; 0 of
   throughput and interleaved. */
struct result {
    u32 index, status;
    u64 cycles_min, cycles_median, cycles_total, instructions, ret, detail, overhead;
};

struct routine {
    char name[POINT_NAME];
    u32 kind, flags;
    void *fn;
    u64 parameter; /* its default; 0: the routine has none */
};

/* A checksum other than the Internet's: what it is called, and the plain function that says what is right:
   u64 fn(const void *data, u64 size). */
struct reference {
    char name[POINT_NAME];
    void *fn;
};

_Static_assert(sizeof(struct header) == 32, "header");
_Static_assert(sizeof(struct point) == 128, "point");
_Static_assert(sizeof(struct result) == 64, "result");
_Static_assert(sizeof(struct list) == 16 && sizeof(struct call) == 12, "list of calls");
_Static_assert(sizeof(struct routine) == 64, "routine");
