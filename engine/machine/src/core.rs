//! The core models behind one interface. The choice is made once per slice of a run, never per micro-op.

use breakeven_base::{Bus, FrontEnd, StatSink};
use breakeven_cpu::minor::Minor;
use breakeven_cpu::o3::O3;
use breakeven_cpu::pipeview::Window;
use breakeven_cpu::simple::{AtomicSimple, TimingSimple};
use breakeven_cpu::MemoStatistics;
use breakeven_cpu::{Budget, CoreCtx, Stop};

pub(crate) enum Core {
    Atomic(Box<AtomicSimple>),
    Timing(Box<TimingSimple>),
    Minor(Box<Minor>),
    O3(Box<O3>),
}

macro_rules! each {
    ($core:expr, $c:ident => $what:expr) => {
        match $core {
            Core::Atomic($c) => $what,
            Core::Timing($c) => $what,
            Core::Minor($c) => $what,
            Core::O3($c) => $what,
        }
    };
}

impl Clone for Core {
    fn clone(&self) -> Self {
        match self {
            Core::Atomic(c) => Core::Atomic(c.clone()),
            Core::Timing(c) => Core::Timing(c.clone()),
            Core::Minor(c) => Core::Minor(c.clone()),
            Core::O3(c) => Core::O3(c.clone()),
        }
    }
    /// Reuses the buffers: a sweep goes back to its snapshot for every point.
    fn clone_from(&mut self, from: &Self) {
        match (self, from) {
            (Core::Atomic(to), Core::Atomic(from)) => to.clone_from(from),
            (Core::Timing(to), Core::Timing(from)) => to.clone_from(from),
            (Core::Minor(to), Core::Minor(from)) => to.clone_from(from),
            (Core::O3(to), Core::O3(from)) => to.clone_from(from),
            (to, from) => *to = from.clone(),
        }
    }
}

impl Core {
    pub fn run<F: FrontEnd, B: Bus>(&mut self, ctx: &mut CoreCtx<'_, F, B>, budget: Budget) -> Stop {
        each!(self, c => c.run(ctx, budget))
    }
    pub fn insts(&self) -> u64 {
        each!(self, c => c.insts())
    }
    pub fn cycles(&self) -> u64 {
        each!(self, c => c.cycles())
    }
    /// After how many instructions and cycles whoever observes a run is asked again: some milliseconds of the host, which
    /// is how soon a run ends that nobody wants any more. In a loop's steady state, which is fast, it is asked later.
    pub fn slice(&self) -> Budget {
        let (max_insts, max_cycles) = match self {
            Core::Atomic(_) => (1 << 19, 1 << 20),
            Core::Timing(_) => (1 << 15, 1 << 20),
            Core::Minor(_) => (1 << 14, 1 << 17),
            Core::O3(_) => (3 << 12, 3 << 15),
        };
        Budget::new(max_insts, max_cycles)
    }
    pub fn collect(&self, sink: &mut StatSink) {
        each!(self, c => c.collect(sink));
    }
    pub fn reset_stats(&mut self) {
        each!(self, c => c.reset_stats());
    }

    /// From now on the statistics hold the account of the core's cycles, if it has one (O3 always keeps it).
    pub fn keep_account(&mut self) {
        if let Core::Minor(c) = self {
            c.keep_account();
        }
    }

    /// Switches memoized execution, on a core that has it: the same cycles.
    pub fn memoize(&mut self, on: bool) {
        match self {
            Core::O3(c) => c.memoize(on),
            Core::Minor(c) => c.memoize(on),
            Core::Atomic(_) | Core::Timing(_) => {}
        }
    }
    /// The machine becomes idle: gives back memory that no result depends on.
    pub fn release_memory(&mut self) {
        match self {
            Core::O3(c) => c.release_memory(),
            Core::Minor(c) => c.release_memory(),
            Core::Atomic(_) | Core::Timing(_) => {}
        }
    }
    /// Statistics of memoized execution, on a core that has it.
    pub fn memo_statistics(&self) -> Option<MemoStatistics> {
        match self {
            Core::O3(c) => Some(c.memo_statistics()),
            Core::Minor(c) => Some(c.memo_statistics()),
            Core::Atomic(_) | Core::Timing(_) => None,
        }
    }

    /// Starts (or with `None` ends) the O3PipeView trace. False for a core that has none.
    pub fn set_trace(&mut self, window: Option<Window>) -> bool {
        match self {
            Core::Atomic(_) | Core::Timing(_) => window.is_none(),
            Core::Minor(c) => {
                c.set_trace(window);
                true
            }
            Core::O3(c) => {
                c.set_trace(window);
                true
            }
        }
    }
    /// Restarts the trace here: drops the records of micro-ops that have left. False where a micro-op in flight was fetched before
    /// the trace began.
    pub fn forget_ended(&mut self) -> bool {
        match self {
            Core::Atomic(_) | Core::Timing(_) => false,
            Core::Minor(c) => c.forget_ended(),
            Core::O3(c) => c.forget_ended(),
        }
    }
    /// The records since the last call; with `finish` those of stores, too, whose write will not be seen.
    pub fn take_trace(&mut self, finish: bool) -> String {
        match self {
            Core::Atomic(_) | Core::Timing(_) => String::new(),
            Core::Minor(c) => c.take_trace(finish),
            Core::O3(c) => c.take_trace(finish),
        }
    }
}
