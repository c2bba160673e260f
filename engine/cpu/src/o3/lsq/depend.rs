//! The memory-dependence unit: which memory references have to wait for an older store or barrier before they may issue.
//! Fact source: gem5 24.0 `src/cpu/o3/mem_dep_unit.cc`.
//!
//! - A load behind a read barrier, a store behind a write barrier waits for the youngest such barrier (barriers complete in
//!   order, so that stands for all of them); otherwise a reference waits for the store that its store set names.
//! - Store sets go by instruction. On x86 without `gem5StoreSetIndex` a store that is not its instruction's first micro-op has
//!   an index of its own: loads of a string instruction that once read too early behind another store would otherwise wait
//!   for the instruction's own stores. Source: a choice of ours; the paper (Chrysos and Emer) has one reference an instruction.
//! - Atomics and other non-speculative references wait for nothing: they execute when they are the oldest instruction.
//! - A waiting reference is in a linked list of what it depends on, youngest first; write-back wakes the list.

use breakeven_base::{UopFlags, MAX_UOPS};
use educe::Educe;

use super::super::config::O3Config;
use super::super::inst::{InstRing, State};
use super::super::seq::{LoadPos, Seq, StorePos};
use super::store_sets::{self, StoreSets};

/// Where a micro-op has its entry of the load-store queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    Load(LoadPos),
    Store(StorePos),
    /// A barrier has none.
    None,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Op {
    pub seq: Seq,
    /// What the store sets go by ([`Dependences::store_set_pc`]).
    pub pc: u64,
    /// The youngest that waits for it; 0: none.
    pub first: Seq,
    /// The next older one that waits for the same.
    pub next: Seq,
    /// What it waits for, or did.
    pub on: Seq,
    /// Its position in its queue: a [`StorePos`] where it `is_store`, else a [`LoadPos`].
    pub position: u64,
    /// Has written back (or its slot is unused).
    pub done: bool,
    pub is_store: bool,
}

#[derive(Clone, Copy, Debug)]
pub struct Barrier {
    pub seq: Seq,
    pub read: bool,
    pub write: bool,
}

#[derive(Debug, Educe)]
#[educe(Clone)]
pub struct Dependences {
    pub store_sets: StoreSets,
    /// The store sets go by instruction alone (`gem5StoreSetIndex`).
    pub by_instruction: bool,
    /// By sequence number; more than can be between dispatch and write-back at once.
    pub ops: Box<[Op]>,
    pub mask: u64,
    /// In flight, in order.
    pub barriers: Vec<Barrier>,
    /// The youngest barriers of both kinds; 0: none.
    pub read_barrier: Seq,
    pub write_barrier: Seq,
}

impl Dependences {
    pub fn new(cfg: &O3Config) -> Self {
        // An entry of the ROB may hold a whole instruction.
        let uops = if cfg.microFusion || cfg.macroFusion { MAX_UOPS } else { 1 };
        let n = (cfg.numROBEntries as usize * uops + 64).next_power_of_two();
        let offset_bits = if cfg.quirks.gem5StoreSetIndex { store_sets::OFFSET_BITS } else { cfg.instShift };
        let (ssit, lfst) = (cfg.SSITSize as usize, cfg.LFSTSize as usize);
        Dependences {
            store_sets: StoreSets::new(ssit, lfst, cfg.store_set_clear_period, offset_bits),
            by_instruction: cfg.quirks.gem5StoreSetIndex,
            ops: vec![Op { done: true, ..Op::default() }; n].into_boxed_slice(),
            mask: n as u64 - 1,
            barriers: Vec::with_capacity(n),
            read_barrier: Seq::NONE,
            write_barrier: Seq::NONE,
        }
    }

    #[inline]
    #[allow(clippy::cast_possible_truncation)] // masked
    pub fn slot(&self, seq: Seq) -> usize {
        (seq.0 & self.mask) as usize
    }

    /// Whether `seq` is in flight and has not written back.
    #[inline]
    pub fn waits(&self, seq: Seq) -> bool {
        let op = &self.ops[self.slot(seq)];
        op.seq == seq && !op.done
    }

    /// Where a load that has not written back is in its queue.
    #[inline]
    pub fn load(&self, seq: Seq) -> LoadPos {
        LoadPos(self.ops[self.slot(seq)].position)
    }
    /// Where a store that has not written back is in its queue.
    #[inline]
    pub fn store(&self, seq: Seq) -> StorePos {
        StorePos(self.ops[self.slot(seq)].position)
    }

    /// What the store sets know a reference by: the address of its instruction; of a store behind its instruction's first
    /// micro-op the next address. There no instruction begins, but behind x86's MOVS without a prefix, which has one byte.
    /// It counts where store sets are indexed from bit 0 on, that is on x86.
    #[inline]
    pub fn store_set_pc(&self, seq: Seq, ring: &InstRing) -> u64 {
        let flags = ring.flags(seq);
        let inner_store = flags.any(UopFlags::STORE) && !flags.any(UopFlags::FIRST);
        ring.pc(seq).wrapping_add(u64::from(inner_store && !self.by_instruction))
    }

