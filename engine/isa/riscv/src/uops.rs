//! Cracking: a scalar instruction is one micro-op (an AMO too); vectors are `crate::vector`. Classes and flags are those of gem5's RISC-V decoder
//! (`decoder.isa`: op-class arguments and `Is...` flags); where a gem5 macro-op surrounds an atomic with fences (aq, rl),
//! the fence's barriers are on the atomic itself.

use breakeven_base::{BranchKind, OpClass, Reg, Uop, UopFlags};

use crate::config::Extensions;
use crate::csr::num;
use crate::inst::{Inst, Op, Operands, F0, SINK};

type F = UopFlags;

impl Inst {
    pub(crate) fn new(op: Op, raw: u32, len: u8, o: Operands) -> Inst {
        let branch = branch_kind(op, o.rd, o.rs1);
        let uop = crack(op, raw, &o);
        let rd = if o.rd == 0 { SINK } else { o.rd };
        Inst { op, rd, rs1: o.rs1, rs2: o.rs2, rs3: o.rs3, rm: o.rm, len, branch, imm: o.imm, raw, uop }
    }
    /// What the core makes of it.
    pub(crate) fn on(mut self, core: &Extensions) -> Inst {
        let barriers = F::READ_BARRIER | F::WRITE_BARRIER;
        match self.op {
            Op::Clmul | Op::Clmulh | Op::Clmulr => self.uop.latency = core.clmul_latency,
            Op::Fence if core.ztso && is_redundant_under_tso(self.raw) => self.uop.flags -= barriers,
            op if core.ztso && op.is_amo() => self.uop.flags |= barriers,
            _ => {}
        }
        self
    }
    pub(crate) fn illegal(raw: u32, len: u8) -> Inst {
        Inst::new(Op::Illegal, raw, len, Operands::default())
    }
}

/// Whether TSO keeps what the fence orders anyway: only of stores before loads does it not, nor of devices.
fn is_redundant_under_tso(fence: u32) -> bool {
    const I_O: u32 = 0b1100;
    let (mode, before, after) = (fence >> 28, fence >> 24 & 15, fence >> 20 & 15);
    let stores_before_loads = before & 1 != 0 && after & 2 != 0;
    (before | after) & I_O == 0 && (!stores_before_loads || mode == 8)
}

/// Calls and returns by the link-register convention (unprivileged specification, table "return-address prediction").
/// A jump that both pops and pushes counts as a call.
fn branch_kind(op: Op, rd: u8, rs1: u8) -> BranchKind {
    let link = |r: u8| r == 1 || r == 5;
    match op {
        Op::Beq | Op::Bne | Op::Blt | Op::Bge | Op::Bltu | Op::Bgeu => BranchKind::Cond,
        Op::Jal if link(rd) => BranchKind::Call,
        Op::Jal => BranchKind::Jump,
        Op::Jalr if link(rd) => BranchKind::IndirectCall,
        Op::Jalr if link(rs1) => BranchKind::Return,
        Op::Jalr => BranchKind::Indirect,
        _ => BranchKind::None,
    }
}

/// System instructions: execute as the oldest, and nothing younger executes before they have.
const SERIAL: UopFlags = F::SERIALIZE_AFTER.union(F::NON_SPECULATIVE);

/// The static micro-op.
fn crack(op: Op, raw: u32, o: &Operands) -> Uop {
    let (class, mut flags) = class_and_flags(op, raw, o);
    if [o.rd, o.rs1, o.rs2].iter().any(|&r| r >= F0) {
        flags |= F::FLOAT;
    }
    Uop {
        class,
        latency: 0,
        src: [Reg(o.rs1), Reg(o.rs2), Reg(o.rs3)],
        dst: [Reg(o.rd), Reg::NONE],
        flags: flags | F::FIRST | F::LAST,
    }
}

/// The micro-op of an instruction that faulted, or of an interrupt: it has no operands and flushes the pipeline.
pub(crate) fn trap_uop() -> Uop {
    Uop { flags: F::TRAP | F::FIRST | F::LAST, ..Uop::default() }
}

