//! The core models behind one face. The choice is made once per slice of a run, never per micro-op.

use breakeven_base::{Bus, FrontEnd, StatSink};
use breakeven_cpu::minor::Minor;
use breakeven_cpu::simple::{AtomicSimple, TimingSimple};
use breakeven_cpu::{Budget, CoreCtx, Stop};

#[derive(Clone)]
pub(crate) enum Core {
    Atomic(Box<AtomicSimple>),
    Timing(Box<TimingSimple>),
    Minor(Box<Minor>),
}

macro_rules! each {
    ($core:expr, $c:ident => $what:expr) => {
        match $core {
            Core::Atomic($c) => $what,
            Core::Timing($c) => $what,
            Core::Minor($c) => $what,
        }
    };
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
    pub fn collect(&self, sink: &mut StatSink) {
        each!(self, c => c.collect(sink));
    }
    pub fn reset_stats(&mut self) {
        each!(self, c => c.reset_stats());
    }
}
