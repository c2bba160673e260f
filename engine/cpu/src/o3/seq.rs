//! The numbers by which micro-ops are known. Each is a type of its own: positions in program order, in the load queue and in
//! the store queue, a place in the ring of records, a result and an operand do not mix.

use std::ops::{Add, AddAssign, Sub, SubAssign};

use crate::seq::position;
pub use crate::seq::Seq;

position!(
    /// Position in the load queue, from the first load ever.
    LoadPos
);
position!(
    /// Position in the store queue, from the first store ever.
    StorePos
);

/// Which of [`Base::numbers`](crate::memo::archive::Base) these are, and stores dispatched.
pub const LOADS: usize = 0;
pub const STORES: usize = 1;
pub const STORES_DISPATCHED: usize = 2;

/// Place of a micro-op's record in the ring ([`super::inst::InstRing`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct Slot(pub usize);

/// One of the two results of a micro-op.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct Producer(u64);

impl Producer {
    /// A value that is always there.
    pub const NONE: Producer = Producer(0);

    #[inline]
    pub fn new(seq: Seq, result: usize) -> Producer {
        Producer(seq.0 << 1 | result as u64)
    }
    #[inline]
    pub fn is_some(self) -> bool {
        self != Producer::NONE
    }
    #[inline]
    pub fn seq(self) -> Seq {
        Seq(self.0 >> 1)
    }
    /// 0 or 1.
    #[inline]
    pub fn result(self) -> usize {
        (self.0 & 1) as usize
    }
}

/// One of the three operands of a micro-op in the ring, or none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct Operand(u32);

impl Operand {
    pub const NONE: Operand = Operand(0);

    #[inline]
    #[allow(clippy::cast_possible_truncation)] // slots fit in 32 bits many times over
    pub fn new(slot: Slot, number: usize) -> Operand {
        Operand((slot.0 << 2 | number) as u32 + 1)
    }
    #[inline]
    pub fn is_some(self) -> bool {
        self != Operand::NONE
    }
    /// Of one that is there.
    #[inline]
    pub fn slot(self) -> Slot {
        Slot(((self.0 - 1) >> 2) as usize)
    }
    /// 0 to 2, of one that is there.
    #[inline]
    pub fn number(self) -> usize {
        (self.0 - 1) as usize & 3
    }
}
