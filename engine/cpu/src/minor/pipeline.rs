//! The stages with their latches, and what a cycle of them is.

mod account;
mod memoizable;
mod trace;

use breakeven_base::units::Clock;
use breakeven_base::{Cycle, MAX_UOPS};
use educe::Educe;

use super::activity::Activity;
use super::config::MinorConfig;
use super::decode::Decode;
use super::execute::{Execute, ExecuteIo};
use super::fetch1::{Fetch1, Fetch1Io};
use super::fetch2::{Fetch2, Fetch2Io};
use super::inst::InstRing;
use super::latch::Latch;
use super::lsq::When;
use super::pipe::{Line, PredictedBranch, ResolvedBranch};
use crate::outside::Outside;
use account::Ledger;
use trace::Trace;

/// Without a commit for this long, with nothing known to arrive, the core hangs (or its guest does nothing but trap).
const DEADLOCK_CYCLES: u64 = 1_000_000;
/// After this long without movement the next timed event is looked for instead of walking there.
const STANDSTILL: u64 = 8;

/// The latches between the stages.
#[derive(Debug, Educe)]
#[educe(Clone)]
pub struct Latches {
    pub f1_to_f2: Latch<Line>,
    pub f2_to_f1: Latch<PredictedBranch>,
    pub e_to_f1: Latch<ResolvedBranch>,
}

/// The core's clock, and where it stands.
#[derive(Clone, Debug)]
pub struct Time {
    pub clock: Clock,
    /// The cycle that comes next.
    pub cycle: Cycle,
    /// The clock runs; else the core waits for something to arrive.
    pub running: bool,
    /// `enableIdling`.
    pub idles: bool,
    pub started: bool,
    /// Cycles in which the stages were evaluated.
    pub ticked: u64,
}

/// What the watch for a standstill remembers.
#[derive(Clone, Debug, Default)]
pub struct Watchdog {
    pub ops_seen: u64,
    pub last_commit: Cycle,
}

/// All of an in-order core but its predictor.
#[derive(Debug, Educe)]
#[educe(Clone)]
pub struct Pipeline {
    pub time: Time,
    pub fetch1: Fetch1,
    pub fetch2: Fetch2,
    pub decode: Decode,
    pub execute: Execute,
    pub latches: Latches,
    pub ring: InstRing,
    pub activity: Activity,
    pub watchdog: Watchdog,
    /// Kept while it is asked for.
    pub ledger: Option<Box<Ledger>>,
    pub trace: Option<Box<Trace>>,
}

impl Pipeline {
    pub fn new(cfg: &MinorConfig, line_bytes: u32) -> Self {
        let in_flight = in_flight_bound(cfg);
        let longest = cfg
            .fetch1ToFetch2ForwardDelay
            .max(cfg.fetch2ToDecodeForwardDelay)
            .max(cfg.decodeToExecuteForwardDelay)
            .max(cfg.executeBranchDelay)
            .max(cfg.fetch1ToFetch2BackwardDelay);
        Pipeline {
            time: Time {
                clock: cfg.clock,
                cycle: Cycle(1),
                running: true,
                idles: cfg.enableIdling,
                started: false,
                ticked: 0,
            },
            fetch1: Fetch1::new(cfg, line_bytes),
            fetch2: Fetch2::new(cfg, line_bytes),
            decode: Decode::new(cfg),
            execute: Execute::new(cfg, line_bytes),
            latches: Latches {
                f1_to_f2: Latch::new(cfg.fetch1ToFetch2ForwardDelay),
                f2_to_f1: Latch::new(cfg.fetch1ToFetch2BackwardDelay),
                e_to_f1: Latch::new(cfg.executeBranchDelay),
            },
            ring: InstRing::new(in_flight),
            activity: Activity::new(longest),
            watchdog: Watchdog::default(),
            ledger: None,
            trace: None,
        }
    }

    /// Cycles since reset.
    pub fn cycles(&self) -> u64 {
        self.time.cycle.0 - 1
    }

    #[inline]
    pub fn when(&self, cycle: Cycle) -> When {
        When { cycle, tick: self.time.clock.to_tick(cycle), period: self.time.clock.period() }
    }

    /// What the memory side brings up to the start of this cycle.
    #[inline]
    pub fn arrivals<X: Outside>(&mut self, cx: &mut X, when: &When) {
        if self.fetch1.next_event() <= when.cycle {
            self.fetch1.events(cx, when, &mut self.activity);
        }
        if self.execute.lsq.next_event() <= when.cycle {
            let head = self.execute.head();
            self.execute.lsq.events(head, when, cx);
        }
    }

    /// The next cycle, to its end: what arrives, then the stages. Returns as [`Pipeline::tick`].
    #[inline]
    pub fn cycle<X: Outside>(&mut self, cx: &mut X) -> bool {
        let when = self.when(self.time.cycle);
        self.arrivals(cx, &when);
        let still = self.tick(cx, &when);
        self.time.ticked += 1;
        self.time.running = self.activity.end_of_cycle(when.cycle);
        self.time.cycle += 1;
        still
    }

    /// One cycle. The stages are evaluated from the last to the first, as in gem5: the room that a stage makes in its input
    /// buffer can be used by the stage before it in the same cycle, while what goes forward takes a latch's delay.
    /// Returns whether only what is under way in execute has it evaluated again.
    pub fn tick<X: Outside>(&mut self, cx: &mut X, when: &When) -> bool {
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

    /// The clock stands: goes to the next arrival. The core wakes at the edge after it, if the arrival wakes it. False: nothing
    /// will ever arrive.
    pub fn sleep<X: Outside>(&mut self, cx: &mut X, max_cycles: u64) -> bool {
        let next = self.fetch1.next_event().min(self.execute.lsq.next_event());
        if next == Cycle::MAX {
            return false;
        }
        let next = next.max(self.time.cycle);
        if next > Cycle(max_cycles) {
            self.watchdog.last_commit += Cycle(max_cycles.saturating_add(1)) - self.time.cycle;
            self.time.cycle = Cycle(max_cycles.saturating_add(1));
            return true;
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
        true
    }

    /// Notices commits and standstill: a core that only waits for a known instant goes there at once, one that waits for
    /// nothing is told by false.
    pub fn watch(&mut self, now: Cycle, max_cycles: u64) -> bool {
        if self.execute.stats.ops != self.watchdog.ops_seen {
            self.watchdog.ops_seen = self.execute.stats.ops;
            self.watchdog.last_commit = now;
            return true;
        }
        if now < self.watchdog.last_commit + STANDSTILL {
            return true;
        }
        if now > self.watchdog.last_commit + DEADLOCK_CYCLES {
            return false;
        }
        if self.activity.last_mark() + STANDSTILL > now {
            return true;
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
        true
    }

    /// What each stage waits for, one a line.
    pub fn describe(&self) -> Vec<String> {
        let (decode_queued, decode_of) = self.decode.input.load();
        vec![
            format!("fetch1: {}", self.fetch1.describe()),
            format!("fetch2: {}", self.fetch2.describe()),
            format!("decode: {decode_queued} inputs queued or under way, of {decode_of}"),
            self.execute.describe(&self.ring),
        ]
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
