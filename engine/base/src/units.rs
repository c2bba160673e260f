//! Time. A [`Tick`] is a picosecond, as in gem5; a [`Cycle`] is a period of one clock domain.
//! The two do not mix: only a clock period converts one into the other.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

macro_rules! instant {
    ($(#[$doc:meta])* $name:ident, $plus:expr, $minus:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(transparent)]
        pub struct $name(pub u64);
        impl $name {
            pub const ZERO: $name = $name(0);
            /// The last one: never.
            pub const MAX: $name = $name(u64::MAX);
        }
        impl Add<u64> for $name {
            type Output = $name;
            #[inline(always)]
            fn add(self, d: u64) -> $name { $name($plus(self.0, d)) }
        }
        impl AddAssign<u64> for $name {
            #[inline(always)]
            fn add_assign(&mut self, d: u64) { *self = *self + d; }
        }
        impl Sub<u64> for $name {
            type Output = $name;
            #[inline(always)]
            fn sub(self, d: u64) -> $name { $name($minus(self.0, d)) }
        }
        /// The distance between two instants.
        impl Sub for $name {
            type Output = u64;
            #[inline(always)]
            fn sub(self, o: $name) -> u64 { $minus(self.0, o.0) }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { self.0.fmt(f) }
        }
    };
}

instant!(
    /// An instant in picoseconds since reset. Sums and differences stay within its range.
    Tick,
    u64::saturating_add,
    u64::saturating_sub
);
instant!(
    /// An instant in cycles of one clock since reset. As plain as a pipeline's counter: neither [`Cycle::MAX`] nor what comes
    /// before zero is computed with.
    Cycle,
    Add::add,
    Sub::sub
);

impl Cycle {
    /// Cycles from `o` on and before `self`; none where `o` is later.
    #[inline(always)]
    #[must_use]
    pub fn after(self, o: Cycle) -> u64 {
        self.0.saturating_sub(o.0)
    }

    /// `self..=last`.
    #[inline]
    pub fn up_to(self, last: Cycle) -> impl Iterator<Item = Cycle> {
        (self.0..=last.0).map(Cycle)
    }
}

/// A clock: its period in ticks (picoseconds), never zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    period: u64,
}

impl Clock {
    /// `period` in picoseconds; zero is taken as 1 (a description with a zero period is refused before).
    #[must_use]
    pub fn new(period: u64) -> Self {
        Clock { period: period.max(1) }
    }
    #[inline]
    #[must_use]
    pub fn period(self) -> u64 {
        self.period
    }
    #[inline]
    #[must_use]
    pub fn to_tick(self, c: Cycle) -> Tick {
        Tick(c.0.saturating_mul(self.period))
    }
    /// The first edge at or after `t`.
    #[inline]
    #[must_use]
    pub fn edge_at_or_after(self, t: Tick) -> Cycle {
        Cycle(t.0.div_ceil(self.period))
    }
}

/// When a step happens.
#[derive(Clone, Copy, Debug)]
pub struct Now {
    pub tick: Tick,
    /// Of the core's clock (`mcycle`, `rdcycle`).
    pub cycle: Cycle,
    /// Everything older has committed: time-dependent instructions may execute.
    pub drained: bool,
}

/// Bytes of a guest's smallest page, and of the host's.
pub const PAGE: u64 = 4096;
