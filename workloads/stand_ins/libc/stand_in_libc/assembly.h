/* C libraries' macros for functions in assembly: glibc's, newlib's, bionic's and the BSDs'. A function begins a cache line,
   as a guest's routines do. */
#pragma once

#define STAND_IN_BEGIN(name, binding) binding name; .type name, @function; .balign 64; name:
#define ENTRY(name) STAND_IN_BEGIN(name, .globl)
#define ENTRY_NP(name) STAND_IN_BEGIN(name, .globl)
#define ENTRY_PRIVATE(name) STAND_IN_BEGIN(name, .globl)
#define ENTRY_WEAK_FOR_NATIVE_BRIDGE(name) STAND_IN_BEGIN(name, .weak)
#define ENTRY_NO_DWARF_PRIVATE(name) STAND_IN_BEGIN(name, .globl)
#define ENTRY_P2ALIGN(name, power) STAND_IN_BEGIN(name, .globl)
#define ENTRY_CHK(name) STAND_IN_BEGIN(name, .globl)
#define NENTRY(name) STAND_IN_BEGIN(name, .globl)
#define LENTRY(name) STAND_IN_BEGIN(name, .local)
#define LEAF(name) STAND_IN_BEGIN(name, .globl)
#define ALTENTRY(name) .globl name; .type name, @function; name:
#define WEAK_ENTRY(name) STAND_IN_BEGIN(name, .weak)
#define ARCH_ENTRY(name, ...) STAND_IN_BEGIN(name, .globl)
#define END(name) .size name, . - name
#define END_CHK(name) .size name, . - name
#define END_NO_DWARF(name) .size name, . - name
#define END_WEAK(name) .size name, . - name
#define END_STRONG(name) .size name, . - name
#define END_BUILTIN(name) .size name, . - name
#define LEND(name) .size name, . - name
#define L(label) .L##label
#define C_LABEL(name) name:
#define C_SYMBOL_NAME(name) name
#define _C_LABEL(name) name
#define CNAME(name) name
#define JUMPTARGET(name) name
#define HIDDEN_JUMPTARGET(name) name
#define PIC_PLT(name) name
#define PTR_PLT(name) name

#define STAND_IN_ALIAS(name, alias, binding) binding alias; .set alias, name
#define strong_alias(name, alias) STAND_IN_ALIAS(name, alias, .globl)
#define weak_alias(name, alias) STAND_IN_ALIAS(name, alias, .weak)
#define ALIAS_SYMBOL(alias, name) STAND_IN_ALIAS(name, alias, .globl)
#define ALIAS_SYMBOL_WEAK_FOR_NATIVE_BRIDGE(alias, name) STAND_IN_ALIAS(name, alias, .weak)
#define STRONG_ALIAS(alias, name) STAND_IN_ALIAS(name, alias, .globl)
#define WEAK_ALIAS(alias, name) STAND_IN_ALIAS(name, alias, .weak)
#define WEAK_REFERENCE(name, alias) STAND_IN_ALIAS(name, alias, .weak)
#define libc_hidden_def(name)
#define libc_hidden_builtin_def(name)
#define libc_hidden_ver(local, name)
#define hidden_def(name)
#define NOTE_GNU_PROPERTY()
#define RCSID(text)
#define __FBSDID(text)
#define RETGUARD_SETUP(...)
#define RETGUARD_CHECK(...)
#define RETGUARD_SYMBOL(name)
#define RETGUARD_SETUP_OFF(...)
#define _ALIGN_TEXT .balign 16
#define KTEXT_ALIGN .balign 16
#define _CET_ENDBR
#define _CET_NOTRACK
#define ENDBR
#define CFI_STARTPROC .cfi_startproc
#define CFI_ENDPROC .cfi_endproc
#define ATOM .byte

.macro cfi_startproc
.endm
.macro cfi_endproc
.endm
#define cfi_adjust_cfa_offset(offset)
#define cfi_def_cfa_offset(offset)
#define cfi_def_cfa(register, offset)
#define cfi_def_cfa_register(register)
#define cfi_rel_offset(register, offset)
#define cfi_offset(register, offset)
#define cfi_restore(register)
#define cfi_remember_state
#define cfi_restore_state
#define cfi_undefined(register)

/* glibc: a file is for every level of the instruction set; whole registers are 64 bits wide. */
#define ISA_SHOULD_BUILD(level) 1
#define MINIMUM_X86_ISA_LEVEL 1
#define IS_IN(part) 1
#define USE_MULTIARCH 1
/* VZEROUPPER is of the file's, empty where its registers need none. */
#ifndef VZEROUPPER_RETURN
#define VZEROUPPER_RETURN VZEROUPPER; ret
#endif
#ifndef ZERO_UPPER_VEC_REGISTERS_RETURN
#define ZERO_UPPER_VEC_REGISTERS_RETURN VZEROUPPER; ret
#endif
#define P2ALIGN(power) .p2align power

#ifdef __riscv

#define PTRLOG 3
#define SZREG 8
#define REG_L ld
#define REG_S sd
#define SZFREG 8
#define FREG_L fld
#define FREG_S fsd
#ifdef __riscv_landing_pad
#define LPAD lpad 0
#else
#define LPAD
#endif

#else

#define X86_STRING_CONTROL_AVOID_SHORT_DISTANCE_REP_MOVSB 1
#define LP_SIZE 8
#define LP_OP(operation) operation##q
#define ASM_ADDR .quad
#define RAX_LP rax
#define RBP_LP rbp
#define RBX_LP rbx
#define RCX_LP rcx
#define RDI_LP rdi
#define RDX_LP rdx
#define RSI_LP rsi
#define RSP_LP rsp
#define R8_LP r8
#define R9_LP r9
#define R10_LP r10
#define R11_LP r11
#define R12_LP r12
#define R13_LP r13
#define R14_LP r14
#define R15_LP r15

#endif
