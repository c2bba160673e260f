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
//! Micro-ops are numbered in program order and every stage works in that order up to dispatch, so that what a stage, its
//! input latch and its skid buffer hold are stretches of numbers ([`Places`]); nothing is copied from queue to queue.
//! The order within a cycle is in [`O3::tick`]; each stage is a file. Parameters are gem5's, in [`config`].
//! `docs/cores.md` has the rules on one page, and where and why this core differs from gem5's.

mod commit;
pub mod config;
mod decode;
mod dispatch;
mod execute;
mod fetch;
mod inst;
mod iq;
pub mod lsq;
mod path;
mod quirks;
mod rename;
mod rules;
mod squash;
mod stats;
mod units;
mod wheel;
mod wires;

#[cfg(test)]
mod tests;

pub use crate::account::{Account, Reason};
pub use config::{default_fu_pool, FuDesc, O3Config, OpDesc, RenameRecovery};
pub use inst::{InstRing, Seq, Wait};
pub use quirks::Gem5Quirks;

use breakeven_base::units::Clock;
use breakeven_base::{clone_by_field, Bus, ConfigError, Cycle, FrontEnd, SysEffect};

use crate::bpred::{BranchPredictor, BranchPredictorParams};
use crate::pipeview::{PipeView, Window};
use crate::when::When;
use crate::{Budget, CoreCtx, Stop};
use inst::state;
use rules::Rules;
use wheel::{Event, Wheel};
use wires::{Squash, Wires};

/// Without a commit for this long, with nothing known to arrive, the core hangs (or its guest does nothing but trap).
const DEADLOCK_CYCLES: u64 = 1_000_000;

/// Where the stretches of micro-ops end, in program order from the oldest to the youngest:
/// `head <= dispatch <= iew_in <= rename <= rename_in <= decode <= decode_in <= queue <= tail` (in [`path::Path`]).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Places {
    /// The oldest that has not committed.
    head: Seq,
    /// The next to enter the ROB.
    rob_in: Seq,
    /// The next to be dispatched.
    dispatch: Seq,
    /// The next to reach dispatch.
    iew_in: Seq,
    /// The next to be renamed, and the next to reach rename.
    rename: Seq,
    rename_in: Seq,
    decode: Seq,
    decode_in: Seq,
    /// The next to leave the fetch queue.
    queue: Seq,
}

/// Something that `run` must come back for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stopped {
    Effect(SysEffect),
    Paused,
}

/// An out-of-order core. Its state between two [`O3::run`] is kept, and cloned with it.
#[derive(Debug)]
pub struct O3 {
    path_name: String,
    clock: Clock,
    rules: Rules,
    ring: InstRing,
    path: path::Path,
    at: Places,
    wires: Wires,
    fetch: fetch::Fetch,
    decode: decode::Decode,
    rename: rename::Rename,
    dispatch: dispatch::Dispatch,
    iq: iq::IssueQueue,
    units: units::Units,
    /// What executes when; what has its data when.
    executes: Wheel,
    written: Wheel,
    /// Has its result and waits for a write-back slot.
    arrived: Vec<Event>,
    scratch: Vec<Event>,
    lsq: lsq::Lsq,
    lsq_out: lsq::LsqOut,
    commit: commit::Commit,
    predictor: BranchPredictor,
    account: Account,
    /// The squash that this cycle's execution asks for.
    redirect: Option<Squash>,
    /// Something committed: its queues' credits return to rename in the next cycle.
    credits_next: bool,
    /// Free entries of the store queue plus all that have been taken: changes when one is given back.
    stores_left: u64,
    /// Something has happened in this cycle.
    moved: bool,
    /// A stage that is held has tried to go on in this cycle, without success: it counts that, and will do so again each cycle.
    stalled_retry: bool,
    /// The stages' counts before the present cycle, when the last one was in vain and nothing else happened.
    retry_counts: Option<stats::StageCounts>,
    trace: Option<Box<PipeView>>,
    execute_stats: execute::ExecuteStats,
    stopped: Option<Stopped>,
    /// The cycle that comes next.
    cycle: u64,
    started: bool,
    last_commit: u64,
    base: stats::Base,
}

