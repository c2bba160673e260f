//! How an extracted instruction gets into the ring of micro-ops, and what its end means for fetch.

use breakeven_base::{MemRef, Predecoded, Step, UopFlags, MAX_UOPS};

use super::super::inst::{DynInst, InstRing, Outcome, Seq};
use super::super::lsq::When;
use super::{Fetch2, Fetch2Io, Waiting};
use crate::bpred::{Prediction, TargetProvider};
use crate::memo::Boundary;
use crate::misaligned::AccessCosts;
use crate::outside::Outside;

/// Micro-ops with none of these only go on to the next instruction.
pub(super) const MATTERS_TO_FETCH: UopFlags = UopFlags::BRANCH
    .union(UopFlags::SERIALIZE_AFTER)
    .union(UopFlags::SQUASH_AFTER)
    .union(UopFlags::TRAP)
    .union(UopFlags::EFFECT);

impl Fetch2 {
    /// Puts a predecoded instruction into the ring, if it only goes on to the next one. Else false.
    #[inline(always)]
    pub(super) fn emit_predecoded(&mut self, pc: u64, s: &Predecoded, io: &mut Fetch2Io) -> bool {
        if s.flags.any(self.p.tells_fetch) {
            return false;
        }
        self.unfinished = u64::MAX;
        io.ring.note_predecoded();
        io.ring.push_predecoded(self.stream, self.prediction, pc, s.uops);
        self.stats.count(s.flags);
        true
    }

    /// Puts the executed instruction into the ring. True when it is predicted to go elsewhere.
    #[inline(always)]
    pub(super) fn emit<X: Outside>(&mut self, cx: &mut X, when: &When, io: &mut Fetch2Io) -> bool {
        let flags = self.step.uops[0].flags;
        if self.step.n == 1 && !flags.any(MATTERS_TO_FETCH) {
            self.stats.count(flags);
            let inst = self.instruction(io);
            push_plain(&self.step, inst, io.ring, &self.p.costs, self.p.line_bytes);
            return false;
        }
        self.emit_ending(cx, when, io)
    }

    /// An instruction's record before anything is said about it.
    #[inline(always)]
    fn instruction(&self, io: &mut Fetch2Io) -> DynInst {
        if self.predecoded {
            io.ring.note_predecoded();
        }
        let (stream, prediction, predecoded) = (self.stream, self.prediction, self.predecoded);
        DynInst { stream, prediction, predecoded, pc: self.step.pc, ..DynInst::default() }
    }

    /// As [`Fetch2::emit`], for what may tell fetch something.
    #[inline(never)]
    fn emit_ending<X: Outside>(&mut self, cx: &mut X, when: &When, io: &mut Fetch2Io) -> bool {
        let mut last = self.instruction(io);
        let mut taken = false;
        let ended = finish_step(&self.step, &mut last);
        if ended.branch {
            let seq = io.ring.tail + u64::from(self.step.n) - 1;
            taken = self.predict(cx, seq, when, &mut last, io);
        } else if ended.refetch && last.fork == 0 {
            if ended.trap {
                self.waiting = Waiting::StreamChange;
            } else {
                last.fork = leave(cx, io.ring, self.step.next_pc);
            }
        }
        if self.step.n == 1 && !ended.flags.any(UopFlags::EFFECT) {
            if last.outcome != Outcome::Straight {
                io.ring.set_target(io.ring.tail, self.step.next_pc);
            }
            push_plain(&self.step, last, io.ring, &self.p.costs, self.p.line_bytes);
        } else {
            push_step(&self.step, &last, ended.flags, io.ring, &self.p.costs, self.p.line_bytes);
        }
        self.stats.count(ended.flags);
        taken
    }

