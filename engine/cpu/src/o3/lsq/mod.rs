//! The load-store queue and the memory-dependence unit, as the pipeline sees them.
//!
//! The pipeline owns issue and commit; the queue owns everything between a memory micro-op's execution and its data.
//!
//! ```text
//! dispatch   Lsq::dispatch    an entry; is it held back by memory order?            (false: a later LsqOut::ready names it)
//! issue      (pipeline)       operands there, memory order satisfied, a unit free; then issueToExecuteDelay
//! execute    Lsq::execute     translation, search, cache access                      -> MemOutcome
//! write back Lsq::written_back  wakes what waited for it by memory order             (called in the cycle of its write-back)
//! commit     Lsq::commit      loads leave, stores may be written to the cache
//! every cycle in which `next_event() <= now`:  Lsq::events (before the stages), Lsq::tick (after issue)
//! ```

mod config;
mod store_sets;

pub use config::{LsqConfig, PartialForward};

use breakeven_base::{Bus, FrontEnd, UopFlags};

use super::config::O3Config;
use super::inst::{InstRing, Seq};
use crate::when::When;
use crate::CoreCtx;

/// What became of a memory micro-op that executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemOutcome {
    /// It writes back in this cycle (the present one for a store, whose execution is then over; later for a load).
    Done(u64),
    /// Not known yet: a later [`LsqOut`] names it, in `done` or, when it has to be issued again, in `ready`.
    Pending,
}

/// What the queue tells the pipeline; the pipeline empties it after each call.
#[derive(Clone, Debug, Default)]
pub struct LsqOut {
    /// Writes back in that cycle (not before the present one).
    pub done: Vec<(Seq, u64)>,
    /// Memory order no longer holds it (first time), or it must be issued again (blocked by the cache, replayed).
    pub ready: Vec<Seq>,
}

/// A load that read before an older store to the same place: everything from it on is fetched again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Violation {
    pub load: Seq,
}

/// Whether a micro-op needs an entry of the load queue.
#[inline]
#[must_use]
pub fn uses_load_queue(flags: UopFlags) -> bool {
    flags.any(UopFlags::LOAD) && !flags.any(UopFlags::STORE | UopFlags::TRAP)
}

/// Whether a micro-op needs an entry of the store queue. Atomics do, as in gem5.
#[inline]
#[must_use]
pub fn uses_store_queue(flags: UopFlags) -> bool {
    flags.any(UopFlags::STORE | UopFlags::CACHE_OP) && !flags.any(UopFlags::TRAP) && !uses_load_queue(flags)
}

#[derive(Clone, Debug)]
pub struct Lsq {}

impl Lsq {
    pub fn new(_cfg: &O3Config, _line_bytes: u32) -> Self {
        Lsq {}
    }

    /// Entries that are free.
    #[inline]
    pub fn free_loads(&self) -> u32 {
        0
    }
    #[inline]
    pub fn free_stores(&self) -> u32 {
        0
    }

    /// Dispatch of a memory reference or barrier, in program order; the pipeline has seen that there is room. Whether memory
    /// order lets it issue (store sets, barriers); else `LsqOut::ready` names it later.
    pub fn dispatch(&mut self, _seq: Seq, _ring: &InstRing) -> bool {
        true
    }

    /// A memory reference executes, `issueToExecuteDelay` after its issue.
    pub fn execute<F: FrontEnd, B: Bus>(
        &mut self,
        _seq: Seq,
        _cx: &mut CoreCtx<'_, F, B>,
        when: &When,
        _ring: &mut InstRing,
        _out: &mut LsqOut,
    ) -> MemOutcome {
        MemOutcome::Done(when.cycle)
    }

    /// The violation that the last `execute` of a store found, once. The oldest load.
    #[inline]
    pub fn take_violation(&mut self) -> Option<Violation> {
        None
    }

    /// A memory reference or barrier writes back in this cycle: what memory order held back for it becomes ready.
    pub fn written_back(&mut self, _seq: Seq, _ring: &InstRing, _out: &mut LsqOut) {}

    /// What arrives up to this cycle (ends of walks, the cache taking accesses again, responses for stores), before the stages.
    pub fn events<F: FrontEnd, B: Bus>(
        &mut self,
        _cx: &mut CoreCtx<'_, F, B>,
        _when: &When,
        _ring: &mut InstRing,
        _out: &mut LsqOut,
    ) {
    }

    /// One cycle, after issue: committed stores go to the cache as far as ports allow.
    pub fn tick<F: FrontEnd, B: Bus>(
        &mut self,
        _cx: &mut CoreCtx<'_, F, B>,
        _when: &When,
        _ring: &mut InstRing,
        _out: &mut LsqOut,
    ) {
    }

    /// Everything up to and including `seq` has committed: those loads leave, those stores may be written.
    /// Called at most once a cycle, in the cycle in which the LSQ hears of it (`commitToIEWDelay` after commit).
    pub fn commit(&mut self, _seq: Seq) {}

    /// Everything younger than `seq` never was.
    pub fn squash(&mut self, _seq: Seq, _ring: &InstRing) {}

    /// Committed stores that have not been written yet (gem5 `hasStoresToWB`).
    #[inline]
    pub fn has_stores_to_write(&self) -> bool {
        false
    }

    /// Nothing is held.
    #[inline]
    pub fn drained(&self) -> bool {
        true
    }

    /// The first cycle after which `events` or `tick` has something to do; `u64::MAX`: none until called otherwise.
    #[inline]
    pub fn next_event(&self) -> u64 {
        u64::MAX
    }

    /// For the deadlock report.
    pub fn describe(&self) -> String {
        String::new()
    }
}
