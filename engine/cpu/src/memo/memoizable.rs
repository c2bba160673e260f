//! What memoized execution asks of a pipeline.

use breakeven_base::{Cycle, MemRef};

use super::archive::{Base, Written};
use crate::seq::Seq;

/// A pipeline whose state, between two cycles, has a relative form.
pub trait Memoizable {
    /// Whether a state on a wrong path has one, too.
    const ON_WRONG_PATHS: bool;

    /// Where it stands.
    fn base(&self) -> Base;
    /// The cycle that comes next.
    fn cycle(&self) -> Cycle;
    /// Its clock's, in ticks.
    fn period(&self) -> u64;
    /// Instructions committed since reset.
    fn insts(&self) -> u64;
    /// The number behind the youngest micro-op.
    fn youngest(&self) -> Seq;
    /// A trace looks at every cycle.
    fn is_traced(&self) -> bool;
    /// A hash of a few numbers that states of one relative form have in common.
    fn signature(&self) -> u64;
    /// A hash of what states of one relative form have in common and takes little time to read.
    fn shape(&self) -> u64;
    /// Writes the state in relative form. False: it has none.
    fn save(&mut self, to: &mut Written) -> bool;
    /// Goes on from a state in relative form, at `base`; `references` as they were saved. What no such state holds stays: what
    /// the pipeline has learned, the statistics, which must have come so far already.
    fn load(&mut self, bytes: &[u8], references: &[MemRef], base: Base);
    /// Every count, in one order.
    fn for_each_count(&mut self, each: &mut impl FnMut(&mut u64));
    /// What it has learned that no state holds (O3's store sets).
    fn learned(&self) -> &[u32] {
        &[]
    }
    /// How often something has changed of which the calls of a segment say nothing.
    fn unrecorded_changes(&self) -> u64 {
        0
    }
    /// What it has learned is forgotten when this number of [`Base::numbers`] has grown by so much.
    fn forgets_at(&self) -> Option<(usize, u64)> {
        None
    }
}
