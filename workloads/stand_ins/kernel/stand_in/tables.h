/* The kernel's tables of places in code: instructions that may fault go into the guest's own table (MAY_FAULT of
   routine.h); where code is patched for a feature, the assembler takes the one or the other variant (config.h). */
#pragma once

#include <stand_in/config.h>

/* Kinds of entry that only say where execution goes on; others would also set a register, which no guest does. */
#define EX_TYPE_NONE 0
#define EX_TYPE_DEFAULT 0
#define EX_TYPE_FAULT 0
#define EX_TYPE_UACCESS 0
#define EX_TYPE_COPY 0
#define EX_TYPE_DEFAULT_MCE_SAFE 0
#define EX_TYPE_FAULT_MCE_SAFE 0
#define EX_TYPE_EFAULT_REG 1
#define EX_TYPE_IMM_REG 1
#define EX_TYPE_ZERO_REG 1
#define EX_TYPE_ONE_REG 1
#define EX_TYPE_ZEROPAD 1
#define EX_TYPE_UCOPY_LEN 1
#define STAND_IN_NO_REGISTER \
    an entry of __ex_table that sets a register has no stand-in: jump to code that does (_ASM_EXTABLE, _asm_extable)

#define ALT_NOT(feature) (!(feature))

#ifdef __ASSEMBLER__

.macro stand_in_exception insn:req, fixup:req
    .pushsection __ex_table, "a"
    .balign 4
    .long \insn - .
    .long \fixup - .
    .popsection
.endm
.macro stand_in_exception_of_kind insn:req, fixup:req, kind:req
    .if \kind
    .error "an entry of __ex_table that sets a register has no stand-in: jump to code that does (_ASM_EXTABLE)"
    .endif
    stand_in_exception \insn, \fixup
.endm
#define _ASM_EXTABLE(insn, fixup) stand_in_exception insn, fixup
#define _ASM_EXTABLE_UA(insn, fixup) stand_in_exception insn, fixup
#define _ASM_EXTABLE_CPY(insn, fixup) stand_in_exception insn, fixup
#define _ASM_EXTABLE_FAULT(insn, fixup) stand_in_exception insn, fixup
#define _ASM_EXTABLE_TYPE(insn, fixup, kind) stand_in_exception_of_kind insn, fixup, kind
#define _ASM_EXTABLE_TYPE_REG(insn, fixup, kind, reg) stand_in_exception_of_kind insn, fixup, 1
.macro _asm_extable insn:req, fixup:req
    stand_in_exception \insn, \fixup
.endm
.macro _asm_extable_uaccess insn:req, fixup:req
    stand_in_exception \insn, \fixup
.endm

.macro stand_in_alternative old, new, feature:req
    .if \feature
    \new
    .else
    \old
    .endif
.endm
.macro stand_in_alternative_2 old, new, feature:req, newer, later:req
    .if \later
    \newer
    .else
    stand_in_alternative "\old", "\new", \feature
    .endif
.endm
#ifdef __riscv
#define ALTERNATIVE(old, new, vendor, feature, config) stand_in_alternative old, new, feature
#define ALTERNATIVE_2(old, new, vendor, feature, config, newer, vendor2, later, config2) \
    stand_in_alternative_2 old, new, feature, newer, later
#else
.macro ALTERNATIVE old, new, feature:req
    stand_in_alternative "\old", "\new", \feature
.endm
.macro ALTERNATIVE_2 old, new, feature:req, newer, later:req
    stand_in_alternative_2 "\old", "\new", \feature, "\newer", \later
.endm
/* Opens and closes user pages: what start-up turns into stac and clac on a machine with SMAP. */
.macro stand_in_smap last:req
.Lstand_in_smap\@:
    .byte 0x0f, 0x1f, 0x00
    .pushsection .smap_sites, "a"
    .balign 4
    .long .Lstand_in_smap\@ - .
    .byte 0x0f, 0x01, \last, 0
    .popsection
.endm
#define ASM_STAC stand_in_smap 0xcb
#define ASM_CLAC stand_in_smap 0xca
#endif

#else

#define STAND_IN_TEXT(...) STAND_IN_TEXT_OF(__VA_ARGS__)
#define STAND_IN_TEXT_OF(...) #__VA_ARGS__
#define STAND_IN_EXCEPTION(insn, fixup) \
    ".pushsection __ex_table, \"a\"\n.balign 4\n.long " insn " - .\n.long " fixup " - .\n.popsection\n"
#define STAND_IN_SETS_REGISTER ".error \"" STAND_IN_TEXT(STAND_IN_NO_REGISTER) "\"\n"
#define _ASM_EXTABLE(insn, fixup) STAND_IN_EXCEPTION(#insn, #fixup)
#define _ASM_EXTABLE_UA(insn, fixup) STAND_IN_EXCEPTION(#insn, #fixup)
#define _ASM_EXTABLE_CPY(insn, fixup) STAND_IN_EXCEPTION(#insn, #fixup)
#define _ASM_EXTABLE_FAULT(insn, fixup) STAND_IN_EXCEPTION(#insn, #fixup)
#define _ASM_EXTABLE_TYPE(insn, fixup, kind) \
    ".if " STAND_IN_TEXT(kind) "\n" STAND_IN_SETS_REGISTER ".endif\n" STAND_IN_EXCEPTION(#insn, #fixup)
#define _ASM_EXTABLE_TYPE_REG(insn, fixup, kind, reg) STAND_IN_SETS_REGISTER
#define _ASM_EXTABLE_UACCESS(insn, fixup) STAND_IN_EXCEPTION(#insn, #fixup)
#define _ASM_EXTABLE_UACCESS_ERR(insn, fixup, error) STAND_IN_SETS_REGISTER
#define _ASM_EXTABLE_UACCESS_ERR_ZERO(insn, fixup, error, zero) STAND_IN_SETS_REGISTER
#define _ASM_EXTABLE_LOAD_UNALIGNED_ZEROPAD(insn, fixup, data, address) STAND_IN_SETS_REGISTER

#define STAND_IN_ALTERNATIVE(old, new, feature) \
    ".if " STAND_IN_TEXT(feature) "\n" new "\n.else\n" old "\n.endif\n"
#ifdef __riscv
#define ALTERNATIVE(old, new, vendor, feature, config) STAND_IN_ALTERNATIVE(old, new, feature)
#define ALTERNATIVE_2(old, new, vendor, feature, config, newer, vendor2, later, config2) \
    STAND_IN_ALTERNATIVE(STAND_IN_ALTERNATIVE(old, new, feature), newer, later)
#else
#define ALTERNATIVE(old, new, feature) STAND_IN_ALTERNATIVE(old, new, feature)
#define ALTERNATIVE_2(old, new, feature, newer, later) \
    STAND_IN_ALTERNATIVE(STAND_IN_ALTERNATIVE(old, new, feature), newer, later)
#define STAND_IN_SMAP(last)                                                                                            \
    __asm__ volatile("1: .byte 0x0f, 0x1f, 0x00\n.pushsection .smap_sites, \"a\"\n.balign 4\n.long 1b - .\n"          \
                     ".byte 0x0f, 0x01, " #last ", 0\n.popsection" ::: "memory")
#define stac() STAND_IN_SMAP(0xcb)
#define clac() STAND_IN_SMAP(0xca)
#endif

#endif
