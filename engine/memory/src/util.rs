//! Small things that several components share.

use breakeven_base::Tick;

/// A clock whose edges are found without a division: rounding up to its period is two multiplications.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EdgeClock {
    pub period: u64,
    /// 2^64 / period, rounded up.
    inverse: u64,
}

impl EdgeClock {
    pub fn new(period: u64) -> Self {
        let period = period.max(1);
        EdgeClock { period, inverse: (u64::MAX / period).saturating_add(1) }
    }

    /// The first edge at or after `t`.
    #[inline]
    pub fn edge(self, t: Tick) -> Tick {
        Tick(self.whole_cycles(t.0))
    }

    /// `t` ticks rounded up to whole cycles, in ticks.
    #[inline]
    pub fn whole_cycles(self, t: u64) -> u64 {
        let quotient = (u128::from(t) * u128::from(self.inverse)) >> 64;
        // The quotient is exact or one off: below the true one for a period of 1, above it for instants beyond 2^64 / period.
        let mut e = quotient as u64 * self.period;
        if e > t {
            e -= self.period;
        }
        if e < t {
            e += self.period;
        }
        e
    }

    /// Ticks of `n` cycles.
    #[inline]
    pub fn cycles(self, n: u32) -> u64 {
        u64::from(n) * self.period
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_are_the_first_multiple_at_or_after() {
        for period in [1, 2, 3, 333, 500, 512, 999_983] {
            let c = EdgeClock::new(period);
            for t in (0..2000).chain((1 << 40)..(1 << 40) + 2000).chain((1 << 60)..(1 << 60) + 2000) {
                assert_eq!(c.whole_cycles(t), t.div_ceil(period) * period, "t = {t}, period {period}");
            }
        }
    }
}
