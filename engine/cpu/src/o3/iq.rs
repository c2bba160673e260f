//! The issue queue: wake-up of micro-ops that wait for operands, and selection of ready ones, oldest first.
//!
//! Each result has the list of the operands that wait for it, linked through flat arrays. Ready micro-ops are bits, one set
//! for each group of functional units, indexed by the slot in the ring: the oldest is found by counting zeros.

use educe::Educe;

use super::config::O3Config;
use super::fu_pool::IqInsertionPolicy;
use super::inst::{DynInst, InstRing, State};
use super::seq::{Operand, Producer, Seq, Slot};
use crate::memo::archive::Archive;

/// Entries of one queue.
#[derive(Clone, Copy, Debug)]
struct Entries {
    size: u32,
    free: u32,
}

#[derive(Debug, Educe)]
#[educe(Clone)]
pub struct IssueQueue {
    /// Free entries of all queues.
    pub free: u32,
    queues: Box<[Entries]>,
    policy: IqInsertionPolicy,
    /// A bit a queue with a free entry.
    room: u64,
    /// The queue of each micro-op, by its slot in the ring.
    of: Box<[u8]>,
    /// Words of the groups' bit sets, all groups' first words, then their second ones; and of their union.
    ready: Box<[u64]>,
    any: Box<[u64]>,
    groups: usize,
    /// Ready micro-ops of each group.
    counts: Box<[u32]>,
    pub ready_total: u32,
}

impl IssueQueue {
    pub fn new(cfg: &O3Config, ring: &InstRing, groups: usize) -> Self {
        let words = ring.capacity().div_ceil(64);
        let queues: Box<[Entries]> = cfg.queues().iter().map(|q| Entries { size: q.0, free: q.0 }).collect();
        IssueQueue {
            free: queues.iter().map(|q| q.size).sum(),
            room: !0 >> (64 - queues.len()),
            queues,
            policy: cfg.iqInsertionPolicy,
            of: vec![0; ring.capacity()].into_boxed_slice(),
            ready: vec![0; words * groups].into_boxed_slice(),
            any: vec![0; words].into_boxed_slice(),
            groups,
            counts: vec![0; groups].into_boxed_slice(),
            ready_total: 0,
        }
    }

    /// The queue of the micro-op in `slot`, which has been dispatched.
    #[inline]
    pub fn queue(&self, Slot(slot): Slot) -> usize {
        usize::from(self.of[slot])
    }

    /// The queue that takes a micro-op that those in `able` (a bit each) can execute; none: they are full.
    #[inline]
    pub fn choose(&self, able: u64) -> Option<usize> {
        let mut left = able & self.room;
        let mut best = None;
        let mut least = u32::MAX;
        while left != 0 {
            let queue = left.trailing_zeros() as usize;
            left &= left - 1;
            let Entries { size, free } = self.queues[queue];
            if size - free < least {
                (best, least) = (Some(queue), size - free);
            }
            if self.policy == IqInsertionPolicy::FirstMatch {
                break;
            }
        }
        best
    }

    /// The micro-op in `slot` is in `queue`.
    #[inline]
    #[allow(clippy::cast_possible_truncation)] // at most 64
    pub fn put(&mut self, Slot(slot): Slot, queue: usize) {
        self.of[slot] = queue as u8;
    }

    /// The micro-op in `slot` takes a free entry of `queue`.
    #[inline]
    pub fn take(&mut self, slot: Slot, queue: usize) {
        self.put(slot, queue);
        let entries = &mut self.queues[queue];
        entries.free -= 1;
        self.room &= !(u64::from(entries.free == 0) << queue);
        self.free -= 1;
    }

    /// The entry of the micro-op in `slot` is free.
    #[inline]
    pub fn free_entry(&mut self, slot: Slot) {
        let queue = self.queue(slot);
        self.queues[queue].free += 1;
        self.room |= 1 << queue;
        self.free += 1;
    }

    #[inline]
    pub fn set_ready(&mut self, Slot(slot): Slot, group: usize) {
        let bit = 1 << (slot % 64);
        let word = &mut self.ready[slot / 64 * self.groups + group];
        if *word & bit == 0 {
            *word |= bit;
            self.any[slot / 64] |= bit;
            self.counts[group] += 1;
            self.ready_total += 1;
        }
    }

    #[inline]
    pub fn clear_ready(&mut self, Slot(slot): Slot, group: usize) {
        let bit = 1 << (slot % 64);
        let word = &mut self.ready[slot / 64 * self.groups + group];
        if *word & bit != 0 {
            *word &= !bit;
            self.any[slot / 64] &= !bit;
            self.counts[group] -= 1;
            self.ready_total -= 1;
        }
    }

