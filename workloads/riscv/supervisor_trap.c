/* Supervisor mode's traps: a fault that a user copy expects goes on at its fix-up; any other ends the point. */
#include "../harness/arch.h"
#include "../harness/exceptions.h"
#include "../harness/windows.h"
#include "csr.h"

/* Filled by arch_recover: ra, sp, s0..s11. */
u64 recover_context[14];
u64 recover_armed;
static u64 trap_cause;

void supervisor_trap(struct frame *frame, u64 cause);

static int is_data_fault(u64 cause) {
    return cause == CAUSE_LOAD_PAGE || cause == CAUSE_STORE_PAGE || cause == CAUSE_LOAD_ACCESS ||
           cause == CAUSE_STORE_ACCESS;
}

void supervisor_trap(struct frame *f, u64 cause) {
    if ((cause == CAUSE_LOAD_PAGE || cause == CAUSE_STORE_PAGE) && windows_touch(read_csr(stval)))
        return;
    u64 fixup = is_data_fault(cause) ? exception_fixup(f->pc) : 0;
    if (fixup) {
        f->pc = fixup;
        return;
    }
    if (!recover_armed)
        arch_fail(FAIL_TRAP_IN_HARNESS);
    recover_armed = 0;
    trap_cause = cause;
    f->pc = f->x[1] = recover_context[0];
    f->x[2] = recover_context[1];
    f->x[8] = recover_context[2];
    f->x[9] = recover_context[3];
    for (int i = 2; i < 12; i++)
        f->x[16 + i] = recover_context[2 + i];
    f->x[10] = 1;
}

void arch_disarm(void) { recover_armed = 0; }

u64 arch_trap_cause(void) { return trap_cause; }

int arch_user_access(int open) {
    u64 before;
    if (open)
        __asm__ volatile("csrrs %0, sstatus, %1" : "=r"(before) : "r"(SUM) : "memory");
    else
        __asm__ volatile("csrrc %0, sstatus, %1" : "=r"(before) : "r"(SUM) : "memory");
    return (before & SUM) != 0;
}
