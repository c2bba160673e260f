//! The core models behind one interface, and functional execution in their place. The choice is made once per slice of a run,
//! never per micro-op.

use breakeven_base::units::Clock;
use breakeven_base::{Bus, FrontEnd, StatSink};
use breakeven_cpu::minor::Minor;
use breakeven_cpu::o3::O3;
use breakeven_cpu::pipeview::Window;
use breakeven_cpu::simple::{AtomicSimple, Functional, TimingSimple};
use breakeven_cpu::MemoStatistics;
use breakeven_cpu::{Budget, CoreCtx, Stop};

pub(crate) enum Model {
    Atomic(Box<AtomicSimple>),
    Timing(Box<TimingSimple>),
    Minor(Box<Minor>),
    O3(Box<O3>),
}

macro_rules! each {
    ($core:expr, $c:ident => $what:expr) => {
        match $core {
            Model::Atomic($c) => $what,
            Model::Timing($c) => $what,
            Model::Minor($c) => $what,
            Model::O3($c) => $what,
        }
    };
}

impl Clone for Model {
    fn clone(&self) -> Self {
        match self {
            Model::Atomic(c) => Model::Atomic(c.clone()),
            Model::Timing(c) => Model::Timing(c.clone()),
            Model::Minor(c) => Model::Minor(c.clone()),
            Model::O3(c) => Model::O3(c.clone()),
        }
    }
    /// Reuses the buffers: a sweep goes back to its snapshot for every point.
    fn clone_from(&mut self, from: &Self) {
        match (self, from) {
            (Model::Atomic(to), Model::Atomic(from)) => to.clone_from(from),
            (Model::Timing(to), Model::Timing(from)) => to.clone_from(from),
            (Model::Minor(to), Model::Minor(from)) => to.clone_from(from),
            (Model::O3(to), Model::O3(from)) => to.clone_from(from),
            (to, from) => *to = from.clone(),
        }
    }
}

/// The machine's core: its model, and functional execution while nothing is measured.
pub(crate) struct Core {
    model: Model,
    functional: Box<Functional>,
    is_functional: bool,
}

impl Clone for Core {
    fn clone(&self) -> Self {
        Core { model: self.model.clone(), functional: self.functional.clone(), is_functional: self.is_functional }
    }
    fn clone_from(&mut self, from: &Self) {
        self.model.clone_from(&from.model);
        self.functional.clone_from(&from.functional);
        self.is_functional = from.is_functional;
    }
}

impl Core {
    pub fn new(model: Model, clock: Clock, line_bytes: u32) -> Self {
        Core { model, functional: Box::new(Functional::new(clock, line_bytes)), is_functional: false }
    }

    /// Instructions are executed and not timed.
    pub fn is_functional(&self) -> bool {
        self.is_functional
    }

    /// Whether functional execution saves anything.
    pub fn times_instructions(&self) -> bool {
        !matches!(self.model, Model::Atomic(_))
    }

    /// After [`Stop::Paused`], from detailed to functional execution or back. `pc`: where the front end stands.
    pub fn switch(&mut self, pc: u64) {
        if self.is_functional {
            let cycle = self.functional.cycles();
            match &mut self.model {
                Model::Atomic(_) => {}
                Model::Timing(c) => c.resume(cycle),
                Model::Minor(c) => c.resume(cycle),
                Model::O3(c) => c.resume(cycle, pc),
            }
        } else {
            self.functional.start(self.cycles());
        }
        self.is_functional = !self.is_functional;
    }

    pub fn run<F: FrontEnd, B: Bus>(&mut self, ctx: &mut CoreCtx<'_, F, B>, budget: Budget) -> Stop {
        let model_insts = each!(&self.model, c => c.insts());
        let others = if self.is_functional { model_insts } else { self.functional.insts() };
        let budget = Budget { max_insts: budget.max_insts.saturating_sub(others), ..budget };
        if self.is_functional {
            return self.functional.run(ctx, budget);
        }
        each!(&mut self.model, c => c.run(ctx, budget))
    }
    pub fn insts(&self) -> u64 {
        each!(&self.model, c => c.insts()) + self.functional.insts()
    }
    pub fn cycles(&self) -> u64 {
        if self.is_functional {
            return self.functional.cycles();
        }
        each!(&self.model, c => c.cycles())
    }
    /// After how many instructions and cycles whoever observes a run is asked again: some milliseconds of the host, which
    /// is how soon a run ends that nobody wants any more. In a loop's steady state, which is fast, it is asked later.
    pub fn slice(&self) -> Budget {
        let (max_insts, max_cycles) = match &self.model {
            _ if self.is_functional => (1 << 17, 1 << 20),
            Model::Atomic(_) => (1 << 19, 1 << 20),
            Model::Timing(_) => (1 << 15, 1 << 20),
            Model::Minor(_) => (1 << 14, 1 << 17),
            Model::O3(_) => (3 << 12, 3 << 15),
        };
        Budget::new(max_insts, max_cycles)
    }
    pub fn collect(&self, sink: &mut StatSink) {
        each!(&self.model, c => c.collect(sink));
    }
    pub fn reset_stats(&mut self) {
        each!(&mut self.model, c => c.reset_stats());
    }

    /// From now on the statistics hold the account of the core's cycles, if it has one (O3 always keeps it).
    pub fn keep_account(&mut self) {
        if let Model::Minor(c) = &mut self.model {
            c.keep_account();
        }
    }

    /// Switches memoized execution, on a core that has it: the same cycles.
    pub fn memoize(&mut self, on: bool) {
        match &mut self.model {
            Model::O3(c) => c.memoize(on),
            Model::Minor(c) => c.memoize(on),
            Model::Atomic(_) | Model::Timing(_) => {}
        }
    }
    /// The machine becomes idle: gives back memory that no result depends on.
    pub fn release_memory(&mut self) {
        match &mut self.model {
            Model::O3(c) => c.release_memory(),
            Model::Minor(c) => c.release_memory(),
            Model::Atomic(_) | Model::Timing(_) => {}
        }
    }
    /// Statistics of memoized execution, on a core that has it.
    pub fn memo_statistics(&self) -> Option<MemoStatistics> {
        match &self.model {
            Model::O3(c) => Some(c.memo_statistics()),
            Model::Minor(c) => Some(c.memo_statistics()),
            Model::Atomic(_) | Model::Timing(_) => None,
        }
    }

    /// Starts (or with `None` ends) the O3PipeView trace. False for a core that has none.
    pub fn set_trace(&mut self, window: Option<Window>) -> bool {
        match &mut self.model {
            Model::Atomic(_) | Model::Timing(_) => window.is_none(),
            Model::Minor(c) => {
                c.set_trace(window);
                true
            }
            Model::O3(c) => {
                c.set_trace(window);
                true
            }
        }
    }
    /// Restarts the trace here: drops the records of micro-ops that have left. False where a micro-op in flight was fetched before
    /// the trace began.
    pub fn forget_ended(&mut self) -> bool {
        match &mut self.model {
            Model::Atomic(_) | Model::Timing(_) => false,
            Model::Minor(c) => c.forget_ended(),
            Model::O3(c) => c.forget_ended(),
        }
    }
    /// The records since the last call; with `finish` those of stores, too, whose write will not be seen.
    pub fn take_trace(&mut self, finish: bool) -> String {
        match &mut self.model {
            Model::Atomic(_) | Model::Timing(_) => String::new(),
            Model::Minor(c) => c.take_trace(finish),
            Model::O3(c) => c.take_trace(finish),
        }
    }
}
