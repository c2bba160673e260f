//! Commit: takes micro-ops off the ends of the functional units and off the LSQ, in order.
//!
//! A memory reference comes by twice: at the end of its unit it enters the LSQ (if its sources and barriers allow, before
//! older instructions have committed: early issue); when its response has come, it commits.

use breakeven_base::{Cycle, Now, Step, StepResult, SysEffect, Tick, Uop, UopFlags};
use breakeven_memory::{Side, TlbResult};

use super::super::fetch2::{finish_step, push_step};
use super::super::inst::{DynInst, InstRing, Outcome, Placeholder, Seq, NO_UNIT};
use super::super::latch::{Bundle, BundleEnd};
use super::super::lsq::When;
use super::super::pipe::ResolvedBranch;
use super::{Event, Execute};
use crate::outside::{DataPage, Outside};

/// Micro-ops with none of these just commit.
const NEEDS_CARE: UopFlags =
    UopFlags::MEM.union(UopFlags::READ_BARRIER).union(UopFlags::WRITE_BARRIER).union(UopFlags::EFFECT);

/// What became of one attempt.
#[derive(Clone, Copy, Debug, Default)]
struct Attempt {
    /// Has gone through its unit, or through the LSQ.
    completed: bool,
    committed: bool,
    discarded: bool,
    /// Has entered the LSQ: stays in flight.
    issued_to_lsq: bool,
    from_lsq: bool,
}

/// When the data TLBs know a page, from `now` on.
#[inline]
fn translate<X: Outside>(cx: &mut X, now: Tick, page: DataPage, is_store: bool) -> Tick {
    let asid = cx.asid();
    match cx.data_tlb(now, page, asid, is_store) {
        TlbResult::Hit { at } => at,
        TlbResult::Miss { at } => cx.walk(Side::Data, at, page.vaddr, page.page_shift, asid),
    }
}

/// Left without having committed.
const GONE: Attempt = Attempt { committed: false, ..COMMITTED };
const COMMITTED: Attempt =
    Attempt { completed: true, committed: true, discarded: false, issued_to_lsq: false, from_lsq: false };

impl Execute {
    /// The memory reference that can enter the LSQ before it is the oldest.
    #[inline]
    pub(super) fn early_candidate(&self, head: Seq, now: Cycle, ring: &InstRing) -> Option<Seq> {
        let &first = self.mem_in_units.front()?;
        let inst = ring.get(first);
        let at_end = self.units.at_end(inst.unit, now) && self.units.first(inst.unit) == first;
        let may = inst.can_early_issue && head > inst.wait_for && inst.stream == self.stream;
        (at_end && may && self.lsq.can_request()).then_some(first)
    }

    /// One cycle of commit.
    #[inline]
    pub(super) fn commit<X: Outside>(&mut self, cx: &mut X, when: &When, ring: &mut InstRing) {
        let oldest = self.in_flight.head();
        if self.head_waits(ring.get(oldest)) && !self.lsq.has_response(oldest) {
            return;
        }
        let mut committed = 0;
        let mut memory_committed = 0;
        while self.in_flight.head().is_some() {
            let head = self.in_flight.head();
            let inst = ring.get(head);
            let (seq, a) =
                if inst.in_lsq && memory_committed < self.p.memory_commit_limit && self.lsq.has_response(head) {
                    (head, self.take_response(head, cx, ring))
                } else if let Some(seq) = self.early_candidate(head, when.cycle, ring) {
                    (seq, self.take_from_unit(seq, cx, when, ring))
                } else if inst.in_lsq {
                    return;
                } else if inst.unit != NO_UNIT && !self.units.at_end(inst.unit, when.cycle) {
                    if self.mem_in_units.is_empty() {
                        self.commit_from = self.units.end_from(inst.unit);
                    }
                    return;
                } else if self.just_commits(inst, when.cycle) {
                    if inst.unit != NO_UNIT {
                        self.units.unstall(inst.unit, when.cycle);
                        committed += 1;
                    }
                    self.in_flight.leave();
                    self.account(inst);
                    self.scoreboard.clear_dests(inst);
                    self.resolve(head, inst, ring);
                    if committed == self.p.commit_limit || self.out.resolved.changes_stream() {
                        return;
                    }
                    continue;
                } else if inst.stream != self.stream && !inst.is_barrier() {
                    self.discard(head, inst, when.cycle);
                    continue;
                } else {
                    (head, self.take_from_unit(head, cx, when, ring))
                };
            if !a.completed {
                return;
            }
            self.retire(seq, &a, when.cycle, ring);
            committed += u32::from(a.committed && !ring.get(seq).is_no_cost());
            memory_committed += u32::from(a.committed && a.from_lsq);
            if committed == self.p.commit_limit || self.out.resolved.changes_stream() {
                return;
            }
            if self.out.event.is_some() && !self.goes_on_behind_event(ring) {
                return;
            }
        }
    }

