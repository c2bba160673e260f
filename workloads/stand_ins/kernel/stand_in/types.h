/* The kernel's names for types. */
#pragma once
#ifndef __ASSEMBLER__

#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8, __u8;
typedef uint16_t u16, __u16, __le16, __be16, __sum16;
typedef uint32_t u32, __u32, __le32, __be32, __wsum;
/* As the kernel has it, so that a format or a pointer fits. */
typedef unsigned long long u64, __u64, __le64, __be64;
typedef int8_t s8, __s8;
typedef int16_t s16, __s16;
typedef int32_t s32, __s32;
typedef long long s64, __s64;
typedef _Bool bool;
typedef unsigned int gfp_t;
#ifndef true
#define true 1
#define false 0
#endif

#endif
