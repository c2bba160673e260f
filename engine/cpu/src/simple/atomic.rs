//! gem5's `AtomicSimpleCPU`: one instruction a cycle (`width`), memory accesses take no time (`simulate_data_stalls` and
//! `simulate_inst_stalls` are off, their default). Made for speed: a run of instructions is executed by the front end at
//! once, and only what needs the time or has an effect is stepped through.

use breakeven_base::units::Cycle;
use breakeven_base::{Bus, ConfigError, FrontEnd, Now, StatSink, Step, StepResult};

use super::counts::Counts;
use super::{apply_effect, completes, Progress, SimpleConfig};
use crate::{Budget, CoreCtx, Stop};

#[derive(Clone, Debug)]
pub struct AtomicSimple {
    config: SimpleConfig,
    counts: Counts,
    /// Instructions executed in the current cycle; below `width`.
    slot: u64,
    progress: Progress,
}

/// With an interrupt line up already, another one may rise unannounced: look again after this many instructions.
const INTERRUPT_POLL: u64 = 16;

impl AtomicSimple {
    /// # Errors
    /// Everything in `config` that cannot be built, one error each.
    pub fn new(config: SimpleConfig) -> Result<Self, Vec<ConfigError>> {
        config.check()?;
        Ok(AtomicSimple { config, counts: Counts::new(), slot: 0, progress: Progress::default() })
    }

    /// Runs until the budget is spent or something happens.
    pub fn run<F: FrontEnd, B: Bus>(&mut self, ctx: &mut CoreCtx<'_, F, B>, budget: Budget) -> Stop {
        let mut step = Step::default();
        loop {
            if self.counts.insts >= budget.max_insts {
                return Stop::MaxInsts;
            }
            if self.counts.cycles >= budget.max_cycles {
                return Stop::MaxCycles;
            }
            if ctx.bus.slice_is_over() {
                return Stop::SliceOver;
            }
            let chunk = self.chunk(ctx.bus, budget);
            let done = ctx.fe.run_fast(ctx.bus, self.now(), chunk).min(chunk);
            self.counts.insts += done;
            self.pass(done);
            if done > 0 {
                self.progress = Progress::default();
            }
            // With a slice over before its end, as well: what the fast path left is not known to be for `step`.
            if done == chunk || ctx.bus.slice_is_over() {
                continue;
            }
            match ctx.fe.step(ctx.bus, self.now(), &mut step) {
                StepResult::Done => {}
                StepResult::Paused => return Stop::Paused,
                blocked @ (StepResult::Blocked | StepResult::NeedsDrain) => {
                    return Stop::Deadlock(format!(
                        "execute: {blocked:?} at pc {:#x} with nothing in flight\n",
                        ctx.fe.pc()
                    ));
                }
            }
            let completes = completes(&step);
            self.counts.insts += u64::from(completes);
            self.pass(1);
            if let Some(why) = self.progress.after(&step, completes) {
                return Stop::Deadlock(why);
            }
            if let Some(effect) = apply_effect(&step, ctx.mem) {
                return Stop::Effect(effect);
            }
        }
    }

    fn now(&self) -> Now {
        let cycle = Cycle(self.counts.cycles);
        Now { tick: self.config.clock.to_tick(cycle), cycle, drained: true }
    }

    /// How many instructions may run before a limit or an interrupt must be looked at; at least one.
    fn chunk<B: Bus>(&self, bus: &B, budget: Budget) -> u64 {
        let width = u64::from(self.config.width);
        let left = |cycle: u64| (cycle - self.counts.cycles).saturating_mul(width).saturating_sub(self.slot);
        let next_irq = self.config.clock.edge_at_or_after(bus.irq_deadline()).0;
        let until_irq = if next_irq > self.counts.cycles { left(next_irq) } else { INTERRUPT_POLL };
        (budget.max_insts - self.counts.insts).min(left(budget.max_cycles)).min(until_irq).max(1)
    }

    /// Lets the time of `n` instructions pass.
    fn pass(&mut self, n: u64) {
        let width = u64::from(self.config.width);
        if width == 1 {
            self.counts.cycles += n;
        } else {
            let slots = self.slot + n;
            self.counts.cycles += slots / width;
            self.slot = slots % width;
        }
    }

    super::totals!();

    /// Statistics under the core's own path. An atomic core does not see micro-ops, so there are totals only.
    pub fn collect(&self, sink: &mut StatSink) {
        sink.scope(&self.config.path, |s| self.counts.common(s));
    }

    pub fn reset_stats(&mut self) {
        self.counts.reset();
    }
}