    /// Whether the cycle's commits go on behind what the run comes back for. Statistics are reset and dumped at the end of
    /// the cycle (gem5's event has `Stat_Event_Pri`, behind the core's tick): the cycle's other slots count before it.
    #[cold]
    fn goes_on_behind_event(&self, ring: &InstRing) -> bool {
        const STATISTICS: [SysEffect; 3] = [SysEffect::ResetStats, SysEffect::DumpStats, SysEffect::DumpResetStats];
        let marks = matches!(self.out.event, Some(Event::Effect(effect)) if STATISTICS.contains(&effect));
        // One event a cycle.
        let next = |seq| ring.get(seq).placeholder == Placeholder::No && !ring.get(seq).uop.flags.any(UopFlags::EFFECT);
        marks && !self.in_flight.is_empty() && next(self.in_flight.head())
    }

    /// Whether the oldest instruction, at the end of its unit, only has to be taken: nothing about it needs care.
    #[inline]
    fn just_commits(&self, inst: &DynInst, now: Cycle) -> bool {
        inst.stream == self.stream
            && !inst.uop.flags.any(NEEDS_CARE | UopFlags::TRAP)
            && inst.placeholder == Placeholder::No
            && inst.extra_commit == 0
            && inst.min_commit <= now
    }

    /// The oldest instruction is at the end of its unit and belongs to an old stream.
    #[inline(always)]
    fn discard(&mut self, seq: Seq, inst: &DynInst, now: Cycle) {
        if inst.unit != NO_UNIT {
            self.units.unstall(inst.unit, now);
        }
        if inst.is_mem() && self.mem_in_units.front() == Some(&seq) {
            self.mem_in_units.drop_front();
        }
        self.stats.discarded_ops += 1;
        self.in_flight.leave();
        self.scoreboard.clear_dests(inst);
    }

    /// The oldest instruction's response has come.
    fn take_response<X: Outside>(&mut self, seq: Seq, cx: &mut X, ring: &mut InstRing) -> Attempt {
        let committed = ring.get(seq).stream == self.stream;
        let stored = self.lsq.pop_response(committed);
        if committed {
            self.account(ring.get(seq));
            // A store that a device saw (HTIF's exit).
            if ring.get(seq).uop.flags.any(UopFlags::EFFECT) {
                let effect = ring.effect(seq);
                self.take_effect(effect, ring.get_mut(seq), cx);
            }
            self.resolve(seq, ring.get(seq), ring);
        }
        if ring.get(seq).is_barrier() && !stored {
            self.lsq.complete_barrier(seq, committed);
        }
        Attempt { completed: true, committed, discarded: !committed, from_lsq: true, issued_to_lsq: false }
    }

    /// A micro-op is at the end of its unit.
    #[inline]
    fn take_from_unit<X: Outside>(&mut self, seq: Seq, cx: &mut X, when: &When, ring: &mut InstRing) -> Attempt {
        let inst = ring.get_mut(seq);
        if inst.stream != self.stream {
            if inst.is_barrier() {
                self.lsq.complete_barrier(seq, false);
            }
            return Attempt { completed: true, discarded: true, ..Attempt::default() };
        }
        if inst.extra_commit != 0 {
            inst.min_commit = when.cycle + u64::from(inst.extra_commit);
            inst.extra_commit = 0;
        }
        if inst.min_commit > when.cycle {
            return Attempt::default();
        }
        if inst.is_mem() {
            return self.send_to_lsq(seq, cx, when, ring);
        }
        if !inst.uop.flags.any(NEEDS_CARE) && inst.placeholder == Placeholder::No {
            let inst = ring.get(seq);
            self.account(inst);
            self.resolve(seq, inst, ring);
            return COMMITTED;
        }
        self.take_with_care(seq, cx, when, ring)
    }

