//! Micro-ops in flight: a ring of records, indexed by sequence number.
//!
//! A sequence number is a place in program order along the path being followed. A squash gives the numbers of what it
//! throws away to what is fetched next; whoever keeps a number over a squash keeps [`InstRing::stamp`] beside it, which
//! never repeats. What the front end said of an instruction stays in its slot after a squash until it is overwritten, so
//! that right-path instructions can be fetched again without being executed again (see `fetch.rs`).

mod archive;

use breakeven_base::{BranchKind, MemRef, OpClass, SysEffect, Uop, UopFlags};
use educe::Educe;

pub use archive::{archive_producer, Progress};

/// Place of a micro-op in program order; 0 is no micro-op.
pub type Seq = u64;

/// The two results of a micro-op are numbered `2 * seq` and `2 * seq + 1`; 0 is none (a value that is always there).
pub type Producer = u64;

#[inline]
pub fn producer(seq: Seq, dst: usize) -> Producer {
    seq << 1 | dst as u64
}

/// An operand: slot times four plus its number, plus one; 0: none.
pub type Operand = u32;

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
    /// Has left dispatch.
    pub const DISPATCHED: u8 = 1 << 6;
}

/// What fetch found out about a micro-op ([`InstRing::note`]); stays in the slot like the rest of what was fetched.
pub(super) mod note {
    /// Not executed by the front end yet: executes when it is the oldest (`StepResult::NeedsDrain`).
    pub const WAITS: u8 = 1 << 0;
    /// The run stops before it.
    pub const PAUSES: u8 = 1 << 1;
    /// Takes no slot of its own in fetch, decode, rename, ROB and commit (fused with the micro-op before it).
    pub const FUSED_NO_SLOT: u8 = 1 << 2;
    /// Macro-fused: is executed by the micro-op before it.
    pub const FUSED_WITH_PREV: u8 = 1 << 3;
    /// Done when renamed.
    pub const ELIMINATED: u8 = 1 << 4;
    /// Was thrown away by a memory-order violation and is on its way again.
    pub const REPLAYED: u8 = 1 << 5;
    /// Macro-fused, but the micro-op before it was executed before this one was dispatched: executes like any other.
    pub const UNFUSED: u8 = 1 << 6;
    /// Begins an instruction that only the first decoder of a cycle takes.
    pub const FIRST_DECODER: u8 = 1 << 7;
    pub const PLACEHOLDER: u8 = WAITS | PAUSES;
}

/// What is known of one micro-op in flight: two cache lines of the host. Written whole at fetch and rename; what only some
/// have (a memory reference, an effect) lies beside it.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
pub(super) struct Slot {
    pub uop: Uop,
    pub state: u8,
    pub wait: Wait,
    pub note: u8,
    /// Things that it waits for in the issue queue.
    pub pending: u8,
    pub stamp: u32,
    /// Operands that wait for the same result as each of its own; first operand that waits for each of its results.
    pub next: [Operand; 3],
    pub waiting: [Operand; 2],
    /// Where each operand comes from.
    pub sources: [Producer; 3],
    /// First cycle in which commit may take it.
    pub ready_at: u64,
    pub pc: u64,
    /// What each of its results has replaced in rename's map.
    pub replaced: [Producer; 2],
    pub flow: Flow,
}

const _: () = assert!(std::mem::size_of::<Slot>() == 128);

/// The micro-ops in flight. All arrays have the same power-of-two length.
#[derive(Debug, Educe)]
#[educe(Clone)]
pub struct InstRing {
    mask: usize,
    slots: Box<[Slot]>,
    mem: Box<[MemRef]>,
    /// Counts only with `UopFlags::EFFECT`.
    effect: Box<[SysEffect]>,
    next_stamp: u32,
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
            slots: filled(n, Slot::default()),
            mem: filled(n, MemRef::default()),
            effect: filled(n, SysEffect::None),
            next_stamp: 0,
            head: 1,
            tail: 1,
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
    pub fn slot(&self, seq: Seq) -> usize {
        seq as usize & self.mask
    }

    /// The micro-op in flight that is in `slot`.
    #[inline]
    pub fn seq_of(&self, slot: usize, head: Seq) -> Seq {
        head + (slot.wrapping_sub(self.slot(head)) & self.mask) as u64
    }

    /// All that is known of a micro-op; `at` may also be a slot.
    #[inline(always)]
    pub(super) fn at(&self, at: u64) -> &Slot {
        // SAFETY: `slot` masks with the length less one, and all arrays have that power-of-two length, never 0 (`new`).
        unsafe { self.slots.get_unchecked(self.slot(at)) }
    }
    #[inline(always)]
    pub(super) fn at_mut(&mut self, at: u64) -> &mut Slot {
        let slot = self.slot(at);
        // SAFETY: as in `at`.
        unsafe { self.slots.get_unchecked_mut(slot) }
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
        self.effect[self.slot(seq)]
    }
    #[inline]
    pub(super) fn set_effect(&mut self, seq: Seq, effect: SysEffect) {
        let slot = self.slot(seq);
        self.effect[slot] = effect;
    }
    #[inline]
    pub(super) fn note(&self, seq: Seq) -> u8 {
        self.at(seq).note
    }
    #[inline]
    pub(super) fn set_note(&mut self, seq: Seq, bits: u8) {
        self.at_mut(seq).note = bits;
    }
    #[inline]
    pub(super) fn clear_state(&mut self, seq: Seq, bits: u8) {
        self.at_mut(seq).state &= !bits;
    }
    #[inline]
    pub(super) fn set_mem(&mut self, seq: Seq, mem: &MemRef) {
        let slot = self.slot(seq);
        // SAFETY: as in `at`.
        unsafe { *self.mem.get_unchecked_mut(slot) = mem.read_by_field() };
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
        unsafe { self.mem.get_unchecked(self.slot(seq)) }
    }
    #[inline]
    pub fn pc(&self, seq: Seq) -> u64 {
        self.at(seq).pc
    }
    #[inline]
    pub fn state(&self, seq: Seq) -> u8 {
        self.at(seq).state
    }
    #[inline]
    pub fn set_state(&mut self, seq: Seq, bits: u8) {
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
    pub fn ready_at(&self, seq: Seq) -> u64 {
        self.at(seq).ready_at
    }
    #[inline]
    pub fn set_ready_at(&mut self, seq: Seq, cycle: u64) {
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

    /// The slot's micro-op begins anew (it has just been placed, or is fetched again after a squash).
    #[inline]
    pub fn fresh(&mut self, seq: Seq) {
        self.next_stamp = self.next_stamp.wrapping_add(1);
        let stamp = self.next_stamp;
        let slot = self.at_mut(seq);
        (slot.state, slot.wait, slot.stamp) = (0, Wait::Execution, stamp);
    }
}
