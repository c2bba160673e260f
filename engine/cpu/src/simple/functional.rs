//! Functional execution between stretches of detailed execution: functional warming of caches and TLBs alone, as when gem5
//! switches from an atomic core. The detailed core's branch predictor and the prefetchers are not trained.
//!
//! No pipeline is modelled. An instruction counts a cycle; the next access starts when the one before is complete. Caches and
//! TLBs are those of detailed execution; DRAM and crossbars add no delay (`MemorySystem::time`).

use breakeven_base::units::{Clock, Cycle};
use breakeven_base::{Bus, FrontEnd, MemKind, MemRef, Now, References, Step, StepResult, Tick, UopFlags};
use breakeven_memory::{Port, Request, Side};

use super::{apply_effect, completes, response, second_part, translation, Progress, Stuck, PAGE};
use crate::{Budget, CoreCtx, Stop};

/// Instructions after which their references are sent to TLBs and caches.
const CHUNK: u64 = 1 << 10;
/// With an interrupt line up already, another one may rise unannounced: look again after this many instructions.
const INTERRUPT_POLL: u64 = 16;

#[derive(Clone, Debug)]
pub struct Functional {
    clock: Clock,
    line_bytes: u32,
    insts: u64,
    cycle: u64,
    /// When the last access was complete.
    at: Tick,
    used: References,
    progress: Progress,
}

impl Functional {
    #[must_use]
    pub fn new(clock: Clock, line_bytes: u32) -> Self {
        let (used, progress) = (References::new(line_bytes), Progress::default());
        Functional { clock, line_bytes, insts: 0, cycle: 0, at: Tick::ZERO, used, progress }
    }

    /// Instructions that it has executed, in all stretches.
    #[must_use]
    pub fn insts(&self) -> u64 {
        self.insts
    }

    /// Cycles since reset, those of the detailed core included.
    #[must_use]
    pub fn cycles(&self) -> u64 {
        self.cycle
    }

    /// The detailed core has drained at `cycle`.
    pub fn start(&mut self, cycle: u64) {
        self.cycle = cycle;
        self.at = self.tick();
    }

    fn now(&self) -> Now {
        Now { tick: self.tick(), cycle: Cycle(self.cycle), drained: true }
    }

    fn tick(&self) -> Tick {
        self.clock.to_tick(Cycle(self.cycle))
    }

    /// Runs until the budget is spent or something happens. `budget`: of instructions, those that this executes.
    pub fn run<F: FrontEnd, B: Bus>(&mut self, ctx: &mut CoreCtx<'_, F, B>, budget: Budget) -> Stop {
        let mut step = Step::default();
        loop {
            if self.insts >= budget.max_insts {
                return Stop::MaxInsts;
            }
            if self.cycle >= budget.max_cycles {
                return Stop::MaxCycles;
            }
            if ctx.bus.slice_is_over() {
                return Stop::SliceOver;
            }
            let stop = match self.advance(ctx, budget, &mut step) {
                Ok(stop) => stop,
                Err(Stuck) => Some(Stop::Deadlock(format!(
                    "functional execution at pc {:#x}, cycle {}, waits for memory\n{}",
                    ctx.fe.pc(),
                    self.cycle,
                    ctx.mem.describe_queues(self.tick())
                ))),
            };
            if let Some(stop) = stop {
                return stop;
            }
        }
    }

    /// A chunk of instructions, and the one that ended it.
    fn advance<F: FrontEnd, B: Bus>(
        &mut self,
        ctx: &mut CoreCtx<'_, F, B>,
        budget: Budget,
        step: &mut Step,
    ) -> Result<Option<Stop>, Stuck> {
        let chunk = self.chunk(ctx.bus, budget);
        let (now, start) = (self.now(), self.cycle);
        let done = ctx.fe.run_noting(ctx.bus, now, chunk, &mut self.used).min(chunk);
        self.insts += done;
        let used = self.used.take();
        for m in &used {
            self.warm(ctx, m, false)?;
        }
        self.used.reuse(used);
        self.pass(start + done);
        if done > 0 {
            self.progress = Progress::default();
        }
        if done == chunk {
            return Ok(None);
        }
        match ctx.fe.step(ctx.bus, self.now(), step) {
            StepResult::Done => {}
            StepResult::Paused => return Ok(Some(Stop::Paused)),
            blocked @ (StepResult::Blocked | StepResult::NeedsDrain) => {
                return Ok(Some(Stop::Deadlock(format!(
                    "functional execution: {blocked:?} at pc {:#x} with nothing in flight\n",
                    ctx.fe.pc()
                ))));
            }
        }
        self.warm_step(ctx, step)?;
        self.pass(self.cycle + 1);
        let completes = completes(step);
        self.insts += u64::from(completes);
        if let Some(why) = self.progress.after(step, completes) {
            return Ok(Some(Stop::Deadlock(why)));
        }
        Ok(apply_effect(step, ctx.mem).map(Stop::Effect))
    }