    /// A memory reference enters the LSQ, if it has room and no barrier is in the way.
    #[inline(never)]
    fn send_to_lsq<X: Outside>(&mut self, seq: Seq, cx: &mut X, when: &When, ring: &mut InstRing) -> Attempt {
        let barrier = self.lsq.last_barrier();
        if (barrier.is_some() && barrier < seq) || !self.lsq.can_request() {
            return Attempt::default();
        }
        if ring.get(seq).predecoded {
            ring.execute_deferred(cx, when, seq);
        }
        self.enter_lsq(seq, ring, cx, when);
        ring.get_mut(seq).in_lsq = true;
        Attempt { completed: true, issued_to_lsq: true, ..Attempt::default() }
    }

    /// As [`Execute::take_from_unit`], for barriers, effects and placeholders whose time has come.
    #[inline(never)]
    fn take_with_care<X: Outside>(&mut self, seq: Seq, cx: &mut X, when: &When, ring: &mut InstRing) -> Attempt {
        let mut inst = *ring.get(seq);
        if inst.is_barrier() && !self.lsq.can_push_into_store_buffer() {
            return Attempt::default();
        }
        if inst.placeholder != Placeholder::No {
            inst = match self.execute_placeholder(seq, cx, when, ring) {
                Ok(inst) => inst,
                Err(attempt) => return attempt,
            };
        }
        self.account(&inst);
        if inst.uop.flags.any(UopFlags::EFFECT) {
            self.take_effect(ring.effect(seq), &mut inst, cx);
        }
        self.resolve(seq, &inst, ring);
        if inst.is_barrier() {
            self.lsq.complete_barrier(seq, true);
        }
        COMMITTED
    }

    /// Address translation, then the requests queue.
    fn enter_lsq<X: Outside>(&mut self, seq: Seq, ring: &InstRing, cx: &mut X, when: &When) {
        let (inst, m) = (ring.get(seq), ring.mem(seq));
        let mut translated = when.cycle;
        if m.valid && m.page_shift != 0 {
            let is_store = inst.uop.flags.any(UopFlags::STORE);
            let page = DataPage { seq, vaddr: m.vaddr, page_shift: m.page_shift, last: false };
            let mut tick = translate(cx, when.tick, page, is_store);
            // The second page of a crossing is looked up after the first.
            let last = m.vaddr.wrapping_add(u64::from(m.size.max(1) - 1));
            if m.vaddr >> 12 != last >> 12 {
                tick = translate(cx, tick, DataPage { vaddr: last, last: true, ..page }, is_store);
            }
            translated = when.cycle_of(tick);
        }
        self.lsq.push(seq, ring, translated, self.head(), when, cx);
    }

    /// The micro-op leaves the queues that hold it.
    #[inline(always)]
    fn retire(&mut self, seq: Seq, a: &Attempt, now: Cycle, ring: &InstRing) {
        let inst = ring.get(seq);
        if !a.from_lsq {
            if inst.unit != NO_UNIT {
                self.units.unstall(inst.unit, now);
            }
            if self.mem_in_units.front() == Some(&seq) {
                self.mem_in_units.drop_front();
            }
        }
        if !a.issued_to_lsq {
            self.stats.discarded_ops += u64::from(a.discarded);
            self.in_flight.leave();
            self.scoreboard.clear_dests(inst);
        }
    }

    /// What trapped has not been executed: it counts as nothing.
    #[inline]
    fn account(&mut self, inst: &DynInst) {
        if !inst.uop.flags.any(UopFlags::TRAP) {
            self.stats.ops += 1;
            self.stats.by_class[inst.uop.class as usize] += 1;
            self.stats.insts += u64::from(inst.is_last());
        }
    }

