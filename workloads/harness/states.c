#include "states.h"

enum { LINE = 64, PASSES = 2 };
/* Twice the largest first level of the machines here. Copied twice: once is too little where replacement is not LRU. */
enum { DISPLACER_BYTES = 128 << 10 };
/* What arch_measure and a routine push, and the frames above them. */
enum { STACK_BELOW = 1024, STACK_ABOVE = 512 };

static u8 displacer[DISPLACER_BYTES] __attribute__((section(".late"), aligned(4096)));

struct places places_of(u32 cache_state) {
    struct places at = {IN_L2, IN_L2};
    if (cache_state == SOURCE_COLD_DESTINATION_L2)
        at.source = IN_MEMORY;
    else if (cache_state == DESTINATION_L2)
        at.source = IN_L1;
    if (cache_state == SOURCE_L2_DESTINATION_COLD)
        at.destination = IN_MEMORY;
    else if (cache_state == SOURCE_L2)
        at.destination = IN_L1;
    return at;
}

void touch(u64 start, u64 bytes) {
    for (u64 at = start & ~(u64)(LINE - 1); at < start + bytes; at += LINE)
        (void)*(const volatile u64 *)(uintptr_t)at;
}

void displace_first_level(void) {
    enum { HALF = DISPLACER_BYTES / 2 };
    for (int i = 0; i < PASSES; i++)
        for (u64 at = 0; at < HALF; at += LINE)
            *(volatile u64 *)&displacer[HALF + at] = *(const volatile u64 *)&displacer[at];
}

void touch_stack(void) {
    touch((u64)(uintptr_t)__builtin_frame_address(0) - STACK_BELOW, STACK_BELOW + STACK_ABOVE);
}
