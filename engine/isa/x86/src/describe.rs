//! Fills in the [`Step`](breakeven_base::Step) of an executed instruction: micro-ops with the registers that hold the flags,
//! memory references, next pc.

use breakeven_base::{BranchInfo, BranchKind, MemKind, MemRef, Reg, Step, SysEffect, Uop, UopFlags, MAX_UOPS};

use crate::cpu::Cpu;
use crate::crack::{FlagRenamer, Uops};
use crate::inst::{Inst, InstFlags, Piece, Steps};
use crate::microcode::{self};
use crate::regs::{C, Z};
use crate::rep;

/// Describes an instruction (or a part of a repeated one) that has executed, and advances the pc. `decoded`: [`Step::decoded`] of
/// it as decoded.
#[inline(always)]
pub(crate) fn finish(cpu: &mut Cpu, out: &mut Step, inst: &Inst, uops: &[Uop], (pc, next): (u64, u64), decoded: u64) {
    out.decoded = match (inst.uops.steps, decoded) {
        (Steps::One, 1..) if inst.uops.reads_flags => decoded | flag_holder_bits(cpu.c.flag_holders),
        (Steps::One, _) => decoded,
        _ => 0,
    };
    if inst.uops.steps != Steps::One {
        finish_part(cpu, out, inst, uops, pc, next);
    } else {
        describe(cpu, out, inst, uops, pc, next);
        cpu.c.retired += 1;
    }
}

/// The registers that hold the flags, as the six bits that [`decoded_at`](breakeven_base::decoded_at) leaves free: the
/// micro-ops of an instruction that reads flags have them as sources.
#[inline]
pub(crate) fn flag_holder_bits(holders: [Reg; 3]) -> u64 {
    debug_assert!(holders.iter().all(|r| (C.0..=Z.0).contains(&r.0)), "{holders:?} hold no flags");
    holders.iter().fold(0, |bits, r| bits << 2 | u64::from(r.0.wrapping_sub(C.0) & 3)) << (u64::BITS - 6)
}

/// A step of an instruction that takes several: its micro-ops depend on what it did.
#[inline(never)]
fn finish_part(cpu: &mut Cpu, out: &mut Step, inst: &Inst, uops: &[Uop], pc: u64, next: u64) {
    let refs = &cpu.outcome.refs[..cpu.outcome.nrefs];
    let (piece, more) = (cpu.outcome.string.piece, cpu.outcome.string.more);
    let u = if piece == Piece::Straight(0) && !inst.has(InstFlags::STRING) {
        Uops::of_part(uops, !more)
    } else if piece != Piece::None {
        microcode::crack(inst, refs, piece, !more)
    } else {
        rep::crack(inst, refs, &cpu.outcome.string)
    };
    let mut step = *inst;
    step.uops = u.summary();
    describe(cpu, out, &step, u.get(), pc, next);
    microcode::describe_branch(piece, out);
    cpu.c.retired += u64::from(!more);
}

#[inline(always)]
fn describe(cpu: &mut Cpu, out: &mut Step, inst: &Inst, uops: &[Uop], pc: u64, next: u64) {
    let flags = FlagRenamer { holders: &mut cpu.c.flag_holders, policy: cpu.options.flag_merge };
    let n = place_uops(flags, &mut out.uops, inst, uops);
    out.n = n as u8;
    out.pc = pc;
    out.len = inst.len;
    out.next_pc = next;
    if inst.uops.loads + inst.uops.stores > 0 {
        place_references(&cpu.outcome.refs[..cpu.outcome.nrefs.min(16)], inst, out);
    }
    out.branch = if inst.branch == BranchKind::None {
        BranchInfo::default()
    } else {
        let target = if inst.has(InstFlags::BRANCH) { pc.wrapping_add(inst.imm) } else { next };
        BranchInfo { kind: inst.branch, taken: cpu.outcome.taken, target }
    };
    out.effect = SysEffect::None;
    if cpu.outcome.effect != SysEffect::None {
        out.effect = std::mem::take(&mut cpu.outcome.effect);
        out.uops[n.saturating_sub(1).min(MAX_UOPS - 1)].flags |= UopFlags::EFFECT;
        out.decoded = 0;
    }
    cpu.set_rip(next);
}

/// Writes the micro-ops, flag sources replaced by the registers that hold them. Returns how many.
#[inline(always)]
pub(crate) fn place_uops(mut flags: FlagRenamer, to: &mut [Uop; MAX_UOPS], inst: &Inst, uops: &[Uop]) -> usize {
    for (to, from) in to.iter_mut().zip(uops) {
        *to = *from;
    }
    let mut n = uops.len().min(MAX_UOPS);
    if inst.uops.reads_flags {
        flags.read(to, inst.uops.flags_from, &mut n);
    }
    if !inst.uops.flags_written.is_empty() {
        flags.write(inst.uops.flags_written);
    }
    n
}

/// Gives the references made, in order, to the micro-ops that make them.
#[inline(always)]
fn place_references(refs: &[MemRef], inst: &Inst, out: &mut Step) {
    let loads = refs.iter().filter(|m| m.kind == MemKind::Load).count();
    if loads != usize::from(inst.uops.loads) || refs.len() - loads != usize::from(inst.uops.stores) {
        return place_pieces(refs, loads, inst, out);
    }
    // One each.
    let n = usize::from(out.n).min(MAX_UOPS);
    let mut next = [0usize; 2];
    for (uop, to) in out.uops[..n].iter().zip(&mut out.mem) {
        if uop.flags.any(UopFlags::MEM) {
            let load = uop.flags.any(UopFlags::LOAD);
            let at = &mut next[usize::from(load)];
            while let Some(m) = refs.get(*at) {
                *at += 1;
                if (m.kind == MemKind::Load) == load {
                    *to = m.read_by_field();
                    break;
                }
            }
        }
    }
}

/// As [`place_references`] where there are more micro-ops than references, or fewer: an access in several pieces is cut.
#[inline(never)]
fn place_pieces(refs: &[MemRef], loads: usize, inst: &Inst, out: &mut Step) {
    let n = usize::from(out.n).min(MAX_UOPS);
    let stores = refs.len() - loads;
    let store_uops = out.uops[..n].iter().filter(|u| u.flags.any(UopFlags::STORE)).count();
    let mut at = [0usize; 2];
    for k in 0..n {
        let flags = out.uops[k].flags;
        if !flags.any(UopFlags::MEM) {
            continue;
        }
        let load = flags.any(UopFlags::LOAD);
        let (have, uops) = if load { (loads, usize::from(inst.uops.loads)) } else { (stores, store_uops.max(1)) };
        let nth = at[usize::from(load)];
        at[usize::from(load)] += 1;
        let pieces = uops.checked_div(have).unwrap_or(1).max(1);
        let wanted = refs.iter().filter(|m| (m.kind == MemKind::Load) == load).nth(nth / pieces);
        out.mem[k] = wanted.map_or(MemRef::default(), |m| piece(m, nth % pieces, pieces));
    }
}

/// The `k`th of `n` equal pieces of a reference.
fn piece(m: &MemRef, k: usize, n: usize) -> MemRef {
    if n <= 1 {
        return *m;
    }
    let size = m.size / n as u16;
    let from = size * k as u16;
    MemRef { vaddr: m.vaddr.wrapping_add(from.into()), paddr: m.paddr_of(from), size, ..*m }
}
