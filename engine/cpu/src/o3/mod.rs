//! The out-of-order core, after gem5's O3CPU.
//!
//! ```text
//!          fetch     fetch to     decode to     rename to        commit
//!          queue     decode       rename        dispatch
//!  fetch ---------> decode ----> rename ----> dispatch -> issue queue -> issue -> execute -> write-back
//!    ^                 |            |                        LSQ                      |          |
//!    |   early         |            +----> ROB <--------------------------------------+----------+
//!    +-- correction ---+                    |
//!    +------- squash ----------------- commit (oldest first)
//! ```
//!
//! # Units
//! Fetch, decode, rename, dispatch, issue, execute, the load-store queue and commit are a type and a file each. A unit owns
//! its state; its `tick` says what comes in and what goes out. Units meet in three ways only:
//!
//! - [`wires`]: what is sent in one cycle and arrives a delay later (gem5's time buffers): micro-ops, stalls, credits, squashes.
//! - [`io::Io`]: the records of the micro-ops in flight, which every unit reads and each writes its own part of.
//! - a queue that a unit is given to fill: dispatch fills the issue queue and the load-store queue, issue execute's calendar;
//!   execution hands references to the load-store queue and wakes dependents in the issue queue.
//!
//! A squash is a message: each unit has a `squash` that drops its micro-ops from a sequence number on (`squash.rs`).
//! Micro-ops are numbered in program order and every unit works in that order up to dispatch, so that what a unit, its
//! input latch and its skid buffer hold are ranges of sequence numbers; nothing is copied from queue to queue:
//! `head <= dispatch <= rename <= decode <= fetch queue <= tail <= placed` (in [`path::Path`]).
//!
//! The order within a cycle is in [`pipeline::Pipeline::tick`]. Parameters are gem5's, in [`config`].
//! `docs/cores.md` has the rules on one page, and where and why this core differs from gem5's.

mod commit;
pub mod config;
mod decode;
mod dispatch;
mod effect;
mod execute;
mod fetch;
mod fu_pool;
mod inst;
mod io;
mod iq;
mod issue;
pub mod lsq;
mod path;
mod pipeline;
mod quirks;
mod reason;
mod rename;
mod rules;
mod seq;
mod squash;
mod stats;
mod units;
mod wheel;
mod wires;

#[cfg(test)]
mod tests;
#[cfg(test)]
mod unit_rig;

pub use crate::account::{Account, Reason};
pub use config::{O3Config, RenameRecovery};
pub use fu_pool::{default_fu_pool, FuDesc, IqInsertionPolicy, IqUnit, OpDesc};
pub use inst::{InstRing, Wait};
pub use quirks::Gem5Quirks;
pub use seq::Seq;

use breakeven_base::{Bus, ConfigError, Cycle, FrontEnd, SysEffect};
use educe::Educe;

use crate::bpred::{BranchPredictor, BranchPredictorParams};
use crate::memo::Memo;
use crate::memo::MemoStatistics;
use crate::outside::{Live, Outside};
use crate::pipeview::{PipeView, Window};
use crate::{Budget, CoreCtx, Stop};
use pipeline::Pipeline;

/// Without a commit for this long, with nothing known to arrive, the core hangs (or its guest does nothing but trap).
const DEADLOCK_CYCLES: u64 = 1_000_000;

/// A multiple of the lengths of the wires' ring and of the event wheel: each entry keeps its slot when the clock moves by it.
const TURN: u64 = 256;
const _: () = assert!(TURN % wires::LENGTH as u64 == 0 && TURN % wheel::SPAN == 0);

/// Why [`O3::run`] returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    Effect(SysEffect),
    Paused,
}

/// An out-of-order core. Its state between two [`O3::run`] is kept, and cloned with it.
#[derive(Debug, Educe)]
#[educe(Clone)]
pub struct O3 {
    path_name: String,
    pipe: Pipeline,
    predictor: BranchPredictor,
    memo: Memo,
    base: stats::Base,
}

impl O3 {
    /// # Errors
    /// Everything in the configuration that cannot be built, one error each.
    pub fn new(
        cfg: O3Config,
        branch_pred: Option<&BranchPredictorParams>,
        line_bytes: u32,
    ) -> Result<Self, Vec<ConfigError>> {
        let errors = cfg.check(line_bytes).err().unwrap_or_default();
        let predictor = BranchPredictor::of_core(branch_pred, &cfg.path, errors)?;
        let pipe = Pipeline::new(&cfg, line_bytes);
        let memo = Memo::new(pipe.lsq.address_rules(), cfg.lsq.aliasCheckBits);
        Ok(O3 { pipe, predictor, memo, base: stats::Base::default(), path_name: cfg.path })
    }

    /// Instructions committed since reset.
    #[must_use]
    pub fn insts(&self) -> u64 {
        self.pipe.commit.stats.insts
    }

    /// Cycles since reset.
    #[must_use]
    pub fn cycles(&self) -> u64 {
        self.pipe.cycle.0 - 1
    }

    /// Switches memoized execution (default: off): the same cycles.
    pub fn memoize(&mut self, on: bool) {
        self.memo.switch(on);
    }

    /// The machine becomes idle: memoized execution gives most of its memory back.
    pub fn release_memory(&mut self) {
        self.memo.release_memory();
    }

    /// Statistics of memoized execution.
    #[must_use]
    pub fn memo_statistics(&self) -> MemoStatistics {
        self.memo.statistics()
    }

    /// Starts (or with `None` ends) the O3PipeView trace.
    pub fn set_trace(&mut self, window: Option<Window>) {
        self.pipe.io.trace =
            window.map(|w| Box::new(PipeView::new(self.pipe.io.ring.capacity(), self.pipe.clock.period(), w)));
        self.pipe.lsq.log_stores(self.pipe.io.trace.is_some());
    }

