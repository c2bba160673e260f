//! Issue, execution and write-back.
//! Fact source: gem5 24.0 `src/cpu/o3/inst_queue.cc`, `iew.cc`.
//!
//! - Issue takes ready micro-ops oldest first, at most `issueWidth` a cycle; a class whose units are all taken is passed over.
//! - A micro-op issued in cycle t with latency n executes at t + `issueToExecuteDelay` + n - 1; its dependents can issue in
//!   that cycle, when one of the `wbWidth` write-back slots is free.
//! - A memory reference goes to the load-store queue when it executes, and keeps its entry in the issue queue until it
//!   writes back.

use breakeven_base::{Bus, FrontEnd, Now, StepResult, Uop, UopFlags};

use super::inst::{note, state, Seq, Wait};
use super::lsq::{Lsq, MemOutcome};
use super::units::Found;
use super::wheel::Event;
use super::wires::{Cause, Squash, Wire};
use super::{Stopped, O3};
use crate::when::When;
use crate::CoreCtx;

#[derive(Clone, Copy, Debug, Default)]
pub struct ExecuteStats {
    pub issued: u64,
    pub executed: u64,
    pub fu_busy: u64,
    pub written: u64,
    pub predicted_taken_wrong: u64,
    pub predicted_not_taken_wrong: u64,
    pub violations: u64,
}

const BARRIER: u32 = UopFlags::READ_BARRIER | UopFlags::WRITE_BARRIER;

impl O3 {
    #[inline]
    pub(super) fn event_of(&self, seq: Seq) -> Event {
        Event { seq, stamp: self.ring.stamp(seq) }
    }

    /// Still the micro-op that the event was made for.
    #[inline]
    pub(super) fn is_current(&self, event: Event) -> bool {
        event.seq < self.path.tail && self.ring.stamp(event.seq) == event.stamp
    }

    /// What the load-store queue says.
    #[inline(always)]
    pub(super) fn hear_lsq(&mut self, now: u64) {
        if !self.lsq_out.done.is_empty() || !self.lsq_out.ready.is_empty() {
            self.take_from_lsq(now);
        }
    }

    #[inline(never)]
    fn take_from_lsq(&mut self, now: u64) {
        self.moved = true;
        let mut out = std::mem::take(&mut self.lsq_out);
        for (seq, at) in out.done.drain(..) {
            let event = self.event_of(seq);
            if at <= now {
                self.arrived.push(event);
            } else {
                self.written.push(now, at, event);
            }
        }
        for seq in out.ready.drain(..) {
            // Issued before: it goes again. Else memory order has let it go.
            if self.ring.state(seq) & state::ISSUED != 0 || self.ring.arrive(seq) {
                self.make_ready(self.ring.slot(seq), self.ring.class(seq));
            }
        }
        self.lsq_out = out;
    }

    /// One cycle from dispatch to write-back.
    pub(super) fn iew_tick<F: FrontEnd, B: Bus>(&mut self, cx: &mut CoreCtx<'_, F, B>, when: &When, wire: &Wire) {
        let now = when.cycle;
        self.dispatch_tick(now, wire);
        let executed = self.execute_due(cx, when);
        self.write_back(now);
        if self.iq.ready_total > 0 {
            self.issue(now);
        }
        // Credits of the queues return after executions, commits, squashes and when a store has left the queue.
        let left = u64::from(self.lsq.free_stores()) + self.dispatch.stats.stores;
        let store_left = std::mem::replace(&mut self.stores_left, left) != left;
        let freed = executed || wire.squash.is_some() || store_left;
        let returns = freed || self.credits_next;
        self.credits_next &= freed && !self.rules.quirks.gem5CreditReturns;
        if self.lsq.next_event() <= now {
            self.lsq.tick(cx, when, &mut self.ring, &mut self.lsq_out);
            self.hear_lsq(now);
        }
        if wire.committed_to_iew != 0 {
            self.lsq.commit(wire.committed_to_iew);
            self.credits_next = true;
            self.moved = true;
        }
        // They count the loads that have just left.
        if returns {
            self.return_credits(now);
        }
        if wire.release != 0 && self.ring.state(wire.release) & state::RELEASED != 0 {
            self.moved = true;
            if self.ring.arrive(wire.release) {
                self.make_ready(self.ring.slot(wire.release), self.ring.class(wire.release));
            }
        }
    }

