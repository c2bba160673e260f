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
//! The order within a cycle is in [`Minor::tick`]; each stage is a file with one `tick`. Parameters are gem5's, in
//! [`config`]. `docs/cores.md` has the rules on one page, and where and why this core differs from gem5's.

mod account;
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
mod quirks;
mod scoreboard;
mod skip;
mod stats;
#[cfg(test)]
mod tests;
mod trace;

pub use config::{default_fu_pool, FuConfig, FuTiming, MinorConfig};
pub use quirks::MinorQuirks;

use breakeven_base::units::Clock;
use breakeven_base::{Bus, ConfigError, Cycle, FrontEnd, MAX_UOPS};
use breakeven_memory::Port;
use educe::Educe;

use crate::bpred::{BranchPredictor, BranchPredictorParams};
use crate::{Budget, CoreCtx, Stop};
use activity::Activity;
use decode::Decode;
use execute::{Event, Execute, ExecuteIo};
use fetch1::{Fetch1, Fetch1Io};
use fetch2::{Fetch2, Fetch2Io};
use inst::InstRing;
use latch::Latch;
use lsq::When;
use pipe::{Line, PredictedBranch, ResolvedBranch};

/// Without a commit for this long, with nothing known to arrive, the core hangs (or its guest does nothing but trap).
const DEADLOCK_CYCLES: u64 = 1_000_000;
/// After this long without movement the next timed event is looked for instead of walking there.
const STANDSTILL: u64 = 8;

/// The latches between the stages.
#[derive(Debug, Educe)]
#[educe(Clone)]
struct Latches {
    f1_to_f2: Latch<Line>,
    f2_to_f1: Latch<PredictedBranch>,
    e_to_f1: Latch<ResolvedBranch>,
}

/// The core's clock, and where it stands.
#[derive(Clone, Debug)]
struct Time {
    clock: Clock,
    /// The cycle that comes next.
    cycle: Cycle,
    /// The clock runs; else the core waits for something to arrive.
    running: bool,
    /// `enableIdling`.
    idles: bool,
    started: bool,
    /// Cycles in which the stages were evaluated.
    ticked: u64,
}

/// What the watch for a standstill remembers.
#[derive(Clone, Debug, Default)]
struct Watchdog {
    ops_seen: u64,
    last_commit: Cycle,
}

