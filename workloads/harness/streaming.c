#include "streaming.h"

#include "arch.h"

enum { LINE = 64 };

typedef u64 (*routine_fn)(u64, u64, u64, u64);

/* A reader who comes right after the copy. */
static void read_lines(u64 start, u64 bytes) {
    int open = arch_user_access(1);
    for (u64 at = start & ~(u64)7; at < start + bytes; at += LINE)
        (void)*(const volatile u64 *)(uintptr_t)at;
    arch_user_access(open);
}

u64 streaming_run(const struct streaming *s, u64 accumulate) {
    routine_fn fn = (routine_fn)(uintptr_t)s->fn;
    u64 a = s->arg[0], b = s->arg[1], c = s->arg[2], all = 0;
    for (u64 i = 0; i < s->calls; i++) {
        u64 ret = fn(a, b, c, s->parameter);
        all = accumulate ? all | ret : ret;
        if (s->read)
            read_lines(a, s->read);
        a += s->step[0];
        b += s->step[1];
        c += s->step[2];
    }
    return all;
}