    /// Executes what is due. Whether anything was.
    fn execute_due<F: FrontEnd, B: Bus>(&mut self, cx: &mut CoreCtx<'_, F, B>, when: &When) -> bool {
        let now = when.cycle;
        // Data that has come goes before what executes in this cycle.
        if self.written.has(now) {
            let mut due = std::mem::take(&mut self.scratch);
            self.written.take(now, &mut due);
            self.arrived.extend(due.iter());
            due.clear();
            self.scratch = due;
        }
        if !self.executes.has(now) {
            return false;
        }
        let mut due = std::mem::take(&mut self.scratch);
        self.executes.take(now, &mut due);
        self.moved = true;
        self.redirect = None;
        for event in due.iter().copied() {
            if self.is_current(event) {
                self.execute_one(event.seq, cx, when);
            }
        }
        due.clear();
        self.scratch = due;
        if let Some(squash) = self.redirect.take() {
            self.wires.at(now + self.rules.iew_to_commit).resolve = Some(squash);
        }
        true
    }

    #[inline]
    fn execute_one<F: FrontEnd, B: Bus>(&mut self, seq: Seq, cx: &mut CoreCtx<'_, F, B>, when: &When) {
        if self.ring.note(seq) & note::PLACEHOLDER != 0 && !self.execute_placeholder(seq, cx, when) {
            return;
        }
        self.execute_stats.executed += 1;
        if let Some(trace) = &mut self.trace {
            trace.completed(self.ring.slot(seq), when.cycle);
        }
        let flags = self.ring.flags(seq);
        if flags.any(UopFlags::MEM) && !flags.any(UopFlags::TRAP) {
            let outcome = self.lsq.execute(seq, cx, when, &mut self.ring, &mut self.lsq_out);
            if let MemOutcome::Done(at) = outcome {
                let event = self.event_of(seq);
                if at <= when.cycle {
                    self.arrived.push(event);
                } else {
                    self.written.push(when.cycle, at, event);
                }
            }
            self.hear_lsq(when.cycle);
            if let Some(v) = self.lsq.take_violation() {
                self.execute_stats.violations += 1;
                self.ask(Squash { after: v.load - 1, stamp: self.ring.stamp(v.load), cause: Cause::Violation });
            }
            return;
        }
        let event = self.event_of(seq);
        if flags.any(BARRIER) && !flags.any(UopFlags::TRAP) {
            let at = Lsq::execute_barrier(flags, cx, when);
            if at > when.cycle {
                self.written.push(when.cycle, at, event);
                return;
            }
        }
        self.arrived.push(event);
        if flags.any(UopFlags::EFFECT) {
            self.act_at_once(seq, flags, cx);
        }
        self.resolve_branch(seq, flags);
        // A branch fused with it is executed by it; one that has not come as far executes by itself.
        let next = seq + 1;
        if flags.any(UopFlags::FUSE_HEAD) && next < self.path.placed {
            let noted = self.ring.note(next);
            if noted & (note::FUSED_WITH_PREV | note::UNFUSED) != note::FUSED_WITH_PREV {
                return;
            }
            if next >= self.at.dispatch {
                self.ring.set_note(next, noted | note::UNFUSED);
                return;
            }
            self.ring.set_state(next, state::DONE | state::WRITTEN);
            self.ring.set_ready_at(next, when.cycle + self.rules.iew_to_commit + 1);
            self.resolve_branch(next, self.ring.flags(next));
        }
    }

