/* What the kernel's copies and checksums in C use. */
#pragma once

#include <stand_in/tables.h>
#include <stand_in/types.h>

/* Words for its checkers and for its linker. */
#define __force
#define __user
#define __kernel
#define __iomem
#define __percpu
#define __rcu
#define __bitwise
#define __init
#define __read_mostly
#define __ro_after_init
#define __visible
#define asmlinkage
#define notrace
#define __latent_entropy
#define __no_sanitize_address
#define __no_kasan_or_inline static inline
#define __no_sanitize_or_inline static inline
#define noinstr
#define EXPORT_SYMBOL(name) struct stand_in
#define EXPORT_SYMBOL_GPL(name) struct stand_in
#define EXPORT_SYMBOL_NS_GPL(name, space) struct stand_in
#define MODULE_LICENSE(text) struct stand_in
#define MODULE_DESCRIPTION(text) struct stand_in
#define MODULE_AUTHOR(text) struct stand_in
#define early_initcall(function) struct stand_in

#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif
#define noinline __attribute__((noinline))
#define __maybe_unused __attribute__((unused))
#define __always_unused __attribute__((unused))
#define __must_check __attribute__((warn_unused_result))
#define __aligned(bytes) __attribute__((aligned(bytes)))
#ifndef __packed
#define __packed __attribute__((packed))
#endif
#define __weak __attribute__((weak))
#define __attribute_const__ __attribute__((const))
#ifndef __pure
#define __pure __attribute__((pure))
#endif
#define fallthrough __attribute__((fallthrough))

#define likely(condition) __builtin_expect((condition) ? 1 : 0, 1)
#define unlikely(condition) __builtin_expect((condition) ? 1 : 0, 0)
#define barrier() __asm__ volatile("" ::: "memory")
#define READ_ONCE(place) (*(const volatile __typeof__(place) *)&(place))
#define WRITE_ONCE(place, value) ((void)(*(volatile __typeof__(place) *)&(place) = (value)))
#define OPTIMIZER_HIDE_VAR(variable) __asm__("" : "+r"(variable))
#define prefetch(address) __builtin_prefetch(address)
#define prefetchw(address) __builtin_prefetch(address, 1)
#define asm_goto_output(...) __asm__ goto(__VA_ARGS__)
#define asm_volatile_goto(...) __asm__ goto(__VA_ARGS__)
#define BUILD_BUG_ON(condition) _Static_assert(!(condition), #condition)
#define WARN_ON_ONCE(condition) (condition)
#define WARN_ON(condition) (condition)
#define kasan_check_read(address, size) ((void)(address), (void)(size))
#define kasan_check_write(address, size) ((void)(address), (void)(size))
#define instrument_copy_to_user(...) ((void)0)
#define instrument_copy_from_user_before(...) ((void)0)
#define instrument_copy_from_user_after(...) ((void)0)
#define might_fault() ((void)0)
#define might_sleep() ((void)0)

/* 1 of an option that is defined as 1, else 0. */
#define STAND_IN_OPTION_1 , 1
#define STAND_IN_THIRD(first, second, ...) second
#define STAND_IN_CHOSEN(...) STAND_IN_THIRD(__VA_ARGS__)
#define STAND_IN_ENABLED(value) STAND_IN_CHOSEN(STAND_IN_OPTION_##value, 0, 0)
#define IS_ENABLED(option) STAND_IN_ENABLED(option)
#define IS_BUILTIN(option) STAND_IN_ENABLED(option)

/* Branches that the kernel patches: as the compiler is told here. */
struct static_key_true { char on; };
struct static_key_false { char on; };
#define DECLARE_STATIC_KEY_TRUE(key) extern struct static_key_true key
#define DECLARE_STATIC_KEY_FALSE(key) extern struct static_key_false key
#define DEFINE_STATIC_KEY_TRUE(key) struct static_key_true key = {1}
#define DEFINE_STATIC_KEY_FALSE(key) struct static_key_false key = {0}
#define static_branch_likely(key) likely((key)->on)
#define static_branch_unlikely(key) unlikely((key)->on)
/* Whether misaligned accesses are fast: -D__riscv_misaligned_fast. */
#ifdef __riscv_misaligned_fast
static const struct static_key_false fast_misaligned_access_speed_key __maybe_unused = {1};
#else
static const struct static_key_false fast_misaligned_access_speed_key __maybe_unused = {0};
#endif
#define has_fast_unaligned_accesses() static_branch_likely(&fast_misaligned_access_speed_key)
#define riscv_has_extension_likely(extension) (extension)
#define riscv_has_extension_unlikely(extension) (extension)
#define riscv_isa_extension_available(hart, extension) RISCV_ISA_EXT_##extension
#define boot_cpu_has(feature) (feature)
#define static_cpu_has(feature) (feature)
#define cpu_feature_enabled(feature) (feature)
#define has_vector() RISCV_ISA_EXT_v

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#ifndef EFAULT
#define EFAULT 14
#endif
#ifndef EINVAL
#define EINVAL 22
#endif
#define BITS_PER_LONG 64
#define BIT(number) (1UL << (number))
#define GENMASK(high, low) ((~0UL >> (63 - (high))) & (~0UL << (low)))
#define STAND_IN_ROUNDED(value, unit) (((value) + ((unit) - 1)) & ~((__typeof__(value))(unit) - 1))
#define ALIGN(value, unit) STAND_IN_ROUNDED(value, unit)
#define ALIGN_DOWN(value, unit) ((value) & ~((__typeof__(value))(unit) - 1))
#define PTR_ALIGN(pointer, unit) ((__typeof__(pointer))STAND_IN_ROUNDED((unsigned long)(pointer), unit))
#define IS_ALIGNED(value, unit) (((value) & ((__typeof__(value))(unit) - 1)) == 0)
#define round_up(value, unit) STAND_IN_ROUNDED(value, unit)
#define round_down(value, unit) ALIGN_DOWN(value, unit)
#define DIV_ROUND_UP(value, by) (((value) + (by) - 1) / (by))
#define min(a, b) ({ __typeof__(a) a_ = (a); __typeof__(b) b_ = (b); a_ < b_ ? a_ : b_; })
#define max(a, b) ({ __typeof__(a) a_ = (a); __typeof__(b) b_ = (b); a_ > b_ ? a_ : b_; })
#define min_t(type, a, b) min((type)(a), (type)(b))
#define max_t(type, a, b) max((type)(a), (type)(b))
#define offset_in_page(address) ((unsigned long)(address) & 4095)
#define PAGE_SIZE 4096UL
#define L1_CACHE_BYTES 64

