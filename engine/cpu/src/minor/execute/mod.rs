//! Execute: issues micro-ops in order to the functional units, and commits them in order.
//! Fact source: gem5 24.0 `src/cpu/minor/execute.cc`.
//!
//! Within a cycle: LSQ, commit, issue, then the functional units move on. Commit goes first so that a unit it empties can
//! take another instruction in the same cycle.

mod archive;
mod commit;
mod reason;

use breakeven_base::{Cycle, OpClass, SysEffect};
use educe::Educe;

use super::activity::Activity;
use super::config::{MinorConfig, MAX_UNITS};
use super::flight::Flight;
use super::func_unit::{FuPool, Timing};
use super::inst::{DynInst, InstRing, Outcome, Placeholder, Seq, NO_UNIT};
use super::latch::{Bundle, BundleEnd, Channel, Latch, Ring};
use super::lsq::{Head, Lsq, When};
use super::pipe::ResolvedBranch;
use super::scoreboard::Scoreboard;
use crate::misaligned::AccessCosts;
use crate::outside::Outside;

/// Most micro-ops between issue and commit: more than units, LSQ and a while of cost-free ones can hold.
const IN_FLIGHT: usize = 512;

/// What commit has counted.
#[derive(Clone, Debug)]
pub struct ExecuteStats {
    pub insts: u64,
    pub ops: u64,
    pub discarded_ops: u64,
    pub by_class: [u64; OpClass::COUNT],
}

impl Default for ExecuteStats {
    fn default() -> Self {
        ExecuteStats { insts: 0, ops: 0, discarded_ops: 0, by_class: [0; OpClass::COUNT] }
    }
}

/// Something that `run` must come back for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    Effect(SysEffect),
    Paused,
}

/// What does not change after construction.
#[derive(Clone, Copy, Debug)]
struct Params {
    cycle_input: bool,
    issue_limit: u32,
    memory_issue_limit: u32,
    commit_limit: u32,
    memory_commit_limit: u32,
    early_memory_issue: bool,
    /// The unit whose micro-op is a cycle's last (`gem5LastUnitEndsIssue`), or a number that no unit has.
    issue_ends_at: usize,
    /// `gem5HeadHoldsEarlyIssue`.
    head_holds_early_issue: bool,
    costs: AccessCosts,
    line_bytes: u32,
}

/// What a cycle's commits tell the other stages and the run.
#[derive(Clone, Debug, Default)]
pub struct CommitOut {
    /// The placeholder at the head has been executed (fetch2 may go on).
    pub drained: bool,
    /// The placeholder at the head has rolled the front end back (fetch2 must stop).
    pub rolled_back: bool,
    pub event: Option<Event>,
    /// For fetch; `Straight`: nothing.
    resolved: ResolvedBranch,
}

#[derive(Debug, Educe)]
#[educe(Clone)]
pub struct Execute {
    pub input: Channel<Bundle>,
    /// Issued and not gone yet.
    in_flight: Flight<IN_FLIGHT>,
    /// Those of them that are memory references still in their unit: they enter the LSQ in order.
    mem_in_units: Ring<Seq, IN_FLIGHT>,
    stream: u32,
    /// Of what is queued, everything below this belongs to an old stream. `Seq::MAX`: the redirect is on its way to fetch2.
    fresh: Seq,
    /// What ended the stream before this one.
    left_by: Outcome,
    /// Nothing can be committed before this cycle.
    commit_from: Cycle,
    scoreboard: Scoreboard,
    units: FuPool,
    pub lsq: Lsq,
    /// The next micro-op to be issued.
    next_issue: Seq,
    p: Params,
    pub out: CommitOut,
    pub stats: ExecuteStats,
}

/// What execute works on in one cycle besides its own state.
pub struct ExecuteIo<'a> {
    pub ring: &'a mut InstRing,
    pub branches: &'a mut Latch<ResolvedBranch>,
    pub activity: &'a mut Activity,
}

