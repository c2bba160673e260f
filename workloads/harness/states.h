/* Where a point's buffers lie when a measurement begins. */
#pragma once

#include "contract.h"

enum place { IN_L1, IN_L2, IN_MEMORY };

struct places {
    enum place source, destination;
};

/* Of a cache state above BOTH_COLD. */
struct places places_of(u32 cache_state);
/* Copies other memory until nothing else is left in a first-level data cache of up to 64 KiB; what lies in a second level
   stays there. Half of what is in the first level then has been written, as between two copies of a program that goes on
   copying. */
void displace_first_level(void);
/* Reads every line of [start, start + bytes). */
void touch(u64 start, u64 bytes);
/* Reads the part of the stack that a call from here on uses. */
void touch_stack(void);
