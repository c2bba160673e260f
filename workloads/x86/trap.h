/* Exceptions. */
#pragma once

#define VECTORS 32
#define VECTOR_PAGE_FAULT 14

#ifndef __ASSEMBLER__
#include "../harness/contract.h"

/* What trap.S leaves on the stack: its own pushes, then the processor's. */
struct frame {
    u64 r15, r14, r13, r12, r11, r10, r9, r8, rbp, rdi, rsi, rdx, rcx, rbx, rax;
    u64 vector, error;
    u64 rip, cs, rflags, rsp, ss;
};

/* Filled by arch_recover: rbx, rbp, r12..r15, rsp after its return, rip. */
struct context {
    u64 rbx, rbp, r12, r13, r14, r15, rsp, rip;
};
#endif
