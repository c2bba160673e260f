//! Core models. They know micro-ops (`breakeven_base::Step`), never an instruction set; they are generic over the front
//! end and compiled per pair, so that no call per micro-op is virtual.

pub mod account;
pub mod bpred;
mod memo;
pub mod minor;
pub mod misaligned;
pub mod o3;
mod outside;
pub mod pipeview;
mod seq;
pub mod simple;
#[cfg(test)]
pub(crate) mod testing;
mod when;

pub use memo::MemoStatistics;

use breakeven_base::{Bus, FrontEnd, SysEffect};
use breakeven_memory::MemorySystem;

/// What a core works on while it runs: the three worlds it may touch, borrowed from the machine.
pub struct CoreCtx<'a, F: FrontEnd, B: Bus> {
    pub fe: &'a mut F,
    pub bus: &'a mut B,
    pub mem: &'a mut MemorySystem,
}

/// When `run` must come back at the latest (absolute totals of this core since reset).
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    pub max_insts: u64,
    pub max_cycles: u64,
    /// By how much it may be late, where that saves work: the totals that must not be passed are the sums.
    pub late_insts: u64,
    pub late_cycles: u64,
}

impl Budget {
    /// Not to be passed.
    #[must_use]
    pub const fn last(self) -> Self {
        let (insts, cycles) =
            (self.max_insts.saturating_add(self.late_insts), self.max_cycles.saturating_add(self.late_cycles));
        Budget::new(insts, cycles)
    }

    /// To the instruction and the cycle.
    #[must_use]
    pub const fn new(max_insts: u64, max_cycles: u64) -> Self {
        Budget { max_insts, max_cycles, late_insts: 0, late_cycles: 0 }
    }
}

/// Why `run` came back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// An instruction with this effect has just committed (never `None`, `TlbFlush`, `FetchFlush` or `CacheFlush`: the core handles those).
    Effect(SysEffect),
    /// The bus paused the machine before an instruction; everything older has committed and the pipeline is empty.
    Paused,
    MaxInsts,
    MaxCycles,
    /// [`Bus::slice_is_over`].
    SliceOver,
    /// Nothing committed for a very long time: what each queue waits for, one a line.
    Deadlock(String),
    /// Memoized execution made another call than it had recorded, and which: a bug.
    NotRepeated(String),
}