static inline u64 ror64(u64 word, unsigned int by) { return word >> (by & 63) | word << (-by & 63); }
static inline u64 rol64(u64 word, unsigned int by) { return word << (by & 63) | word >> (-by & 63); }
static inline u32 ror32(u32 word, unsigned int by) { return word >> (by & 31) | word << (-by & 31); }
static inline u32 rol32(u32 word, unsigned int by) { return word << (by & 31) | word >> (-by & 31); }
static inline u16 swab16(u16 value) { return __builtin_bswap16(value); }
static inline u32 swab32(u32 value) { return __builtin_bswap32(value); }
static inline u64 swab64(u64 value) { return __builtin_bswap64(value); }
#define cpu_to_le16(value) ((__le16)(value))
#define cpu_to_le32(value) ((__le32)(value))
#define cpu_to_le64(value) ((__le64)(value))
#define le16_to_cpu(value) ((u16)(value))
#define le32_to_cpu(value) ((u32)(value))
#define le64_to_cpu(value) ((u64)(value))
#define cpu_to_be16(value) ((__be16)swab16(value))
#define cpu_to_be32(value) ((__be32)swab32(value))
#define cpu_to_be64(value) ((__be64)swab64(value))
#define be16_to_cpu(value) swab16(value)
#define be32_to_cpu(value) swab32(value)
#define be64_to_cpu(value) swab64(value)
#define htons(value) cpu_to_be16(value)
#define htonl(value) cpu_to_be32(value)
#define ntohs(value) be16_to_cpu(value)
#define ntohl(value) be32_to_cpu(value)
#define get_unaligned(pointer)                                                                                         \
    (((const struct { __typeof__(*(pointer)) value; } __attribute__((packed, may_alias)) *)(pointer))->value)
#define put_unaligned(what, pointer)                                                                                   \
    ((void)(((struct { __typeof__(*(pointer)) value; } __attribute__((packed, may_alias)) *)(pointer))->value = (what)))

void *memcpy(void *to, const void *from, size_t bytes);
void *memmove(void *to, const void *from, size_t bytes);
void *memset(void *to, int byte, size_t bytes);
int memcmp(const void *one, const void *other, size_t bytes);
size_t strlen(const char *text);
unsigned long __copy_from_user(void *to, const void *from, unsigned long bytes);
unsigned long __copy_to_user(void *to, const void *from, unsigned long bytes);
unsigned long copy_from_user(void *to, const void *from, unsigned long bytes);
unsigned long copy_to_user(void *to, const void *from, unsigned long bytes);

/* Checksums of the Internet's protocols. */
struct in6_addr {
    union {
        __u8 s6_addr[16];
        __be16 s6_addr16[8];
        __be32 s6_addr32[4];
    };
};
__wsum csum_partial(const void *buffer, int bytes, __wsum sum);
static inline __sum16 csum_from32to16(__wsum sum) { return (sum + ror32(sum, 16)) >> 16; }
static inline __sum16 csum_fold(__wsum sum) { return ~csum_from32to16(sum); }
static inline __wsum csum_add(__wsum sum, __wsum other) { sum += other; return sum + (sum < other); }
static inline u32 add32_with_carry(u32 sum, u32 other) { return csum_add(sum, other); }
static inline __wsum csum_unfold(__sum16 sum) { return sum; }

/* The eight bytes from an address on; those that lie in the next page are 0 where that is missing. */
static inline unsigned long load_unaligned_zeropad(const void *address) {
    unsigned long value, skipped;
#ifdef __riscv
    __asm__ goto("1: ld %0, %1\n" STAND_IN_EXCEPTION("1b", "%l[missing]")
                 : "=r"(value) : "m"(*(const u64 *)address) : : missing);
#else
    __asm__ goto("1: movq %1, %0\n" STAND_IN_EXCEPTION("1b", "%l[missing]")
                 : "=r"(value) : "m"(*(const u64 *)address) : : missing);
#endif
    return value;
missing:
    skipped = (unsigned long)address & 7;
    return *(const unsigned long *)((unsigned long)address - skipped) >> 8 * skipped;
}
#define read_word_at_a_time(address) (*(const unsigned long *)(address))
