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

/// Whether each set of `ways` holds its entries in the same order of use, now and at an earlier time. Stamps only grow.
pub(crate) fn same_order(now: &[u64], then: &[u64], ways: usize) -> bool {
    now.len() == then.len()
        && now.chunks(ways.max(1)).zip(then.chunks(ways.max(1))).all(|(now, then)| {
            // Those used since must have been the last ones before, too, and in this order.
            let used = |way: &usize| now[*way] != then[*way];
            let last = (0..now.len()).filter(|way| !used(way)).map(|way| then[way]).max();
            (0..now.len()).filter(used).all(|way| {
                last.is_none_or(|last| then[way] > last)
                    && (0..way).filter(used).all(|other| (now[way] > now[other]) == (then[way] > then[other]))
            })
        })
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

    #[test]
    fn an_order_is_the_same_where_the_last_ones_were_used_again_in_their_order() {
        assert!(same_order(&[1, 2, 5, 6], &[1, 2, 3, 4], 4));
        assert!(!same_order(&[1, 2, 6, 5], &[1, 2, 3, 4], 4), "another order");
        assert!(!same_order(&[1, 5, 3, 4], &[1, 2, 3, 4], 4), "not the last one");
        assert!(same_order(&[1, 5, 3, 4], &[1, 2, 3, 4], 2), "the last one of its set");
        assert!(same_order(&[9, 7, 8, 6], &[4, 2, 3, 1], 4), "all");
    }
}
