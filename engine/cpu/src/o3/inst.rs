//! Micro-ops in flight: a ring of records, indexed by sequence number.
//!
//! A sequence number is a place in program order along the path being followed. A squash gives the numbers of what it
//! throws away to what is fetched next; whoever keeps a number over a squash keeps [`InstRing::stamp`] beside it, which
//! never repeats. What the front end said of an instruction stays in its slot after a squash until it is overwritten, so
//! that right-path instructions can be fetched again without being executed again (see `fetch.rs`).

mod archive;

use bitflags::bitflags;
use breakeven_base::{BranchKind, Cycle, MemRef, OpClass, SysEffect, Uop, UopFlags};
use educe::Educe;

use super::seq::{Operand, Producer, Seq, Slot};

pub use archive::{archive_producer, Progress};

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

bitflags! {
    /// What has happened to a micro-op since it was fetched.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct State: u8 {
        /// Holds an entry of the issue queue.
        const IN_IQ = 1 << 0;
        const ISSUED = 1 << 1;
        /// Has been executed: commit may take it from `ready_at` on.
        const DONE = 1 << 2;
        /// Its results are there.
        const WRITTEN = 1 << 3;
        /// Executes only when it is the oldest.
        const NON_SPEC = 1 << 4;
        /// Commit has told it to execute.
        const RELEASED = 1 << 5;
        /// Has left dispatch.
        const DISPATCHED = 1 << 6;
        /// Is a branch, or executes the one that is fused with it (noted where `branchIssueWidth` counts them).
        const BRANCH = 1 << 7;
    }
}

bitflags! {
    /// What fetch found out about a micro-op; stays in the slot like the rest of what was fetched.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Note: u8 {
        /// Not executed by the front end yet: executes when it is the oldest (`StepResult::NeedsDrain`).
        const WAITS = 1 << 0;
        /// The run stops before it.
        const PAUSES = 1 << 1;
        /// Takes no slot of its own in fetch, decode, rename, ROB and commit (fused with the micro-op before it).
        const FUSED_NO_SLOT = 1 << 2;
        /// Macro-fused: is executed by the micro-op before it.
        const FUSED_WITH_PREV = 1 << 3;
        /// Done when renamed.
        const ELIMINATED = 1 << 4;
        /// Was thrown away by a memory-order violation and is on its way again.
        const REPLAYED = 1 << 5;
        /// Macro-fused, but the micro-op before it was executed before this one was dispatched: executes like any other.
        const UNFUSED = 1 << 6;
        /// Begins an instruction that only the first decoder of a cycle takes.
        const FIRST_DECODER = 1 << 7;
        const PLACEHOLDER = Self::WAITS.bits() | Self::PAUSES.bits();
    }
}

impl Note {
    /// The micro-op before it executes it.
    #[inline]
    pub fn executes_with_prev(self) -> bool {
        self & (Note::FUSED_WITH_PREV | Note::UNFUSED) == Note::FUSED_WITH_PREV
    }
}

/// What is known of one micro-op in flight: two cache lines of the host. Written whole at fetch and rename; what only some
/// have (a memory reference, an effect) lies beside it.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
pub(super) struct DynInst {
    pub uop: Uop,
    pub state: State,
    pub wait: Wait,
    pub note: Note,
    /// Things that it waits for in the issue queue.
    pub pending: u8,
    pub stamp: u32,
    /// Operands that wait for the same result as each of its own; first operand that waits for each of its results.
    pub next: [Operand; 3],
    pub waiting: [Operand; 2],
    /// Where each operand comes from.
    pub sources: [Producer; 3],
    /// First cycle in which commit may take it.
    pub ready_at: Cycle,
    pub pc: u64,
    /// What each of its results has replaced in rename's map.
    pub replaced: [Producer; 2],
    pub flow: Flow,
}

const _: () = assert!(std::mem::size_of::<DynInst>() == 128);

