/* Compiled twice: of calls that clear, too, beside what point.c has of them (KINDS). */
#ifdef KINDS
#define mixing_run mixing_run_kinds
#endif
#include "mixes.h"

#include "arch.h"
#include "states.h"

typedef u64 (*routine_fn)(u64, u64, u64, u64);

/* `kind` and `read` are constants where it is used: what the loop adds to a call is the same for all routines of a kind. */
static inline __attribute__((always_inline)) u64 run_as(const struct mixing *m, u32 kind, int read) {
    routine_fn fn = (routine_fn)(uintptr_t)m->fn;
    u64 all = 0, ret = 0;
    for (const struct call *c = m->calls, *end = c + m->count; c != end; c++) {
        u64 src = m->src + c->src, dst = m->dst + c->dst;
        if (kind == KIND_CHECKSUM)
            ret = fn(src, c->size, 0, m->parameter);
#ifdef KINDS
        else if (kind == KIND_CLEAR)
            ret = fn(dst, c->size, 0, m->parameter);
#endif
        else
            ret = fn(dst, kind == KIND_SET ? m->value : src, c->size, m->parameter);
        if (kind == KIND_USER_COPY)
            all |= ret;
        if (read) {
            int open = arch_user_access(1);
            touch(dst, c->size);
            arch_user_access(open);
        }
    }
    return kind == KIND_USER_COPY ? all : ret;
}

u64 mixing_run(const struct mixing *m) {
#ifdef KINDS
    if (m->kind == KIND_CLEAR)
        return m->read ? run_as(m, KIND_CLEAR, 1) : run_as(m, KIND_CLEAR, 0);
#endif
    if (m->read)
        return m->kind == KIND_SET         ? run_as(m, KIND_SET, 1)
               : m->kind == KIND_USER_COPY ? run_as(m, KIND_USER_COPY, 1)
                                           : run_as(m, KIND_COPY, 1);
    return m->kind == KIND_CHECKSUM    ? run_as(m, KIND_CHECKSUM, 0)
           : m->kind == KIND_SET       ? run_as(m, KIND_SET, 0)
           : m->kind == KIND_USER_COPY ? run_as(m, KIND_USER_COPY, 0)
                                       : run_as(m, KIND_COPY, 0);
}