    /// How many instructions may run before a limit or an interrupt must be looked at; at least one.
    fn chunk<B: Bus>(&self, bus: &B, budget: Budget) -> u64 {
        let next_irq = self.clock.edge_at_or_after(bus.irq_deadline()).0;
        let until_irq = if next_irq > self.cycle { next_irq - self.cycle } else { INTERRUPT_POLL };
        let left = (budget.max_insts - self.insts).min(budget.max_cycles - self.cycle);
        left.min(until_irq).clamp(1, CHUNK)
    }

    /// Sends the fetch and the data references of one step to TLBs and caches.
    fn warm_step<F: FrontEnd, B: Bus>(&mut self, ctx: &mut CoreCtx<'_, F, B>, step: &Step) -> Result<(), Stuck> {
        if step.len != 0 {
            self.warm(ctx, &MemRef { vaddr: step.pc, kind: MemKind::Fetch, ..MemRef::default() }, false)?;
        }
        for (uop, m) in step.uops.iter().zip(&step.mem).take(step.n.into()) {
            if uop.flags.any(UopFlags::WRITE_BARRIER) {
                self.at = ctx.mem.flush_write_combining(self.at).max(self.at);
            }
            if uop.flags.any(UopFlags::MEM) && m.valid {
                self.warm(ctx, m, uop.flags.any(UopFlags::NON_TEMPORAL))?;
            }
        }
        Ok(())
    }

    /// Moves the clock to `cycle`, or to the end of the last access if that is later.
    fn pass(&mut self, cycle: u64) {
        self.cycle = self.clock.edge_at_or_after(self.at).0.max(cycle);
        self.at = self.tick();
    }

    /// One reference goes to TLB and caches.
    fn warm<F: FrontEnd, B: Bus>(
        &mut self,
        ctx: &mut CoreCtx<'_, F, B>,
        m: &MemRef,
        non_temporal: bool,
    ) -> Result<(), Stuck> {
        // Only prefetchers look at it, and they see nothing.
        let pc = 0;
        if m.kind == MemKind::Fetch {
            let Some(x) = ctx.fe.fetch_translate(ctx.bus, m.vaddr) else { return Ok(()) };
            self.translate(ctx, Side::Inst, m.vaddr, x.page_shift, false);
            let uncacheable = ctx.bus.is_uncacheable(x.paddr.0);
            return self.send(
                ctx,
                Port::Inst,
                &Request { paddr: x.paddr, size: 1, kind: m.kind, uncacheable, non_temporal, pc, may_wait: false },
            );
        }
        let is_store = matches!(m.kind, MemKind::Store | MemKind::StoreLine | MemKind::Atomic);
        self.translate(ctx, Side::Data, m.vaddr, m.page_shift, is_store);
        let line = u64::from(self.line_bytes);
        let size = u64::from(m.size.max(1));
        #[allow(clippy::cast_possible_truncation)] // at most the size
        let first = (line - (m.vaddr & (line - 1))).min(size) as u16;
        let request = |paddr, size| Request {
            paddr,
            size,
            kind: m.kind,
            uncacheable: m.uncacheable,
            non_temporal,
            pc,
            may_wait: false,
        };
        self.send(ctx, Port::Data, &request(m.paddr, first))?;
        if u64::from(first) < size {
            let last = m.vaddr.wrapping_add(size - 1);
            let crosses_page = (last ^ m.vaddr) >= PAGE;
            if crosses_page {
                self.translate(ctx, Side::Data, last & !(PAGE - 1), m.page_shift, is_store);
            }
            self.send(ctx, Port::Data, &request(second_part(m, first, crosses_page), m.size - first))?;
        }
        Ok(())
    }

    fn translate<F: FrontEnd, B: Bus>(
        &mut self,
        ctx: &mut CoreCtx<'_, F, B>,
        side: Side,
        vaddr: u64,
        page_shift: u8,
        is_store: bool,
    ) {
        if page_shift != 0 {
            self.at = translation(ctx, side, self.at, vaddr, page_shift, is_store).max(self.at);
        }
    }

    fn send<F: FrontEnd, B: Bus>(
        &mut self,
        ctx: &mut CoreCtx<'_, F, B>,
        port: Port,
        request: &Request,
    ) -> Result<(), Stuck> {
        self.at = response(ctx.mem, port, self.at, request)?.max(self.at);
        Ok(())
    }
}
