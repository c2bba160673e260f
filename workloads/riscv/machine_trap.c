/* Machine mode: emulates misaligned scalar accesses as firmware does, hands everything else to supervisor mode.

   The instruction is fetched and decoded (no machine register tells it), the data moved byte by byte with the trapped
   mode's translation and rights, the registers read from and written to the saved frame. A page fault on the way becomes
   supervisor mode's page fault at the byte that faulted. */
#include "../harness/arch.h"
#include "csr.h"

/* A fault of one access made for the trapped mode; cause 0: none (no data access has that cause). */
struct nested {
    u64 cause, address;
};

u64 mprv_load_u8(u64 address, struct nested *nested);
void mprv_store_u8(u64 address, struct nested *nested, u64 value);
u64 mprv_fetch_u16(u64 address, struct nested *nested);
u64 fpr_read(u64 number);
void fpr_write_d(u64 number, u64 bits);
void fpr_write_s(u64 number, u64 bits);
void machine_trap(struct frame *frame, u64 cause, u64 value);
_Noreturn void machine_trap_fatal(void);

/* What a load or store does. */
struct access {
    u32 bytes; /* 0: not an instruction that is emulated */
    u32 reg;
    u32 insn_bytes;
    u8 store, is_signed, fp;
};

static u32 field(u32 insn, u32 low, u32 bits) { return insn >> low & ((1u << bits) - 1); }

static struct access decode_full(u32 insn) {
    struct access a = {.insn_bytes = 4};
    u32 opcode = field(insn, 2, 5), funct3 = field(insn, 12, 3);
    switch (opcode) {
    case 0x00: /* lb lh lw ld lbu lhu lwu */
        if (funct3 == 7)
            return a;
        a.bytes = 1u << (funct3 & 3);
        a.is_signed = funct3 < 4;
        a.reg = field(insn, 7, 5);
        return a;
    case 0x08: /* sb sh sw sd */
        if (funct3 > 3)
            return a;
        a.bytes = 1u << funct3;
        a.store = 1;
        a.reg = field(insn, 20, 5);
        return a;
    case 0x01: /* flw fld */
    case 0x09: /* fsw fsd */
        if (funct3 != 2 && funct3 != 3)
            return a;
        a.bytes = 1u << funct3;
        a.fp = 1;
        a.store = opcode == 0x09;
        a.reg = a.store ? field(insn, 20, 5) : field(insn, 7, 5);
        return a;
    default:
        return a;
    }
}

/* Quadrant 0 (pointer in a register) and quadrant 2 (stack pointer) share their funct3:
   1 fld, 2 lw, 3 ld, 5 fsd, 6 sw, 7 sd. */
static struct access decode_compressed(u32 insn) {
    struct access a = {.insn_bytes = 2};
    u32 quadrant = insn & 3, what = field(insn, 13, 2);
    if (quadrant == 1 || what == 0)
        return a;
    a.bytes = what == 2 ? 4 : 8;
    a.fp = what == 1;
    a.is_signed = 1;
    a.store = field(insn, 15, 1) != 0;
    if (quadrant == 0)
        a.reg = 8 + field(insn, 2, 3);
    else
        a.reg = a.store ? field(insn, 2, 5) : field(insn, 7, 5);
    return a;
}

static u64 extend(u64 value, const struct access *a) {
    u32 unused = 64 - 8 * a->bytes;
    return a->is_signed ? (u64)((int64_t)(value << unused) >> unused) : value;
}

static void emulate_load(struct frame *f, const struct access *a, u64 address, struct nested *nested) {
    u64 value = 0;
    for (u32 i = 0; i < a->bytes; i++) {
        value |= mprv_load_u8(address + i, nested) << 8 * i;
        if (nested->cause)
            return;
    }
    if (!a->fp) {
        if (a->reg != 0)
            f->x[a->reg] = extend(value, a);
        return;
    }
    if (a->bytes == 4)
        fpr_write_s(a->reg, value);
    else
        fpr_write_d(a->reg, value);
    f->status |= MSTATUS_FS;
}

static void emulate_store(const struct frame *f, const struct access *a, u64 address, struct nested *nested) {
    u64 value = a->fp ? fpr_read(a->reg) : a->reg ? f->x[a->reg] : 0;
    for (u32 i = 0; i < a->bytes && !nested->cause; i++)
        mprv_store_u8(address + i, nested, value >> 8 * i);
}

/* As the hardware would have delivered it there. */
static void forward(struct frame *f, u64 cause, u64 value) {
    u64 status = f->status;
    write_csr(sepc, f->pc);
    write_csr(scause, cause);
    write_csr(stval, value);
    status &= ~(u64)(MSTATUS_SPP | MSTATUS_SPIE);
    if ((status & MSTATUS_MPP) == MSTATUS_MPP_S)
        status |= MSTATUS_SPP;
    if (status & MSTATUS_SIE)
        status |= MSTATUS_SPIE;
    status &= ~(u64)(MSTATUS_SIE | MSTATUS_MPP);
    f->status = status | MSTATUS_MPP_S;
    f->pc = read_csr(stvec);
}

/* A load made to read an instruction faults as a fetch. */
static u64 as_fetch(u64 cause) {
    return cause == CAUSE_LOAD_PAGE ? CAUSE_FETCH_PAGE : cause == CAUSE_LOAD_ACCESS ? CAUSE_FETCH_ACCESS : cause;
}

void machine_trap(struct frame *f, u64 cause, u64 value) {
    struct nested nested = {0};
    if (cause != CAUSE_MISALIGNED_LOAD && cause != CAUSE_MISALIGNED_STORE) {
        forward(f, cause, value);
        return;
    }
    u64 fetched = f->pc;
    u32 insn = (u32)mprv_fetch_u16(fetched, &nested);
    if (!nested.cause && (insn & 3) == 3) {
        fetched += 2;
        insn |= (u32)mprv_fetch_u16(fetched, &nested) << 16;
    }
    if (nested.cause) {
        forward(f, as_fetch(nested.cause), fetched);
        return;
    }
    struct access a = (insn & 3) == 3 ? decode_full(insn) : decode_compressed(insn);
    if (a.bytes == 0 || a.store != (cause == CAUSE_MISALIGNED_STORE)) {
        forward(f, cause, value); /* an atomic, say: nothing that firmware can make up */
        return;
    }
    if (a.store)
        emulate_store(f, &a, value, &nested);
    else
        emulate_load(f, &a, value, &nested);
    if (nested.cause)
        forward(f, nested.cause, nested.address);
    else
        f->pc += a.insn_bytes;
}

void machine_trap_fatal(void) { arch_fail(FAIL_TRAP_IN_MACHINE_MODE); }
