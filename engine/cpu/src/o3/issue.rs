//! Issue: takes ready micro-ops oldest first, at most `issueWidth` a cycle; a class whose units are all busy is passed over.
//! Fact source: gem5 24.0 `src/cpu/o3/inst_queue.cc`.

use breakeven_base::{Cycle, UopFlags};
use educe::Educe;

use super::config::O3Config;
use super::inst::{InstRing, Note, State, Wait};
use super::io::Io;
use super::iq::IssueQueue;
use super::seq::{Producer, Seq, Slot};
use super::units::{Grant, Units};
use super::wheel::{Event, Wheel};
use crate::memo::archive::Archive;

/// An entry of an issue queue, for a micro-op that is being dispatched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// One of this queue that is free.
    Free(usize),
    /// That of the micro-op before it, in this queue.
    OfPrevious(usize),
}

#[derive(Clone, Copy, Debug, Default)]
pub struct IssueStats {
    pub issued: u64,
    pub fu_busy: u64,
}

/// The issue queue and the functional units.
#[derive(Debug, Educe)]
#[educe(Clone)]
pub struct Issue {
    queue: IssueQueue,
    units: Units,
    /// There are `instQueues`.
    queues_by_kind: bool,
    loads_leave: bool,
    pub stats: IssueStats,
}

impl Issue {
    pub fn new(cfg: &O3Config, ring: &InstRing) -> Self {
        let pools: Vec<_> = cfg.queues().iter().map(|q| q.1).collect();
        let units = Units::new(&pools, cfg.branchIssueWidth);
        Issue {
            queue: IssueQueue::new(cfg, ring, units.groups()),
            units,
            queues_by_kind: !cfg.instQueues.is_empty(),
            loads_leave: cfg.loadsLeaveAtIssue,
            stats: IssueStats::default(),
        }
    }

    /// Free entries of the issue queue.
    #[inline]
    pub fn free(&self) -> u32 {
        self.queue.free
    }
    /// Where `seq`, which is being dispatched, finds an entry; none: the queues that can execute it are full.
    #[inline]
    pub fn room_for(&self, ring: &InstRing, seq: Seq) -> Option<Entry> {
        if self.queues_by_kind {
            return self.room_by_kind(ring, seq);
        }
        (self.queue.free > 0).then_some(Entry::Free(0))
    }

    /// Micro-fused micro-ops share an entry where one queue can execute them: the next takes over that of the one before.
    fn room_by_kind(&self, ring: &InstRing, seq: Seq) -> Option<Entry> {
        let inst = ring.at(seq);
        if inst.note.intersects(Note::ELIMINATED) || inst.note.executes_with_prev() {
            return (self.queue.free > 0).then_some(Entry::Free(0));
        }
        let mut able = self.units.queues(inst.uop.class);
        if inst.note.intersects(Note::FUSED_NO_SLOT) {
            let queue = self.queue.queue(ring.slot(seq - 1));
            if ring.state(seq - 1).intersects(State::IN_IQ) && able >> queue & 1 != 0 {
                return Some(Entry::OfPrevious(queue));
            }
        }
        let mut next = seq + 1;
        while next < ring.tail()
            && ring.note(next) & (Note::FUSED_NO_SLOT | Note::FUSED_WITH_PREV) == Note::FUSED_NO_SLOT
        {
            let both = able & self.units.queues(ring.class(next));
            able = if both == 0 { able } else { both };
            next += 1;
        }
        self.queue.choose(able).map(Entry::Free)
    }

    #[inline]
    pub fn has_ready(&self) -> bool {
        self.queue.ready_total > 0
    }

    /// The state in relative form.
    pub fn archive(&mut self, ring: &InstRing, a: &mut Archive) {
        let Self { queue, units, queues_by_kind: _, loads_leave: _, stats: _ } = self;
        units.archive(a);
        queue.archive(ring, |inst, queue| units.group(inst, queue), a);
    }

    pub fn describe(&self) -> String {
        format!("{}\n{}", self.queue.describe(), self.units.describe())
    }

    /// Dispatch: makes the micro-op wait for those operands that have not been written.
    #[inline]
    pub fn link_operands(&mut self, ring: &mut InstRing, seq: Seq) {
        for i in 0..3 {
            let from = ring.at(seq).sources[i];
            if from.is_some() {
                let by = from.seq();
                if by < ring.head() || ring.state(by).intersects(State::WRITTEN) {
                    ring.at_mut(seq).sources[i] = Producer::NONE;
                } else {
                    ring.link(seq, i, from);
                }
            }
        }
    }

    /// Dispatch: takes an entry; `pending`: things that it waits for beside its operands ([`Issue::arrived`]).
    #[inline]
    pub fn insert(&mut self, ring: &mut InstRing, seq: Seq, entry: Entry, bits: State, pending: u8) {
        match entry {
            Entry::Free(queue) => self.queue.take(ring.slot(seq), queue),
            Entry::OfPrevious(queue) => {
                self.queue.put(ring.slot(seq), queue);
                ring.clear_state(seq - 1, State::IN_IQ);
            }
        }
        let s = ring.at_mut(seq);
        s.state |= State::IN_IQ | bits;
        s.pending += pending;
        if s.pending == 0 {
            self.set_ready(ring, seq);
        }
    }

    #[inline]
    fn set_ready(&mut self, ring: &InstRing, seq: Seq) {
        let slot = ring.slot(seq);
        self.queue.set_ready(slot, self.units.group(ring.at(seq), self.queue.queue(slot)));
    }

