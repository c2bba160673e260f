//! gem5's `TimingSimpleCPU`: fetch, wait; execute; each data access, wait. An instruction that lies in two fetch words
//! takes two fetches; an access that crosses a line goes out as two packets at once, and of two responses in one cycle the
//! second is taken a cycle later. Everything but memory takes no time.

use breakeven_base::units::Cycle;
use breakeven_base::{
    BranchKind, Bus, ConfigError, FrontEnd, MemKind, Now, PhysAddr, StatSink, Step, StepResult, UopFlags,
};
use breakeven_memory::{MemorySystem, Port, Request, Side};

use super::counts::Counts;
use super::{apply_effect, completes, response, second_part, translation, Progress, SimpleConfig, Stuck, PAGE};
use crate::bpred::BranchPredictor;
use crate::{Budget, CoreCtx, Stop};

#[derive(Clone, Debug)]
pub struct TimingSimple {
    config: SimpleConfig,
    counts: Counts,
    predictor: Option<BranchPredictor>,
    branches: u64,
    /// The data port is held by a split access until then (`misaligned.split_slots`).
    port_free: u64,
    /// The instruction that goes on with the next step (a repeated one): it is not fetched again.
    unfinished: Option<u64>,
    progress: Progress,
}

/// Bytes of an instruction that looks at the time, while it is not known better (RISC-V: all such are of 4 bytes).
const TIMED_BYTES: u64 = 4;

/// The fetch words of one instruction: the one fetched last and the one it ends in.
struct Words {
    at: u64,
    last: u64,
}

impl Words {
    /// The instruction reaches `len` bytes from `pc` (0: nowhere).
    fn extend(&mut self, pc: u64, len: u64, word: u32) {
        let start = |a: u64| a & !u64::from(word - 1);
        self.at = start(self.at);
        self.last = start(pc.saturating_add(len.max(1) - 1)).max(self.at);
    }
}

