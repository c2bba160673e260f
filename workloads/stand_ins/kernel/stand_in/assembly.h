/* The kernel's macros for functions in assembly. A function begins a cache line, as a guest's routines do. */
#pragma once

#include <stand_in/tables.h>

#define ASM_NL ;
#define __ALIGN .balign 64
#define ALIGN __ALIGN
#define STAND_IN_BEGIN(name, binding) binding name; .type name, @function; __ALIGN; name:
#define STAND_IN_BEGIN_HERE(name, binding) binding name; .type name, @function; name:
#define STAND_IN_LOCAL(name)
#define STAND_IN_END(name) .size name, . - name

#define ENTRY(name) STAND_IN_BEGIN(name, .globl)
#define WEAK(name) STAND_IN_BEGIN_HERE(name, .weak)
#define GLOBAL(name) STAND_IN_BEGIN_HERE(name, .globl)
#define END(name) STAND_IN_END(name)
#define ENDPROC(name) STAND_IN_END(name)

#define SYM_FUNC_START(name) STAND_IN_BEGIN(name, .globl)
#define SYM_FUNC_START_NOALIGN(name) STAND_IN_BEGIN_HERE(name, .globl)
#define SYM_FUNC_START_WEAK(name) STAND_IN_BEGIN(name, .weak)
#define SYM_FUNC_START_WEAK_NOALIGN(name) STAND_IN_BEGIN_HERE(name, .weak)
#define SYM_FUNC_START_LOCAL(name) STAND_IN_BEGIN(name, .local)
#define SYM_FUNC_START_LOCAL_NOALIGN(name) STAND_IN_BEGIN_HERE(name, .local)
#define SYM_FUNC_START_ALIAS(name) STAND_IN_BEGIN(name, .globl)
#define SYM_TYPED_FUNC_START(name) STAND_IN_BEGIN(name, .globl)
#define SYM_FUNC_END(name) STAND_IN_END(name)
#define SYM_FUNC_END_ALIAS(name) STAND_IN_END(name)
#define SYM_FUNC_ALIAS(alias, name) .globl alias; .set alias, name
#define SYM_FUNC_ALIAS_LOCAL(alias, name) .set alias, name
#define SYM_FUNC_ALIAS_WEAK(alias, name) .weak alias; .set alias, name
#define SYM_PIC_ALIAS(name)
#define SYM_CODE_START(name) STAND_IN_BEGIN(name, .globl)
#define SYM_CODE_START_NOALIGN(name) STAND_IN_BEGIN_HERE(name, .globl)
#define SYM_CODE_START_LOCAL(name) STAND_IN_BEGIN(name, .local)
#define SYM_CODE_START_LOCAL_NOALIGN(name) STAND_IN_BEGIN_HERE(name, .local)
#define SYM_CODE_END(name) STAND_IN_END(name)
#define SYM_L_GLOBAL(name) .globl name
#define SYM_L_WEAK(name) .weak name
#define SYM_L_LOCAL(name)
#define SYM_INNER_LABEL(name, linkage) linkage(name); name:
#define SYM_INNER_LABEL_ALIGN(name, linkage) linkage(name); __ALIGN; name:
#define SYM_DATA_START(name) .globl name; name:
#define SYM_DATA_START_LOCAL(name) name:
#define SYM_DATA_END(name) .size name, . - name

#define EXPORT_SYMBOL(name)
#define EXPORT_SYMBOL_GPL(name)
#define EXPORT_SYMBOL_NOKASAN(name)
#define ASM_NOKPROBE(name)
#define _ASM_NOKPROBE(name)
#define STACK_FRAME_NON_STANDARD(name)
#define __FUNC_ALIGN __ALIGN
#define ENDBR
#define RET ret

/* What a debugger or the kernel's checker of its own code reads. */
.irp name, CFI_STARTPROC, CFI_ENDPROC, CFI_DEF_CFA, CFI_DEF_CFA_OFFSET, CFI_ADJUST_CFA_OFFSET, CFI_OFFSET, \
           CFI_REL_OFFSET, CFI_RESTORE, CFI_REMEMBER_STATE, CFI_RESTORE_STATE, CFI_UNDEFINED, CFI_ESCAPE, \
           CFI_REGISTER, CFI_SIGNAL_FRAME, CFI_DEF_CFA_REGISTER, UNWIND_HINT_EMPTY, UNWIND_HINT_REGS, \
           UNWIND_HINT_FUNC, UNWIND_HINT_SAVE, UNWIND_HINT_RESTORE, UNWIND_HINT_UNDEFINED, UNWIND_HINT_END_OF_STACK, \
           ANNOTATE_NOENDBR, ANNOTATE_RETPOLINE_SAFE, ANNOTATE_INTRA_FUNCTION_CALL, ANNOTATE_UNRET_SAFE, \
           ANNOTATE_IGNORE_ALTERNATIVE, FRAME_BEGIN, FRAME_END
.macro \name arguments:vararg
.endm
.endr

#ifdef __riscv

#define REG_L ld
#define REG_S sd
#define REG_SC sc.d
#define REG_AMOSWAP_AQ amoswap.d.aq
#define REG_ASM .dword
#define SZREG 8
#define LGREG 3
#define RISCV_PTR .dword
#define RISCV_SZPTR 8
#define RISCV_LGPTR 3
#define RISCV_INT .word
#define RISCV_SZINT 4
#define SR_SUM 0x40000
#define SR_FS 0x6000
#define SR_VS 0x600
#define SR_SIE 0x2
#define CSR_STATUS sstatus
#define CSR_SSTATUS sstatus

#else

#define _ASM_AX rax
#define _ASM_BX rbx
#define _ASM_CX rcx
#define _ASM_DX rdx
#define _ASM_SP rsp
#define _ASM_BP rbp
#define _ASM_SI rsi
#define _ASM_DI rdi
#define _ASM_PTR .quad
#define _ASM_ALIGN .balign 8
#define _ASM_MOV mov
#define _ASM_ADD add
#define _ASM_SUB sub
#define __ASM_FORM(...) __VA_ARGS__

#endif
