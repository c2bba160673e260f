//! Cracking: an instruction's static micro-ops from what it reads and writes (iced's facts) and the family's parameters.
//!
//! The general shape is load, operation, store; each wide access is split to the family's width. Sources that are flags
//! name a group (CF, OF, the others); when the instruction is executed they are replaced by the micro-op register that
//! holds the group then, and the family's merge policy is applied ([`FlagRenamer::read`]).
//! A store's data is a micro-op of its own with `split_stores`: the store then waits for both, its address is not known
//! earlier than its data.

mod facts;
mod flag_renamer;
mod gem5;
mod kinds;

mod special;

use breakeven_base::{OpClass, Reg, Uop, UopFlags, MAX_UOPS};
use iced_x86::{FlowControl, Instruction, Mnemonic};

use crate::config::{mnemonic_named, CrackConfig};
use crate::flags::FlagGroups;
use crate::inst::{Inst, InstFlags, Kind, Steps, UopSummary, RAX};
use crate::regs::{self, gpr, is_vector, C, FUSED, FUSED_HALF, FUSED_VECTOR, O, T0, T1, T2, V0, V1, Z};

use facts::Facts;
pub(crate) use flag_renamer::FlagRenamer;
pub(crate) use kinds::is_non_temporal;
use kinds::{cache_op, class_of, fence, is_move, is_nop, non_temporal, zero_idiom};

type F = UopFlags;

/// System instructions: execute as the oldest, and nothing younger executes before they have.
const SERIAL: UopFlags = F::SERIALIZE_AFTER.union(F::NON_SPECULATIVE);

/// The groups of flags and their names.
const GROUPS: [(FlagGroups, Reg); 3] = [(FlagGroups::C, C), (FlagGroups::O, O), (FlagGroups::Z, Z)];

/// The register that a writer of these groups writes.
fn flag_name(written: FlagGroups) -> Reg {
    if written.is_empty() {
        Reg::NONE
    } else if written.contains(FlagGroups::C) {
        C
    } else if written == FlagGroups::O {
        O
    } else {
        Z
    }
}

/// The registers of these groups, for a reader.
fn flag_names(read: FlagGroups) -> impl Iterator<Item = Reg> {
    GROUPS.into_iter().filter(move |(group, _)| read.contains(*group)).map(|(_, name)| name)
}

/// The micro-ops of one instruction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Uops {
    pub list: [Uop; MAX_UOPS],
    pub n: usize,
    /// Groups of flags written.
    pub flags_written: FlagGroups,
    pub steps: Steps,
}

impl Uops {
    /// Of one step of several.
    pub fn of_part(list: &[Uop], last: bool) -> Uops {
        let mut u = Uops::default();
        for x in list {
            u.push(*x);
        }
        u.ends(true, last);
        u
    }
    pub fn push(&mut self, u: Uop) {
        if let Some(slot) = self.list.get_mut(self.n) {
            *slot = u;
            self.n += 1;
        }
    }
    pub fn get(&self) -> &[Uop] {
        &self.list[..self.n.min(MAX_UOPS)]
    }
    /// Properties of them that describing an execution needs.
    pub fn summary(&self) -> UopSummary {
        let list = self.get();
        let count = |what: &dyn Fn(UopFlags) -> bool| list.iter().filter(|u| what(u.flags)).count() as u8;
        let reader = list.iter().position(|u| u.src.iter().any(|r| (C.0..=Z.0).contains(&r.0)));
        UopSummary {
            first: 0,
            n: list.len() as u8,
            flags: list.iter().fold(F::empty(), |all, u| all | u.flags),
            flags_written: self.flags_written,
            loads: count(&|f| f.any(UopFlags::LOAD)),
            stores: count(&|f| f.any(UopFlags::MEM) && !f.any(UopFlags::LOAD)),
            reads_flags: reader.is_some(),
            flags_from: reader.unwrap_or(0) as u8,
            steps: self.steps,
        }
    }
    fn close(&mut self) {
        if self.n == 0 {
            self.push(Uop::default());
        }
        self.list[0].flags &= !F::MICRO_FUSED;
        self.ends(true, true);
    }
    /// Whether the instruction begins and ends with these micro-ops.
    pub fn ends(&mut self, first: bool, last: bool) {
        let set = |u: &mut Uop, on: bool, flag: F| u.flags.set(flag, on);
        set(&mut self.list[0], first, F::FIRST);
        set(&mut self.list[self.n.saturating_sub(1)], last, F::LAST);
    }
}

/// The micro-op of an instruction that faulted, or of an interrupt: it has no operands and flushes the pipeline.
pub(crate) fn trap_uop() -> Uop {
    Uop { flags: F::TRAP | F::FIRST | F::LAST, ..Uop::default() }
}

