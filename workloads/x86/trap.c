/* A fault that a user copy or a checksum expects goes on at its fix-up; any other exception ends the point. There is
   one stack: a routine that loses it ends the guest. */
#include "trap.h"

#include "../harness/arch.h"
#include "../harness/exceptions.h"
#include "../harness/windows.h"
#include "cpu.h"

#define INTERRUPT_GATE UINT64_C(0x8e00)

struct context recover_context;
u64 recover_armed;
static u64 trap_cause;

extern const u8 trap_entries[VECTORS][16];
static u64 idt[VECTORS][2] __attribute__((aligned(64)));

void trap_init(void);
void trap(struct frame *f);

void trap_init(void) {
    u64 cs;
    struct {
        uint16_t limit;
        u64 base;
    } __attribute__((packed)) where = {sizeof idt - 1, (u64)idt};
    __asm__ volatile("mov %0, cs" : "=r"(cs));
    for (u64 i = 0; i < VECTORS; i++) {
        u64 entry = (u64)trap_entries[i];
        idt[i][0] = (entry & 0xffff) | cs << 16 | INTERRUPT_GATE << 32 | (entry >> 16 & 0xffff) << 48;
        idt[i][1] = entry >> 32;
    }
    __asm__ volatile("lidt %0" ::"m"(where));
}

void trap(struct frame *f) {
    if (f->vector == VECTOR_PAGE_FAULT) {
        u64 address;
        __asm__ volatile("mov %0, cr2" : "=r"(address));
        if (windows_touch(address))
            return;
    }
    u64 fixup = f->vector == VECTOR_PAGE_FAULT ? exception_fixup(f->rip) : 0;
    if (fixup) {
        f->rip = fixup;
        return;
    }
    if (!recover_armed)
        arch_fail(FAIL_TRAP_IN_HARNESS);
    recover_armed = 0;
    trap_cause = f->vector;
    f->rbx = recover_context.rbx;
    f->rbp = recover_context.rbp;
    f->r12 = recover_context.r12;
    f->r13 = recover_context.r13;
    f->r14 = recover_context.r14;
    f->r15 = recover_context.r15;
    f->rsp = recover_context.rsp;
    f->rip = recover_context.rip;
    f->rflags &= ~(u64)RFLAGS_DF;
    f->rax = 1;
}

void arch_disarm(void) { recover_armed = 0; }

u64 arch_trap_cause(void) { return trap_cause; }