fn class_and_flags(op: Op, raw: u32, o: &Operands) -> (OpClass, UopFlags) {
    use Op::*;
    match op {
        Beq | Bne | Blt | Bge | Bltu | Bgeu | Jal | Jalr => (OpClass::IntAlu, F::BRANCH),
        Lb | Lh | Lw | Ld | Lbu | Lhu | Lwu => (OpClass::MemRead, F::LOAD),
        Sb | Sh | Sw | Sd => (OpClass::MemWrite, F::STORE),
        Flw | Fld => (OpClass::FloatMemRead, F::LOAD),
        Fsw | Fsd => (OpClass::FloatMemWrite, F::STORE),
        Mul | Mulh | Mulhsu | Mulhu | Mulw => (OpClass::IntMult, F::empty()),
        Div | Divu | Rem | Remu | Divw | Divuw | Remw | Remuw => (OpClass::IntDiv, F::empty()),
        Fence => (OpClass::No_OpClass, F::READ_BARRIER | F::WRITE_BARRIER),
        PrefetchI | PrefetchR | PrefetchW => (OpClass::MemRead, F::CACHE_OP),
        // The pipeline sees this one while the instruction waits; when it executes, it is cracked again (`crate::vector`).
        VecLoad => (OpClass::SimdUnitStrideLoad, F::LOAD),
        VecStore => (OpClass::SimdUnitStrideStore, F::STORE),
        VecConfig => (OpClass::SimdConfig, F::empty()),
        VecArith => (OpClass::SimdAlu, F::empty()),
        _ if op.is_amo() => atomic(op, raw),
        _ if op.is_fp() => (float_class(op), F::empty()),
        _ if op.is_cold() => system(op, o),
        _ => (OpClass::IntAlu, F::empty()),
    }
}

fn atomic(op: Op, raw: u32) -> (OpClass, UopFlags) {
    let barriers = if raw & (3 << 25) != 0 { F::READ_BARRIER | F::WRITE_BARRIER } else { F::empty() };
    let (class, access) = match op {
        Op::LrW | Op::LrD => (OpClass::MemRead, F::LOAD),
        Op::ScW | Op::ScD => (OpClass::MemWrite, F::STORE),
        _ => (OpClass::MemRead, F::LOAD | F::STORE),
    };
    // Nothing atomic is issued on a path that may be wrong.
    (class, access | F::ATOMIC | F::NON_SPECULATIVE | barriers)
}

fn float_class(op: Op) -> OpClass {
    use Op::*;
    match op {
        FmulS | FmulD => OpClass::FloatMult,
        FdivS | FdivD => OpClass::FloatDiv,
        FsqrtS | FsqrtD => OpClass::FloatSqrt,
        FmaddS | FmsubS | FnmsubS | FnmaddS | FmaddD | FmsubD | FnmsubD | FnmaddD => OpClass::FloatMultAcc,
        FsgnjS | FsgnjnS | FsgnjxS | FclassS | FsgnjD | FsgnjnD | FsgnjxD | FclassD => OpClass::FloatMisc,
        FminS | FmaxS | FeqS | FltS | FleS | FminD | FmaxD | FeqD | FltD | FleD => OpClass::FloatCmp,
        FaddS | FsubS | FaddD | FsubD => OpClass::FloatAdd,
        _ => OpClass::FloatCvt,
    }
}

fn system(op: Op, o: &Operands) -> (OpClass, UopFlags) {
    use Op::*;
    match op {
        // Functionally the front end needs no refetch after these: it models their cost.
        Mret | Sret | FenceI | SfenceVma | Wfi => (OpClass::No_OpClass, SERIAL | F::SQUASH_AFTER),
        Csrrw | Csrrs | Csrrc | Csrrwi | Csrrsi | Csrrci => {
            let writes = matches!(op, Csrrw | Csrrwi) || o.rs1 != 0 || o.rm != 0;
            let squash = if writes && o.imm == i32::from(num::SATP) { F::SQUASH_AFTER } else { F::empty() };
            (OpClass::No_OpClass, SERIAL | squash)
        }
        CboClean | CboFlush | CboInval => (OpClass::MemWrite, F::CACHE_OP),
        CboZero => (OpClass::MemWrite, F::CACHE_OP | F::STORE),
        M5Op => (OpClass::IntAlu, SERIAL),
        _ => (OpClass::No_OpClass, SERIAL),
    }
}