impl Execute {
    pub fn new(cfg: &MinorConfig, line_bytes: u32) -> Self {
        Execute {
            input: Channel::new(cfg.decodeToExecuteForwardDelay, cfg.executeInputBufferSize),
            in_flight: Flight::new(),
            mem_in_units: Ring::new(),
            stream: 0,
            fresh: Seq::NONE,
            left_by: Outcome::Straight,
            commit_from: Cycle::ZERO,
            scoreboard: Scoreboard::new(),
            units: FuPool::new(&cfg.executeFuncUnits),
            lsq: Lsq::new(cfg, line_bytes),
            next_issue: Seq::FIRST,
            p: Params {
                cycle_input: cfg.executeCycleInput,
                issue_limit: cfg.executeIssueLimit,
                memory_issue_limit: cfg.executeMemoryIssueLimit,
                commit_limit: cfg.executeCommitLimit,
                memory_commit_limit: cfg.executeMemoryCommitLimit,
                early_memory_issue: cfg.executeAllowEarlyMemoryIssue,
                issue_ends_at: if cfg.quirks.gem5LastUnitEndsIssue {
                    cfg.executeFuncUnits.len().min(MAX_UNITS) - 1
                } else {
                    usize::MAX
                },
                head_holds_early_issue: cfg.quirks.gem5HeadHoldsEarlyIssue,
                costs: AccessCosts::new(cfg.misaligned, cfg.vector_misaligned),
                line_bytes,
            },
            out: CommitOut::default(),
            stats: ExecuteStats::default(),
        }
    }

    /// Fetch2 has acted upon the redirect: micro-ops from `first` on belong to the new stream.
    pub fn redirected(&mut self, first: Seq) {
        self.fresh = first;
    }

    /// The oldest micro-op that is still needed.
    #[inline]
    pub fn oldest(&self) -> Seq {
        match self.in_flight.head() {
            Seq::NONE => self.next_issue,
            head => head,
        }
    }

    /// The next micro-op to be issued.
    pub fn next_issue(&self) -> Seq {
        self.next_issue
    }

    /// Cycles for which `unit` takes no other instruction.
    pub fn issue_lat(&self, unit: u8) -> u32 {
        self.units.issue_lat(unit)
    }

    /// At the end of cycle `now`: a micro-op that is in flight has been executed, and waits for its turn to commit.
    pub fn is_done(&self, seq: Seq, now: Cycle, ring: &InstRing) -> bool {
        let inst = ring.get(seq);
        match inst.unit {
            _ if inst.in_lsq => self.lsq.has_response(seq),
            NO_UNIT => true,
            // A reference has yet to go to memory.
            unit => !inst.is_mem() && self.units.first(unit) == seq && self.units.at_end(unit, now + 1),
        }
    }

    /// Micro-ops that can be committed in a cycle.
    pub fn commit_limit(&self) -> u32 {
        self.p.commit_limit
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.in_flight.is_empty() && self.input.is_empty()
    }

    #[inline]
    pub fn head(&self) -> Head {
        Head { stream: self.stream, seq: self.in_flight.head() }
    }

    /// One cycle.
    #[inline]
    pub fn tick<X: Outside>(&mut self, cx: &mut X, when: &When, io: &mut ExecuteIo) {
        if self.lsq.has_work() {
            self.lsq.step(self.head(), when, cx);
        }
        if !self.in_flight.is_empty() && when.cycle >= self.commit_from {
            self.commit(cx, when, io.ring);
        }
        let issued = self.input.has(when.cycle) && self.issue(when.cycle, io);
        self.units.advance(when.cycle);
        if self.out.resolved.outcome != Outcome::Straight {
            io.branches.put(when.cycle, self.out.resolved);
            io.activity.mark(when.cycle);
            self.out.resolved.outcome = Outcome::Straight;
        }
        let lsq_woke = self.lsq.end_of_cycle();
        if issued || lsq_woke {
            io.activity.wake();
        }
    }

    /// Issues what can be issued, in order. Whether anything was.
    fn issue(&mut self, now: Cycle, io: &mut ExecuteIo) -> bool {
        let mut issued = 0;
        let mut memory_issued = 0;
        let mut full = false;
        while let Some(&Bundle { next: first, end, ending }) = self.input.front(now) {
            // What belongs to an old stream is discarded.
            let mut seq = first.max(end.min(self.fresh));
            while seq != end && !full {
                let inst = io.ring.get_mut(seq);
                if self.in_flight.is_full() {
                    break;
                }
                let Some(unit) = self.find_unit(inst, now) else { break };
                let is_mem = inst.is_mem();
                if inst.is_barrier() {
                    self.lsq.issued_barrier(seq);
                }
                self.send_to_unit(inst, seq, unit, now);
                issued += 1;
                memory_issued += u32::from(is_mem);
                full = issued == self.p.issue_limit
                    || (is_mem && memory_issued == self.p.memory_issue_limit)
                    || usize::from(unit) == self.p.issue_ends_at;
                seq += 1;
            }
            if seq != first {
                self.next_issue = seq;
            }
            if seq != end {
                if let Some(bundle) = self.input.front_mut(now) {
                    bundle.next = seq;
                }
                break;
            }
            if full && ending == BundleEnd::Bubble {
                // The empty place behind it is passed in the next cycle.
                if let Some(bundle) = self.input.front_mut(now) {
                    bundle.next = end;
                }
                break;
            }
            self.input.pop();
            if full || !self.p.cycle_input {
                break;
            }
        }
        if issued > 0 {
            io.activity.mark(now);
        }
        issued > 0
    }

