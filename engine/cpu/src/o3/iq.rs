//! The issue queue: wake-up of micro-ops that wait for operands, and selection of ready ones, oldest first.
//!
//! Each result has the list of the operands that wait for it, linked through flat arrays. Ready micro-ops are bits, one set
//! for each group of functional units, indexed by the slot in the ring: the oldest is found by counting zeros.

use educe::Educe;

use super::inst::{DynInst, InstRing};
use super::seq::{Operand, Producer, Seq, Slot};
use crate::memo::archive::Archive;

#[derive(Debug, Educe)]
#[educe(Clone)]
pub struct IssueQueue {
    pub free: u32,
    size: u32,
    /// Words of the groups' bit sets, all groups' first words, then their second ones; and of their union.
    ready: Box<[u64]>,
    any: Box<[u64]>,
    groups: usize,
    /// Ready micro-ops of each group.
    counts: Box<[u32]>,
    pub ready_total: u32,
}

impl IssueQueue {
    pub fn new(size: u32, ring: &InstRing, groups: usize) -> Self {
        let words = ring.capacity().div_ceil(64);
        IssueQueue {
            free: size,
            size,
            ready: vec![0; words * groups].into_boxed_slice(),
            any: vec![0; words].into_boxed_slice(),
            groups,
            counts: vec![0; groups].into_boxed_slice(),
            ready_total: 0,
        }
    }

    pub fn used(&self) -> u32 {
        self.size - self.free
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
    pub(super) fn archive(&mut self, ring: &InstRing, group: impl Fn(&DynInst) -> usize, a: &mut Archive) {
        let Self { free, size: _, ready, any, groups: _, counts, ready_total } = self;
        a.u32(free);
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
            seqs.iter().for_each(|seq| self.set_ready(ring.slot(*seq), group(ring.at(*seq))));
        }
    }

    pub fn describe(&self) -> String {
        format!("issue queue: {} of {} taken, {} ready", self.used(), self.size, self.ready_total)
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
