/* A guest that tests misaligned accesses: every load and store at every misalignment, inside a page, across a page and
   into an unmapped one. On a machine that traps them it is the machine-mode handler that is tested. Ends with m5 exit, or
   with m5 fail and the number of what went wrong. */
#include "../../harness/arch.h"
#include "../csr.h"

#define LOADS(DO)                                                                                                   \
    DO(lh) DO(lhu) DO(lw) DO(lwu) DO(ld) DO(flw) DO(fld) DO(c_lw) DO(c_ld) DO(c_fld) DO(c_lwsp) DO(c_ldsp) DO(c_fldsp)
#define STORES(DO)                                                                                                     \
    DO(sh) DO(sw) DO(sd) DO(fsw) DO(fsd) DO(c_sw) DO(c_sd) DO(c_fsd) DO(c_swsp) DO(c_sdsp) DO(c_fsdsp)

#define DECLARE_LOAD(name) u64 load_##name(u64 address);
#define DECLARE_STORE(name) void store_##name(u64 address, u64 value);
LOADS(DECLARE_LOAD)
STORES(DECLARE_STORE)
DECLARE_LOAD(lr_w)
DECLARE_LOAD(amoadd_w)
void load_every_register(u64 address, u64 out[64]);
void store_every_register(u64 address, u64 distance);
_Noreturn void guest_main(void);

enum extension { SIGN, ZERO, BOX };
static const struct {
    u64 (*fn)(u64);
    u32 bytes;
    enum extension extension;
} loads[] = {
    {load_lh, 2, SIGN},   {load_lhu, 2, ZERO},   {load_lw, 4, SIGN},     {load_lwu, 4, ZERO},   {load_ld, 8, ZERO},
    {load_flw, 4, BOX},   {load_fld, 8, ZERO},   {load_c_lw, 4, SIGN},   {load_c_ld, 8, ZERO},  {load_c_fld, 8, ZERO},
    {load_c_lwsp, 4, SIGN}, {load_c_ldsp, 8, ZERO}, {load_c_fldsp, 8, ZERO},
};
static const struct {
    void (*fn)(u64, u64);
    u32 bytes;
} stores[] = {
    {store_sh, 2},   {store_sw, 4},    {store_sd, 8},     {store_fsw, 4},    {store_fsd, 8},    {store_c_sw, 4},
    {store_c_sd, 8}, {store_c_fsd, 8}, {store_c_swsp, 4}, {store_c_sdsp, 8}, {store_c_fsdsp, 8},
};
#define COUNT(array) (sizeof(array) / sizeof *(array))

/* The codes of m5 fail: these plus the number of the access. */
enum { BAD_LOAD = 100, BAD_STORE = 200, BAD_REGISTER = 300, BAD_FAULT = 400, BAD_ATOMIC = 500 };
enum { PAGE = 4096 };

static volatile u8 *bytes_at(u64 address) { return (volatile u8 *)(uintptr_t)address; }
static u8 content(u64 i) { return (u8)(0x80 + 37 * i + (i >> 3)); }

static u64 expected(u64 index, u32 n, enum extension extension) {
    u64 value = 0;
    for (u32 i = 0; i < n; i++)
        value |= (u64)content(index + i) << 8 * i;
    if (n == 8 || extension == ZERO)
        return value;
    if (extension == BOX)
        return value | ~UINT64_C(0) << 32;
    return value >> (8 * n - 1) ? value | ~UINT64_C(0) << 8 * n : value;
}

static void fill(u64 address, u64 n) {
    for (u64 i = 0; i < n; i++)
        bytes_at(address)[i] = content(i);
}

static void try_loads(u64 base) {
    fill(base, 64);
    for (u64 f = 0; f < COUNT(loads); f++)
        for (u64 at = 0; at < 24; at++)
            if (loads[f].fn(base + at) != expected(at, loads[f].bytes, loads[f].extension))
                arch_fail(BAD_LOAD + f);
}

static void try_stores(u64 base) {
    const u64 value = UINT64_C(0x0123456789abcdef);
    for (u64 f = 0; f < COUNT(stores); f++)
        for (u64 at = 0; at < 24; at++) {
            fill(base, 64);
            stores[f].fn(base + at, value);
            for (u64 i = 0; i < 64; i++) {
                int inside = i >= at && i < at + stores[f].bytes;
                if (bytes_at(base)[i] != (inside ? (u8)(value >> 8 * (i - at)) : content(i)))
                    arch_fail(BAD_STORE + f);
            }
        }
}

static u64 word_at(u64 address) {
    u64 value = 0;
    for (u64 i = 0; i < 8; i++)
        value |= (u64)bytes_at(address)[i] << 8 * i;
    return value;
}

static void try_registers(u64 base) {
    static u64 out[64];
    fill(base, 64);
    load_every_register(base + 3, out);
    for (u64 r = 0; r < 64; r++)
        if (out[r] != (r == 0 ? 0 : expected(3, 8, ZERO)))
            arch_fail(BAD_REGISTER + r);
    const u64 distance = 13;
    store_every_register(base + 1, distance);
    for (u64 r = 0; r < 64; r++) {
        u64 at = base + 1 + r * distance, want = r == 10 ? at : r == 11 ? distance : r % 32;
        if (word_at(at) != want)
            arch_fail(BAD_REGISTER + 100 + r);
    }
}

/* The cause of the trap that one access at `address` leads to; its address must be the start of the second page. */
static u64 fault_of_load(u64 f, u64 address) {
    if (arch_recover())
        return arch_trap_cause();
    loads[f].fn(address);
    return 0;
}

static u64 fault_of_store(u64 f, u64 address) {
    if (arch_recover())
        return arch_trap_cause();
    stores[f].fn(address, 0);
    return 0;
}

static void try_faults(u64 page) {
    arch_set_present(page, 0);
    for (u64 before = 1; before < 8; before++) {
        for (u64 f = 0; f < COUNT(loads); f++)
            if (before < loads[f].bytes &&
                (fault_of_load(f, page - before) != CAUSE_LOAD_PAGE || read_csr(stval) != page))
                arch_fail(BAD_FAULT + f);
        for (u64 f = 0; f < COUNT(stores); f++)
            if (before < stores[f].bytes &&
                (fault_of_store(f, page - before) != CAUSE_STORE_PAGE || read_csr(stval) != page))
                arch_fail(BAD_FAULT + 50 + f);
    }
    arch_set_present(page, 1);
}

static u64 fault_of_atomic(u64 (*atomic)(u64), u64 address) {
    if (arch_recover())
        return arch_trap_cause();
    atomic(address);
    return 0;
}

static void try_atomics(u64 base) {
    u64 load = fault_of_atomic(load_lr_w, base + 1), modify = fault_of_atomic(load_amoadd_w, base + 2);
    if (load != CAUSE_MISALIGNED_LOAD && load != CAUSE_LOAD_ACCESS)
        arch_fail(BAD_ATOMIC);
    if (modify != CAUSE_MISALIGNED_STORE && modify != CAUSE_STORE_ACCESS)
        arch_fail(BAD_ATOMIC + 1);
}

void guest_main(void) {
    u64 base = arch_buffer(SOURCE);
    arch_map(SOURCE, base, base + 2 * PAGE, 0);
    arch_tlb_flush();
    try_loads(base);
    try_stores(base);
    try_loads(base + PAGE - 12);
    try_stores(base + PAGE - 12);
    try_registers(base);
    try_faults(base + PAGE);
    try_atomics(base);
    arch_exit();
}
