//! Micro-ops in flight: a ring of flat arrays, indexed by sequence number.
//!
//! A sequence number is a place in program order along the path being followed. A squash gives the numbers of what it
//! throws away to what is fetched next; whoever keeps a number over a squash keeps [`InstRing::stamp`] beside it, which
//! never repeats. What the front end said of an instruction stays in its slot after a squash until it is overwritten, so
//! that right-path instructions can be fetched again without being executed again (see `fetch.rs`).

use super::lsq::is_prefetch;
use breakeven_base::{clone_by_field, BranchKind, MemRef, OpClass, SysEffect, Uop, UopFlags};

/// Place of a micro-op in program order; 0 is no micro-op.
pub type Seq = u64;

/// What a micro-op is waiting for, or did wait for last: what an empty commit slot is charged to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Wait {
    /// Nothing in particular: latency of execution.
    #[default]
    Execution,
    /// All functional units of its class are taken.
    Unit,
    /// Its data comes from this level (first-level hit, second level, third level, memory).
    Level1,
    Level2,
    Level3,
    Memory,
    TlbWalk,
    /// Second half or penalty of a split access.
    Split,
    /// A store has only part of what a load needs.
    ForwardFail,
    /// Executes again after a memory-order violation.
    Replay,
    /// Waits for the store queue (barrier, atomic, full queue).
    StoreQueue,
    /// Serialising instruction.
    Serialize,
}

/// State bits of a micro-op ([`InstRing::state`]): what has happened to it since it was fetched.
pub mod state {
    /// Holds an entry of the issue queue.
    pub const IN_IQ: u8 = 1 << 0;
    pub const ISSUED: u8 = 1 << 1;
    /// Has been executed: commit may take it from `ready_at` on.
    pub const DONE: u8 = 1 << 2;
    /// Its results are there.
    pub const WRITTEN: u8 = 1 << 3;
    /// Executes only when it is the oldest.
    pub const NON_SPEC: u8 = 1 << 4;
    /// Commit has told it to execute.
    pub const RELEASED: u8 = 1 << 5;
}

/// What fetch found out about a micro-op ([`InstRing::note`]); stays in the slot like the rest of what was fetched.
pub(super) mod note {
    /// Not executed by the front end yet: executes when it is the oldest (`StepResult::NeedsDrain`).
    pub const WAITS: u8 = 1 << 0;
    /// The run stops before it.
    pub const PAUSES: u8 = 1 << 1;
    /// Takes no slot of its own in fetch, decode, rename, ROB and commit (fused with the micro-op before it).
    pub const FREE_RIDE: u8 = 1 << 2;
    /// Macro-fused: is executed by the micro-op before it.
    pub const EXECUTED_BEFORE: u8 = 1 << 3;
    /// Done when renamed.
    pub const ELIMINATED: u8 = 1 << 4;
    /// Was thrown away by a memory-order violation and is on its way again.
    pub const REPLAYED: u8 = 1 << 5;
    /// Macro-fused, but the micro-op before it was executed before this one was dispatched: executes like any other.
    pub const BY_ITSELF: u8 = 1 << 6;
    pub const PLACEHOLDER: u8 = WAITS | PAUSES;
}

/// The micro-ops in flight. All arrays have the same power-of-two length.
#[derive(Debug)]
pub struct InstRing {
    mask: usize,
    uop: Box<[Uop]>,
    mem: Box<[MemRef]>,
    pc: Box<[u64]>,
    state: Box<[u8]>,
    wait: Box<[Wait]>,
    note: Box<[u8]>,
    stamp: Box<[u32]>,
    /// First cycle in which commit may take it.
    ready_at: Box<[u64]>,
    pub(super) fetched: Fetched,
    next_stamp: u32,
}

clone_by_field!(InstRing { mask, uop, mem, pc, state, wait, note, stamp, ready_at, fetched, next_stamp });

