//! Small things that several components share.

/// `Clone` field by field, with a `clone_from` that reuses every buffer: a sweep copies a snapshot into the same
/// memory system thousands of times.
macro_rules! clone_by_field {
    ($t:ident { $($f:ident),* $(,)? }) => {
        impl Clone for $t {
            fn clone(&self) -> Self {
                $t { $($f: self.$f.clone()),* }
            }
            fn clone_from(&mut self, from: &Self) {
                $(self.$f.clone_from(&from.$f);)*
            }
        }
    };
}
pub(crate) use clone_by_field;

/// A clock that remembers its last edge: most calls come on it or a few periods later, so most need no division.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EdgeClock {
    pub period: u64,
    edge: u64,
}

impl EdgeClock {
    pub fn new(period: u64) -> Self {
        EdgeClock { period: period.max(1), edge: 0 }
    }

    /// The first edge at or after `t`.
    #[inline]
    pub fn edge(&mut self, t: u64) -> u64 {
        let ahead = t.wrapping_sub(self.edge);
        if ahead == 0 {
            return t;
        }
        if ahead <= 4 * self.period {
            while self.edge < t {
                self.edge += self.period;
            }
            return self.edge;
        }
        let e = t.div_ceil(self.period) * self.period;
        self.edge = e;
        e
    }

    /// Ticks of `n` cycles.
    #[inline]
    pub fn cycles(self, n: u32) -> u64 {
        u64::from(n) * self.period
    }

    /// `t` ticks rounded up to whole cycles, in ticks.
    #[inline]
    pub fn round_up(self, t: u64) -> u64 {
        if t == 0 {
            0
        } else {
            t.div_ceil(self.period) * self.period
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_are_the_first_multiple_at_or_after() {
        let mut c = EdgeClock::new(333);
        for t in [0, 1, 333, 334, 5000, 4999, 10, 332, 666, 1_000_000, 999_999, 3] {
            assert_eq!(c.edge(t), t.div_ceil(333) * 333, "t = {t}");
        }
    }
}
