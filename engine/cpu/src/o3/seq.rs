//! The numbers by which micro-ops are known. Each is a type of its own: positions in program order, in the load queue and in
//! the store queue, a place in the ring of records, a result and an operand do not mix.

use std::fmt;
use std::ops::{Add, AddAssign, Sub, SubAssign};

/// Positions counted from a first one on. What lies between two of a kind is a number; two kinds have no relation.
macro_rules! position {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
        #[repr(transparent)]
        pub struct $name(pub u64);

        impl $name {
            /// `self..end`.
            #[inline]
            pub fn until(self, end: $name) -> impl DoubleEndedIterator<Item = $name> {
                (self.0..end.0).map($name)
            }
        }

        impl Add<u64> for $name {
            type Output = $name;
            #[inline]
            fn add(self, n: u64) -> $name {
                $name(self.0 + n)
            }
        }

        impl AddAssign<u64> for $name {
            #[inline]
            fn add_assign(&mut self, n: u64) {
                self.0 += n;
            }
        }

        impl Sub<u64> for $name {
            type Output = $name;
            #[inline]
            fn sub(self, n: u64) -> $name {
                $name(self.0 - n)
            }
        }

        impl SubAssign<u64> for $name {
            #[inline]
            fn sub_assign(&mut self, n: u64) {
                self.0 -= n;
            }
        }

        /// Those from `o` on and before `self`.
        impl Sub for $name {
            type Output = u64;
            #[inline]
            fn sub(self, o: $name) -> u64 {
                self.0 - o.0
            }
        }
    };
}

position!(
    /// Position of a micro-op in program order, along the path being followed.
    Seq
);
position!(
    /// Position in the load queue, from the first load ever.
    LoadPos
);
position!(
    /// Position in the store queue, from the first store ever.
    StorePos
);

impl Seq {
    /// No micro-op.
    pub const NONE: Seq = Seq(0);
    /// The first one.
    pub const FIRST: Seq = Seq(1);

    #[inline]
    pub fn is_some(self) -> bool {
        self != Seq::NONE
    }

    /// Micro-ops from `o` on and before `self`; none where `o` is not older.
    #[inline]
    pub fn behind(self, o: Seq) -> u64 {
        self.0.saturating_sub(o.0)
    }

    /// How far `self` stands behind `base`, or (negative) before it.
    #[inline]
    pub fn distance(self, base: Seq) -> i64 {
        self.0.wrapping_sub(base.0) as i64
    }

    /// The one `distance` behind `self`.
    #[inline]
    #[must_use]
    pub fn at_distance(self, distance: i64) -> Seq {
        Seq(self.0.wrapping_add_signed(distance))
    }
}

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

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
