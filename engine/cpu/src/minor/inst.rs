//! Micro-ops in flight: one ring, indexed by sequence number. Sequence numbers rise in fetch order, which is also the
//! order of decode, issue and commit; so the queues between the stages carry numbers only.

mod archive;

use breakeven_base::{Cycle, MemRef, Now, OpClass, Step, SysEffect, Uop, UopFlags, MAX_UOPS};
use educe::Educe;

use crate::outside::Outside;
use crate::when::When;

pub use crate::seq::Seq;

/// The instruction does not use a functional unit (class `No_OpClass`).
pub const NO_UNIT: u8 = u8::MAX;

/// What the last micro-op of an instruction tells fetch when it commits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing: fetch went on along the right path.
    #[default]
    Straight,
    /// Predicted taken, and it was.
    CorrectlyPredicted,
    /// Predicted taken, but was not.
    BadlyPredicted,
    /// Taken as predicted, but elsewhere.
    BadlyPredictedTarget,
    /// Taken, but not predicted so.
    Unpredicted,
    /// Not a branch; whatever was fetched after it is thrown away (serialising instructions, traps).
    Refetch,
}

impl Outcome {
    pub const ALL: [Outcome; 6] = [
        Outcome::Straight,
        Outcome::CorrectlyPredicted,
        Outcome::BadlyPredicted,
        Outcome::BadlyPredictedTarget,
        Outcome::Unpredicted,
        Outcome::Refetch,
    ];
    /// Whether what was fetched after it is on the wrong path.
    #[inline]
    pub fn changes_stream(self) -> bool {
        !matches!(self, Outcome::Straight | Outcome::CorrectlyPredicted)
    }
}

/// An instruction that the front end has not executed yet; its micro-op is a stand-in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Placeholder {
    #[default]
    No,
    /// Executed when everything older has committed (`NeedsDrain`).
    Waits,
    /// The run stops before it (`Paused`).
    Pauses,
}

/// One micro-op in flight: one cache line of the host.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub struct DynInst {
    pub uop: Uop,
    /// Which stream of fetches it belongs to; those of an old stream are discarded.
    pub stream: u32,
    /// Fetch2's count of predictions when it was extracted.
    pub prediction: u32,
    /// Functional unit, or [`NO_UNIT`].
    pub unit: u8,
    pub in_lsq: bool,
    pub can_early_issue: bool,
    pub placeholder: Placeholder,
    pub outcome: Outcome,
    /// A branch that the predictor was asked about.
    pub tried_to_predict: bool,
    /// On a wrong path, and not executed yet: its references are known when it has been ([`InstRing::execute_deferred`]).
    pub predecoded: bool,
    /// Fork of the front end to roll back when it commits; 0: none (depths are stored plus one).
    pub fork: u32,
    /// Cycles for which commit holds it back once it has been seen there.
    pub extra_commit: u32,
    /// Not before this cycle.
    pub min_commit: Cycle,
    /// A memory reference goes to the LSQ early only when everything up to this has committed.
    pub wait_for: Seq,
    pub pc: u64,
}

const _: () = assert!(std::mem::size_of::<DynInst>() == 64);

impl DynInst {
    /// Copies the micro-op, which has just been written, in the pieces in which it was written: the host's processor can forward
    /// its stores to the copy's loads then.
    #[inline(always)]
    fn set_uop(&mut self, uop: &Uop) {
        // SAFETY: both are valid and apart, and a micro-op is plain data. (An assignment is taken apart by the compiler.)
        unsafe { std::ptr::copy_nonoverlapping(uop, &raw mut self.uop, 1) };
    }
    /// Goes through the LSQ. A faulting reference does not.
    #[inline]
    pub fn is_mem(&self) -> bool {
        const { assert!(UopFlags::MEM.bits() < UopFlags::TRAP.bits(), "one comparison tells") };
        (self.uop.flags & (UopFlags::MEM | UopFlags::TRAP)).bits().wrapping_sub(1) < UopFlags::TRAP.bits() - 1
    }
    /// gem5 isFullMemBarrier.
    #[inline]
    pub fn is_barrier(&self) -> bool {
        const BOTH: UopFlags = UopFlags::READ_BARRIER.union(UopFlags::WRITE_BARRIER);
        self.uop.flags.contains(BOTH)
    }
    #[inline]
    pub fn is_last(&self) -> bool {
        self.uop.flags.any(UopFlags::LAST)
    }
    #[inline]
    pub fn is_no_cost(&self) -> bool {
        self.uop.class == OpClass::No_OpClass
    }
}

