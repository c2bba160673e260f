/* The exception table: which instructions may fault, and where execution goes on if one does. */
#pragma once

#include "contract.h"

/* Addresses relative to the fields themselves. */
struct exception {
    int32_t insn, fixup;
};

/* Where to go on after a fault at `pc`; 0: nothing expects it. */
u64 exception_fixup(u64 pc);