    /// Asks the predictor, and forks the front end when it is wrong. True when predicted taken.
    fn predict<X: Outside>(
        &mut self,
        cx: &mut X,
        seq: Seq,
        when: &When,
        last: &mut DynInst,
        io: &mut Fetch2Io,
    ) -> bool {
        let s = &self.step;
        let fall_through = s.pc.wrapping_add(s.len.into());
        let p = if self.p.predicts {
            cx.predict(seq, s.pc, s.len, s.branch.kind)
        } else {
            Prediction { taken: false, target: fall_through, provider: TargetProvider::default() }
        };
        let goes_to = if p.taken { p.target } else { fall_through };
        last.tried_to_predict = self.p.predicts;
        last.outcome = match (p.taken, s.next_pc != fall_through) {
            (false, false) => Outcome::Straight,
            (false, true) => Outcome::Unpredicted,
            (true, false) => Outcome::BadlyPredicted,
            (true, true) if p.target == s.next_pc => Outcome::CorrectlyPredicted,
            (true, true) => Outcome::BadlyPredictedTarget,
        };
        if last.outcome.changes_stream() {
            last.fork = leave(cx, io.ring, goes_to);
        }
        if p.taken {
            if p.target <= s.pc {
                self.turned = Some(Boundary::Loop { head: p.target });
            }
            self.redirect(p.target, when, io);
        }
        p.taken
    }
}

/// The front end goes on at `pc`, on a wrong path. Returns the fork to roll back, plus one; 0: a wrong path goes on, which is
/// thrown away as a whole.
pub(super) fn leave<X: Outside>(cx: &mut X, ring: &mut InstRing, pc: u64) -> u32 {
    if cx.depth() != 0 {
        cx.redirect(pc);
        return 0;
    }
    ring.clear_predecoded();
    cx.fork(pc) + 1
}

/// How an executed instruction ends.
pub struct StepEnd {
    /// Of all its micro-ops.
    pub flags: UopFlags,
    pub branch: bool,
    pub refetch: bool,
    pub trap: bool,
}

/// What the end of `step` means for fetch, into its last micro-op's record.
#[inline]
pub fn finish_step(step: &Step, last: &mut DynInst) -> StepEnd {
    let flags = step.uops[..usize::from(step.n)].iter().fold(UopFlags::empty(), |all, u| all | u.flags);
    let trap = flags.any(UopFlags::TRAP);
    // A trap vector is not a branch target.
    let branch = flags.any(UopFlags::BRANCH) && !trap;
    let refetch = flags.any(UopFlags::SERIALIZE_AFTER | UopFlags::SQUASH_AFTER) || trap;
    if refetch && !branch {
        last.outcome = Outcome::Refetch;
    }
    StepEnd { flags, branch, refetch, trap }
}

/// Puts the micro-ops of `step` into the ring; `last` has what belongs to the whole instruction, `flags` are those of all of them.
#[inline(always)]
pub fn push_step(step: &Step, last: &DynInst, flags: UopFlags, ring: &mut InstRing, costs: &AccessCosts, line: u32) {
    let n = usize::from(step.n).clamp(1, MAX_UOPS);
    let first = ring.tail;
    ring.push_all(last, &step.uops[..n]);
    if last.outcome != Outcome::Straight {
        ring.set_target(ring.tail - 1, step.next_pc);
    }
    if flags.any(UopFlags::EFFECT) {
        for (seq, _) in first.until(Seq::MAX).zip(&step.uops[..n]).filter(|(_, u)| u.flags.any(UopFlags::EFFECT)) {
            ring.set_effect(seq, step.effect);
        }
    }
    if flags.any(UopFlags::MEM) && !last.predecoded {
        for ((seq, uop), mem) in first.until(Seq::MAX).zip(&step.uops[..n]).zip(&step.mem) {
            if uop.flags.any(UopFlags::MEM) {
                refer(ring, seq, uop.flags, mem, costs, line);
            }
        }
    }
}

/// Puts an instruction's only micro-op into the ring, of which nothing but its reference need be said.
#[inline(always)]
fn push_plain(step: &Step, inst: DynInst, ring: &mut InstRing, costs: &AccessCosts, line: u32) {
    let uop = &step.uops[0];
    let seq = ring.push_with(inst, uop);
    if uop.flags.any(UopFlags::MEM) && !inst.predecoded {
        refer(ring, seq, uop.flags, &step.mem[0], costs, line);
    }
}

/// Where the micro-op's reference goes, and the stall at commit that it costs.
#[inline(always)]
fn refer(ring: &mut InstRing, seq: Seq, flags: UopFlags, mem: &MemRef, costs: &AccessCosts, line: u32) {
    ring.set_mem(seq, mem);
    if costs.emulate() {
        ring.get_mut(seq).extra_commit = costs.split(mem, flags.any(UopFlags::STORE), line, line).stall;
    }
}
