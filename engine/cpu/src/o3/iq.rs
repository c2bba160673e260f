//! The issue queue: what waits for operands, who wakes it, and what is ready, oldest first.
//!
//! Each result has the list of the operands that wait for it, linked through flat arrays. Ready micro-ops are bits, one set
//! for each group of functional units, indexed by the slot in the ring: the oldest is found by counting zeros.

use breakeven_base::clone_by_field;

use super::inst::{InstRing, Seq};

/// The two results of a micro-op are numbered `2 * seq` and `2 * seq + 1`; 0 is none (a value that is always there).
pub type Producer = u64;

#[inline]
pub fn producer(seq: Seq, dst: usize) -> Producer {
    seq << 1 | dst as u64
}

/// An operand: slot times four plus its number, plus one; 0: none.
type Operand = u32;

#[derive(Debug)]
pub struct IssueQueue {
    pub free: u32,
    size: u32,
    mask: usize,
    /// What a micro-op still waits for.
    pending: Box<[u8]>,
    /// Where each operand comes from.
    pub sources: Box<[[Producer; 3]]>,
    /// Operands that wait for the same result.
    next: Box<[[Operand; 3]]>,
    /// First operand that waits for each result.
    waiting: Box<[[Operand; 2]]>,
    /// Words of the groups' bit sets, group by group; and of their union.
    ready: Box<[u64]>,
    any: Box<[u64]>,
    words: usize,
    /// Ready micro-ops of each group.
    counts: Box<[u32]>,
    pub ready_total: u32,
}

clone_by_field!(IssueQueue {
    free,
    size,
    mask,
    pending,
    sources,
    next,
    waiting,
    ready,
    any,
    words,
    counts,
    ready_total,
});

impl IssueQueue {
    pub fn new(size: u32, ring: &InstRing, groups: usize) -> Self {
        let n = ring.capacity();
        let words = n.div_ceil(64);
        IssueQueue {
            free: size,
            size,
            mask: n - 1,
            pending: vec![0; n].into_boxed_slice(),
            sources: vec![[0; 3]; n].into_boxed_slice(),
            next: vec![[0; 3]; n].into_boxed_slice(),
            waiting: vec![[0; 2]; n].into_boxed_slice(),
            ready: vec![0; words * groups].into_boxed_slice(),
            any: vec![0; words].into_boxed_slice(),
            words,
            counts: vec![0; groups].into_boxed_slice(),
            ready_total: 0,
        }
    }

    pub fn used(&self) -> u32 {
        self.size - self.free
    }

    #[inline]
    #[allow(clippy::cast_possible_truncation)] // masked
    fn slot(&self, seq: Seq) -> usize {
        seq as usize & self.mask
    }

    /// A micro-op is dispatched: nobody waits for it yet.
    #[inline]
    pub fn enter(&mut self, seq: Seq) {
        let s = self.slot(seq);
        self.waiting[s] = [0; 2];
        self.pending[s] = 0;
    }

    /// It waits for `n` more.
    #[inline]
    pub fn hold(&mut self, seq: Seq, n: u8) {
        let s = self.slot(seq);
        self.pending[s] += n;
    }

    /// Operand `i` of `seq` waits for `from`.
    #[inline]
    #[allow(clippy::cast_possible_truncation)] // slots fit in 32 bits many times over
    pub fn link(&mut self, seq: Seq, i: usize, from: Producer) {
        let s = self.slot(seq);
        let p = self.slot(from >> 1);
        let list = &mut self.waiting[p][(from & 1) as usize];
        self.next[s][i] = *list;
        *list = (s << 2 | i) as u32 + 1;
        self.pending[s] += 1;
    }

    /// One thing that it waited for has come. Whether that was the last.
    #[inline]
    pub fn arrive(&mut self, seq: Seq) -> bool {
        let s = self.slot(seq);
        self.pending[s] = self.pending[s].saturating_sub(1);
        self.pending[s] == 0
    }

    #[inline]
    pub fn is_waiting(&self, seq: Seq) -> bool {
        self.pending[self.slot(seq)] != 0
    }

    /// `seq`, which lies less than the ring's length before `tail`, has its results: calls `wake` with the slot of each that has
    /// everything now.
    #[inline]
    pub fn wake(&mut self, seq: Seq, mut wake: impl FnMut(&mut Self, usize)) {
        let p = self.slot(seq);
        for dst in 0..2 {
            let mut operand = std::mem::take(&mut self.waiting[p][dst]);
            while operand != 0 {
                let (s, i) = ((operand - 1) as usize >> 2, (operand - 1) as usize & 3);
                operand = self.next[s][i];
                self.sources[s][i] = 0;
                self.pending[s] -= 1;
                if self.pending[s] == 0 {
                    wake(self, s);
                }
            }
        }
    }

    #[inline]
    pub fn set_ready(&mut self, slot: usize, group: usize) {
        let word = &mut self.ready[group * self.words + slot / 64];
        let bit = 1 << (slot % 64);
        if *word & bit == 0 {
            *word |= bit;
            self.any[slot / 64] |= bit;
            self.counts[group] += 1;
            self.ready_total += 1;
        }
    }

    #[inline]
    pub fn clear_ready(&mut self, slot: usize, group: usize) {
        let word = &mut self.ready[group * self.words + slot / 64];
        let bit = 1 << (slot % 64);
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
            bits &= !self.ready[left.trailing_zeros() as usize * self.words + word];
            left &= left - 1;
        }
        bits
    }

    /// Ready micro-ops of `group`.
    #[inline]
    pub fn ready_in(&self, group: usize) -> u32 {
        self.counts[group]
    }

    /// A squash takes `seq` away, the youngest that is left: its operands are first in their lists.
    pub fn forget(&mut self, seq: Seq, oldest: Seq) {
        let s = self.slot(seq);
        // Two operands may wait for one result: the later one is first.
        for i in [2, 1, 0] {
            let from = self.sources[s][i];
            if from == 0 || from >> 1 < oldest {
                continue;
            }
            let p = self.slot(from >> 1);
            let list = &mut self.waiting[p][(from & 1) as usize];
            #[allow(clippy::cast_possible_truncation)] // as in `link`
            if *list == (s << 2 | i) as u32 + 1 {
                *list = self.next[s][i];
            }
        }
    }

    pub fn describe(&self) -> String {
        format!("issue queue: {} of {} taken, {} ready", self.used(), self.size, self.ready_total)
    }
}
