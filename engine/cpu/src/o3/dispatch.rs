//! Dispatch: puts `dispatchWidth` renamed micro-ops a cycle into the issue queue and the load-store queue, and returns their
//! credits to rename.
//! Fact source: gem5 24.0 `src/cpu/o3/iew.cc`.

use breakeven_base::{Cycle, UopFlags};

use super::config::O3Config;
use super::decode::Status;
use super::inst::{InstRing, Note, State};
use super::io::Io;
use super::issue::{Entry, Issue};
use super::lsq::{uses_load_queue, uses_store_queue, Lsq};
use super::seq::{Operand, Seq, STORES_DISPATCHED};
use super::wires::{Arrivals, Dispatched, Stall, ToIew};
use crate::memo::archive::Archive;

#[derive(Clone, Copy, Debug, Default)]
pub struct DispatchStats {
    pub dispatched: u64,
    pub loads: u64,
    pub stores: u64,
    pub non_spec: u64,
    pub iq_full: u64,
    pub lsq_full: u64,
    pub block_cycles: u64,
    pub unblock_cycles: u64,
    pub squash_cycles: u64,
}

#[derive(Clone, Debug)]
pub struct Dispatch {
    status: Status,
    /// Latch and skid buffer: the next micro-op to be dispatched, and the next to arrive.
    next: Seq,
    end: Seq,
    /// Something committed: the queues' credits return to rename in the next cycle.
    credits_due: bool,
    /// Free entries of the store queue plus all that have been taken: changes when one is given back.
    stores_left: u64,
    pub stats: DispatchStats,
}

const BARRIER: UopFlags = UopFlags::READ_BARRIER.union(UopFlags::WRITE_BARRIER);

impl Dispatch {
    pub fn new(cfg: &O3Config) -> Self {
        Dispatch {
            status: Status::Running,
            next: Seq::FIRST,
            end: Seq::FIRST,
            credits_due: false,
            stores_left: u64::from(cfg.SQEntries),
            stats: DispatchStats::default(),
        }
    }

    /// The next micro-op to be dispatched.
    #[inline]
    pub fn next(&self) -> Seq {
        self.next
    }
    /// The next micro-op to arrive.
    #[inline]
    pub fn end(&self) -> Seq {
        self.end
    }

    /// Micro-ops arrive outside of `tick`: together with a squash.
    pub fn arrive(&mut self, count: u16) {
        self.end += u64::from(count);
    }

    pub fn describe(&self) -> String {
        format!("dispatch: {:?}, {} micro-ops from {} on", self.status, self.end - self.next, self.next)
    }

    /// One cycle. In: micro-ops from rename, whether there is a squash. Out: entries of the issue queue and the load-store
    /// queue, stalls and counts to rename.
    pub fn tick(&mut self, io: &mut Io, issue: &mut Issue, lsq: &mut Lsq, now: Cycle, wire: &ToIew, squashed: bool) {
        let arrived = u64::from(wire.arrived);
        self.end += arrived;
        let to_rename = now + io.rules.delays.iew_to_rename;
        if squashed {
            if matches!(self.status, Status::Blocked | Status::Unblocking) {
                io.wires.at(to_rename).rename.stall = Stall::Unblock;
            }
            self.status = Status::Squashing;
            self.stats.squash_cycles += 1;
            return;
        }
        if wire.rob_squashing && !matches!(self.status, Status::Blocked | Status::Unblocking) {
            self.status = Status::Squashing;
        }
        if wire.rob_squashing || issue.free() == 0 {
            // The walk may have ended meanwhile: the next cycle, in which dispatch goes on, is not skipped.
            io.activity.moved |= wire.rob_squashing;
            self.block(io, to_rename);
            self.stats.block_cycles += 1;
            return;
        }
        let skid = self.end - arrived - self.next;
        let was_blocked = self.status == Status::Blocked;
        match self.status {
            Status::Blocked => {
                self.status = Status::Unblocking;
                if skid == 0 {
                    self.unblock(io, to_rename);
                }
            }
            Status::Squashing => self.status = Status::Running,
            _ => {}
        }
        let unblocking = self.status == Status::Unblocking;
        let skid_only = unblocking && io.rules.quirks.gem5SkidBufferFirst;
        let end = if skid_only { self.end - arrived } else { self.end };
        let first = self.next;
        if first < end {
            self.dispatch_until(io, issue, lsq, end, now);
        }
        if self.next < end {
            io.activity.stalled_retry |= was_blocked && self.next == first;
            self.block(io, to_rename);
        } else if unblocking {
            self.stats.unblock_cycles += 1;
            if self.next == self.end {
                self.unblock(io, to_rename);
            }
        }
    }