    /// The ready micro-ops among 64 slots that are in none of the groups `except`.
    #[inline]
    pub fn ready_word(&self, except: u64, word: usize) -> u64 {
        let mut bits = self.any[word];
        let mut left = except;
        while left != 0 {
            bits &= !self.ready[word * self.groups + left.trailing_zeros() as usize];
            left &= left - 1;
        }
        bits
    }

    /// Ready micro-ops of `group`.
    #[inline]
    pub fn ready_in(&self, group: usize) -> u32 {
        self.counts[group]
    }

    /// The state in relative form.
    pub(super) fn archive(&mut self, ring: &InstRing, group: impl Fn(&DynInst, usize) -> usize, a: &mut Archive) {
        self.archive_queues(ring, a);
        let Self { free: _, queues: _, policy: _, room: _, of: _, ready, any, groups: _, counts, ready_total } = self;
        let mut seqs = Vec::new();
        if a.loads() {
            ready.fill(0);
            any.fill(0);
            counts.fill(0);
            *ready_total = 0;
        } else {
            for (i, word) in any.iter().enumerate() {
                let mut bits = *word;
                while bits != 0 {
                    seqs.push(ring.seq_of(Slot(i * 64 + bits.trailing_zeros() as usize), ring.head()));
                    bits &= bits - 1;
                }
            }
            seqs.sort_unstable();
        }
        a.seqs(&mut seqs);
        if a.loads() {
            seqs.iter()
                .for_each(|seq| self.set_ready(ring.slot(*seq), group(ring.at(*seq), self.queue(ring.slot(*seq)))));
        }
    }

    /// The entries, and in which queue each micro-op is.
    fn archive_queues(&mut self, ring: &InstRing, a: &mut Archive) {
        let Self { free, queues, policy: _, room, of, .. } = self;
        a.u32(free);
        if let [only] = &mut **queues {
            only.free = *free;
        } else {
            for entries in queues.iter_mut() {
                a.u32(&mut entries.free);
            }
            for seq in ring.head().until(ring.tail()) {
                if ring.state(seq).intersects(State::DISPATCHED) {
                    a.u8(&mut of[ring.slot(seq).0]);
                }
            }
        }
        *room = queues.iter().rev().fold(0, |bits, q| bits << 1 | u64::from(q.free > 0));
    }

    pub fn describe(&self) -> String {
        let taken: Vec<_> = self.queues.iter().map(|q| format!("{} of {}", q.size - q.free, q.size)).collect();
        format!("issue queue: {} taken, {} ready", taken.join(", "), self.ready_total)
    }
}

/// Who waits for whom: lists through the micro-ops' own records.
impl InstRing {
    /// Operand `i` of `seq` waits for `from`.
    #[inline]
    pub(super) fn link(&mut self, seq: Seq, i: usize, from: Producer) {
        let operand = Operand::new(self.slot(seq), i);
        let list = &mut self.at_mut(from.seq()).waiting[from.result()];
        let next = std::mem::replace(list, operand);
        let s = self.at_mut(seq);
        s.next[i] = next;
        s.pending += 1;
    }

    /// One thing that it waited for has come. Whether that was the last.
    #[inline]
    pub(super) fn arrive(&mut self, seq: Seq) -> bool {
        let s = self.at_mut(seq);
        s.pending = s.pending.saturating_sub(1);
        s.pending == 0
    }

    /// `seq` has its results: calls `wake` with each micro-op that has everything now, and its slot.
    #[inline]
    pub(super) fn wake(&mut self, seq: Seq, mut wake: impl FnMut(Slot, &DynInst)) {
        let [first, second] = std::mem::take(&mut self.at_mut(seq).waiting);
        self.wake_list(first, &mut wake);
        self.wake_list(second, &mut wake);
    }

    #[inline(always)]
    fn wake_list(&mut self, first: Operand, wake: &mut impl FnMut(Slot, &DynInst)) {
        let mut operand = first;
        while operand.is_some() {
            let (slot, i) = (operand.slot(), operand.number());
            let s = self.in_slot(slot);
            // An operand's number is below 3; masked so, no check is left.
            operand = s.next[i % 3];
            s.sources[i % 3] = Producer::NONE;
            s.pending -= 1;
            if s.pending == 0 {
                wake(slot, s);
            }
        }
    }

    /// A squash takes `seq` away, the youngest that is left: its operands are first in their lists.
    pub(super) fn forget(&mut self, seq: Seq, oldest: Seq) {
        let (slot, s) = (self.slot(seq), *self.at(seq));
        // Two operands may wait for one result: the later one is first.
        for i in [2, 1, 0] {
            let from = s.sources[i];
            if !from.is_some() || from.seq() < oldest {
                continue;
            }
            let list = &mut self.at_mut(from.seq()).waiting[from.result()];
            if *list == Operand::new(slot, i) {
                *list = s.next[i];
            }
        }
    }
}
