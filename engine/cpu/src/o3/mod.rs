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
//! - a queue that a unit is given to fill: dispatch fills the issue queue and the load-store queue, issue execute's calendar.
//!
//! A squash is a message: each unit has a `squash` that drops its micro-ops from a sequence number on (`squash.rs`).
//! Micro-ops are numbered in program order and every unit works in that order up to dispatch, so that what a unit, its
//! input latch and its skid buffer hold are ranges of sequence numbers; nothing is copied from queue to queue:
//! `head <= dispatch <= rename <= decode <= fetch queue <= tail <= placed` (in [`path::Path`]).
//!
//! The order within a cycle is in [`O3::tick`]. Parameters are gem5's, in [`config`].
//! `docs/cores.md` has the rules on one page, and where and why this core differs from gem5's.

mod commit;
pub mod config;
mod decode;
mod dispatch;
mod execute;
mod fetch;
mod fu_pool;
mod inst;
mod io;
mod iq;
mod issue;
pub mod lsq;
mod path;
mod quirks;
mod reason;
mod rename;
mod rules;
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
pub use fu_pool::{default_fu_pool, FuDesc, OpDesc};
pub use inst::{InstRing, Seq, Wait};
pub use quirks::Gem5Quirks;

use breakeven_base::units::Clock;
use breakeven_base::{Bus, ConfigError, Cycle, FrontEnd, SysEffect};
use educe::Educe;

use crate::bpred::{BranchPredictor, BranchPredictorParams};
use crate::pipeview::{PipeView, Window};
use crate::when::When;
use crate::{Budget, CoreCtx, Stop};
use inst::note;