    /// So many cycles in which nothing moves.
    pub fn count_still(&mut self, cycles: u64, issue: &Issue) {
        if issue.free() == 0 {
            self.stats.block_cycles += cycles;
        }
    }

    fn block(&mut self, io: &mut Io, to_rename: Cycle) {
        if self.status != Status::Blocked && self.status != Status::Unblocking {
            io.wires.at(to_rename).rename.stall = Stall::Block;
            io.activity.moved = true;
        }
        self.status = Status::Blocked;
    }

    fn unblock(&mut self, io: &mut Io, to_rename: Cycle) {
        io.wires.at(to_rename).rename.stall = Stall::Unblock;
        self.status = Status::Running;
        io.activity.moved = true;
    }

    fn dispatch_until(&mut self, io: &mut Io, issue: &mut Issue, lsq: &mut Lsq, end: Seq, now: Cycle) {
        let first = self.next;
        let mut slots = 0;
        let mut leaving = Dispatched::default();
        while self.next < end {
            let seq = self.next;
            let cost = io.cost(seq);
            if slots + cost > io.rules.widths.dispatch {
                break;
            }
            let flags = io.ring.flags(seq);
            let reference = flags.any(UopFlags::MEM);
            let (load, store) = (reference && uses_load_queue(flags), reference && uses_store_queue(flags));
            let Some(entry) = issue.room_for(&io.ring, seq) else {
                self.stats.iq_full += 1;
                break;
            };
            if load && lsq.free_loads() == 0 || store && lsq.free_stores() == 0 {
                self.stats.lsq_full += 1;
                break;
            }
            leaving.loads += u16::from(load);
            leaving.stores += u16::from(store);
            #[allow(clippy::cast_possible_truncation)] // 0 or 1
            {
                leaving.rob += cost as u16;
            }
            slots += cost;
            self.dispatch_one(io, issue, lsq, seq, entry, now);
            self.next += 1;
        }
        let n = self.next - first;
        if n > 0 {
            io.traced(first..self.next, |trace, ring, seq| trace.dispatched(ring.slot(seq).0, now));
            io.activity.moved = true;
            self.stats.dispatched += n;
            self.stats.loads += u64::from(leaving.loads);
            self.stats.stores += u64::from(leaving.stores);
            #[allow(clippy::cast_possible_truncation)] // a few
            {
                leaving.uops = n as u16;
            }
            report(io, now, leaving);
        }
    }

    #[inline]
    fn dispatch_one(&mut self, io: &mut Io, issue: &mut Issue, lsq: &mut Lsq, seq: Seq, entry: Entry, now: Cycle) {
        let s = io.ring.at_mut(seq);
        s.waiting = [Operand::NONE; 2];
        s.pending = 0;
        let noted = s.note;
        if noted.intersects(Note::ELIMINATED) {
            s.state |= State::DONE | State::WRITTEN | State::DISPATCHED;
            s.ready_at = now;
            return;
        }
        s.state |= State::DISPATCHED;
        if noted.executes_with_prev() {
            return;
        }
        issue.link_operands(&mut io.ring, seq);
        let flags = io.ring.flags(seq);
        let mut bits = if io.rules.counts_branches && branches(&io.ring, seq) { State::BRANCH } else { State::empty() };
        let in_lsq = flags.any(UopFlags::MEM | BARRIER) && !flags.any(UopFlags::TRAP);
        let mut pending = 0;
        if in_lsq && !lsq.dispatch(seq, &io.ring) {
            pending += 1;
        }
        if flags.any(BARRIER) {
            io.ring.set_ready_at(seq, lsq.barrier_ready_at(now));
        }
        if flags.any(UopFlags::NON_SPECULATIVE | BARRIER | UopFlags::MEM) && only_when_oldest(io, lsq, seq, flags) {
            bits |= State::NON_SPEC;
            pending += 1;
            self.stats.non_spec += 1;
        }
        issue.insert(&mut io.ring, seq, entry, bits, pending);
    }

