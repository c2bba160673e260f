//! The in-order core, after gem5's MinorCPU: four stages, an LSQ, and the latches between them.
//!
//! ```text
//!          f1ToF2             f2ToD              dToE
//! fetch1 --------> fetch2 ---------> decode ---------> execute + LSQ
//!    ^               | ^                                  |
//!    +---- f2ToF1 ---+ +--------------- eToF1 ------------+
//!    +----------------------------------------------------+
//! ```
//!
//! The order within a cycle is in [`pipeline::Pipeline::tick`]; each stage is a file with one `tick`. Parameters are gem5's, in
//! [`config`]. `docs/cores.md` has the rules on one page, and where and why this core differs from gem5's.

mod activity;
pub mod config;
mod decode;
mod execute;
mod fetch1;
mod fetch2;
mod flight;
mod func_unit;
mod inst;
mod latch;
mod lsq;
mod pipe;
mod pipeline;
mod quirks;
mod scoreboard;
mod skip;
mod stats;
#[cfg(test)]
mod tests;

pub use config::{default_fu_pool, FuConfig, FuTiming, MinorConfig};
pub use quirks::MinorQuirks;

use breakeven_base::{Bus, ConfigError, FrontEnd};
use educe::Educe;

use crate::bpred::{BranchPredictor, BranchPredictorParams};
use crate::memo::{Memo, MemoStatistics};
use crate::outside::{Live, Outside};
use crate::pipeview::Window;
use crate::{Budget, CoreCtx, Stop};
use execute::Event;
use pipeline::Pipeline;

/// An in-order core. Its state between two [`Minor::run`] is kept, and cloned with it.
#[derive(Debug, Educe)]
#[educe(Clone)]
pub struct Minor {
    path: String,
    pipe: Pipeline,
    predictor: BranchPredictor,
    memo: Memo,
    base: stats::Base,
}

impl Minor {
    /// # Errors
    /// Everything in the configuration that cannot be built, one error each.
    pub fn new(
        cfg: MinorConfig,
        branch_pred: Option<&BranchPredictorParams>,
        line_bytes: u32,
    ) -> Result<Self, Vec<ConfigError>> {
        let errors = cfg.check(line_bytes).err().unwrap_or_default();
        let predictor = BranchPredictor::of_core(branch_pred, &cfg.path, errors)?;
        let pipe = Pipeline::new(&cfg, line_bytes);
        let memo = Memo::new(pipe.execute.lsq.address_rules(), 0);
        Ok(Minor { pipe, predictor, memo, base: stats::Base::default(), path: cfg.path })
    }

    /// Instructions committed since reset.
    #[must_use]
    pub fn insts(&self) -> u64 {
        self.pipe.execute.stats.insts
    }

    /// Cycles since reset.
    #[must_use]
    pub fn cycles(&self) -> u64 {
        self.pipe.cycles()
    }

    /// Nothing is in flight: every instruction that has been executed has committed and every store has been sent.
    #[must_use]
    pub fn drained(&self) -> bool {
        let Pipeline { execute, decode, .. } = &self.pipe;
        execute.is_empty() && execute.lsq.is_drained() && decode.input.is_empty()
    }

    /// After [`Stop::Paused`]: the time is `cycle` or later by now. Fetch2 looks where the front end stands.
    pub fn resume(&mut self, cycle: u64) {
        let idle = cycle.saturating_sub(self.cycles());
        self.pipe.time.cycle += idle;
        self.pipe.watchdog.last_commit += idle;
        self.pipe.time.running = true;
        // Resolved branches that were on their way to fetch come out one a cycle.
        self.pipe.activity.mark(self.pipe.time.cycle);
    }

    /// Switches memoized execution: the same cycles.
    pub fn memoize(&mut self, on: bool) {
        self.memo.switch(on);
    }

    /// The core becomes idle: memoized execution gives most of its memory back.
    pub fn release_memory(&mut self) {
        self.memo.release_memory();
    }

    /// Statistics of memoized execution.
    #[must_use]
    pub fn memo_statistics(&self) -> MemoStatistics {
        self.memo.statistics()
    }