pub(crate) fn uop(class: OpClass, src: [Reg; 3], dst: [Reg; 2], flags: UopFlags) -> Uop {
    Uop { class, latency: 0, src, dst, flags }
}

/// The parameters, indexed for use.
#[derive(Clone, Debug)]
pub(crate) struct Cracker {
    pub config: CrackConfig,
    latency: Vec<u8>,
    uops: Vec<u8>,
    carry_latency: Vec<u8>,
    simple_zero: Vec<Mnemonic>,
    class: Vec<(Mnemonic, OpClass)>,
}

impl Cracker {
    pub fn new(config: &CrackConfig) -> Cracker {
        let len = Mnemonic::values().len();
        let table = |list: &[(String, u8)]| {
            let mut t = vec![0; len];
            for (name, v) in list {
                if let Some(slot) = mnemonic_named(name).and_then(|m| t.get_mut(m as usize)) {
                    *slot = *v;
                }
            }
            t
        };
        let class = config.class.iter().filter_map(|(name, c)| Some((mnemonic_named(name)?, *c))).collect();
        let simple = config.simple_zero.iter().filter(|(_, yes)| *yes);
        Cracker {
            config: config.clone(),
            latency: table(&config.latency),
            uops: table(&config.uops),
            carry_latency: table(&config.carry_latency),
            simple_zero: simple.filter_map(|(name, _)| mnemonic_named(name)).collect(),
            class,
        }
    }

    pub fn crack(&self, ins: &Instruction, i: &Inst) -> Uops {
        let mut u = Uops::default();
        if i.has(InstFlags::PSEUDO | InstFlags::UNKNOWN | InstFlags::UNDEFINED) {
            // gem5's pseudo-op writes rax whatever it does (`gem5Op`); without effect on timing where the pseudo-op serialises.
            let passes = self.config.gem5_microcode && i.is_statistics_op();
            let (result, flags) = if passes { (gpr(RAX as u8), F::NON_SPECULATIVE) } else { (Reg::NONE, SERIAL) };
            u.push(uop(OpClass::IntAlu, [Reg::NONE; 3], [result, Reg::NONE], flags));
            u.close();
            return u;
        }
        let mut f = Facts::of(ins, i);
        u.flags_written = f.flags_written;
        if i.has(InstFlags::COLD) {
            self.system(ins, &f, &mut u);
        } else if let Some(fence) = fence(i.op) {
            u.push(uop(OpClass::No_OpClass, [Reg::NONE; 3], [Reg::NONE; 2], fence));
        } else if ins.flow_control() != FlowControl::Next && ins.flow_control() != FlowControl::Exception {
            if self.config.gem5_microcode {
                self.gem5_control(ins, i, &f, &mut u);
            } else {
                self.control(ins, i, &f, &mut u);
            }
        } else if i.has(InstFlags::STRING) {
            self.string(i, &mut u);
            if i.has(InstFlags::REP | InstFlags::REPNE) {
                u.steps = if self.config.gem5_microcode { Steps::Microcode } else { Steps::Repeated };
            }
        } else if self.config.gem5_microcode {
            self.gem5(ins, i, &mut f, &mut u);
        } else if !self.stack(i, &f, &mut u) {
            self.general(i, &f, &mut u);
        }
        self.mark_fusion(ins, i, &mut u);
        u.close();
        // A fused pair counts as one to a decoder.
        if self.config.first_decoder && u.get().iter().filter(|o| !o.flags.any(F::MICRO_FUSED)).count() > 1 {
            u.list[0].flags |= F::FIRST_DECODER;
        }
        u
    }

    fn latency_of(&self, op: Mnemonic) -> u8 {
        self.latency.get(op as usize).copied().unwrap_or(0)
    }

    fn fused(&self) -> F {
        if self.config.micro_fusion {
            F::MICRO_FUSED
        } else {
            F::empty()
        }
    }

    /// The register by which one of two micro-ops that may be fused hands its result to the other; `apart` if they are not.
    fn handed_on(&self, vector: bool, apart: Reg) -> Reg {
        match (self.config.micro_fusion, vector) {
            (false, _) => apart,
            (true, false) => FUSED,
            (true, true) => FUSED_VECTOR,
        }
    }

    /// The register of half of a vector.
    fn half(&self) -> Reg {
        if self.config.micro_fusion {
            FUSED_HALF
        } else {
            V1
        }
    }

    /// Memory micro-ops for an access of `size` bytes.
    fn pieces(&self, size: u8) -> usize {
        usize::from(size.div_ceil(self.config.max_access)).clamp(1, 4)
    }

    /// The same of a store.
    fn store_pieces(&self, size: u8) -> usize {
        let widest = if self.config.max_store == 0 { self.config.max_access } else { self.config.max_store };
        usize::from(size.div_ceil(widest)).clamp(1, 4)
    }