/// Without a commit for this long, with nothing known to arrive, the core hangs (or its guest does nothing but trap).
const DEADLOCK_CYCLES: u64 = 1_000_000;

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
    clock: Clock,
    io: io::Io,
    fetch: fetch::Fetch,
    decode: decode::Decode,
    rename: rename::Rename,
    dispatch: dispatch::Dispatch,
    issue: issue::Issue,
    execute: execute::Execute,
    lsq: lsq::Lsq,
    commit: commit::Commit,
    account: Account,
    /// The cycle that comes next.
    cycle: u64,
    /// The units' counts before the present cycle, when a stalled unit retried in the last one and nothing else happened.
    retry_counts: Option<stats::StageCounts>,
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
        let io = io::Io::new(&cfg);
        Ok(O3 {
            clock: cfg.clock,
            fetch: fetch::Fetch::new(predictor),
            decode: decode::Decode::new(),
            rename: rename::Rename::new(&cfg),
            dispatch: dispatch::Dispatch::new(&cfg),
            issue: issue::Issue::new(&cfg, &io.ring),
            execute: execute::Execute::new(),
            lsq: lsq::Lsq::new(&cfg, line_bytes),
            commit: commit::Commit::new(&cfg, io.ring.capacity()),
            io,
            account: Account::new(),
            cycle: 1,
            retry_counts: None,
            base: stats::Base::default(),
            path_name: cfg.path,
        })
    }

    /// Instructions committed since reset.
    #[must_use]
    pub fn insts(&self) -> u64 {
        self.commit.stats.insts
    }

    /// Cycles since reset.
    #[must_use]
    pub fn cycles(&self) -> u64 {
        self.cycle - 1
    }

    /// Starts (or with `None` ends) the O3PipeView trace.
    pub fn set_trace(&mut self, window: Option<Window>) {
        self.io.trace = window.map(|w| Box::new(PipeView::new(self.io.ring.capacity(), self.clock.period(), w)));
        self.lsq.log_stores(self.io.trace.is_some());
    }

    /// The records since the last call; with `finish` those, too, of what is still in flight.
    pub fn take_trace(&mut self, finish: bool) -> String {
        let Some(trace) = &mut self.io.trace else { return String::new() };
        for (seq, cycle) in self.lsq.take_store_log() {
            trace.stored(seq, cycle);
        }
        if finish {
            trace.finish();
        }
        trace.take()
    }

    /// Where the commit slots since reset went.
    #[must_use]
    pub fn account(&self) -> &Account {
        &self.account
    }

    /// Nothing is in flight: every instruction that has been fetched has committed and every store has been written.
    #[must_use]
    pub fn drained(&self) -> bool {
        self.io.ring.head() == self.io.ring.tail()
            && self.fetch.path.placed == self.io.ring.tail()
            && self.lsq.drained()
    }

    #[inline]
    fn when(&self, cycle: u64) -> When {
        When { cycle, tick: self.clock.to_tick(Cycle(cycle)), period: self.clock.period() }
    }

    /// Runs until the budget is spent or something happens that the caller must know of.
    pub fn run<F: FrontEnd, B: Bus>(&mut self, cx: &mut CoreCtx<'_, F, B>, budget: Budget) -> Stop {
        if self.cycle == 1 {
            self.fetch.start(cx.fe.pc());
        }
        loop {
            if self.commit.stats.insts >= budget.max_insts {
                return Stop::MaxInsts;
            }
            if self.cycles() >= budget.max_cycles {
                return Stop::MaxCycles;
            }
            let when = self.when(self.cycle);
            self.io.activity = io::Activity::default();
            self.tick(cx, &when);
            self.cycle += 1;
            if let Some(stopped) = self.io.stopped.take() {
                return match stopped {
                    Stopped::Effect(effect) => Stop::Effect(effect),
                    Stopped::Paused => Stop::Paused,
                };
            }
            if self.cycle > self.commit.last_commit() + DEADLOCK_CYCLES {
                return self.deadlock(cx);
            }
            if self.io.activity.moved {
                self.retry_counts = None;
            } else if let Some(stop) = self.skip(cx, budget.max_cycles) {
                return stop;
            }
        }
    }

    /// One cycle. A unit sees what others sent at least a cycle ago; within a cycle the order is gem5's.
    fn tick<F: FrontEnd, B: Bus>(&mut self, cx: &mut CoreCtx<'_, F, B>, when: &When) {
        let now = when.cycle;
        let mut wire = self.io.wires.take(now);
        // 1. What the memory side brings up to the start of this cycle.
        if self.lsq.next_event() <= now {
            self.lsq.events(cx, when, &mut self.io.ring, &mut self.execute.from_lsq);
            self.execute.receive(&mut self.io, &mut self.issue, now);
        }
        // 2. A squash reaches all units. What arrives in this very cycle is younger and goes, too.
        if let Some(squash) = wire.squash {
            self.dispatch.arrive(wire.renamed);
            self.squash(cx, &squash, now);
            (wire.fetched, wire.decoded, wire.renamed, wire.to_rob) = (0, 0, 0, 0);
        }
        // 3. The front end, in order.
        self.fetch.tick(&mut self.io, cx, when, &wire);
        if let Some(branch) = self.decode.tick(&mut self.io, now, &wire) {
            self.fetch.correct(branch, self.rename.next(), &mut self.io, cx.fe, now);
        }
        let renamed = self.rename.tick(&mut self.io, now, &wire);
        self.fetch.slots_renamed(renamed);
        self.dispatch.tick(&mut self.io, &mut self.issue, &mut self.lsq, now, &wire);
        // 4. Execution; write-back, which wakes dependents; issue.
        let executed = self.execute_due(cx, when);
        self.execute.write_back(&mut self.io, &mut self.issue, &mut self.lsq, now);
        if self.issue.has_ready() {
            self.issue.tick(&mut self.io, &mut self.execute.input, now);
        }
        // 5. Committed stores go to the cache; loads and stores that have committed leave; credits return.
        let credits = self.dispatch.credits_return(&self.io, &self.lsq, executed, &wire);
        if self.lsq.next_event() <= now {
            self.lsq.tick(cx, when, &mut self.io.ring, &mut self.execute.from_lsq);
            self.execute.receive(&mut self.io, &mut self.issue, now);
        }
        if wire.committed_to_iew != 0 {
            self.lsq.commit(wire.committed_to_iew);
            self.io.activity.moved = true;
        }
        // They count the loads that have just left.
        if credits {
            self.dispatch.return_credits(&mut self.io, &self.issue, &self.lsq, now);
        }
        if wire.release != 0 {
            self.issue.release(&mut self.io, wire.release);
        }
        // 6. Commit, and what its empty slots are charged to.
        let retired = self.commit.tick(&mut self.io, &self.lsq, cx, when, &wire);
        let width = self.io.rules.commit_width;
        let reason = if retired < width { self.reason() } else { Reason::Retiring };
        self.account.cycle(retired, width, reason);
    }

    /// Executes what is due. Whether anything was.
    fn execute_due<F: FrontEnd, B: Bus>(&mut self, cx: &mut CoreCtx<'_, F, B>, when: &When) -> bool {
        let due = self.execute.begin(&mut self.io, when.cycle);
        if due == 0 {
            return false;
        }
        for i in 0..due {
            let event = self.execute.due(i);
            if !self.io.is_current(event) {
                continue;
            }
            let seq = event.seq;
            if self.io.ring.note(seq) & note::PLACEHOLDER != 0 && !self.execute_placeholder(seq, cx, when) {
                continue;
            }
            if self.execute.execute(seq, &mut self.io, &mut self.issue, &mut self.lsq, cx, when) {
                commit::act_at_execution(&mut self.io, seq, cx);
            }
        }
        self.execute.end(&mut self.io, when.cycle);
        true
    }

    /// Nothing has moved: unless something is still on its way between the units, goes to the next cycle in which anything can.
    /// Where a stalled unit retries, two such cycles show what each of them counts.
    fn skip<F: FrontEnd, B: Bus>(&mut self, cx: &CoreCtx<'_, F, B>, max_cycles: u64) -> Option<Stop> {
        if self.io.wires.busy(self.cycle) || self.issue.has_ready() || self.execute.has_arrived() {
            self.retry_counts = None;
            return None;
        }
        let counted = self.retry_counts.take();
        if self.io.activity.stalled_retry && counted.is_none() {
            self.retry_counts = Some(self.stage_counts());
            return None;
        }
        let next = self
            .execute
            .next_event(self.cycle)
            .min(self.lsq.next_event())
            .min(self.fetch.next_event())
            .min(self.commit.next_event(&self.io));
        if next == u64::MAX {
            return Some(self.deadlock(cx));
        }
        let next = next.min(max_cycles.saturating_add(1));
        if next > self.cycle {
            let idle = next - self.cycle;
            if let Some(before) = counted.filter(|_| self.io.activity.stalled_retry) {
                self.count_again(&before, idle);
            }
            self.account.idle(idle, self.io.rules.commit_width, self.reason());
            self.commit.skip(idle);
            self.cycle = next;
        }
        None
    }

    #[cold]
    fn deadlock<F: FrontEnd, B: Bus>(&self, cx: &CoreCtx<'_, F, B>) -> Stop {
        let ring = &self.io.ring;
        let head = ring.head();
        let mut oldest = String::from("nothing in flight");
        if head < ring.tail() {
            oldest = format!(
                "oldest #{head} at {:#x}, {}, state {:#x}, waits for {:?}",
                ring.pc(head),
                ring.class(head).name(),
                ring.state(head),
                ring.wait(head)
            );
        }
        let units = [
            oldest,
            self.fetch.describe(),
            self.decode.describe(),
            self.rename.describe(),
            self.dispatch.describe(),
            self.issue.describe(),
            self.commit.describe(),
            format!("lsq: {}", self.lsq.describe()),
            cx.mem.describe_queues(self.when(self.cycle).tick),
        ];
        Stop::Deadlock(format!(
            "no instruction has committed since cycle {} (now {}); the front end stands at {:#x}\n{}",
            self.commit.last_commit(),
            self.cycle,
            cx.fe.pc(),
            units.join("\n"),
        ))
    }
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
    let queues = if cfg.loopBufferSize > 0 { 2 } else { 1 };
    let entries = (cfg.numROBEntries + cfg.fetchQueueSize * queues + width * (delays + 6)) * fused;
    (entries as usize + 2 * breakeven_base::MAX_UOPS).max(256).next_power_of_two()
}
