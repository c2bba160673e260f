//! The sequence numbers by which both pipelines know micro-ops in flight.

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

pub(crate) use position;

position!(
    /// Position of a micro-op in program order, along the path being followed.
    Seq
);

impl Seq {
    /// No micro-op.
    pub const NONE: Seq = Seq(0);
    /// The first one.
    pub const FIRST: Seq = Seq(1);
    /// Behind all others.
    pub const MAX: Seq = Seq(u64::MAX);

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