    /// Enters a reference or barrier. Whether it may issue as soon as its operands are there.
    pub fn dispatch(&mut self, seq: Seq, ring: &InstRing, entry: Entry) -> bool {
        let (flags, pc) = (ring.flags(seq), self.store_set_pc(seq, ring));
        let (is_load, is_store, position) = match entry {
            Entry::Load(at) => (true, false, at.0),
            Entry::Store(at) => (false, true, at.0),
            Entry::None => (false, false, 0),
        };
        let by_itself = flags.any(UopFlags::NON_SPECULATIVE) || is_store && flags.any(UopFlags::ATOMIC);
        let on = if by_itself || !(is_load || is_store) {
            Seq::NONE
        } else if is_load && self.read_barrier.is_some() {
            self.read_barrier
        } else if is_store && self.write_barrier.is_some() {
            self.write_barrier
        } else {
            // gem5 takes a store out of its table when it issues (`MemDepUnit::issue`).
            let store = self.store_sets.producer(pc);
            if store.is_some() && ring.state(store).intersects(State::ISSUED) {
                Seq::NONE
            } else {
                store
            }
        };
        let on = if on.is_some() && on < seq && self.waits(on) { on } else { Seq::NONE };
        let mut op = Op { seq, pc, on, is_store, position, ..Op::default() };
        if on.is_some() {
            let producer = self.slot(on);
            op.next = self.ops[producer].first;
            self.ops[producer].first = seq;
        }
        let slot = self.slot(seq);
        self.ops[slot] = op;
        if flags.any(UopFlags::READ_BARRIER | UopFlags::WRITE_BARRIER) {
            self.barriers.push(Barrier {
                seq,
                read: flags.any(UopFlags::READ_BARRIER),
                write: flags.any(UopFlags::WRITE_BARRIER),
            });
            self.youngest_barriers();
        }
        if is_store {
            self.store_sets.store_dispatched(pc, seq);
        }
        !on.is_some()
    }

    #[cold]
    fn youngest_barriers(&mut self) {
        let youngest =
            |of: fn(&Barrier) -> bool| self.barriers.iter().rev().find(|b| of(b)).map_or(Seq::NONE, |b| b.seq);
        (self.read_barrier, self.write_barrier) = (youngest(|b| b.read), youngest(|b| b.write));
    }

    /// A store executes: what is dispatched from now on need not wait for it.
    #[inline]
    pub fn store_executes(&mut self, seq: Seq) {
        let pc = self.ops[self.slot(seq)].pc;
        self.store_sets.store_gone(pc, seq);
    }

    /// `seq` writes back: whatever waited for it goes to `ready`.
    #[inline]
    pub fn completed(&mut self, seq: Seq, ready: &mut Vec<Seq>) {
        let slot = self.slot(seq);
        let op = &mut self.ops[slot];
        if op.seq != seq {
            return;
        }
        op.done = true;
        let mut waiting = std::mem::take(&mut op.first);
        while waiting.is_some() {
            ready.push(waiting);
            waiting = self.ops[self.slot(waiting)].next;
        }
        if seq == self.read_barrier || seq == self.write_barrier || !self.barriers.is_empty() {
            self.barriers.retain(|b| b.seq != seq);
            self.youngest_barriers();
        }
    }

    /// Squashes `seq`, younger than `last`. Called for every squashed reference.
    #[inline]
    pub fn squash(&mut self, seq: Seq, last: Seq) {
        let slot = self.slot(seq);
        let op = self.ops[slot];
        if op.seq != seq {
            return;
        }
        self.ops[slot].done = true;
        if op.is_store {
            self.store_sets.store_gone(op.pc, seq);
        }
        // The list of an older one that stays begins with squashed entries.
        if op.on.is_some() && op.on <= last && self.waits(op.on) {
            let on = self.slot(op.on);
            while self.ops[on].first > last {
                let first = self.slot(self.ops[on].first);
                self.ops[on].first = self.ops[first].next;
            }
        }
    }

    /// Squashes barriers younger than `last`.
    #[inline]
    pub fn squash_barriers(&mut self, last: Seq) {
        if self.barriers.last().is_some_and(|b| b.seq > last) {
            while let Some(b) = self.barriers.last().copied().filter(|b| b.seq > last) {
                let slot = self.slot(b.seq);
                self.ops[slot].done = true;
                self.barriers.pop();
            }
            self.youngest_barriers();
        }
    }

    pub fn describe(&self) -> String {
        match self.barriers.first() {
            Some(b) => format!("{} barriers in flight, the oldest {}", self.barriers.len(), b.seq),
            None => "no barrier in flight".to_owned(),
        }
    }
}