/// The micro-ops in flight. All arrays have the same power-of-two length.
#[derive(Debug, Educe)]
#[educe(Clone)]
pub struct InstRing {
    mask: usize,
    insts: Box<[DynInst]>,
    mem: Box<[MemRef]>,
    /// Counts only with `UopFlags::EFFECT`.
    effect: Box<[SysEffect]>,
    /// That of the micro-op placed last.
    last_stamp: u32,
    /// The oldest micro-op that has not committed; the next to be fetched.
    head: Seq,
    tail: Seq,
}

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
            insts: filled(n, DynInst { stamp: 1, ..DynInst::default() }),
            mem: filled(n, MemRef::default()),
            effect: filled(n, SysEffect::None),
            last_stamp: 1,
            head: Seq::FIRST,
            tail: Seq::FIRST,
        }
    }

    #[inline]
    pub fn capacity(&self) -> usize {
        self.mask + 1
    }

    /// The oldest micro-op that has not committed.
    #[inline]
    pub fn head(&self) -> Seq {
        self.head
    }
    /// The next micro-op to be fetched: `head..tail` are in flight.
    #[inline]
    pub fn tail(&self) -> Seq {
        self.tail
    }
    /// Nothing is in flight.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.head == self.tail
    }
    /// The micro-op at `tail` has been fetched; its number.
    #[inline]
    pub fn push(&mut self) -> Seq {
        self.tail += 1;
        self.tail - 1
    }
    /// Those before `next` have left.
    #[inline]
    pub fn retire_to(&mut self, next: Seq) {
        self.head = next;
    }
    /// Squash: micro-ops from `next` on are in flight no more.
    #[inline]
    pub fn truncate(&mut self, next: Seq) {
        self.tail = self.tail.min(next);
    }
    /// `tail` is where re-execution of younger micro-ops has come to.
    #[inline]
    pub fn set_tail(&mut self, tail: Seq) {
        self.tail = tail;
    }

    /// Where `seq` is in the arrays.
    #[inline]
    #[allow(clippy::cast_possible_truncation)] // masked
    pub fn slot(&self, seq: Seq) -> Slot {
        Slot(seq.0 as usize & self.mask)
    }

    /// The micro-op in flight that is in `slot`.
    #[inline]
    pub fn seq_of(&self, slot: Slot, head: Seq) -> Seq {
        head + (slot.0.wrapping_sub(self.slot(head).0) & self.mask) as u64
    }

    /// All that is known of a micro-op.
    #[inline(always)]
    pub(super) fn at(&self, seq: Seq) -> &DynInst {
        // SAFETY: `slot` masks with the length less one, and all arrays have that power-of-two length, never 0 (`new`).
        unsafe { self.insts.get_unchecked(self.slot(seq).0) }
    }
    #[inline(always)]
    pub(super) fn at_mut(&mut self, seq: Seq) -> &mut DynInst {
        self.in_slot(self.slot(seq))
    }
    #[inline(always)]
    pub(super) fn in_slot(&mut self, slot: Slot) -> &mut DynInst {
        // SAFETY: as in `at`: masked once more, which costs nothing where the slot comes from `slot`.
        unsafe { self.insts.get_unchecked_mut(slot.0 & self.mask) }
    }

    #[inline]
    pub fn uop(&self, seq: Seq) -> &Uop {
        &self.at(seq).uop
    }
    #[inline]
    pub(super) fn uop_mut(&mut self, seq: Seq) -> &mut Uop {
        &mut self.at_mut(seq).uop
    }
    #[inline]
    pub(super) fn flow(&self, seq: Seq) -> &Flow {
        &self.at(seq).flow
    }
    #[inline]
    pub(super) fn flow_mut(&mut self, seq: Seq) -> &mut Flow {
        &mut self.at_mut(seq).flow
    }
    #[inline]
    pub(super) fn effect(&self, seq: Seq) -> SysEffect {
        self.effect[self.slot(seq).0]
    }
    #[inline]
    pub(super) fn set_effect(&mut self, seq: Seq, effect: SysEffect) {
        let slot = self.slot(seq);
        self.effect[slot.0] = effect;
    }
    #[inline]
    pub(super) fn note(&self, seq: Seq) -> Note {
        self.at(seq).note
    }
    #[inline]
    pub(super) fn set_note(&mut self, seq: Seq, note: Note) {
        self.at_mut(seq).note = note;
    }
    #[inline]
    pub(super) fn clear_state(&mut self, seq: Seq, bits: State) {
        self.at_mut(seq).state &= !bits;
    }
    #[inline]
    pub(super) fn set_mem(&mut self, seq: Seq, mem: &MemRef) {
        let slot = self.slot(seq);
        // SAFETY: as in `at`.
        unsafe { *self.mem.get_unchecked_mut(slot.0) = mem.read_by_field() };
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
        // SAFETY: as in `at`.
        unsafe { self.mem.get_unchecked(self.slot(seq).0) }
    }
    #[inline]
    pub fn pc(&self, seq: Seq) -> u64 {
        self.at(seq).pc
    }
    #[inline]
    pub fn state(&self, seq: Seq) -> State {
        self.at(seq).state
    }
    #[inline]
    pub fn set_state(&mut self, seq: Seq, bits: State) {
        self.at_mut(seq).state |= bits;
    }
    #[inline]
    pub fn wait(&self, seq: Seq) -> Wait {
        self.at(seq).wait
    }
    /// Records what the micro-op waits for.
    #[inline]
    pub fn set_wait(&mut self, seq: Seq, wait: Wait) {
        self.at_mut(seq).wait = wait;
    }
    /// Distinguishes the micro-op that has this slot now from all before and after it.
    #[inline]
    pub fn stamp(&self, seq: Seq) -> u32 {
        self.at(seq).stamp
    }
    #[inline]
    pub fn ready_at(&self, seq: Seq) -> Cycle {
        self.at(seq).ready_at
    }
    #[inline]
    pub fn set_ready_at(&mut self, seq: Seq, cycle: Cycle) {
        self.at_mut(seq).ready_at = cycle;
    }

    /// Puts a micro-op at `seq`, as just fetched.
    #[inline]
    pub(super) fn place(&mut self, seq: Seq, uop: &Uop, mem: &MemRef, pc: u64, flow: &Flow) {
        let mut prefetch = UopFlags::empty();
        if uop.flags.any(UopFlags::MEM) {
            self.set_mem(seq, mem);
            if uop.flags.any(UopFlags::CACHE_OP) && mem.kind.is_prefetch() {
                // A load without a destination, as in gem5: it goes through the load queue.
                prefetch = UopFlags::LOAD;
            }
        }
        self.fresh(seq);
        let slot = self.at_mut(seq);
        slot.uop = *uop;
        slot.uop.flags |= prefetch;
        slot.pc = pc;
        slot.flow = *flow;
    }

    /// 0 is no micro-op's.
    #[inline]
    fn new_stamp(&mut self) -> u32 {
        self.last_stamp = self.last_stamp.wrapping_add(1).max(1);
        self.last_stamp
    }

    /// The slot's micro-op begins anew (it has just been placed, or is fetched again after a squash).
    #[inline]
    pub fn fresh(&mut self, seq: Seq) {
        let stamp = self.new_stamp();
        let slot = self.at_mut(seq);
        (slot.state, slot.wait, slot.stamp) = (State::empty(), Wait::Execution, stamp);
    }
}