clone_by_field!(O3 {
    path_name,
    clock,
    rules,
    ring,
    path,
    at,
    wires,
    fetch,
    decode,
    rename,
    dispatch,
    iq,
    units,
    executes,
    written,
    arrived,
    scratch,
    lsq,
    lsq_out,
    commit,
    predictor,
    account,
    redirect,
    credits_next,
    stores_left,
    moved,
    stalled_retry,
    retry_counts,
    trace,
    execute_stats,
    stopped,
    cycle,
    started,
    last_commit,
    base,
});

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
        let ring = InstRing::new(in_flight_bound(&cfg));
        let units = units::Units::new(&cfg.fuPool);
        Ok(O3 {
            clock: cfg.clock,
            rules: Rules::new(&cfg),
            path: path::Path::new(),
            at: Places {
                head: 1,
                rob_in: 1,
                dispatch: 1,
                iew_in: 1,
                rename: 1,
                rename_in: 1,
                decode: 1,
                decode_in: 1,
                queue: 1,
            },
            wires: Wires::new(),
            fetch: fetch::Fetch::new(),
            decode: decode::Decode::default(),
            rename: rename::Rename::new(&cfg),
            dispatch: dispatch::Dispatch::default(),
            iq: iq::IssueQueue::new(cfg.numIQEntries, &ring, units.groups()),
            units,
            executes: Wheel::new(),
            written: Wheel::new(),
            arrived: Vec::with_capacity(64),
            scratch: Vec::with_capacity(64),
            lsq: lsq::Lsq::new(&cfg, line_bytes),
            lsq_out: lsq::LsqOut::default(),
            commit: commit::Commit::new(cfg.numROBEntries, ring.capacity()),
            predictor,
            account: Account::new(),
            redirect: None,
            credits_next: false,
            stores_left: u64::from(cfg.SQEntries),
            moved: false,
            stalled_retry: false,
            retry_counts: None,
            trace: None,
            execute_stats: execute::ExecuteStats::default(),
            stopped: None,
            cycle: 1,
            started: false,
            last_commit: 0,
            base: stats::Base::default(),
            ring,
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
        self.trace = window.map(|w| Box::new(PipeView::new(self.ring.capacity(), self.clock.period(), w)));
        self.lsq.log_stores(self.trace.is_some());
    }

    /// The records since the last call; with `finish` those, too, of what is still in flight.
    pub fn take_trace(&mut self, finish: bool) -> String {
        let Some(trace) = &mut self.trace else { return String::new() };
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
        self.at.head == self.path.tail && self.path.tail == self.path.placed && self.lsq.drained()
    }

    #[inline]
    fn when(&self, cycle: u64) -> When {
        When { cycle, tick: self.clock.to_tick(Cycle(cycle)), period: self.clock.period() }
    }

    /// Runs until the budget is spent or something happens that the caller must know of.
    pub fn run<F: FrontEnd, B: Bus>(&mut self, cx: &mut CoreCtx<'_, F, B>, budget: Budget) -> Stop {
        if !self.started {
            self.fetch.pc = cx.fe.pc();
            self.started = true;
        }
        loop {
            if self.commit.stats.insts >= budget.max_insts {
                return Stop::MaxInsts;
            }
            if self.cycles() >= budget.max_cycles {
                return Stop::MaxCycles;
            }
            let when = self.when(self.cycle);
            self.moved = false;
            self.stalled_retry = false;
            self.tick(cx, &when);
            self.cycle += 1;
            if let Some(stopped) = self.stopped.take() {
                return match stopped {
                    Stopped::Effect(effect) => Stop::Effect(effect),
                    Stopped::Paused => Stop::Paused,
                };
            }
            if self.cycle > self.last_commit + DEADLOCK_CYCLES {
                return self.deadlock(cx);
            }
            if self.moved {
                self.retry_counts = None;
            } else if let Some(stop) = self.skip(cx, budget.max_cycles) {
                return stop;
            }
        }
    }

    /// One cycle. A stage hears what others said at least a cycle ago; within a cycle the order is gem5's.
    fn tick<F: FrontEnd, B: Bus>(&mut self, cx: &mut CoreCtx<'_, F, B>, when: &When) {
        let mut wire = self.wires.take(when.cycle);
        // 1. What the memory side brings up to the start of this cycle.
        if self.lsq.next_event() <= when.cycle {
            self.lsq.events(cx, when, &mut self.ring, &mut self.lsq_out);
            self.hear_lsq(when.cycle);
        }
        // 2. A squash reaches all stages.
        if let Some(squash) = wire.squash {
            // What arrives in this very cycle is younger and goes too.
            self.at.iew_in += u64::from(wire.renamed);
            self.squash(cx, &squash, when.cycle);
            (wire.fetched, wire.decoded, wire.renamed, wire.to_rob) = (0, 0, 0, 0);
        }
        // 3. The stages, from the first to the last.
        self.fetch_tick(cx, when, &wire);
        self.decode_tick(cx.fe, when.cycle, &wire);
        self.rename_tick(when.cycle, &wire);
        self.iew_tick(cx, when, &wire);
        self.commit_tick(cx, when, &wire);
    }

    /// Nothing has moved: unless something is still under way between the stages, goes to the next cycle in which anything can.
    /// Where a stage tries in vain, two such cycles show what each of them counts.
    fn skip<F: FrontEnd, B: Bus>(&mut self, cx: &CoreCtx<'_, F, B>, max_cycles: u64) -> Option<Stop> {
        if self.wires.busy(self.cycle) || self.iq.ready_total > 0 || !self.arrived.is_empty() {
            self.retry_counts = None;
            return None;
        }
        let counted = self.retry_counts.take();
        if self.stalled_retry && counted.is_none() {
            self.retry_counts = Some(self.stage_counts());
            return None;
        }
        let mut next = self
            .executes
            .next(self.cycle)
            .min(self.written.next(self.cycle))
            .min(self.lsq.next_event())
            .min(self.fetch.next_event())
            .min(self.commit.next_event());
        let head = self.at.head;
        if head < self.at.rob_in && self.ring.state(head) & state::DONE != 0 {
            next = next.min(self.ring.ready_at(head));
        }
        if next == u64::MAX {
            return Some(self.deadlock(cx));
        }
        let next = next.min(max_cycles.saturating_add(1));
        if next > self.cycle {
            let idle = next - self.cycle;
            if let Some(before) = counted.filter(|_| self.stalled_retry) {
                self.count_again(&before, idle);
            }
            self.account.idle(idle, self.rules.commit_width, self.reason());
            self.last_commit += idle;
            self.cycle = next;
        }
        None
    }

    #[cold]
    fn deadlock<F: FrontEnd, B: Bus>(&self, cx: &CoreCtx<'_, F, B>) -> Stop {
        let head = self.at.head;
        let mut oldest = String::from("nothing in flight");
        if head < self.path.tail {
            let u = self.ring.uop(head);
            oldest = format!(
                "oldest #{head} at {:#x}, {}, state {:#x}, waits for {:?}",
                self.ring.pc(head),
                u.class.name(),
                self.ring.state(head),
                self.ring.wait(head)
            );
        }
        Stop::Deadlock(format!(
            "no instruction has committed since cycle {} (now {}); the front end stands at {:#x}, {} forks open\n{oldest}\n{}\n\
             decode: {:?}; dispatch: {:?}; places {:?}, fetched up to {}\n{}\n{}\n{}\n{}\nlsq: {}\n{}",
            self.last_commit,
            self.cycle,
            cx.fe.pc(),
            self.path.open(),
            self.fetch.describe(),
            self.decode.status,
            self.dispatch.status,
            self.at,
            self.path.tail,
            self.rename.describe(),
            self.iq.describe(),
            self.units.describe(),
            self.commit.describe(),
            self.lsq.describe(),
            cx.mem.describe_queues(self.when(self.cycle).tick),
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
