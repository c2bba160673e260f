/* For routines, in C or assembly: registration, and what assembly routines share. Intel syntax. */
#pragma once

#define KIND_COPY 0          /* void f(void *dst, const void *src, size_t n) */
#define KIND_CHECKSUM 1      /* uint32_t f(const void *buffer, size_t n): any partial sum, not complemented */
#define KIND_USER_COPY 2     /* size_t f(void *dst, const void *src, size_t n): bytes not copied */
#define KIND_COPY_CHECKSUM 3 /* uint32_t f(void *dst, const void *src, size_t n): a copy, and its checksum as above */
#define KIND_SET 4           /* void f(void *dst, int byte, size_t n) */
#define KIND_MOVE 5          /* as KIND_COPY; the buffers may overlap */
#define KIND_CLEAR 6         /* void f(void *dst, size_t n): zeros */
#define KIND_OTHER_CHECKSUM 7 /* registered by CHECKSUM_LIKE */
#define NEEDS_ADX 4          /* flags */
#define NEEDS_AVX2 8
#define NEEDS_SSE2 16
#define NEEDS_AVX512 64
#define NEEDS_SSE4_2 256

/* Whether only the newest part of the guest runs a routine. */
#ifdef KINDS
#define OF_KINDS(kind) 1
#else
#define OF_KINDS(kind) ((kind) >= KIND_CLEAR)
#endif

#ifdef __ASSEMBLER__

.intel_syntax noprefix
.section .note.GNU-stack, "", @progbits
.text

.macro ROUTINE_ENTRY section:req, symbol:req, name:req, kind:req, flags:req, parameter:req
    .pushsection \section, "a"
    .balign 8
.Lname\@:
    .ascii "\name"
    .zero 40 - (. - .Lname\@)
    .long \kind, \flags
    .quad \symbol, \parameter
    .popsection
.endm

/* Every routine starts a cache line, so that its neighbours do not matter. */
.macro BEGIN symbol:req
    .text
    .balign 64
    .globl \symbol
    .type \symbol, @function
\symbol:
.endm

/* A routine's entry, registered under `name`. A routine with a parameter (here its default, not 0) finds it in ecx. */
.macro ROUTINE symbol:req, name:req, kind:req, flags=0, parameter=0
    .if OF_KINDS(\kind)
    ROUTINE_ENTRY .routines.kinds, \symbol, "\name", \kind, \flags, \parameter
    .else
    ROUTINE_ENTRY .routines, \symbol, "\name", \kind, \flags, \parameter
    .endif
#ifndef LATER
    .ifeq OF_KINDS(\kind) | ((\flags) & NEEDS_AVX512) /* whose state only the later parts of the guest switch on */
    ROUTINE_ENTRY .first_routines, \symbol, "\name", \kind, \flags, \parameter
    .endif
#endif
    BEGIN \symbol
.endm

/* A checksum that is to return what that of a REFERENCE in C does: `checksum` is what is named there. */
.macro CHECKSUM_LIKE checksum:req, symbol:req, name:req, flags=0
    ROUTINE_ENTRY .routines.kinds, \symbol, "\name", KIND_OTHER_CHECKSUM, \flags, like_\checksum
    BEGIN \symbol
.endm

.macro END symbol:req
    .size \symbol, . - \symbol
.endm

/* One instruction that may meet an unmapped page: execution then goes on at `fixup`. */
.macro MAY_FAULT fixup:req, insn:vararg
.Linsn\@:
    \insn
    .pushsection __ex_table, "a"
    .balign 4
    .long .Linsn\@ - ., \fixup - .
    .popsection
.endm

/* Opens and closes user pages: three bytes of nothing that start-up turns into stac and clac on a machine with SMAP. */
.macro SMAP_SITE last:req
.Lsite\@:
    .byte 0x0f, 0x1f, 0x00
    .pushsection .smap_sites, "a"
    .balign 4
    .long .Lsite\@ - .
    .byte 0x0f, 0x01, \last, 0
    .popsection
.endm
.macro OPEN_USER
    SMAP_SITE 0xcb
.endm
.macro CLOSE_USER
    SMAP_SITE 0xca
.endm

#else

#include <stddef.h>
#include <stdint.h>

struct routine_entry {
    char name[40];
    uint32_t kind, flags;
    void *fn;
    uint64_t parameter;
};
#define ROUTINE_IN(table, entry, symbol, routine_name, routine_kind, routine_flags)                                    \
    __attribute__((section(table), used, aligned(8))) static const struct routine_entry entry = {                      \
        routine_name, routine_kind, routine_flags, (void *)symbol, 0};
/* Where a routine of a kind is registered: the kind's name, or what an expanded one is. */
#ifdef KINDS
#define EARLIER NEWEST
#else
#define EARLIER(symbol, routine_name, routine_kind, routine_flags)                                                     \
    ROUTINE_IN(".routines", all_##symbol, symbol, routine_name, routine_kind, routine_flags)                           \
    ROUTINE_IN(".first_routines", first_##symbol, symbol,                                                              \
               __builtin_choose_expr((routine_flags) & NEEDS_AVX512, "", routine_name), routine_kind, routine_flags)   \
    struct routine_entry
#endif
#include "../kinds/registered.h"

#endif
