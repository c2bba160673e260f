/* Makes the table that tests.rs checks against: the host's own IEEE arithmetic in four rounding modes
 * (x86 detects tininess after rounding, as RISC-V does; nearest-max-magnitude does not exist there).
 *   gcc -O1 -frounding-math -fno-fast-math -mfma vectors.c -lm && ./a.out 40 >vectors.txt
 * A line: operation, format, rounding mode, operands, result, flags; all hexadecimal. NaN results are canonical. */
#include <fenv.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state = 0x9e3779b97f4a7c15u;
static uint64_t rnd(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state * 0x2545f4914f6cdd1du;
}

/* A number of `m` fraction and `e` exponent bits: often special, often near another's exponent, often few bits set. */
static uint64_t operand(int m, int e) {
    uint64_t top = (1ull << e) - 1, bias = top >> 1, frac = rnd() & ((1ull << m) - 1), exp, sign = rnd() & 1;
    switch (rnd() % 8) {
    case 0: exp = (uint64_t[]){0, 0, 1, top - 1, top, bias}[rnd() % 6]; break;
    case 1: exp = rnd() & top; break;
    case 2: exp = 1 + rnd() % (m + 3); break;
    case 3: exp = top / 2 - top / 4 + rnd() % 3; break;
    case 4: exp = top / 2 + top / 4 + rnd() % 3; break;
    default: exp = bias + rnd() % (2 * m) - m; break;
    }
    switch (rnd() % 6) {
    case 0: frac = 0; break;
    case 1: frac = (1ull << m) - 1; break;
    case 2: frac = 1ull << rnd() % m; break;
    case 3: frac &= ~0ull << rnd() % m; break;
    }
    return sign << (m + e) | exp << m | frac;
}

static const int modes[4] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
static unsigned flags(void) {
    int f = fetestexcept(FE_ALL_EXCEPT);
    return (f & FE_INEXACT ? 1 : 0) | (f & FE_UNDERFLOW ? 2 : 0) | (f & FE_OVERFLOW ? 4 : 0) |
           (f & FE_DIVBYZERO ? 8 : 0) | (f & FE_INVALID ? 16 : 0);
}

#define GEN(T, BITS, NAME, M, E, SQRT, FMA, NANBITS)                                                        \
    static uint64_t bits_##T(T v) {                                                                         \
        BITS b;                                                                                             \
        memcpy(&b, &v, sizeof b);                                                                           \
        return v != v ? NANBITS : b;                                                                        \
    }                                                                                                       \
    static T value_##T(uint64_t v) {                                                                        \
        BITS b = (BITS)v;                                                                                   \
        T r;                                                                                                \
        memcpy(&r, &b, sizeof r);                                                                           \
        return r;                                                                                           \
    }                                                                                                       \
    static void arith_##T(int op, int rm) {                                                                 \
        uint64_t a = operand(M, E), b = operand(M, E), c = operand(M, E);                                   \
        volatile T x = value_##T(a), y = value_##T(b), z = value_##T(c), r = 0;                             \
        fesetround(modes[rm]);                                                                              \
        feclearexcept(FE_ALL_EXCEPT);                                                                       \
        switch (op) {                                                                                       \
        case 0: r = x + y; break;                                                                           \
        case 1: r = x * y; break;                                                                           \
        case 2: r = x / y; break;                                                                           \
        case 3: r = SQRT(x); break;                                                                         \
        case 4: r = FMA(x, y, z); break;                                                                    \
        }                                                                                                   \
        unsigned f = flags();                                                                               \
        fesetround(FE_TONEAREST);                                                                           \
        printf("%s %s %d %llx %llx %llx %llx %x\n", (const char *[]){"add", "mul", "div", "sqrt", "fma"}[op], \
               NAME, rm, (unsigned long long)a, (unsigned long long)b, (unsigned long long)c,               \
               (unsigned long long)bits_##T(r), f);                                                         \
    }
GEN(float, uint32_t, "s", 23, 8, sqrtf, fmaf, 0x7fc00000u)
GEN(double, uint64_t, "d", 52, 11, sqrt, fma, 0x7ff8000000000000u)

static void convert(int rm) {
    uint64_t a = operand(52, 11), i = rnd() >> rnd() % 64;
    volatile double x = value_double(a);
    volatile int64_t si = rnd() & 1 ? (int64_t)i : -(int64_t)i;
    volatile float n;
    volatile double d;
    volatile long long l;
    unsigned f;
    fesetround(modes[rm]);
    feclearexcept(FE_ALL_EXCEPT);
    n = (float)x;
    f = flags();
    fesetround(FE_TONEAREST);
    printf("narrow d %d %llx 0 0 %llx %x\n", rm, (unsigned long long)a, (unsigned long long)bits_float(n), f);
    fesetround(modes[rm]);
    feclearexcept(FE_ALL_EXCEPT);
    n = (float)si;
    f = flags();
    fesetround(FE_TONEAREST);
    printf("fromint s %d %llx 0 0 %llx %x\n", rm, (unsigned long long)si, (unsigned long long)bits_float(n), f);
    fesetround(modes[rm]);
    feclearexcept(FE_ALL_EXCEPT);
    d = (double)si;
    f = flags();
    fesetround(FE_TONEAREST);
    printf("fromint d %d %llx 0 0 %llx %x\n", rm, (unsigned long long)si, (unsigned long long)bits_double(d), f);
    if (fabs(x) < 9e18) {
        fesetround(modes[rm]);
        feclearexcept(FE_ALL_EXCEPT);
        l = llrint(x);
        f = flags();
        fesetround(FE_TONEAREST);
        printf("toint d %d %llx 0 0 %llx %x\n", rm, (unsigned long long)a, (unsigned long long)l, f);
    }
}

int main(int argc, char **argv) {
    long n = argc > 1 ? atol(argv[1]) : 20;
    for (long k = 0; k < n; k++)
        for (int rm = 0; rm < 4; rm++) {
            for (int op = 0; op < 5; op++) {
                arith_float(op, rm);
                arith_double(op, rm);
            }
            convert(rm);
        }
    return 0;
}
