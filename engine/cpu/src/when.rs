//! The present cycle, for everything that talks to the memory side in ticks.

use breakeven_base::{Cycle, Tick};

/// The current cycle, and the same instant in ticks.
#[derive(Clone, Copy, Debug)]
pub struct When {
    pub cycle: Cycle,
    pub tick: Tick,
    /// Ticks a cycle.
    pub period: u64,
}

impl When {
    /// The first cycle that sees what happens at `tick`.
    #[inline]
    pub fn cycle_of(self, tick: Tick) -> Cycle {
        // Most things happen at a clock edge soon: the division is not worth it for the commonest distances.
        if tick <= self.tick {
            return self.cycle;
        }
        let ahead = tick - self.tick;
        if ahead == self.period {
            return self.cycle + 1;
        }
        if ahead == 2 * self.period {
            return self.cycle + 2;
        }
        self.cycle + ahead.div_ceil(self.period)
    }
}