    /// Returns the queues' credits to rename after executions, commits, squashes and when a store has left the queue. Called
    /// once a cycle; `executed`: something was. Whether they return in this cycle: [`Dispatch::return_credits`].
    pub fn credits_return(&mut self, io: &Io, lsq: &Lsq, executed: bool, wire: &ToIew, squashed: bool) -> bool {
        let left = u64::from(lsq.free_stores()) + self.stats.stores;
        let store_left = std::mem::replace(&mut self.stores_left, left) != left;
        let freed = executed || squashed || store_left;
        let returns = freed || self.credits_due;
        self.credits_due &= freed && !io.rules.quirks.gem5CreditReturns;
        self.credits_due |= wire.committed.is_some();
        returns
    }

    /// Free entries of the issue, load and store queue, to rename.
    pub fn return_credits(&self, io: &mut Io, issue: &Issue, lsq: &Lsq, now: Cycle) {
        #[allow(clippy::cast_possible_truncation)] // no queue has as many entries (`MAX_QUEUE`)
        let free = [issue.free() as u16, lsq.free_loads() as u16, lsq.free_stores() as u16];
        io.wires.at(now + io.rules.delays.iew_to_rename).rename.free_queues = Some(free);
    }

    /// The state in relative form.
    pub fn archive(&mut self, a: &mut Archive) {
        let Self { status, next, end, credits_due, stores_left, stats: _ } = self;
        a.one_of(status, &Status::ALL);
        a.seq(next);
        a.seq(end);
        a.flag(credits_due);
        a.number(STORES_DISPATCHED, stores_left);
    }

    /// Squash: drops the micro-ops from `next` on. `in_flight`: those on their way here, up to `renamed`, the next to be
    /// renamed. Returns what rename takes off its counts at once.
    pub fn squash(&mut self, io: &mut Io, next: Seq, renamed: Seq, in_flight: &Arrivals, now: Cycle) -> Dispatched {
        let from = self.next.max(next);
        let mut dropped = Dispatched::default();
        if io.rules.quirks.gem5SquashedCredits {
            self.report_squashed(io, from, renamed, in_flight, now);
        } else {
            dropped = counted(io, from, renamed);
        }
        self.next = self.next.min(next);
        self.end = self.end.min(next);
        dropped
    }

    /// Rename gets the credits of squashed micro-ops back as if they had been dispatched: of those that are here now, of those
    /// on their way as they would have arrived (`gem5SquashedCredits`).
    fn report_squashed(&self, io: &mut Io, mut from: Seq, renamed: Seq, in_flight: &Arrivals, now: Cycle) {
        if from < self.end {
            let here = counted(io, from, self.end);
            report(io, now, here);
            from = self.end;
        }
        for (cycle, count) in in_flight.iter() {
            let to = (from + u64::from(count)).min(renamed);
            if from < to {
                let arrived = counted(io, from, to);
                report(io, cycle, arrived);
                from = to;
            }
        }
    }
}

/// Rename takes these off its counts; off that of ROB entries not before the ROB has reported them.
fn report(io: &mut Io, now: Cycle, leaving: Dispatched) {
    let (dispatched, entered) = (now + io.rules.delays.iew_to_rename, now + io.rules.delays.entry_to_rename());
    io.wires.at(dispatched).rename.dispatched += Dispatched { rob: 0, ..leaving };
    io.wires.at(entered).rename.dispatched.rob += leaving.rob;
}

/// The micro-ops from `from` on and before `to`, as rename counts them.
fn counted(io: &Io, from: Seq, to: Seq) -> Dispatched {
    let mut leaving = Dispatched::default();
    for seq in from.until(to) {
        let flags = io.ring.flags(seq);
        leaving.uops += 1;
        #[allow(clippy::cast_possible_truncation)] // 0 or 1
        {
            leaving.rob += io.cost(seq) as u16;
        }
        leaving.loads += u16::from(uses_load_queue(flags));
        leaving.stores += u16::from(uses_store_queue(flags));
    }
    leaving
}

/// Whether `seq` is a branch, or executes the one behind it.
fn branches(ring: &InstRing, seq: Seq) -> bool {
    let fused = seq + 1 < ring.tail() && ring.note(seq + 1).executes_with_prev();
    fused || ring.flags(seq).any(UopFlags::BRANCH)
}

fn only_when_oldest(io: &Io, lsq: &Lsq, seq: Seq, flags: UopFlags) -> bool {
    let barrier = flags.any(BARRIER) && !flags.any(UopFlags::MEM);
    barrier
        || flags.any(UopFlags::NON_SPECULATIVE)
        || flags.any(UopFlags::MEM) && !flags.any(UopFlags::TRAP) && lsq.only_when_oldest(seq, &io.ring)
}

#[cfg(test)]
mod tests;