/// The micro-ops in flight. Fields that only some of them have are arrays of their own, written only for those.
#[derive(Debug, Educe)]
#[educe(Clone)]
pub struct InstRing {
    slots: Box<[DynInst]>,
    mems: Box<[MemRef]>,
    effects: Box<[SysEffect]>,
    targets: Box<[u64]>,
    /// First micro-ops of the instructions that the front end has only predecoded, from `executed` on.
    deferred: Vec<Seq>,
    executed: usize,
    /// Scratch space of their execution.
    step: Box<Step>,
    /// It grows up to this, a power of two.
    bound: usize,
    /// The next number to be given out.
    pub tail: Seq,
}

/// The ring's first size: small, so that it stays in the host's first-level cache.
const FIRST_CAPACITY: usize = 64;
/// A ring that can grow does so before fewer than these are free.
const SPARE: u64 = 16;

impl InstRing {
    /// Room for `bound` micro-ops, rounded up.
    pub fn new(bound: usize) -> Self {
        let bound = bound.next_power_of_two();
        InstRing::with_capacity(FIRST_CAPACITY.min(bound), bound)
    }
    fn with_capacity(n: usize, bound: usize) -> Self {
        InstRing {
            slots: vec![DynInst::default(); n].into_boxed_slice(),
            mems: vec![MemRef::default(); n].into_boxed_slice(),
            effects: vec![SysEffect::None; n].into_boxed_slice(),
            targets: vec![0; n].into_boxed_slice(),
            deferred: Vec::new(),
            executed: 0,
            step: Box::default(),
            bound,
            tail: Seq::FIRST,
        }
    }
    fn capacity(&self) -> u64 {
        self.slots.len() as u64
    }
    /// Micro-ops that it can grow to hold, a power of two.
    pub fn bound(&self) -> usize {
        self.bound
    }
    /// A number below [`InstRing::bound`] that no other micro-op in flight has.
    #[allow(clippy::cast_possible_truncation)] // masked
    pub fn place(&self, seq: Seq) -> usize {
        seq.0 as usize & (self.bound - 1)
    }
    /// Whether another instruction fits in behind those from `oldest` on. If it does not, the ring grows.
    #[inline]
    pub fn make_room(&mut self, oldest: Seq) -> bool {
        self.tail - oldest + SPARE <= self.capacity() || self.grow(oldest)
    }
    #[cold]
    fn grow(&mut self, oldest: Seq) -> bool {
        if self.slots.len() == self.bound {
            return self.tail - oldest + MAX_UOPS as u64 <= self.capacity();
        }
        let mut larger = InstRing::with_capacity(2 * self.slots.len(), self.bound);
        larger.tail = self.tail;
        larger.deferred = std::mem::take(&mut self.deferred);
        larger.executed = self.executed;
        // Whatever is in the ring, however old.
        for seq in Seq(self.tail.0.saturating_sub(self.capacity())).until(self.tail) {
            let (to, from) = (larger.slot(seq), self.slot(seq));
            larger.slots[to] = self.slots[from];
            larger.mems[to] = self.mems[from];
            larger.effects[to] = self.effects[from];
            larger.targets[to] = self.targets[from];
        }
        *self = larger;
        true
    }
    #[inline]
    #[allow(clippy::cast_possible_truncation)] // masked
    fn slot(&self, seq: Seq) -> usize {
        seq.0 as usize & (self.slots.len() - 1)
    }
    #[inline]
    pub fn push(&mut self, inst: DynInst) -> Seq {
        let seq = self.tail;
        *self.get_mut(seq) = inst;
        self.tail += 1;
        seq
    }
    /// As [`InstRing::push`], with this micro-op.
    #[inline(always)]
    pub fn push_with(&mut self, inst: DynInst, uop: &Uop) -> Seq {
        let seq = self.push(inst);
        self.get_mut(seq).set_uop(uop);
        seq
    }
    /// Pushes an instruction's micro-ops, at least one; the last of them gets the outcome, prediction and fork of `last`.
    #[inline(always)]
    pub fn push_all(&mut self, last: &DynInst, uops: &[Uop]) {
        self.push_uops(last.stream, last.prediction, last.predecoded, last.pc, uops);
        let end = self.get_mut(self.tail - 1);
        end.outcome = last.outcome;
        end.tried_to_predict = last.tried_to_predict;
        end.fork = last.fork;
    }
    /// Pushes the micro-ops of an instruction on a wrong path, which has no outcome.
    #[inline(always)]
    pub fn push_predecoded(&mut self, stream: u32, prediction: u32, pc: u64, uops: &[Uop]) {
        self.push_uops(stream, prediction, true, pc, uops);
    }
    #[inline(always)]
    fn push_uops(&mut self, stream: u32, prediction: u32, predecoded: bool, pc: u64, uops: &[Uop]) {
        let mut seq = self.tail;
        for uop in uops {
            let slot = self.get_mut(seq);
            // Put together in place: what an instruction's end says has just been written, field by field.
            *slot = DynInst { stream, prediction, predecoded, pc, ..DynInst::default() };
            slot.set_uop(uop);
            seq += 1;
        }
        self.tail = seq;
    }
    #[inline]
    pub fn get(&self, seq: Seq) -> &DynInst {
        // SAFETY: `slot` masks with the length less one, and the length is a power of two, never 0 (`new`).
        unsafe { self.slots.get_unchecked(self.slot(seq)) }
    }
    #[inline]
    pub fn get_mut(&mut self, seq: Seq) -> &mut DynInst {
        let slot = self.slot(seq);
        // SAFETY: as in `get`.
        unsafe { self.slots.get_unchecked_mut(slot) }
    }
    /// Where a memory reference goes.
    #[inline]
    pub fn mem(&self, seq: Seq) -> &MemRef {
        // SAFETY: as in `get`; all arrays have the same length.
        unsafe { self.mems.get_unchecked(self.slot(seq)) }
    }
    #[inline]
    pub fn set_mem(&mut self, seq: Seq, mem: &MemRef) {
        let slot = self.slot(seq);
        self.mems[slot] = mem.read_by_field();
    }
    /// A new wrong path begins: what was predecoded has been executed or rolled back.
    pub fn clear_predecoded(&mut self) {
        self.deferred.clear();
        self.executed = 0;
    }
    /// The next micro-op is the first of an instruction that the front end has only predecoded.
    #[inline]
    pub fn note_predecoded(&mut self) {
        self.deferred.push(self.tail);
    }
    /// Executes the instructions that have only been predecoded, up to micro-op `last`, and stores their references.
    pub fn execute_deferred<X: Outside>(&mut self, cx: &mut X, when: &When, last: Seq) {
        let now = Now { tick: when.tick, cycle: when.cycle, drained: false };
        while let Some(&first) = self.deferred.get(self.executed).filter(|first| **first <= last) {
            self.executed += 1;
            if !cx.execute_deferred(first, now, &mut self.step) {
                return;
            }
            for (seq, i) in first.until(Seq::MAX).zip(0..usize::from(self.step.n)) {
                if self.step.uops[i].flags.any(UopFlags::MEM) {
                    let slot = self.slot(seq);
                    self.mems[slot] = self.step.mem[i];
                }
            }
        }
    }
    /// What a micro-op with `UopFlags::EFFECT` does when it commits.
    #[inline]
    pub fn effect(&self, seq: Seq) -> SysEffect {
        self.effects[self.slot(seq)]
    }
    /// Where execution goes on after a micro-op whose [`Outcome`] is not `Straight`.
    #[inline]
    pub fn target(&self, seq: Seq) -> u64 {
        self.targets[self.slot(seq)]
    }
    #[inline]
    pub fn set_target(&mut self, seq: Seq, pc: u64) {
        let slot = self.slot(seq);
        self.targets[slot] = pc;
    }
    pub fn set_effect(&mut self, seq: Seq, effect: SysEffect) {
        let slot = self.slot(seq);
        self.effects[slot] = effect;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_grows_up_to_its_bound_and_keeps_what_is_in_it() {
        let mut ring = InstRing::new(300);
        let mut pushed = 0;
        while ring.make_room(Seq(1)) {
            let seq = ring.push(DynInst { pc: 10 + pushed, ..DynInst::default() });
            ring.set_target(seq, 20 + pushed);
            pushed += 1;
        }
        // The last instruction may have had as many micro-ops as any.
        assert_eq!((ring.capacity(), pushed), (512, 512 - MAX_UOPS as u64 + 1));
        assert!((0..pushed).all(|i| ring.get(Seq(1 + i)).pc == 10 + i && ring.target(Seq(1 + i)) == 20 + i));
        assert!(ring.make_room(Seq(2)));
    }
}
