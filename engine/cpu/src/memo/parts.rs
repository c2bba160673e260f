//! The segments of a steady state's period ([`super::steady`]).

use breakeven_base::PhysAddr;

use super::calls::Call;
use crate::outside::Repeats;

/// A segment of the period.
#[derive(Clone, Debug, Default)]
pub(super) struct Part {
    pub segment: u32,
    /// The state that the one before it ended at, and that of the same bytes where it begins.
    pub entry: u32,
    pub configuration: u32,
    /// Its calls, from first to last of each run ([`super::answers::Answers::path`]).
    pub path: Vec<(u32, u32)>,
    /// Of each run, those that are still made, with their numbers.
    pub made: Vec<Vec<(u32, Call)>>,
    /// Which calls these are without.
    pub left_out: Repeats,
}

impl Part {
    pub fn is(&self, segment: u32, entry: u32, configuration: u32) -> bool {
        (self.segment, self.entry, self.configuration) == (segment, entry, configuration)
    }
}

/// Whether one of `lines`, in order, is no further than a line from the `size` bytes at `at`.
#[inline]
pub(super) fn is_near(lines: &[PhysAddr], at: PhysAddr, size: u64, line: u64) -> bool {
    let is_before = |l: &PhysAddr| l.0.saturating_add(2 * line) <= at.0;
    // Most data lie behind all of the code, or before it.
    if lines.last().is_none_or(is_before) {
        return false;
    }
    let first = lines.partition_point(is_before);
    lines.get(first).is_some_and(|l| l.0 <= at.0.saturating_add(size + line))
}