    /// One thing that `seq` waits for has come: memory order, or it is the oldest.
    #[inline]
    pub fn arrived(&mut self, ring: &mut InstRing, seq: Seq) {
        if ring.arrive(seq) {
            self.set_ready(ring, seq);
        }
    }

    /// The load-store queue: `seq` may issue, for the first time or again.
    #[inline]
    pub fn memory_ready(&mut self, ring: &mut InstRing, seq: Seq) {
        if ring.state(seq).intersects(State::ISSUED) {
            self.set_ready(ring, seq);
        } else {
            self.arrived(ring, seq);
        }
    }

    /// Commit has told the oldest micro-op to execute.
    pub fn release(&mut self, io: &mut Io, seq: Seq) {
        if io.ring.state(seq).intersects(State::RELEASED) {
            io.activity.moved = true;
            self.arrived(&mut io.ring, seq);
        }
    }

    /// Write-back: `seq`'s results are there, its dependents may issue.
    #[inline]
    pub fn wake(&mut self, ring: &mut InstRing, seq: Seq) {
        let (queue, units) = (&mut self.queue, &self.units);
        ring.wake(seq, |slot, inst| queue.set_ready(slot, units.group(inst, queue.queue(slot))));
    }

    /// A memory reference keeps its entry until it writes back.
    #[inline]
    pub fn leave(&mut self, ring: &mut InstRing, seq: Seq) {
        if ring.state(seq).intersects(State::IN_IQ) {
            self.queue.free_entry(ring.slot(seq));
            ring.clear_state(seq, State::IN_IQ);
        }
    }

    /// One cycle. Out: what executes when.
    pub fn tick(&mut self, io: &mut Io, executes: &mut Wheel, now: Cycle) {
        let issued = self.issue(io, executes, now);
        self.stats.issued += u64::from(issued);
        io.activity.moved |= issued > 0;
    }

    /// How many micro-ops it issues.
    #[inline]
    fn issue(&mut self, io: &mut Io, executes: &mut Wheel, now: Cycle) -> u32 {
        self.units.begin(now);
        // Groups without a free unit, and how many ready micro-ops have not been looked at or passed over with them.
        let mut busy = 0;
        let mut ready = self.queue.ready_total;
        let head = io.ring.head();
        let Slot(start) = io.ring.slot(head);
        let words = io.ring.capacity() / 64;
        let mut left = io.rules.widths.issue;
        let mut word = start / 64;
        // The word in which the oldest lies comes twice: its upper bits first, its lower ones last.
        let mut within = u64::MAX << (start % 64);
        for turn in 0..=words {
            if turn == words {
                within = !(u64::MAX << (start % 64));
            }
            let mut bits = self.queue.ready_word(busy, word) & within;
            while bits != 0 {
                let slot = Slot(word * 64 + bits.trailing_zeros() as usize);
                let seq = io.ring.seq_of(slot, head);
                let inst = io.ring.at(seq);
                let queue = self.queue.queue(slot);
                let group = self.units.group(inst, queue);
                match self.units.take(inst, queue, now) {
                    Grant::Latency(latency) => {
                        bits &= bits - 1;
                        self.queue.clear_ready(slot, group);
                        self.start(io, executes, seq, now, latency);
                        left -= 1;
                        ready -= 1;
                        if left == 0 {
                            return io.rules.widths.issue;
                        }
                    }
                    Grant::Busy => {
                        self.stats.fu_busy += 1;
                        io.ring.set_wait(seq, Wait::Unit);
                        busy |= 1 << group;
                        ready -= self.queue.ready_in(group);
                        bits &= self.queue.ready_word(busy, word);
                    }
                }
                if ready == 0 {
                    return io.rules.widths.issue - left;
                }
            }
            within = u64::MAX;
            word = if word + 1 == words { 0 } else { word + 1 };
        }
        io.rules.widths.issue - left
    }

    #[inline]
    fn start(&mut self, io: &mut Io, executes: &mut Wheel, seq: Seq, now: Cycle, latency: u32) {
        let slot = io.ring.slot(seq);
        let s = io.ring.at_mut(seq);
        if s.wait == Wait::Unit {
            s.wait = Wait::Execution;
        }
        let mut bits = s.state | State::ISSUED;
        let flags = s.uop.flags;
        let leaves =
            !flags.any(UopFlags::MEM) || flags.any(UopFlags::TRAP) || self.loads_leave && flags.any(UopFlags::LOAD);
        if leaves && bits.intersects(State::IN_IQ) {
            self.queue.free_entry(slot);
            bits &= !State::IN_IQ;
        }
        s.state = bits;
        let event = Event { seq, stamp: s.stamp };
        if let Some(trace) = &mut io.trace {
            trace.issued(io.ring.slot(seq).0, now, self.units.last);
        }
        let at = now + io.rules.delays.issue_to_execute + u64::from(latency) - 1;
        executes.push(now, at, event);
    }

    /// Squash: micro-ops from `next` to `dispatched`, the next to be dispatched, leave the queue and the lists of those they
    /// wait for.
    pub fn squash(&mut self, ring: &mut InstRing, next: Seq, dispatched: Seq) {
        for seq in next.until(dispatched).rev() {
            ring.forget(seq, ring.head());
            let slot = ring.slot(seq);
            self.queue.clear_ready(slot, self.units.group(ring.at(seq), self.queue.queue(slot)));
            self.leave(ring, seq);
        }
    }
}

#[cfg(test)]
mod tests;
