//! How far replays may go.

use super::archive::Base;
use super::recorder::{MAX_CYCLES, MAX_UOPS};
use crate::Budget;

/// By how much a steady state may be late: where a run stops, it ends, and must be found again.
const LATE_INSTS: u64 = 1 << 16;
const LATE_CYCLES: u64 = 1 << 18;

/// When a run must stop.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    budget: Budget,
    /// A number of [`Base::numbers`] and what it must stay below.
    below: Option<(usize, u64)>,
}

impl Limits {
    pub fn new(budget: Budget, below: Option<(usize, u64)>) -> Self {
        Limits { budget, below }
    }

    /// The same in a steady state.
    pub fn in_steady_state(&self) -> Self {
        let Budget { max_insts, max_cycles, late_insts, late_cycles } = self.budget;
        let (insts, cycles) = (late_insts.min(LATE_INSTS), late_cycles.min(LATE_CYCLES));
        let budget = Budget {
            max_insts: max_insts + insts,
            max_cycles: max_cycles + cycles,
            late_insts: late_insts - insts,
            late_cycles: late_cycles - cycles,
        };
        Limits { budget, ..*self }
    }

    /// Whether the run goes on, and a segment of any length fits in.
    pub fn has_room(&self, base: &Base, insts: u64) -> bool {
        let (budget, last) = (self.budget, self.budget.last());
        insts < budget.max_insts
            && base.cycle.0 <= budget.max_cycles
            && insts.saturating_add(MAX_UOPS) <= last.max_insts
            && base.cycle.0.saturating_add(MAX_CYCLES) <= last.max_cycles
            && self.below.is_none_or(|(which, end)| base.numbers[which] + MAX_UOPS < end)
    }
}