/// An in-order core. Its state between two [`Minor::run`] is kept, and cloned with it.
#[derive(Debug, Educe)]
#[educe(Clone)]
pub struct Minor {
    path: String,
    time: Time,
    fetch1: Fetch1,
    fetch2: Fetch2,
    decode: Decode,
    execute: Execute,
    latches: Latches,
    ring: InstRing,
    predictor: BranchPredictor,
    activity: Activity,
    watchdog: Watchdog,
    base: stats::Base,
    /// Kept while it is asked for.
    ledger: Option<Box<account::Ledger>>,
    trace: Option<Box<trace::Trace>>,
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
        let in_flight = in_flight_bound(&cfg);
        let longest = cfg
            .fetch1ToFetch2ForwardDelay
            .max(cfg.fetch2ToDecodeForwardDelay)
            .max(cfg.decodeToExecuteForwardDelay)
            .max(cfg.executeBranchDelay)
            .max(cfg.fetch1ToFetch2BackwardDelay);
        Ok(Minor {
            time: Time {
                clock: cfg.clock,
                cycle: Cycle(1),
                running: true,
                idles: cfg.enableIdling,
                started: false,
                ticked: 0,
            },
            fetch1: Fetch1::new(&cfg, line_bytes),
            fetch2: Fetch2::new(&cfg, line_bytes),
            decode: Decode::new(&cfg),
            execute: Execute::new(&cfg, line_bytes),
            latches: Latches {
                f1_to_f2: Latch::new(cfg.fetch1ToFetch2ForwardDelay),
                f2_to_f1: Latch::new(cfg.fetch1ToFetch2BackwardDelay),
                e_to_f1: Latch::new(cfg.executeBranchDelay),
            },
            ring: InstRing::new(in_flight),
            predictor,
            activity: Activity::new(longest),
            watchdog: Watchdog::default(),
            base: stats::Base::default(),
            ledger: None,
            trace: None,
            path: cfg.path,
        })
    }

    /// Instructions committed since reset.
    #[must_use]
    pub fn insts(&self) -> u64 {
        self.execute.stats.insts
    }

    /// Cycles since reset.
    #[must_use]
    pub fn cycles(&self) -> u64 {
        self.time.cycle.0 - 1
    }

    /// Nothing is in flight: every instruction that has been executed has committed and every store has been sent.
    #[must_use]
    pub fn drained(&self) -> bool {
        self.execute.is_empty() && self.execute.lsq.is_drained() && self.decode.input.is_empty()
    }

    fn when(&self, cycle: Cycle) -> When {
        When { cycle, tick: self.time.clock.to_tick(cycle), period: self.time.clock.period() }
    }

    /// Runs until the budget is spent or something happens that the caller must know of.
    pub fn run<F: FrontEnd, B: Bus>(&mut self, cx: &mut CoreCtx<'_, F, B>, budget: Budget) -> Stop {
        if !self.time.started {
            self.fetch1.start(cx.fe.pc());
            self.time.started = true;
        }
        loop {
            if self.ledger.is_some() {
                self.charge(cx.mem.cache_levels(Port::Data));
            }
            if self.execute.stats.insts >= budget.max_insts {
                return Stop::MaxInsts;
            }
            if self.cycles() >= budget.max_cycles {
                return Stop::MaxCycles;
            }
            if !self.time.running {
                if let Some(stop) = self.sleep(cx, budget.max_cycles) {
                    return stop;
                }
                continue;
            }
            let when = self.when(self.time.cycle);
            self.arrivals(cx, &when);
            let still = self.tick(cx, &when);
            self.time.ticked += 1;
            self.time.running = self.activity.end_of_cycle(when.cycle);
            self.time.cycle += 1;
            if self.trace.is_some() {
                self.note_stages(cx, when.cycle);
            }
            if let Some(event) = self.execute.out.event.take() {
                if self.ledger.is_some() {
                    self.charge(cx.mem.cache_levels(Port::Data));
                }
                return match event {
                    Event::Effect(effect) => Stop::Effect(effect),
                    Event::Paused => Stop::Paused,
                };
            }
            if let Some(stop) = self.watch(when.cycle, budget.max_cycles, cx) {
                return stop;
            }
            // An account and a trace look at every cycle.
            if still && self.ledger.is_none() && self.trace.is_none() {
                self.skip_still(when.cycle, budget.max_cycles);
            }
        }
    }

    /// What the memory side brings up to the start of this cycle.
    #[inline]
    fn arrivals<F: FrontEnd, B: Bus>(&mut self, cx: &mut CoreCtx<'_, F, B>, when: &When) {
        if self.fetch1.next_event() <= when.cycle {
            self.fetch1.events(cx, when, &mut self.activity);
        }
        if self.execute.lsq.next_event() <= when.cycle {
            let head = self.execute.head();
            self.execute.lsq.events(head, when, cx.mem);
        }
    }

    /// One cycle. The stages are evaluated from the last to the first, as in gem5: the room that a stage makes in its input
    /// buffer can be used by the stage before it in the same cycle, while what goes forward takes a latch's delay.
    /// Returns whether only what is under way in execute has it evaluated again.
    fn tick<F: FrontEnd, B: Bus>(&mut self, cx: &mut CoreCtx<'_, F, B>, when: &When) -> bool {
        // 1. Execute: the LSQ moves its queues, then commit, then issue, then the functional units advance.
        let mut io =
            ExecuteIo { ring: &mut self.ring, branches: &mut self.latches.e_to_f1, activity: &mut self.activity };
        self.execute.tick(cx, when, &mut io);
        // 2. Decode.
        if self.decode.input.has(when.cycle) {
            self.decode.tick(when.cycle, &mut self.execute.input, &mut self.activity);
        }
        // 3. Fetch2: branches that execute resolved a latch's delay ago come first; they void what is here.
        let resolved = self.latches.e_to_f1.take(when.cycle);
        if resolved.as_ref().is_some_and(ResolvedBranch::changes_stream) {
            self.execute.redirected(self.ring.tail);
        }
        if std::mem::take(&mut self.execute.out.drained) {
            self.fetch2.drained();
        }
        if std::mem::take(&mut self.execute.out.rolled_back) {
            self.fetch2.halt();
        }
        let room = self.decode.input.has_room();
        if resolved.is_some() || self.latches.f1_to_f2.has(when.cycle) || self.fetch2.has_work(room) {
            let mut io = Fetch2Io {
                oldest: self.execute.oldest(),
                ring: &mut self.ring,
                predictor: &mut self.predictor,
                predictions: &mut self.latches.f2_to_f1,
                next: &mut self.decode.input,
                activity: &mut self.activity,
            };
            self.fetch2.tick(cx, when, self.latches.f1_to_f2.take(when.cycle), resolved.as_ref(), &mut io);
        }
        // 4. Fetch1: hears of resolved branches in the same cycle as fetch2, of predictions after their own delay.
        let mut io = Fetch1Io {
            resolved: resolved.as_ref(),
            predicted: self.latches.f2_to_f1.take(when.cycle),
            next: &mut self.fetch2.input,
            out: &mut self.latches.f1_to_f2,
            activity: &mut self.activity,
        };
        self.fetch1.tick(cx, when, &mut io);
        // The stages before it do not change what execute looks at here.
        if self.activity.may_end(when.cycle) && self.execute.needs_to_tick(when.cycle, &self.ring) {
            self.activity.wake();
            return true;
        }
        false
    }

    /// The clock stands: goes to the next arrival. The core wakes at the edge after it, if the arrival wakes it.
    fn sleep<F: FrontEnd, B: Bus>(&mut self, cx: &mut CoreCtx<'_, F, B>, max_cycles: u64) -> Option<Stop> {
        let next = self.fetch1.next_event().min(self.execute.lsq.next_event());
        if next == Cycle::MAX {
            return Some(self.deadlock(cx));
        }
        let next = next.max(self.time.cycle);
        if next > Cycle(max_cycles) {
            self.watchdog.last_commit += Cycle(max_cycles.saturating_add(1)) - self.time.cycle;
            self.time.cycle = Cycle(max_cycles.saturating_add(1));
            return None;
        }
        self.watchdog.last_commit += next - self.time.cycle;
        self.time.cycle = next;
        let when = self.when(next);
        self.arrivals(cx, &when);
        if self.activity.is_awake() || self.execute.lsq.wake {
            self.time.running = true;
            // gem5 restarts the clock at the edge after the arrival; a clock that never stopped evaluates this one.
            self.time.cycle = next + u64::from(self.time.idles);
        }
        None
    }

    /// Notices commits and standstill: a core that only waits for a known instant goes there at once, one that waits for
    /// nothing is reported.
    fn watch<F: FrontEnd, B: Bus>(&mut self, now: Cycle, max_cycles: u64, cx: &CoreCtx<'_, F, B>) -> Option<Stop> {
        if self.execute.stats.ops != self.watchdog.ops_seen {
            self.watchdog.ops_seen = self.execute.stats.ops;
            self.watchdog.last_commit = now;
            return None;
        }
        if now < self.watchdog.last_commit + STANDSTILL {
            return None;
        }
        if now > self.watchdog.last_commit + DEADLOCK_CYCLES {
            return Some(self.deadlock(cx));
        }
        if self.activity.last_mark() + STANDSTILL > now {
            return None;
        }
        let timed = self.execute.next_timed(now, &self.ring);
        if self.time.running && timed != Cycle::MAX {
            let next = timed
                .min(self.fetch1.next_event())
                .min(self.execute.lsq.next_event())
                .min(Cycle(max_cycles.saturating_add(1)));
            if next > self.time.cycle {
                self.execute.skip(next - self.time.cycle);
                self.watchdog.last_commit += next - self.time.cycle;
                self.time.cycle = next;
            }
        }
        None
    }

    #[cold]
    fn deadlock<F: FrontEnd, B: Bus>(&self, cx: &CoreCtx<'_, F, B>) -> Stop {
        let (decode_queued, decode_of) = self.decode.input.load();
        Stop::Deadlock(format!(
            "no instruction has committed since cycle {} (now {}); the front end stands at {:#x}\nfetch1: {}\nfetch2: {}\n\
             decode: {decode_queued} inputs queued or under way, of {decode_of}\n{}\n{}",
            self.watchdog.last_commit,
            self.time.cycle,
            cx.fe.pc(),
            self.fetch1.describe(),
            self.fetch2.describe(),
            self.execute.describe(&self.ring),
            cx.mem.describe_queues(self.when(self.time.cycle).tick),
        ))
    }
}

/// Micro-ops that the instruction ring must hold: all that buffers, latches and units can, twice, because an old stream's
/// micro-ops may still drain while a new one fills them.
fn in_flight_bound(cfg: &MinorConfig) -> usize {
    let decode = (cfg.decodeInputBufferSize + cfg.fetch2ToDecodeForwardDelay) as usize
        * cfg.decodeInputWidth as usize
        * MAX_UOPS;
    let execute =
        (cfg.executeInputBufferSize + cfg.decodeToExecuteForwardDelay) as usize * cfg.executeInputWidth as usize;
    let units: usize = cfg.executeFuncUnits.iter().map(|u| u.opLat as usize + 1).sum();
    let lsq = (cfg.executeLSQRequestsQueueSize + cfg.executeLSQTransfersQueueSize) as usize;
    (2 * (decode + execute + units + lsq)).max(256).next_power_of_two()
}
