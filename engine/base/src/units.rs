//! Time. A [`Tick`] is a picosecond, as in gem5; a [`Cycle`] is a period of one clock domain.
//! The two do not mix: only a clock period converts one into the other.

use std::ops::{Add, AddAssign, Sub};

macro_rules! quantity {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u64);
        impl $name {
            pub const ZERO: $name = $name(0);
            pub const MAX: $name = $name(u64::MAX);
        }
        impl Add<u64> for $name {
            type Output = $name;
            #[inline]
            fn add(self, d: u64) -> $name { $name(self.0.saturating_add(d)) }
        }
        impl AddAssign<u64> for $name {
            #[inline]
            fn add_assign(&mut self, d: u64) { self.0 = self.0.saturating_add(d); }
        }
        /// The distance between two instants; zero when `o` is later.
        impl Sub for $name {
            type Output = u64;
            #[inline]
            fn sub(self, o: $name) -> u64 { self.0.saturating_sub(o.0) }
        }
    };
}

quantity!(
    /// An instant in picoseconds since reset.
    Tick
);
quantity!(
    /// An instant in cycles of one clock since reset.
    Cycle
);

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
    /// Core cycles since reset (`mcycle`, `rdcycle`).
    pub cycle: u64,
    /// Everything older has committed: time-dependent instructions may execute.
    pub drained: bool,
}

/// Bytes of a guest's smallest page, and of the host's.
pub const PAGE: u64 = 4096;
