#include "exceptions.h"

extern const struct exception __ex_table_start[], __ex_table_end[];

u64 exception_fixup(u64 pc) {
    for (const struct exception *e = __ex_table_start; e < __ex_table_end; e++)
        if ((u64)&e->insn + (u64)(int64_t)e->insn == pc)
            return (u64)&e->fixup + (u64)(int64_t)e->fixup;
    return 0;
}