    /// Tells fetch what the end of this instruction means for it (gem5 `tryToBranch`).
    #[inline]
    fn resolve(&mut self, seq: Seq, inst: &DynInst, ring: &InstRing) {
        // Only a step's last micro-op has an outcome.
        if inst.outcome == Outcome::Straight {
            return;
        }
        if inst.outcome.changes_stream() {
            self.stream = self.stream.wrapping_add(1);
            self.fresh = Seq::MAX;
            self.left_by = inst.outcome;
        }
        self.out.resolved = ResolvedBranch {
            outcome: inst.outcome,
            stream: self.stream,
            prediction: inst.prediction,
            target: ring.target(seq),
            seq,
            tried_to_predict: inst.tried_to_predict,
            fork: inst.fork,
        };
    }

    /// What the core does itself is done; for anything else the run comes back, with the front end on the right path.
    #[cold]
    fn take_effect<X: Outside>(&mut self, effect: SysEffect, inst: &mut DynInst, cx: &mut X) {
        match effect {
            SysEffect::None => {}
            SysEffect::TlbFlush { vaddr } => cx.tlb_flush(vaddr),
            SysEffect::FetchFlush => cx.fetch_flush(),
            SysEffect::CacheFlush { at, line_cycles } => cx.flush_caches(at, line_cycles),
            other => {
                self.out.event = Some(Event::Effect(other));
                if inst.fork != 0 {
                    cx.rollback(inst.fork - 1);
                    inst.fork = 0;
                    self.out.rolled_back = true;
                }
            }
        }
    }

    /// Executes the instruction that a placeholder stands for, now that everything older has committed. Returns what
    /// commits in its place, or what became of the attempt when it must wait, has been paused, or goes through execute again as a memory reference.
    #[cold]
    fn execute_placeholder<X: Outside>(
        &mut self,
        seq: Seq,
        cx: &mut X,
        when: &When,
        ring: &mut InstRing,
    ) -> Result<DynInst, Attempt> {
        let mut step = Step::default();
        let now = Now { tick: when.tick, cycle: when.cycle, drained: true };
        let old = *ring.get(seq);
        if old.fork != 0 {
            cx.rollback(old.fork - 1);
            ring.get_mut(seq).fork = 0;
            self.out.rolled_back = true;
        }
        let result = match old.placeholder {
            Placeholder::Pauses => StepResult::Paused,
            _ => cx.step(ring.tail, now, &mut step),
        };
        match result {
            StepResult::Done => {}
            StepResult::Paused => {
                // It leaves as if it had never been fetched; fetch starts again in front of it.
                self.out.event = Some(Event::Paused);
                ring.set_target(seq, cx.pc());
                let again = DynInst { outcome: Outcome::Refetch, fork: 0, ..old };
                self.resolve(seq, &again, ring);
                return Err(GONE);
            }
            StepResult::NeedsDrain | StepResult::Blocked => {
                // wfi and the like: once more when an interrupt can have come.
                let wake = when.cycle_of(cx.irq_deadline()).max(when.cycle + 1);
                let inst = ring.get_mut(seq);
                inst.min_commit = wake;
                if self.out.rolled_back {
                    inst.outcome = Outcome::Refetch;
                }
                return Err(Attempt::default());
            }
        }
        let mut last = DynInst { stream: self.stream, prediction: old.prediction, pc: step.pc, ..DynInst::default() };
        let ended = finish_step(&step, &mut last);
        if old.outcome == Outcome::Refetch
            || self.out.rolled_back
            || step.next_pc != step.pc.wrapping_add(step.len.into())
        {
            last.outcome = Outcome::Refetch;
        }
        // Else fetch2 waits until the change of stream reaches it.
        self.out.drained = last.outcome == Outcome::Straight;
        if step.n == 1 && (!step.uops[0].flags.any(UopFlags::MEM) || step.uops[0].flags.any(UopFlags::TRAP)) {
            // The scoreboard never saw its registers.
            let uop = Uop { dst: Default::default(), ..step.uops[0] };
            ring.set_effect(seq, step.effect);
            ring.set_target(seq, step.next_pc);
            return Ok(DynInst { unit: old.unit, uop, ..last });
        }
        // The micro-ops of a device access go through issue themselves; nothing else is in the pipeline.
        ring.make_room(seq);
        let first = ring.tail;
        push_step(&step, &last, ended.flags, ring, &self.p.costs, self.p.line_bytes);
        self.input.put_seen(when.cycle, Bundle { next: first, end: ring.tail, ending: BundleEnd::Full });
        Err(GONE)
    }
}
