/* AVX-512's state, which start-up leaves off: what the first routine that needs it finds. An object of its own, behind
   everything else (guest.ld), so that nothing that is measured moves. */
#include "../../harness/arch.h"

void arch_extend_state(u32 flags) {
    u32 a = 7, b, c = 0, d, low, high;
    if (!(flags & ROUTINE_NEEDS_AVX512))
        return;
    __asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d) : : "memory");
    if (!(b >> 16 & 1)) /* avx512f */
        return;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    __asm__ volatile("xsetbv" ::"a"(low | 0xe0), "d"(high), "c"(0));
}
