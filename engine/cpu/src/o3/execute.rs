//! Execution and write-back.
//! Fact source: gem5 24.0 `src/cpu/o3/iew.cc`.
//!
//! - A micro-op issued in cycle t with latency n executes at t + `issueToExecuteDelay` + n - 1; its dependents can issue in
//!   that cycle, when one of the `wbWidth` write-back slots is free.
//! - A memory reference goes to the load-store queue when it executes, and keeps its entry in the issue queue until it
//!   writes back.

use breakeven_base::{Cycle, UopFlags};
use educe::Educe;

use super::effect;
use super::inst::{InstRing, Note, State};
use super::io::Io;
use super::issue::Issue;
use super::lsq::{Lsq, LsqOut, MemOutcome};
use super::seq::Seq;
use super::wheel::{archive_events, Event, Wheel};
use super::wires::{Cause, Squash};
use crate::memo::archive::Archive;
use crate::outside::Outside;
use crate::when::When;

#[derive(Clone, Copy, Debug, Default)]
pub struct ExecuteStats {
    pub executed: u64,
    pub written: u64,
    pub predicted_taken_wrong: u64,
    pub predicted_not_taken_wrong: u64,
    pub violations: u64,
}

#[derive(Debug, Educe)]
#[educe(Clone)]
pub struct Execute {
    /// Issued micro-ops, by the cycle in which they execute: the latch between issue and execution.
    pub input: Wheel,
    /// Executed micro-ops, by the cycle in which they have their results.
    finishes: Wheel,
    /// Those that have their results and wait for a write-back slot.
    arrived: Vec<Event>,
    /// The load-store queue's messages, taken after each call of it ([`Execute::receive`]).
    pub from_lsq: LsqOut,
    /// The squash that this cycle's execution asks for.
    redirect: Option<Squash>,
    /// What executes in this cycle.
    due: Vec<Event>,
    pub stats: ExecuteStats,
}

const BARRIER: UopFlags = UopFlags::READ_BARRIER.union(UopFlags::WRITE_BARRIER);

impl Execute {
    pub fn new() -> Self {
        Execute {
            input: Wheel::new(),
            finishes: Wheel::new(),
            arrived: Vec::with_capacity(64),
            from_lsq: LsqOut::default(),
            redirect: None,
            due: Vec::with_capacity(64),
            stats: ExecuteStats::default(),
        }
    }

    /// The state in relative form, between two cycles; the micro-ops in flight stand in `ring` already.
    pub fn archive(&mut self, a: &mut Archive, ring: &InstRing) {
        let Self { input, finishes, arrived, from_lsq, redirect, due, stats: _ } = self;
        input.archive(a, ring);
        finishes.archive(a, ring);
        archive_events(arrived, a, ring);
        // All of these are empty between two cycles.
        a.refuse(!from_lsq.done.is_empty() || !from_lsq.ready.is_empty() || !due.is_empty() || redirect.is_some());
    }

    /// A hash of the cycles in which something executes or finishes.
    pub fn shape(&self, now: Cycle) -> u64 {
        self.input.shape(now) ^ self.finishes.shape(now).rotate_left(32)
    }

    /// The first cycle from `now` on in which something executes or finishes.
    pub fn next_event(&self, now: Cycle) -> Cycle {
        self.input.next(now).min(self.finishes.next(now))
    }
    /// Results wait for a write-back slot.
    #[inline]
    pub fn has_arrived(&self) -> bool {
        !self.arrived.is_empty()
    }

    /// Takes the load-store queue's messages: data that has come or will, and what may issue.
    #[inline(always)]
    pub fn receive(&mut self, io: &mut Io, issue: &mut Issue, now: Cycle) {
        if !self.from_lsq.done.is_empty() || !self.from_lsq.ready.is_empty() {
            self.take_messages(io, issue, now);
        }
    }