    /// The records since the last call; with `finish` those, too, of what is still in flight.
    pub fn take_trace(&mut self, finish: bool) -> String {
        let Some(trace) = &mut self.pipe.io.trace else { return String::new() };
        for (seq, cycle) in self.pipe.lsq.take_store_log() {
            trace.stored(seq.0, cycle);
        }
        if finish {
            trace.finish();
        }
        trace.take()
    }

    /// Restarts the trace here: drops the records of micro-ops that have left. False where a micro-op in flight was fetched before
    /// the trace began.
    pub fn forget_ended(&mut self) -> bool {
        let io = &mut self.pipe.io;
        let Some(trace) = &mut io.trace else { return false };
        self.pipe.lsq.take_store_log();
        let seqs = std::iter::successors(Some(io.ring.head()), |&seq| Some(seq + 1));
        trace.forget_ended(seqs.take_while(|&seq| seq < io.ring.tail()).map(|seq| (io.ring.slot(seq).0, seq.0)))
    }

    /// Where the commit slots since reset went.
    #[must_use]
    pub fn account(&self) -> &Account {
        &self.pipe.account
    }

    /// After [`Stop::Paused`]: the front end stands at `pc` by now, and the time at `cycle` or later.
    pub fn resume(&mut self, cycle: u64, pc: u64) {
        let idle = cycle.saturating_sub(self.cycles());
        self.pipe.stand_still(idle.next_multiple_of(TURN));
        self.pipe.fetch.start(pc);
    }

    /// Nothing is in flight: every instruction that has been fetched has committed and every store has been written.
    #[must_use]
    pub fn drained(&self) -> bool {
        self.pipe.io.ring.head() == self.pipe.io.ring.tail()
            && self.pipe.fetch.path.placed == self.pipe.io.ring.tail()
            && self.pipe.lsq.drained()
    }

    /// Runs until the budget is spent or something happens that the caller must know of.
    pub fn run<F: FrontEnd, B: Bus>(&mut self, cx: &mut CoreCtx<'_, F, B>, budget: Budget) -> Stop {
        let mut cx = Live { cx, predictor: &mut self.predictor };
        let (pipe, memo) = (&mut self.pipe, &mut self.memo);
        // What idle units count depends on where a skip is cut: not where only a slice ends.
        let last_cycle = budget.last().max_cycles;
        if pipe.cycle == Cycle(1) {
            pipe.fetch.start(cx.pc());
        }
        memo.begin_run(pipe, &mut cx, budget);
        loop {
            let may_stop = memo.may_stop();
            let Budget { max_insts, max_cycles, .. } = if may_stop { budget } else { budget.last() };
            if pipe.commit.stats.insts >= max_insts {
                return Stop::MaxInsts;
            }
            if pipe.cycle.0 > max_cycles {
                return Stop::MaxCycles;
            }
            if may_stop && cx.cx.bus.slice_is_over() {
                return Stop::SliceOver;
            }
            if let Some(boundary) = pipe.io.activity.boundary.take() {
                if memo.is_due(pipe, boundary) {
                    memo.at_boundary(pipe, &mut cx, budget, boundary);
                    continue;
                }
            }
            let when = pipe.when(pipe.cycle);
            pipe.io.activity = io::Activity::default();
            if memo.is_recording() {
                pipe.tick(&mut memo.recorded(&mut cx), &when);
                if let Some(what) = memo.mismatch() {
                    return Stop::NotRepeated(what);
                }
            } else {
                pipe.tick(&mut cx, &when);
            }
            pipe.cycle += 1;
            if let Some(stopped) = pipe.io.stopped.take() {
                return match stopped {
                    Stopped::Effect(effect) => Stop::Effect(effect),
                    Stopped::Paused => Stop::Paused,
                };
            }
            if pipe.cycle > pipe.commit.last_commit() + DEADLOCK_CYCLES {
                return deadlock(pipe, cx.cx);
            }
            if pipe.io.activity.moved {
                pipe.retry_counts = None;
            } else if !pipe.skip(last_cycle) {
                return deadlock(pipe, cx.cx);
            }
        }
    }
}

#[cold]
fn deadlock<F: FrontEnd, B: Bus>(pipe: &Pipeline, cx: &CoreCtx<'_, F, B>) -> Stop {
    let mut queues = pipe.describe();
    queues.push(cx.mem.describe_queues(pipe.when(pipe.cycle).tick));
    Stop::Deadlock(format!(
        "no instruction has committed since cycle {} (now {}); the front end stands at {:#x}\n{}",
        pipe.commit.last_commit(),
        pipe.cycle,
        cx.fe.pc(),
        queues.join("\n"),
    ))
}

/// Micro-ops that the ring must hold: the ROB, the queues before it, and what latches and skid buffers hold between them.
fn in_flight_bound(cfg: &O3Config) -> usize {
    let width = cfg.fetchWidth.max(cfg.decodeWidth).max(cfg.renameWidth).max(cfg.dispatchWidth);
    let delays = cfg.fetchToDecodeDelay
        + cfg.decodeToRenameDelay
        + cfg.renameToIEWDelay
        + cfg.renameToDecodeDelay
        + cfg.decodeToFetchDelay
        + cfg.iewToRenameDelay;
    // Fused micro-ops have no place of their own in the ROB.
    let fused = if cfg.microFusion || cfg.macroFusion { 2 } else { 1 };
    // The loop buffer's queue is as long.
    let queues = if cfg.queue_behind_decoders() { 2 } else { 1 };
    let entries = (cfg.numROBEntries + cfg.fetchQueueSize * queues + width * (delays + 6)) * fused;
    (entries as usize + 2 * breakeven_base::MAX_UOPS).max(256).next_power_of_two()
}