impl TimingSimple {
    /// # Errors
    /// Everything in `config` that cannot be built, one error each.
    pub fn new(config: SimpleConfig) -> Result<Self, Vec<ConfigError>> {
        config.check()?;
        let predictor = match &config.branch_pred {
            Some(p) => Some(BranchPredictor::new(p, &format!("{}.branchPred", config.path)).map_err(|e| vec![e])?),
            None => None,
        };
        Ok(TimingSimple {
            config,
            counts: Counts::new(),
            predictor,
            branches: 0,
            port_free: 0,
            unfinished: None,
            progress: Progress::default(),
        })
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
            let stop = match self.instruction(ctx, &mut step) {
                Ok(stop) => stop,
                Err(Stuck) => Some(self.deadlock(ctx)),
            };
            if let Some(stop) = stop {
                return stop;
            }
        }
    }

    /// One instruction from its fetch to its end.
    fn instruction<F: FrontEnd, B: Bus>(
        &mut self,
        ctx: &mut CoreCtx<'_, F, B>,
        step: &mut Step,
    ) -> Result<Option<Stop>, Stuck> {
        let pc = ctx.fe.pc();
        let start = self.counts.cycles;
        let begins = self.unfinished != Some(pc);
        let fetched = begins && self.fetch(ctx, pc, pc)?;
        let mut result = ctx.fe.step(ctx.bus, self.now(false), step);
        let mut words = Words { at: pc, last: pc };
        if result == StepResult::NeedsDrain {
            // It looks at the time, so its other words must be here before: its length is not known yet.
            words.extend(pc, TIMED_BYTES, self.config.fetch_bytes);
            self.fetch_words(ctx, pc, &mut words)?;
            result = ctx.fe.step(ctx.bus, self.now(true), step);
        }
        match result {
            StepResult::Done => {}
            StepResult::Paused => return Ok(Some(Stop::Paused)),
            StepResult::NeedsDrain | StepResult::Blocked => return Ok(Some(self.deadlock(ctx))),
        }
        if fetched {
            words.extend(pc, u64::from(step.len), self.config.fetch_bytes);
            self.fetch_words(ctx, pc, &mut words)?;
        }
        for i in 0..step.n as usize {
            if step.uops[i].flags.any(UopFlags::WRITE_BARRIER) {
                let written = ctx.mem.flush_write_combining(self.now(false).tick);
                self.counts.cycles = self.config.clock.edge_at_or_after(written).0.max(self.counts.cycles);
            }
            if step.uops[i].flags.any(UopFlags::MEM) && step.mem[i].valid {
                self.data(ctx, step, i)?;
            }
        }
        let completes = completes(step);
        let trapped = step.uops.iter().take(step.n.into()).any(|u| u.flags.any(UopFlags::TRAP));
        self.unfinished = (!completes && !trapped && step.len != 0 && ctx.fe.pc() == pc).then_some(pc);
        // Whatever it was, time passes, once an instruction: a fault that faults again reaches the limit of cycles.
        if begins {
            self.counts.cycles = self.counts.cycles.max(start + 1);
        }
        self.counts.step(step, completes);
        self.predict(step);
        if let Some(why) = self.progress.after(step, completes) {
            return Ok(Some(Stop::Deadlock(why)));
        }
        Ok(apply_effect(step, ctx.mem).map(Stop::Effect))
    }

    fn now(&self, drained: bool) -> Now {
        let cycle = Cycle(self.counts.cycles);
        Now { tick: self.config.clock.to_tick(cycle), cycle, drained }
    }

    /// Fetches the words of the instruction at `pc` that have not been fetched.
    fn fetch_words<F: FrontEnd, B: Bus>(
        &mut self,
        ctx: &mut CoreCtx<'_, F, B>,
        pc: u64,
        words: &mut Words,
    ) -> Result<(), Stuck> {
        while words.at < words.last {
            words.at += u64::from(self.config.fetch_bytes);
            self.fetch(ctx, pc, words.at)?;
        }
        Ok(())
    }

    /// Fetches the word that holds `vaddr` for the instruction at `pc`; whether there is one.
    fn fetch<F: FrontEnd, B: Bus>(&mut self, ctx: &mut CoreCtx<'_, F, B>, pc: u64, vaddr: u64) -> Result<bool, Stuck> {
        let Some(x) = ctx.fe.fetch_translate(ctx.bus, vaddr) else { return Ok(false) };
        let start = self.counts.cycles;
        self.translate(ctx, Side::Inst, vaddr, x.page_shift, false);
        let size = self.config.fetch_bytes;
        let paddr = x.paddr.align_down(size.into());
        let uncacheable = ctx.bus.is_uncacheable(paddr.0);
        #[allow(clippy::cast_possible_truncation)] // at most 64
        let request = Request {
            paddr,
            size: size as u16,
            kind: MemKind::Fetch,
            uncacheable,
            non_temporal: false,
            pc,
            may_wait: false,
        };
        self.counts.cycles = self.access(ctx.mem, Port::Inst, &request)?;
        self.counts.icache_stall += self.counts.cycles - start;
        Ok(true)
    }

    /// Micro-op `i`'s data access.
    fn data<F: FrontEnd, B: Bus>(&mut self, ctx: &mut CoreCtx<'_, F, B>, step: &Step, i: usize) -> Result<(), Stuck> {
        let (uop, m) = (&step.uops[i], &step.mem[i]);
        let is_store = uop.flags.any(UopFlags::STORE);
        let start = self.counts.cycles;
        let line = ctx.mem.line_bytes();
        let split = self.config.misaligned.split(m, is_store, line, line);
        self.counts.cycles = (start + u64::from(split.stall)).max(self.port_free);
        self.translate(ctx, Side::Data, m.vaddr, m.page_shift, is_store);
        let second_page = m.vaddr.wrapping_add(u64::from(m.size.max(1)) - 1) & !(PAGE - 1);
        let crosses_page = second_page != m.vaddr & !(PAGE - 1) && split.first < m.size;
        if crosses_page {
            self.translate(ctx, Side::Data, second_page, m.page_shift, is_store);
        }
        let issued = self.counts.cycles;
        let non_temporal = uop.flags.any(UopFlags::NON_TEMPORAL);
        let request = |paddr: PhysAddr, size: u16| Request {
            paddr,
            size,
            kind: m.kind,
            uncacheable: m.uncacheable,
            non_temporal,
            pc: step.pc,
            may_wait: false,
        };
        let mut at = self.access(ctx.mem, Port::Data, &request(m.paddr, split.first.max(1)))?;
        if split.first < m.size {
            let rest = second_part(m, split.first, crosses_page);
            let second = self.access(ctx.mem, Port::Data, &request(rest, m.size - split.first))?;
            at = if second == at { at + 1 } else { at.max(second) };
        }
        if split.slots > 0 {
            self.port_free = issued + 1 + u64::from(split.slots);
        }
        self.counts.cycles = at + u64::from(split.extra);
        self.counts.dcache_stall += self.counts.cycles - start;
        Ok(())
    }

    /// Waits for the translation of `vaddr`.
    fn translate<F: FrontEnd, B: Bus>(
        &mut self,
        ctx: &mut CoreCtx<'_, F, B>,
        side: Side,
        vaddr: u64,
        page_shift: u8,
        is_store: bool,
    ) {
        let now = self.now(false).tick;
        let at = translation(ctx, side, now, vaddr, page_shift, is_store);
        self.counts.cycles = self.config.clock.edge_at_or_after(at).0.max(self.counts.cycles);
    }

    /// Sends a request now, again and again while the cache refuses it; the cycle at which its response is taken.
    fn access(&self, mem: &mut MemorySystem, port: Port, request: &Request) -> Result<u64, Stuck> {
        let at = response(mem, port, self.now(false).tick, request)?;
        Ok(self.config.clock.edge_at_or_after(at).0.max(self.counts.cycles))
    }

    /// gem5's simple cores ask a predictor, count its mistakes and go on.
    fn predict(&mut self, step: &Step) {
        let Some(predictor) = &mut self.predictor else { return };
        let b = &step.branch;
        if b.kind == BranchKind::None {
            return;
        }
        self.branches += 1;
        let p = predictor.predict(self.branches, step.pc, step.len, b.kind);
        self.counts.predicted_branches += u64::from(p.taken);
        if p.target == step.next_pc {
            predictor.update(self.branches);
        } else {
            predictor.correct(self.branches, step.next_pc, b.taken, true);
            self.counts.branch_mispred += 1;
        }
    }

    fn deadlock<F: FrontEnd, B: Bus>(&self, ctx: &CoreCtx<'_, F, B>) -> Stop {
        let now = self.config.clock.to_tick(Cycle(self.counts.cycles));
        Stop::Deadlock(format!(
            "execute: pc {:#x}, cycle {}, waits for memory\n{}",
            ctx.fe.pc(),
            self.counts.cycles,
            ctx.mem.describe_queues(now)
        ))
    }

    /// After [`Stop::Paused`]: the front end has moved on meanwhile, and the time to `cycle`.
    pub fn resume(&mut self, cycle: u64) {
        self.counts.cycles = self.counts.cycles.max(cycle);
        self.unfinished = None;
    }

    super::totals!();

    /// Statistics under the core's own path.
    pub fn collect(&self, sink: &mut StatSink) {
        sink.scope(&self.config.path, |s| {
            self.counts.common(s);
            self.counts.per_op(s);
            if let Some(p) = &self.predictor {
                s.scope("branchPred", |s| p.stats(s));
            }
        });
    }

    pub fn reset_stats(&mut self) {
        self.counts.reset();
        if let Some(p) = &mut self.predictor {
            p.reset_stats();
        }
    }
}
