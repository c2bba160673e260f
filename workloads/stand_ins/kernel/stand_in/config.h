/* What a kernel is configured to: a 64-bit one, with the extensions that the compiler may use (`--needs`). A feature that
   code is patched for is 0, the machine lacks it, unless the compiler's flags say otherwise (-DX86_FEATURE_ERMS=1). */
#pragma once

#ifndef CONFIG_64BIT
#define CONFIG_64BIT 1
#endif
#define CONFIG_MMU 1
#ifdef __ASSEMBLER__
#define __ASSEMBLY__ 1
#endif
#ifndef __LITTLE_ENDIAN
#define __LITTLE_ENDIAN 1234
#endif

#ifdef __riscv

#define CONFIG_RISCV 1
#define CONFIG_RISCV_ALTERNATIVE 1
#ifdef __riscv_zbb
#define CONFIG_RISCV_ISA_ZBB 1
#define STAND_IN_ZBB 1
#else
#define STAND_IN_ZBB 0
#endif
#ifdef __riscv_vector
#define CONFIG_RISCV_ISA_V 1
#define STAND_IN_V 1
#else
#define STAND_IN_V 0
#endif
#ifndef RISCV_ISA_EXT_ZBB
#define RISCV_ISA_EXT_ZBB STAND_IN_ZBB
#endif
#ifndef RISCV_ISA_EXT_v
#define RISCV_ISA_EXT_v STAND_IN_V
#endif
#ifndef RISCV_ISA_EXT_V
#define RISCV_ISA_EXT_V STAND_IN_V
#endif
#ifndef RISCV_ISA_EXT_ZVE32X
#define RISCV_ISA_EXT_ZVE32X STAND_IN_V
#endif
#ifndef RISCV_ISA_EXT_ZBA
#define RISCV_ISA_EXT_ZBA 0
#endif
#ifndef RISCV_ISA_EXT_ZBC
#define RISCV_ISA_EXT_ZBC 0
#endif
#ifndef RISCV_ISA_EXT_ZBS
#define RISCV_ISA_EXT_ZBS 0
#endif
#ifndef RISCV_ISA_EXT_ZICBOZ
#define RISCV_ISA_EXT_ZICBOZ 0
#endif
#ifndef RISCV_ISA_EXT_ZICBOP
#define RISCV_ISA_EXT_ZICBOP 0
#endif

#else

#define CONFIG_X86 1
#define CONFIG_X86_64 1
#ifndef X86_FEATURE_REP_GOOD
#define X86_FEATURE_REP_GOOD 0
#endif
#ifndef X86_FEATURE_ERMS
#define X86_FEATURE_ERMS 0
#endif
#ifndef X86_FEATURE_FSRM
#define X86_FEATURE_FSRM 0
#endif
#ifndef X86_FEATURE_FSRS
#define X86_FEATURE_FSRS 0
#endif
#ifndef X86_FEATURE_XMM2
#define X86_FEATURE_XMM2 0
#endif
#ifndef X86_FEATURE_AVX2
#define X86_FEATURE_AVX2 0
#endif
#ifndef X86_FEATURE_ADX
#define X86_FEATURE_ADX 0
#endif
#ifndef X86_FEATURE_CLFLUSHOPT
#define X86_FEATURE_CLFLUSHOPT 0
#endif

#endif