    #[inline(never)]
    fn take_messages(&mut self, io: &mut Io, issue: &mut Issue, now: Cycle) {
        io.activity.moved = true;
        for (seq, at) in self.from_lsq.done.drain(..) {
            let event = io.event_of(seq);
            if at <= now {
                self.arrived.push(event);
            } else {
                self.finishes.push(now, at, event);
            }
        }
        for seq in self.from_lsq.ready.drain(..) {
            issue.memory_ready(&mut io.ring, seq);
        }
    }

    #[inline]
    fn finish(&mut self, event: Event, at: Cycle, now: Cycle) {
        if at <= now {
            self.arrived.push(event);
        } else {
            self.finishes.push(now, at, event);
        }
    }

    /// The placeholder at the ROB's head, when it is due in this cycle: the front end executes it before [`Execute::tick`].
    #[inline(always)]
    pub fn due_placeholder(&self, io: &Io, now: Cycle) -> Option<Seq> {
        let head = io.ring.head();
        if io.ring.note(head).intersects(Note::PLACEHOLDER) && self.is_due(head, io, now) {
            Some(head)
        } else {
            None
        }
    }

    #[cold]
    fn is_due(&self, seq: Seq, io: &Io, now: Cycle) -> bool {
        seq < io.ring.tail() && self.input.holds(now, io.event_of(seq))
    }

    /// The placeholder, which is due now, executes at `at` instead, at the earliest in the next cycle.
    #[cold]
    pub fn postpone(&mut self, seq: Seq, at: Cycle, io: &Io, now: Cycle) {
        let event = io.event_of(seq);
        self.input.remove(now, event);
        self.input.push(now, at.max(now + 1), event);
    }

    /// One cycle. In: what issue has sent for it, and what the load-store queue has ([`Execute::receive`]). Out: memory
    /// references to the load-store queue, the oldest squash asked for to commit, results to dependents. Whether anything was
    /// executed.
    #[inline(always)]
    pub fn tick<X: Outside>(&mut self, io: &mut Io, issue: &mut Issue, lsq: &mut Lsq, cx: &mut X, when: &When) -> bool {
        let now = when.cycle;
        // Data that has come goes before what executes in this cycle.
        if self.finishes.has(now) {
            self.finishes.take(now, &mut self.due);
            self.arrived.append(&mut self.due);
        }
        let executes = self.input.has(now);
        if executes {
            self.execute_due(io, issue, lsq, cx, when);
        }
        if !self.arrived.is_empty() {
            self.write_back(io, issue, lsq, now);
        }
        executes
    }

    /// Executes what is due; the oldest squash goes to commit.
    #[inline]
    fn execute_due<X: Outside>(&mut self, io: &mut Io, issue: &mut Issue, lsq: &mut Lsq, cx: &mut X, when: &When) {
        let now = when.cycle;
        io.activity.moved = true;
        self.input.take(now, &mut self.due);
        for i in 0..self.due.len() {
            let event = self.due[i];
            if io.is_current(event) && self.execute(event.seq, io, issue, lsq, cx, when) {
                effect::act_at_execution(io, event.seq, cx);
            }
        }
        self.due.clear();
        if let Some(squash) = self.redirect.take() {
            io.wires.at(now + io.rules.delays.iew_to_commit).commit.resolve = Some(squash);
        }
    }