    fn load(&self, u: &mut Uops, address: [Reg; 2], dst: Reg, size: u8, extra: UopFlags) {
        let vector = is_vector(dst);
        let class = if vector { OpClass::FloatMemRead } else { OpClass::MemRead };
        let float = if vector { F::FLOAT } else { F::empty() };
        let pieces = self.pieces(size);
        if size == 64 && pieces == 2 {
            // Two halves in one slot; neither waits for the other.
            u.push(uop(class, [address[0], address[1], Reg::NONE], [self.half(), Reg::NONE], F::LOAD | float | extra));
            let flags = F::LOAD | float | extra | self.fused();
            u.push(uop(class, [address[0], address[1], Reg::NONE], [dst, Reg::NONE], flags));
            return;
        }
        for k in 0..pieces {
            // The last piece merges what came before.
            let before = if k > 0 { dst } else { Reg::NONE };
            u.push(uop(class, [address[0], address[1], before], [dst, Reg::NONE], F::LOAD | float | extra));
        }
    }

    fn store(&self, u: &mut Uops, address: [Reg; 2], data: Reg, size: u8, extra: UopFlags) {
        let vector = is_vector(data);
        let class = if vector { OpClass::FloatMemWrite } else { OpClass::MemWrite };
        let float = if vector { F::FLOAT } else { F::empty() };
        let mut data = data;
        for _ in 0..self.store_pieces(size) {
            let mut fused = F::empty();
            if self.config.split_stores && data.is_some() {
                let t = self.handed_on(vector, if vector { V1 } else { T1 });
                u.push(uop(OpClass::No_OpClass, [data, Reg::NONE, Reg::NONE], [t, Reg::NONE], float));
                data = t;
                fused = self.fused();
            }
            u.push(uop(class, [address[0], address[1], data], [Reg::NONE; 2], F::STORE | float | extra | fused));
        }
    }

    /// A move's micro-ops beyond the `accesses` that it has in any case.
    fn further(&self, op: Mnemonic, accesses: usize, u: &mut Uops) {
        let all = usize::from(self.uops.get(op as usize).copied().unwrap_or(0)).min(MAX_UOPS);
        for _ in accesses..all {
            u.push(uop(OpClass::IntAlu, [Reg::NONE; 3], [T2, Reg::NONE], F::empty()));
        }
    }

    /// The operation's own micro-ops.
    fn operate(&self, i: &Inst, f: &Facts, src: &[Reg], dst: &[Reg], extra: UopFlags, u: &mut Uops) {
        let class = self.class.iter().find(|c| c.0 == i.op).map_or_else(|| class_of(i), |c| c.1);
        let float = if dst.iter().chain(src).any(|r| is_vector(*r)) { F::FLOAT } else { F::empty() };
        let mut all: Vec<Reg> = src.to_vec();
        all.extend(flag_names(f.flags_read));
        let three = |list: &[Reg]| [0, 1, 2].map(|n| list.get(n).copied().unwrap_or(Reg::NONE));
        let simple = self.adds_only_the_carry(i, f);
        let count = if simple { 1 } else { self.uops.get(i.op as usize).copied().unwrap_or(0).clamp(1, 4) };
        let latency = if simple { 1 } else { self.latency_of(i.op) };
        let carry = if count > 1 { self.carry_latency.get(i.op as usize).copied().unwrap_or(0) } else { 0 };
        // A fused micro-op is a pair at most.
        let mut flags = extra;
        for _ in 1..count {
            let sources = three(if carry > 0 { src } else { &all });
            let mut early = uop(class, sources, [T2, Reg::NONE], float | flags);
            if carry > 0 {
                early.latency = latency.saturating_sub(carry).max(1);
            }
            u.push(early);
            flags &= !F::MICRO_FUSED;
        }
        if carry > 0 {
            all.drain(..src.len());
            all.insert(0, T2);
        }
        // The other half of a vector that is wider than the unit; it shares the slot.
        if i.evex.length > self.config.max_operation {
            u.push(Uop { latency, ..uop(class, three(&all), [self.half(), Reg::NONE], float | flags) });
            flags |= self.fused();
        }
        let first = dst.first().copied().unwrap_or(Reg::NONE);
        let mut op = uop(class, three(&all), [first, flag_name(f.flags_written)], float | flags);
        op.latency = if carry > 0 { carry } else { latency };
        if f.flags_written.is_empty() {
            op.dst[1] = dst.get(1).copied().unwrap_or(Reg::NONE);
        }
        u.push(op);
        for &d in dst.iter().skip(if f.flags_written.is_empty() { 2 } else { 1 }) {
            let flags = op.flags & !F::MICRO_FUSED;
            u.push(Uop { dst: [d, Reg::NONE], flags, ..op });
        }
    }