    /// A unit that can take the micro-op now.
    #[inline]
    fn find_unit(&self, inst: &DynInst, now: Cycle) -> Option<u8> {
        if inst.is_no_cost() {
            return Some(NO_UNIT);
        }
        let eligible = self.units.eligible(inst.uop.class);
        if eligible.alike && !self.scoreboard.are_ready(inst, eligible.relative, now) {
            return None;
        }
        let mut candidates = eligible.units;
        let by_unit = self.units.for_class(inst.uop.class);
        while candidates != 0 {
            let unit = candidates.trailing_zeros() as usize;
            candidates &= candidates - 1;
            let c = &by_unit[unit];
            if !self.units.can_insert(unit, now) {
                continue;
            }
            if eligible.alike || self.scoreboard.can_issue(inst, &c.timing, c.cant_forward, now) {
                #[allow(clippy::cast_possible_truncation)] // at most 32 units
                return Some(unit as u8);
            }
            candidates &= !c.alike;
        }
        None
    }

    #[inline]
    fn send_to_unit(&mut self, inst: &mut DynInst, seq: Seq, unit: u8, now: Cycle) {
        inst.unit = unit;
        self.in_flight.enter(seq);
        if unit == NO_UNIT {
            self.scoreboard.mark_dests(inst, seq, now, false);
            return;
        }
        let u = usize::from(unit);
        let c = &self.units.for_class(inst.uop.class)[u % MAX_UNITS];
        let (op_lat, extra_commit) = (c.op_lat, u32::from(c.timing.extra_commit));
        let (mut latency, assumed) = (c.latency, c.timing.extra_assumed != 0);
        let is_mem = inst.is_mem();
        if is_mem {
            inst.can_early_issue = self.p.early_memory_issue && inst.extra_commit == 0;
            inst.wait_for = self.scoreboard.wait_for(inst).max(self.lsq.last_barrier());
            self.mem_in_units.push(seq);
            // It may enter the LSQ before the oldest commits.
            self.commit_from = Cycle::ZERO;
        }
        inst.extra_commit += extra_commit;
        if inst.uop.latency != 0 {
            // Counted from when the unit takes its sources. A micro-op slower than its unit waits at the end of it; a
            // faster one hands its result on earlier.
            let own = u32::from(inst.uop.latency) + u32::from(c.timing.relative[0]);
            inst.extra_commit += own.saturating_sub(op_lat);
            latency = latency - op_lat + own;
        }
        self.units.push(u, seq, now);
        self.scoreboard.mark_dests(inst, seq, now + u64::from(latency), is_mem && !assumed);
    }

    /// Whether there may be something to do next cycle without anything arriving.
    pub fn needs_to_tick(&self, now: Cycle, ring: &InstRing) -> bool {
        if self.units.moving(now) {
            return true;
        }
        if !self.in_flight.is_empty() {
            let head = self.in_flight.head();
            let inst = ring.get(head);
            let at_end = inst.unit != NO_UNIT && !inst.in_lsq && self.units.at_end(inst.unit, now + 1);
            let early = !self.p.head_holds_early_issue && self.early_candidate(head, now + 1, ring).is_some();
            if inst.unit == NO_UNIT || at_end || early || self.lsq.has_response(head) {
                return true;
            }
        }
        self.lsq.needs_to_tick(now) || self.can_issue_next(now, ring)
    }

    /// gem5's estimate of whether the next micro-op could be issued next cycle: it leaves forwarding out.
    fn can_issue_next(&self, now: Cycle, ring: &InstRing) -> bool {
        let Some(bundle) = self.input.front(now) else { return false };
        if bundle.next == bundle.end {
            return false;
        }
        let inst = ring.get(bundle.next);
        if self.units.all_stalled(self.units.capable(inst.uop.class), now) {
            return false;
        }
        self.scoreboard.can_issue(inst, &Timing::default(), 0, now + 1)
    }