    /// Executes one micro-op. True: its effect takes place now ([`gem5PseudoOps`](super::Gem5Quirks)).
    #[inline]
    fn execute<X: Outside>(
        &mut self,
        seq: Seq,
        io: &mut Io,
        issue: &mut Issue,
        lsq: &mut Lsq,
        cx: &mut X,
        when: &When,
    ) -> bool {
        self.stats.executed += 1;
        if let Some(trace) = &mut io.trace {
            trace.completed(io.ring.slot(seq).0, when.cycle);
        }
        let flags = io.ring.flags(seq);
        if flags.any(UopFlags::MEM) && !flags.any(UopFlags::TRAP) {
            let outcome = lsq.execute(seq, cx, when, &mut io.ring, &mut self.from_lsq);
            if let MemOutcome::Done(at) = outcome {
                self.finish(io.event_of(seq), at, when.cycle);
            }
            self.receive(io, issue, when.cycle);
            if let Some(v) = lsq.take_violation() {
                self.stats.violations += 1;
                self.ask(Squash { after: v.load - 1, stamp: io.ring.stamp(v.load), cause: Cause::Violation });
            }
            return false;
        }
        let event = io.event_of(seq);
        if flags.any(BARRIER) && !flags.any(UopFlags::TRAP) {
            let at = lsq.execute_barrier(seq, &io.ring, cx, when);
            if at > when.cycle {
                self.finishes.push(when.cycle, at, event);
                return false;
            }
        }
        self.arrived.push(event);
        self.resolve_branch(seq, flags, io);
        if flags.any(UopFlags::FUSE_HEAD) {
            self.execute_fused(seq + 1, io, when.cycle);
        }
        flags.any(UopFlags::EFFECT)
    }

    /// A branch fused with the micro-op before it is executed with that; one that has not been dispatched executes by itself.
    fn execute_fused(&mut self, next: Seq, io: &mut Io, now: Cycle) {
        let noted = io.ring.note(next);
        if !noted.executes_with_prev() {
            return;
        }
        if next >= io.ring.tail() || !io.ring.state(next).intersects(State::DISPATCHED) {
            io.ring.set_note(next, noted | Note::UNFUSED);
            return;
        }
        io.ring.set_state(next, State::DONE | State::WRITTEN);
        io.ring.set_ready_at(next, now + io.rules.delays.iew_to_commit + 1);
        self.resolve_branch(next, io.ring.flags(next), io);
    }

    #[inline]
    fn resolve_branch(&mut self, seq: Seq, flags: UopFlags, io: &Io) {
        if flags.any(UopFlags::BRANCH) && !flags.any(UopFlags::TRAP) {
            let flow = io.ring.flow(seq);
            if flow.predicted != flow.next_pc {
                let taken = flow.predicted != io.ring.pc(seq).wrapping_add(flow.len.into());
                let counts = &mut self.stats;
                *(if taken { &mut counts.predicted_taken_wrong } else { &mut counts.predicted_not_taken_wrong }) += 1;
                self.ask(Squash { after: seq, stamp: io.ring.stamp(seq), cause: Cause::Mispredict });
            }
        }
    }

    /// Of the squashes of one cycle the oldest counts.
    fn ask(&mut self, squash: Squash) {
        if self.redirect.is_none_or(|s| squash.by() < s.by()) {
            self.redirect = Some(squash);
        }
    }

    /// What has its result writes back, up to the width; the rest next cycle.
    #[inline]
    fn write_back(&mut self, io: &mut Io, issue: &mut Issue, lsq: &mut Lsq, now: Cycle) {
        io.activity.moved = true;
        let n = self.arrived.len().min(io.rules.widths.wb);
        for i in 0..n {
            let event = self.arrived[i];
            if io.is_current(event) {
                self.write_back_one(event.seq, io, issue, lsq, now);
            }
        }
        if n == self.arrived.len() {
            self.arrived.clear();
        } else {
            self.arrived.drain(..n);
        }
    }

    #[inline]
    fn write_back_one(&mut self, seq: Seq, io: &mut Io, issue: &mut Issue, lsq: &mut Lsq, now: Cycle) {
        self.stats.written += 1;
        let flags = io.ring.flags(seq);
        if flags.any(UopFlags::MEM | BARRIER) && !flags.any(UopFlags::TRAP) {
            lsq.written_back(seq, &mut self.from_lsq);
            issue.leave(&mut io.ring, seq);
            self.receive(io, issue, now);
        }
        let s = io.ring.at_mut(seq);
        s.state |= State::DONE | State::WRITTEN;
        s.ready_at = now + io.rules.delays.iew_to_commit + 1;
        if !flags.any(UopFlags::TRAP) {
            issue.wake(&mut io.ring, seq);
        }
    }
}

#[cfg(test)]
mod tests;