    #[inline]
    fn resolve_branch(&mut self, seq: Seq, flags: UopFlags) {
        if flags.any(UopFlags::BRANCH) && !flags.any(UopFlags::TRAP) {
            let flow = self.ring.flow(seq);
            if flow.predicted != flow.next_pc {
                let taken = flow.predicted != self.ring.pc(seq).wrapping_add(flow.len.into());
                let counts = &mut self.execute_stats;
                *(if taken { &mut counts.predicted_taken_wrong } else { &mut counts.predicted_not_taken_wrong }) += 1;
                self.ask(Squash { after: seq, stamp: self.ring.stamp(seq), cause: Cause::Mispredict });
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
    fn write_back(&mut self, now: u64) {
        if self.arrived.is_empty() {
            return;
        }
        self.moved = true;
        let n = self.arrived.len().min(self.rules.wb_width);
        for i in 0..n {
            let event = self.arrived[i];
            if self.is_current(event) {
                self.write_back_one(event.seq, now);
            }
        }
        if n == self.arrived.len() {
            self.arrived.clear();
        } else {
            self.arrived.drain(..n);
        }
    }

    #[inline]
    fn write_back_one(&mut self, seq: Seq, now: u64) {
        self.execute_stats.written += 1;
        let flags = self.ring.flags(seq);
        if flags.any(UopFlags::MEM | BARRIER) && !flags.any(UopFlags::TRAP) {
            self.lsq.written_back(seq, &self.ring, &mut self.lsq_out);
            if self.ring.state(seq) & state::IN_IQ != 0 {
                self.iq.free += 1;
                self.ring.clear_state(seq, state::IN_IQ);
            }
            self.hear_lsq(now);
        }
        let s = self.ring.at_mut(seq);
        s.state |= state::DONE | state::WRITTEN;
        s.ready_at = now + self.rules.iew_to_commit + 1;
        if flags.any(UopFlags::TRAP) {
            return;
        }
        let (iq, units) = (&mut self.iq, &self.units);
        self.ring.wake(seq, |slot, class| iq.set_ready(slot, units.group(class)));
    }

    /// Issues ready micro-ops, oldest first.
    fn issue(&mut self, now: u64) {
        self.units.begin(now);
        // Groups without a free unit, and how many ready micro-ops have not been looked at or passed over with them.
        let mut busy = 0;
        let mut ready = self.iq.ready_total;
        let head = self.at.head;
        let start = self.ring.slot(head);
        let words = self.ring.capacity() / 64;
        let mut left = self.rules.issue_width;
        let mut word = start / 64;
        // The word in which the oldest lies comes twice: its upper bits first, its lower ones last.
        let mut within = u64::MAX << (start % 64);
        for turn in 0..=words {
            if turn == words {
                within = !(u64::MAX << (start % 64));
            }
            let mut bits = self.iq.ready_word(busy, word) & within;
            while bits != 0 {
                let slot = word * 64 + bits.trailing_zeros() as usize;
                let seq = self.ring.seq_of(slot, head);
                let Uop { class, latency, .. } = *self.ring.uop(seq);
                let group = self.units.group(class);
                match self.units.take(class, latency, now) {
                    Found::Latency(latency) => {
                        bits &= bits - 1;
                        self.iq.clear_ready(slot, group);
                        self.start(seq, now, latency);
                        left -= 1;
                        ready -= 1;
                        if left == 0 {
                            return;
                        }
                    }
                    Found::NoneFree => {
                        self.execute_stats.fu_busy += 1;
                        self.ring.set_wait(seq, Wait::Unit);
                        busy |= 1 << group;
                        ready -= self.iq.ready_in(group);
                        bits &= self.iq.ready_word(busy, word);
                    }
                }
                if ready == 0 {
                    return;
                }
            }
            within = u64::MAX;
            word = if word + 1 == words { 0 } else { word + 1 };
        }
    }

    #[inline]
    fn start(&mut self, seq: Seq, now: u64, latency: u32) {
        self.moved = true;
        self.execute_stats.issued += 1;
        let s = self.ring.at_mut(seq);
        if s.wait == Wait::Unit {
            s.wait = Wait::Execution;
        }
        let mut bits = s.state | state::ISSUED;
        if !s.uop.flags.any(UopFlags::MEM) || s.uop.flags.any(UopFlags::TRAP) {
            self.iq.free += 1;
            bits &= !state::IN_IQ;
        }
        s.state = bits;
        let event = Event { seq, stamp: s.stamp };
        if let Some(trace) = &mut self.trace {
            trace.issued(self.ring.slot(seq), now);
        }
        let at = now + self.rules.issue_to_execute + u64::from(latency) - 1;
        self.executes.push(now, at, event);
    }

    /// Executes the instruction that a placeholder stands for, now that everything older has committed. False: it does not go
    /// on from here (it waits, the run pauses, or it is fetched again as what it has turned out to be).
    #[cold]
    fn execute_placeholder<F: FrontEnd, B: Bus>(&mut self, seq: Seq, cx: &mut CoreCtx<'_, F, B>, when: &When) -> bool {
        let retry = |o3: &mut O3, at: u64| {
            let event = o3.event_of(seq);
            o3.executes.push(when.cycle, at.max(when.cycle + 1), event);
        };
        let pauses = self.ring.note(seq) & note::PAUSES != 0;
        if pauses && !self.lsq.drained() {
            retry(self, when.cycle + 1);
            return false;
        }
        self.path.restore_fork(cx.fe, seq, &mut self.ring);
        let now = Now { tick: when.tick, cycle: when.cycle, drained: true };
        self.fetch.step.n = 0;
        let result = if pauses { StepResult::Paused } else { cx.fe.step(cx.bus, now, self.fetch.step_mut()) };
        match result {
            StepResult::Done => {}
            StepResult::Paused => {
                // It leaves as if it had never been fetched.
                self.path.placed = seq;
                self.squash_now(cx, seq - 1, when.cycle);
                self.stopped = Some(Stopped::Paused);
                return false;
            }
            StepResult::NeedsDrain | StepResult::Blocked => {
                // wfi and the like: once more when an interrupt can have come.
                self.path.placed = seq + 1;
                self.squash_now(cx, seq, when.cycle);
                self.fetch.status = super::fetch::Status::Stopped;
                retry(self, when.cycle_of(cx.bus.irq_deadline()));
                return false;
            }
        }
        let step = self.fetch.step_mut();
        let uop = step.uops[0];
        let mem = UopFlags::MEM;
        let expected = self.ring.flags(seq).0 & mem;
        let trap = uop.flags.any(UopFlags::TRAP);
        // A trap has no result; a register that was renamed for one would be lost.
        let promised = expected != 0 || self.ring.uop(seq).dst.iter().any(|r| r.is_some());
        if step.n != 1 || (!trap && uop.flags.0 & mem != expected) || (trap && promised) {
            // Not what it was taken for: it is fetched again, executed as it is now.
            self.unwind_now(seq - 1, when.cycle);
            self.place_step(seq);
            self.redirect_fetch(cx, seq - 1, when.cycle);
            return false;
        }
        let known = *self.ring.uop(seq);
        let next_pc = step.next_pc;
        let mem_ref = step.mem[0];
        let effect = step.effect;
        *self.ring.uop_mut(seq) = Uop { src: known.src, dst: known.dst, class: known.class, ..uop };
        self.ring.uop_mut(seq).flags.0 |= known.flags.0 & (UopFlags::SERIALIZE_AFTER | UopFlags::SERIALIZE_BEFORE);
        self.ring.set_note(seq, 0);
        self.ring.set_mem(seq, &mem_ref);
        self.ring.set_effect(seq, effect);
        let flow = self.ring.flow_mut(seq);
        flow.next_pc = next_pc;
        let straight = flow.predicted == next_pc && !trap;
        self.path.placed = seq + 1;
        if straight && self.path.tail > seq + 1 {
            self.reexecute_younger(seq + 1, cx, when);
        } else {
            self.squash_now(cx, seq, when.cycle);
        }
        if trap {
            self.fetch.status = super::fetch::Status::Stopped;
        }
        true
    }

    /// A placeholder has been executed and execution goes on straight behind it: the instructions that were fetched behind it
    /// on a fork (none of them is renamed yet) are executed on the path itself. Where one turns out otherwise, it and all
    /// behind it are fetched again.
    fn reexecute_younger<F: FrontEnd, B: Bus>(&mut self, from: Seq, cx: &mut CoreCtx<'_, F, B>, when: &When) {
        let end = self.path.tail;
        let mut seq = from;
        let now = Now { tick: when.tick, cycle: when.cycle, drained: false };
        while seq < end {
            let (pc, noted) = (self.ring.pc(seq), self.ring.note(seq));
            let mut last = seq;
            while last + 1 < end && !self.ring.flags(last).any(UopFlags::LAST) {
                last += 1;
            }
            let predicted = self.ring.flow(last).predicted;
            let whole = self.ring.flags(last).any(UopFlags::LAST) && seq >= self.at.rename;
            if !whole || cx.fe.pc() != pc {
                return self.squash_now(cx, seq - 1, when.cycle);
            }
            self.fetch.step.n = 0;
            let result = cx.fe.step(cx.bus, now, self.fetch.step_mut());
            let same = self.fetch.step.n != 0 && u64::from(self.fetch.step.n) == last + 1 - seq;
            self.path.tail = last + 1;
            match result {
                StepResult::Done if same && noted & note::PLACEHOLDER == 0 && !self.traps() => {
                    self.patch(seq);
                    if predicted != self.ring.flow(last).next_pc {
                        if !self.path.can_fork() {
                            return self.squash_now(cx, seq - 1, when.cycle);
                        }
                        self.path.fork(cx.fe, predicted, &self.ring, true);
                    }
                }
                StepResult::Done => {
                    self.unwind_now(seq - 1, when.cycle);
                    self.place_step(seq);
                    return self.redirect_fetch(cx, seq - 1, when.cycle);
                }
                _ if noted & note::WAITS != 0 && self.path.can_fork() && last + 1 < end => {
                    self.path.placed = last + 1;
                    self.path.fork(cx.fe, predicted, &self.ring, false);
                }
                _ => {
                    self.path.placed = seq;
                    return self.squash_now(cx, seq - 1, when.cycle);
                }
            }
            seq = last + 1;
        }
        self.path.tail = end;
        self.path.placed = end;
        if self.fetch.status == super::fetch::Status::Stopped {
            // It had no fork left, or nothing to fetch where it stood: that may be otherwise now.
            let pc = self.fetch.pc;
            self.fetch.redirect(pc, when.cycle);
        }
    }

    fn traps(&self) -> bool {
        self.fetch.step.uops[..usize::from(self.fetch.step.n)].iter().any(|u| u.flags.any(UopFlags::TRAP))
    }

    /// The micro-ops from `seq` on get what the step says; what the pipeline knows of them stays.
    fn patch(&mut self, seq: Seq) {
        let n = u64::from(self.fetch.step.n);
        for i in 0..n {
            let step = &self.fetch.step;
            let at = seq + i;
            self.ring.set_mem(at, &step.mem[i as usize]);
            self.ring.set_effect(at, step.effect);
            let (next_pc, target) = (step.next_pc, step.branch.target);
            let flow = self.ring.flow_mut(at);
            (flow.next_pc, flow.target) = (next_pc, target);
        }
        self.path.placed = seq + n;
    }
}