    /// The first cycle after `now` at which time alone changes something; [`Cycle::MAX`] unless commit waits for an instant.
    pub fn next_timed(&self, now: Cycle, ring: &InstRing) -> Cycle {
        if self.in_flight.is_empty() {
            return Cycle::MAX;
        }
        let until = ring.get(self.in_flight.head()).min_commit;
        if until <= now || self.units.moving(now) {
            return Cycle::MAX;
        }
        let issue = self.input.front(now).map_or(Cycle::MAX, |b| self.scoreboard.next_return(ring.get(b.next), now));
        until.min(issue)
    }

    /// See [`FuPool::next_end`].
    pub fn next_unit_end(&self, now: Cycle) -> Cycle {
        self.units.next_end(now)
    }

    /// After `now`, the first cycle in which commit, issue or the LSQ might do something, if nothing comes to the end of a
    /// unit before that and nothing arrives.
    pub fn next_change(&self, now: Cycle, ring: &InstRing) -> Cycle {
        let next = now + 1;
        if !self.lsq.is_still(next) {
            return next;
        }
        let mut from = Cycle::MAX;
        if !self.in_flight.is_empty() {
            let oldest = self.in_flight.head();
            let head = ring.get(oldest);
            if !head.in_lsq {
                from = self.taken_from(oldest, head, next);
            } else if self.lsq.has_response(oldest) {
                return next;
            }
            if let Some(&first) = self.mem_in_units.front().filter(|_| !self.head_waits(head)) {
                from = from.min(self.taken_from(first, ring.get(first), next));
            }
        }
        if !self.input.has(next) {
            return from.min(self.input.next());
        }
        match self.input.front(next) {
            Some(bundle)
                if bundle.next != bundle.end
                    && bundle.next >= bundle.end.min(self.fresh)
                    && !self.in_flight.is_full() =>
            {
                from.min(self.issued_from(ring.get(bundle.next), now))
            }
            _ => next,
        }
    }

    /// Whether the oldest micro-op waits in the LSQ and keeps all others from being tried.
    #[inline]
    fn head_waits(&self, head: &DynInst) -> bool {
        head.in_lsq && self.p.head_holds_early_issue
    }

    /// When commit might take a micro-op off its unit.
    fn taken_from(&self, seq: Seq, inst: &DynInst, next: Cycle) -> Cycle {
        if inst.unit == NO_UNIT || self.units.first(inst.unit) != seq {
            return next;
        }
        let held = if inst.extra_commit == 0 && inst.stream == self.stream { inst.min_commit } else { Cycle::ZERO };
        self.units.end_from(inst.unit).max(held).max(next)
    }

    /// When the next micro-op might be issued.
    fn issued_from(&self, inst: &DynInst, now: Cycle) -> Cycle {
        if inst.is_no_cost() {
            return now + 1;
        }
        let mut from = Cycle::MAX;
        let mut candidates = self.units.eligible(inst.uop.class).units;
        let by_unit = self.units.for_class(inst.uop.class);
        while candidates != 0 {
            let unit = candidates.trailing_zeros() as usize;
            candidates &= candidates - 1;
            let ready = self.scoreboard.ready_from(inst, &by_unit[unit % MAX_UNITS].timing);
            from = from.min(ready.max(self.units.insertable_from(unit, now)));
        }
        from
    }

    /// `cycles` pass after `now` in which only what is in the units moves.
    pub fn skip_still(&mut self, now: Cycle, cycles: u64) {
        self.units.skip_still(now, cycles);
    }

    /// `cycles` pass in which nothing moves.
    pub fn skip(&mut self, cycles: u64) {
        self.units.skip(cycles);
    }

    /// For the deadlock report.
    pub fn describe(&self, ring: &InstRing) -> String {
        let (queued, of) = self.input.load();
        let mut text =
            format!("execute: {queued} inputs queued or under way, of {of}; {} in flight", self.in_flight.len());
        for (what, seq) in [
            ("oldest", Some(self.in_flight.head()).filter(|head| head.is_some())),
            ("next", self.input.front(Cycle::MAX - 1).map(|b| b.next)),
        ] {
            let Some(seq) = seq else { continue };
            let i = ring.get(seq);
            let mut state = String::new();
            if what == "next" && self.units.capable(i.uop.class) == 0 && !i.is_no_cost() {
                state = ", no functional unit executes it".to_owned();
            } else if i.in_lsq {
                state = ", in the LSQ".to_owned();
            } else if i.placeholder != Placeholder::No {
                state = ", waits for the time".to_owned();
            }
            text.push_str(&format!("; {what}: {seq} at {:#x}, {}{state}", i.pc, i.uop.class.name()));
        }
        format!("{text}\nunits: {}\nlsq: {}", self.units.describe(), self.lsq.describe())
    }
}
