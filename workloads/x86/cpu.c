/* Features: what CPUID says decides what is switched on, and whether user copies open and close user pages. */
#include "cpu.h"

u32 cpu_has_smap, cpu_counts_instructions, cpu_line;

struct cpuid {
    u32 a, b, c, d;
};

static struct cpuid cpuid(u32 leaf) {
    struct cpuid r;
    __asm__ volatile("cpuid" : "=a"(r.a), "=b"(r.b), "=c"(r.c), "=d"(r.d) : "a"(leaf), "c"(0) : "memory");
    return r;
}

#define read_control(name) ({ u64 v_; __asm__ volatile("mov %0, " #name : "=r"(v_)); v_; })
#define write_control(name, value) __asm__ volatile("mov " #name ", %0" ::"r"((u64)(value)) : "memory")

static u32 has_fences; /* SSE2's */

/* A place of three bytes that do nothing unless the machine has SMAP. */
struct smap_site {
    int32_t where; /* relative to this field */
    u8 code[4];
};

extern const struct smap_site __smap_sites_start[], __smap_sites_end[];

/* The places of six bytes that wait by fences, relative to these fields. */
extern const int32_t __fence_sites_start[], __fence_sites_end[];
void serialise_by_cpuid(void);

static void do_without_fences(void) {
    for (const int32_t *s = __fence_sites_start; s < __fence_sites_end; s++) {
        u64 at = (u64)s + (u64)(int64_t)*s, distance = (u64)serialise_by_cpuid - (at + 5);
        const u8 code[6] = {0xe8, (u8)distance, (u8)(distance >> 8), (u8)(distance >> 16), (u8)(distance >> 24), 0x90};
        for (int i = 0; i < 6; i++)
            ((volatile u8 *)at)[i] = code[i];
    }
}

static void switch_smap_on(void) {
    for (const struct smap_site *s = __smap_sites_start; s < __smap_sites_end; s++) {
        volatile u8 *code = (volatile u8 *)((u64)&s->where + (u64)(int64_t)s->where);
        for (int i = 0; i < 3; i++)
            code[i] = s->code[i];
    }
    write_control(cr4, read_control(cr4) | CR4_SMAP);
    __asm__ volatile("stac" ::: "memory"); /* the harness itself sees user pages */
}

static void switch_avx_on(void) {
    u32 low, high;
    write_control(cr4, read_control(cr4) | CR4_OSXSAVE);
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    __asm__ volatile("xsetbv" ::"a"(low | 7), "d"(high), "c"(0));
}

void cpu_init(void) {
    u32 last = cpuid(0).a;
    struct cpuid one = cpuid(1);
    write_control(cr0, (read_control(cr0) & ~(u64)(CR0_EM | CR0_TS | CR0_AM)) | CR0_MP | CR0_NE);
    write_control(cr4, read_control(cr4) | CR4_OSFXSR | CR4_OSXMMEXCPT);
    has_fences = one.d >> 26 & 1; /* sse2 */
    if (!has_fences)
        do_without_fences();
    if (one.d >> 19 & 1) /* clflush */
        cpu_line = (one.b >> 8 & 0xff) * 8;
    if (one.c >> 26 & 1 && one.c >> 28 & 1) /* xsave, avx */
        switch_avx_on();
    if (last >= 7 && cpuid(7).b >> 20 & 1) {
        cpu_has_smap = 1;
        switch_smap_on();
    }
    if (last >= 10) {
        struct cpuid counters = cpuid(10);
        cpu_counts_instructions = (counters.a & 0xff) >= 2 && (counters.d & 31) >= 1;
    }
}

void cpu_serialise(void) {
    if (has_fences)
        __asm__ volatile("mfence" ::: "memory");
    else
        cpuid(0);
}

int arch_user_access(int open);

int arch_user_access(int open) {
    u64 before;
    if (!cpu_has_smap)
        return 0;
    __asm__ volatile("pushfq\n\tpop %0" : "=r"(before)::"memory");
    if (open)
        __asm__ volatile("stac" ::: "memory");
    else
        __asm__ volatile("clac" ::: "memory");
    return (before & RFLAGS_AC) != 0;
}