/// What the front end and the predictor said, one entry a slot. `effect` counts only with `UopFlags::EFFECT`.
#[derive(Debug)]
pub(super) struct Fetched {
    pub flow: Box<[Flow]>,
    pub effect: Box<[SysEffect]>,
}

clone_by_field!(Fetched { flow, effect });

/// Where an instruction leads; in the slots of all its micro-ops.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flow {
    /// Where execution really goes on.
    pub next_pc: u64,
    /// Where fetch went on (set when the last micro-op is fetched).
    pub predicted: u64,
    /// The branch's target when taken.
    pub target: u64,
    pub branch: BranchKind,
    pub len: u8,
    /// Predicted taken, even if to the next instruction.
    pub taken: bool,
}

impl InstRing {
    pub fn new(capacity: usize) -> Self {
        let n = capacity.next_power_of_two();
        fn filled<T: Clone>(n: usize, value: T) -> Box<[T]> {
            vec![value; n].into_boxed_slice()
        }
        InstRing {
            mask: n - 1,
            uop: filled(n, Uop::default()),
            mem: filled(n, MemRef::default()),
            pc: filled(n, 0),
            state: filled(n, 0),
            wait: filled(n, Wait::default()),
            note: filled(n, 0),
            stamp: filled(n, 0),
            ready_at: filled(n, 0),
            fetched: Fetched { flow: filled(n, Flow::default()), effect: filled(n, SysEffect::None) },
            next_stamp: 0,
        }
    }

    #[inline]
    pub fn capacity(&self) -> usize {
        self.mask + 1
    }

    /// Where `seq` is in the arrays.
    #[inline]
    #[allow(clippy::cast_possible_truncation)] // masked
    pub fn slot(&self, seq: Seq) -> usize {
        seq as usize & self.mask
    }

    /// The micro-op in flight that is in `slot`.
    #[inline]
    pub fn seq_of(&self, slot: usize, head: Seq) -> Seq {
        head + (slot.wrapping_sub(self.slot(head)) & self.mask) as u64
    }