    /// `adc r, 0` and `sbb r, 0` on a processor that treats them specially.
    fn adds_only_the_carry(&self, i: &Inst, f: &Facts) -> bool {
        let whole = matches!(i.k[0].kind, Kind::R32 | Kind::R64);
        whole && i.nreg == 1 && !f.loads && i.imm == 0 && self.simple_zero.contains(&i.op)
    }

    fn general(&self, i: &Inst, f: &Facts, u: &mut Uops) {
        let nt = non_temporal(i.op);
        let atomic = if i.has(InstFlags::LOCK) || (i.op == Mnemonic::Xchg && f.stores) {
            F::ATOMIC | F::NON_SPECULATIVE | F::READ_BARRIER | F::WRITE_BARRIER
        } else {
            F::empty()
        };
        if let Some(cache_op) = cache_op(i.op) {
            u.push(uop(OpClass::MemRead, [f.address[0], f.address[1], Reg::NONE], [Reg::NONE; 2], cache_op));
            return;
        }
        let vector = i.k.iter().any(|k| k.kind.is_vec() || k.kind == Kind::K);
        let temp = if vector { V0 } else { T0 };
        if f.loads && !f.stores && is_move(i.op) && f.flags_written.is_empty() && f.src.is_empty() {
            self.further(i.op, self.pieces(i.msize), u);
            self.load(u, f.address, f.dst.first().copied().unwrap_or(temp), i.msize, nt);
            return;
        }
        if f.stores && !f.loads && is_move(i.op) {
            self.further(i.op, self.store_pieces(i.msize) * (1 + usize::from(self.config.split_stores)), u);
            let data = self.masked_data(i, f, u);
            self.store(u, f.address, data, i.msize, nt);
            return;
        }
        let mut src = Vec::new();
        if f.loads {
            let loaded = self.handed_on(vector, temp);
            self.load(u, f.address, loaded, i.msize, atomic | nt);
            src.push(loaded);
        }
        let idiom = self.config.zero_idioms && zero_idiom(i);
        let eliminated = self.eliminated(i, f, idiom);
        if !idiom {
            src.extend_from_slice(&f.src);
            // iced omits the source of a zero idiom; a processor without zero idioms reads it.
            if zero_idiom(i) && f.src.is_empty() {
                let k = i.k[i.b()];
                let first = match k.kind {
                    Kind::Mm => regs::MMX,
                    kind if kind.is_vec() => regs::VEC,
                    _ => regs::GPR,
                };
                // zmm16 and on follow at a distance.
                src.push(Reg(first
                    + k.r
                    + if k.kind.is_vec() && k.r > 15 { regs::HIGH_VEC - regs::VEC - 16 } else { 0 }));
            }
        }
        let fused = if f.loads { self.fused() } else { F::empty() };
        let mut dst = Vec::new();
        if f.stores && i.op != Mnemonic::Xchg {
            dst.push(temp);
        }
        dst.extend_from_slice(&f.dst);
        // The address of lea is what it computes from.
        if i.op == Mnemonic::Lea {
            src.extend(f.address.iter().filter(|r| r.is_some()));
        }
        if is_nop(i.op) {
            u.push(uop(OpClass::No_OpClass, [Reg::NONE; 3], [Reg::NONE; 2], F::empty()));
        } else {
            self.operate(i, f, &src, &dst, fused | eliminated, u);
        }
        if f.stores {
            let data = if i.op == Mnemonic::Xchg { f.src.first().copied().unwrap_or(temp) } else { temp };
            self.store(u, f.address, data, i.msize, atomic | nt);
        }
    }

    /// What a move stores; with a mask it is blended first.
    fn masked_data(&self, i: &Inst, f: &Facts, u: &mut Uops) -> Reg {
        let data = f.src.first().copied().unwrap_or(Reg::NONE);
        if i.evex.mask == 0 {
            return data;
        }
        let mask = Reg(regs::OPMASK + i.evex.mask);
        u.push(uop(OpClass::SimdAlu, [data, mask, Reg::NONE], [V0, Reg::NONE], F::FLOAT));
        V0
    }

    fn eliminated(&self, i: &Inst, f: &Facts, idiom: bool) -> F {
        let whole = matches!(i.k[0].kind, Kind::R32 | Kind::R64 | Kind::Xmm | Kind::Ymm | Kind::Zmm | Kind::Mm);
        let reg_move =
            is_move(i.op) && i.k[0].kind == i.k[1].kind && i.nreg == 2 && whole && !f.loads && f.src.len() == 1;
        if (idiom && self.config.eliminate_zero_idioms) || (reg_move && self.config.eliminate_moves) {
            F::ELIMINATED
        } else {
            F::empty()
        }
    }
}