    /// From now on the statistics hold the account of the cycles.
    pub fn keep_account(&mut self) {
        self.pipe.keep_account();
    }

    /// Starts (or with `None` ends) the trace of the micro-ops fetched from now on.
    pub fn set_trace(&mut self, window: Option<Window>) {
        self.pipe.set_trace(window);
    }

    /// The records since the last call; with `finish` also of what is still in flight.
    pub fn take_trace(&mut self, finish: bool) -> String {
        self.pipe.take_trace(finish)
    }

    /// The trace goes on from here: what has ended leaves no record. False where a micro-op in flight was fetched before
    /// the trace began.
    pub fn forget_ended(&mut self) -> bool {
        self.pipe.forget_ended()
    }

    /// Runs until the budget is spent or something happens that the caller must know of.
    pub fn run<F: FrontEnd, B: Bus>(&mut self, cx: &mut CoreCtx<'_, F, B>, budget: Budget) -> Stop {
        let mut cx = Live { cx, predictor: &mut self.predictor };
        let (pipe, memo) = (&mut self.pipe, &mut self.memo);
        // A skip is not cut where only a slice ends.
        let last_cycle = budget.last().max_cycles;
        if !pipe.time.started {
            pipe.fetch1.start(cx.pc());
            pipe.time.started = true;
        }
        memo.begin_run(pipe, &mut cx, budget);
        loop {
            let may_stop = memo.may_stop();
            let Budget { max_insts, max_cycles, .. } = if may_stop { budget } else { budget.last() };
            if pipe.ledger.is_some() {
                pipe.charge(cx.data_levels());
            }
            if pipe.execute.stats.insts >= max_insts {
                return Stop::MaxInsts;
            }
            if pipe.cycles() >= max_cycles {
                return Stop::MaxCycles;
            }
            if may_stop && cx.cx.bus.slice_is_over() {
                return Stop::SliceOver;
            }
            if let Some(boundary) = pipe.fetch2.turned.take() {
                if memo.is_due(pipe, boundary) {
                    memo.at_boundary(pipe, &mut cx, budget, boundary);
                    continue;
                }
            }
            if !pipe.time.running {
                let goes_on = if memo.is_recording() {
                    pipe.sleep(&mut memo.recorded(&mut cx), last_cycle)
                } else {
                    pipe.sleep(&mut cx, last_cycle)
                };
                if !goes_on {
                    return deadlock(pipe, cx.cx);
                }
                continue;
            }
            let now = pipe.time.cycle;
            let still = if memo.is_recording() {
                let still = pipe.cycle(&mut memo.recorded(&mut cx));
                if let Some(what) = memo.mismatch() {
                    return Stop::NotRepeated(what);
                }
                still
            } else {
                pipe.cycle(&mut cx)
            };
            if pipe.trace.is_some() {
                pipe.note_stages(&mut cx, now);
            }
            if let Some(event) = pipe.execute.out.event.take() {
                if pipe.ledger.is_some() {
                    pipe.charge(cx.data_levels());
                }
                return match event {
                    Event::Effect(effect) => Stop::Effect(effect),
                    Event::Paused => Stop::Paused,
                };
            }
            if !pipe.watch(now, last_cycle) {
                return deadlock(pipe, cx.cx);
            }
            // An account and a trace look at every cycle.
            if still && pipe.ledger.is_none() && pipe.trace.is_none() {
                pipe.skip_still(now, last_cycle);
            }
        }
    }
}

#[cold]
fn deadlock<F: FrontEnd, B: Bus>(pipe: &Pipeline, cx: &CoreCtx<'_, F, B>) -> Stop {
    Stop::Deadlock(format!(
        "no instruction has committed since cycle {} (now {}); the front end stands at {:#x}\n{}\n{}",
        pipe.watchdog.last_commit,
        pipe.time.cycle,
        cx.fe.pc(),
        pipe.describe().join("\n"),
        cx.mem.describe_queues(pipe.when(pipe.time.cycle).tick),
    ))
}