    #[inline]
    pub fn uop(&self, seq: Seq) -> &Uop {
        // SAFETY: `slot` masks with the length less one, and all arrays have that power-of-two length, never 0 (`new`).
        unsafe { self.uop.get_unchecked(self.slot(seq)) }
    }
    #[inline]
    pub(super) fn uop_mut(&mut self, seq: Seq) -> &mut Uop {
        let slot = self.slot(seq);
        &mut self.uop[slot]
    }
    #[inline]
    pub(super) fn flow(&self, seq: Seq) -> &Flow {
        // SAFETY: as in `uop`.
        unsafe { self.fetched.flow.get_unchecked(self.slot(seq)) }
    }
    #[inline]
    pub(super) fn flow_mut(&mut self, seq: Seq) -> &mut Flow {
        let slot = self.slot(seq);
        // SAFETY: as in `uop`.
        unsafe { self.fetched.flow.get_unchecked_mut(slot) }
    }
    #[inline]
    pub(super) fn effect(&self, seq: Seq) -> SysEffect {
        self.fetched.effect[self.slot(seq)]
    }
    #[inline]
    pub(super) fn set_effect(&mut self, seq: Seq, effect: SysEffect) {
        let slot = self.slot(seq);
        self.fetched.effect[slot] = effect;
    }
    #[inline]
    pub(super) fn note(&self, seq: Seq) -> u8 {
        // SAFETY: as in `uop`.
        unsafe { *self.note.get_unchecked(self.slot(seq)) }
    }
    #[inline]
    pub(super) fn set_note(&mut self, seq: Seq, bits: u8) {
        let slot = self.slot(seq);
        // SAFETY: as in `uop`.
        unsafe { *self.note.get_unchecked_mut(slot) = bits };
    }
    #[inline]
    pub(super) fn clear_state(&mut self, seq: Seq, bits: u8) {
        let slot = self.slot(seq);
        // SAFETY: as in `uop`.
        unsafe { *self.state.get_unchecked_mut(slot) &= !bits };
    }
    #[inline]
    pub(super) fn set_mem(&mut self, seq: Seq, mem: &MemRef) {
        let slot = self.slot(seq);
        self.mem[slot] = mem.read_by_field();
    }
    #[inline]
    pub fn flags(&self, seq: Seq) -> UopFlags {
        self.uop(seq).flags
    }
    #[inline]
    pub fn class(&self, seq: Seq) -> OpClass {
        self.uop(seq).class
    }
    /// Where a memory reference goes.
    #[inline]
    pub fn mem(&self, seq: Seq) -> &MemRef {
        // SAFETY: as in `uop`.
        unsafe { self.mem.get_unchecked(self.slot(seq)) }
    }
    #[inline]
    pub fn pc(&self, seq: Seq) -> u64 {
        // SAFETY: as in `uop`.
        unsafe { *self.pc.get_unchecked(self.slot(seq)) }
    }
    #[inline]
    pub fn state(&self, seq: Seq) -> u8 {
        // SAFETY: as in `uop`.
        unsafe { *self.state.get_unchecked(self.slot(seq)) }
    }
    #[inline]
    pub fn set_state(&mut self, seq: Seq, bits: u8) {
        let slot = self.slot(seq);
        // SAFETY: as in `uop`.
        unsafe { *self.state.get_unchecked_mut(slot) |= bits };
    }
    #[inline]
    pub fn wait(&self, seq: Seq) -> Wait {
        // SAFETY: as in `uop`.
        unsafe { *self.wait.get_unchecked(self.slot(seq)) }
    }
    /// Records what the micro-op waits for.
    #[inline]
    pub fn set_wait(&mut self, seq: Seq, wait: Wait) {
        let slot = self.slot(seq);
        // SAFETY: as in `uop`.
        unsafe { *self.wait.get_unchecked_mut(slot) = wait };
    }
    /// Distinguishes the micro-op that has this slot now from all before and after it.
    #[inline]
    pub fn stamp(&self, seq: Seq) -> u32 {
        // SAFETY: as in `uop`.
        unsafe { *self.stamp.get_unchecked(self.slot(seq)) }
    }
    #[inline]
    pub fn ready_at(&self, seq: Seq) -> u64 {
        // SAFETY: as in `uop`.
        unsafe { *self.ready_at.get_unchecked(self.slot(seq)) }
    }
    #[inline]
    pub fn set_ready_at(&mut self, seq: Seq, cycle: u64) {
        let slot = self.slot(seq);
        // SAFETY: as in `uop`.
        unsafe { *self.ready_at.get_unchecked_mut(slot) = cycle };
    }

    /// Puts a micro-op at `seq`, as just fetched.
    #[inline]
    pub fn place(&mut self, seq: Seq, uop: &Uop, mem: &MemRef, pc: u64) {
        let slot = self.slot(seq);
        // SAFETY: as in `uop`.
        unsafe {
            *self.uop.get_unchecked_mut(slot) = *uop;
            *self.pc.get_unchecked_mut(slot) = pc;
        }
        if uop.flags.any(UopFlags::MEM) {
            self.mem[slot] = mem.read_by_field();
            if uop.flags.any(UopFlags::CACHE_OP) && is_prefetch(mem.kind) {
                // A load without a destination, as in gem5: it goes through the load queue.
                self.uop[slot].flags.0 |= UopFlags::LOAD;
            }
        }
        self.fresh(seq);
    }

    /// The slot's micro-op begins anew (it has just been placed, or is fetched again after a squash).
    #[inline]
    pub fn fresh(&mut self, seq: Seq) {
        let slot = self.slot(seq);
        self.next_stamp = self.next_stamp.wrapping_add(1);
        // SAFETY: as in `uop`.
        unsafe {
            *self.state.get_unchecked_mut(slot) = 0;
            *self.wait.get_unchecked_mut(slot) = Wait::Execution;
            *self.stamp.get_unchecked_mut(slot) = self.next_stamp;
        }
    }
}
