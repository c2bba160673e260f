//! One machine that runs: a core over its front end, its memory and its platform, driven until something happens.

mod run;
mod tracing;

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

use breakeven_base::bus::ExitCause;
use breakeven_base::{Bus, Stat, StatSink, SysEffect, Tick};
use breakeven_cpu::MemoStatistics;
use breakeven_cpu::{Budget, Stop};
use breakeven_memory::MemorySystem;

use crate::core::Core;
use crate::isa::Isa;
use crate::platform::{Htif, Platform, Work};
use crate::se::{Host, Process, ProcessConfig};
use crate::stats::{self, Dumps, Totals};
use crate::trace::{Trace, TRACE_SLICE};
use crate::{Elf, EngineError, IsaName, MachineConfig};

pub use run::{Cause, Event, Limits, RunEnd, DEFAULT_CYCLES, DEFAULT_INSTS};

/// Everything that a snapshot keeps, apart from RAM and devices.
#[derive(Clone)]
pub(crate) struct State {
    pub fe: Isa,
    pub core: Core,
    pub mem: MemorySystem,
}

/// A delayed effect of a pseudo-op: when, and its period (ticks; 0: once).
#[derive(Clone, Copy, Debug)]
struct Scheduled {
    at: Tick,
    period: u64,
    effect: SysEffect,
}

/// A machine with its guest loaded.
pub struct Machine {
    pub(crate) config: Arc<MachineConfig>,
    pub(crate) state: State,
    pub bus: Platform,
    scheduled: Vec<Scheduled>,
    /// Delayed effects that were carried out.
    carried_out: u64,
    /// Where the statistics began.
    reset: Totals,
    started: Instant,
    dumps: Dumps,
    /// The process has ended, and this has happened.
    ended: Option<SysEffect>,
    pub(crate) trace: Option<Trace>,
    /// What lies between a work item's end and the next one's begin is executed functionally.
    pub(crate) only_work_in_detail: bool,
}

/// Ticks in a nanosecond.
const NS: u64 = 1000;
/// Most delayed effects at once, and in all: they cost the guest no instruction.
const SCHEDULE_LIMIT: usize = 1000;
const CARRIED_OUT_LIMIT: u64 = 50_000;

impl Machine {
    /// Builds the machine and loads the guest.
    ///
    /// # Errors
    /// A description that cannot be built, an ELF that cannot be loaded, a host without memory.
    pub fn new(description: &str, elf: &[u8]) -> Result<Machine, EngineError> {
        Machine::new_with(description, elf, &Host::default())
    }

    /// As [`Machine::new`]; a process may reach what `host` allows.
    ///
    /// # Errors
    /// As there, and an allowed directory that cannot be used.
    pub fn new_with(description: &str, elf: &[u8], host: &Host) -> Result<Machine, EngineError> {
        let config = MachineConfig::parse(description).map_err(EngineError::Description)?;
        Machine::build_with(Arc::new(config), elf, host)
    }

    /// As [`Machine::new`], from a description that has been read.
    ///
    /// # Errors
    /// As there.
    pub fn build(config: Arc<MachineConfig>, elf: &[u8]) -> Result<Machine, EngineError> {
        Machine::build_with(config, elf, &Host::default())
    }

    /// As [`Machine::build`]; a process may reach what `host` allows.
    ///
    /// # Errors
    /// As there, and an allowed directory that cannot be used.
    pub fn build_with(config: Arc<MachineConfig>, elf: &[u8], host: &Host) -> Result<Machine, EngineError> {
        if let Some(process) = &config.process {
            return Machine::build_process(&config, process, elf, host);
        }
        let elf = Elf::parse(elf)?;
        elf.expect_isa(config.isa.name(), &config.cpu)?;
        let (core, mem) = config.parts().map_err(EngineError::Description)?;
        let mut bus = Platform::new(&config.platform)?;
        let fe = Isa::boot(&config.isa, elf.entry, &mut bus).map_err(|e| EngineError::Description(vec![e]))?;
        elf.load(bus.ram_mut())?;
        if let (IsaName::Riscv, Some(tohost)) = (config.isa.name(), elf.symbol("tohost")) {
            bus.set_htif(Htif { tohost, fromhost: elf.symbol("fromhost") });
        }
        Ok(Machine::from_parts(config, State { fe, core, mem }, bus))
    }

    fn build_process(
        config: &Arc<MachineConfig>,
        process: &ProcessConfig,
        elf: &[u8],
        host: &Host,
    ) -> Result<Machine, EngineError> {
        let elf = Elf::parse_process(elf)?;
        elf.expect_isa(config.isa.name(), &config.cpu)?;
        let (core, mem) = config.parts().map_err(EngineError::Description)?;
        let mut bus = Platform::new(&config.platform)?;
        let mut fe = Isa::for_process(&config.isa).map_err(|e| EngineError::Description(vec![e]))?;
        let (process, start) = Process::new(process, &elf, host, fe.hardware(), bus.ram_mut())?;
        fe.start(&start);
        bus.process = Some(Box::new(process));
        Ok(Machine::from_parts(config.clone(), State { fe, core, mem }, bus))
    }

    pub(crate) fn from_parts(config: Arc<MachineConfig>, state: State, bus: Platform) -> Machine {
        Machine {
            config,
            state,
            bus,
            scheduled: Vec::new(),
            carried_out: 0,
            reset: Totals::default(),
            started: Instant::now(),
            dumps: Dumps::default(),
            ended: None,
            trace: None,
            only_work_in_detail: false,
        }
    }

    /// Puts the machine back to a snapshot of itself.
    pub(crate) fn restore(
        &mut self,
        state: &State,
        devices: &crate::platform::Devices,
    ) -> Result<(), breakeven_base::ConfigError> {
        self.state.fe.clone_from(&state.fe);
        self.state.core.clone_from(&state.core);
        self.state.mem.clone_from(&state.mem);
        self.bus.restore(devices)?;
        self.scheduled.clear();
        self.carried_out = 0;
        self.dumps = Dumps::default();
        Ok(())
    }

    /// Instructions and ticks since reset.
    fn totals(&self) -> Totals {
        Totals { insts: self.state.core.insts(), ticks: self.now().0 }
    }

    /// Instructions, cycles and ticks since reset.
    #[must_use]
    pub fn progress(&self) -> (u64, u64, u64) {
        (self.state.core.insts(), self.state.core.cycles(), self.now().0)
    }

    fn now(&self) -> Tick {
        self.config.clock.to_tick(breakeven_base::Cycle(self.state.core.cycles()))
    }

    /// Runs until something happens. May be called again unless the guest has ended.
    pub fn run(&mut self, limits: Limits) -> RunEnd {
        self.run_observed(limits, &mut |_| ControlFlow::Continue(()))
    }

    /// As [`Machine::run`]; the observer sees every dump of statistics, is asked now and then, and may stop the run.
    pub fn run_observed(&mut self, limits: Limits, observer: &mut dyn FnMut(Event) -> ControlFlow<()>) -> RunEnd {
        let started = Instant::now();
        let bounds = Bounds::new(self, limits);
        self.bus.begin_slice();
        let (cause, code) = loop {
            if let Some(end) = self.advance(&bounds, observer) {
                break end;
            }
        };
        self.bus.write_back();
        let mut detail = self.bus.refusal.take().unwrap_or_default();
        let cause = match cause {
            End::Reported(cause, report) => {
                detail = report;
                cause
            }
            End::Cause(c) if detail.is_empty() => {
                detail = match (c, &self.bus.process) {
                    (Cause::Exit(ExitCause::ProcessSignal), Some(process)) => process.detail().to_owned(),
                    (Cause::Exit(_), _) => self.state.fe.halt_reason(&mut self.bus).unwrap_or_default(),
                    _ => detail,
                };
                c
            }
            End::Cause(Cause::HostFailed) => Cause::HostFailed,
            End::Cause(_) => Cause::Unsupported,
        };
        let (insts, cycles) = (self.state.core.insts(), self.state.core.cycles());
        let host_seconds = started.elapsed().as_secs_f64();
        RunEnd { cause, code, insts, cycles, ticks: self.now().0, host_seconds, detail }
    }

    /// One slice of simulation and what came of it.
    fn advance(&mut self, bounds: &Bounds, observer: &mut dyn FnMut(Event) -> ControlFlow<()>) -> Option<(End, i64)> {
        let (insts, cycles) = (self.state.core.insts(), self.state.core.cycles());
        if let Some(cause) = bounds.reached(insts, cycles) {
            return Some((End::Cause(cause), 0));
        }
        if let Some(end) = self.run_due(observer) {
            return Some(end);
        }
        // Nothing comes after a process's end.
        if let Some(end) = self.ended {
            return self.act(end, observer);
        }
        let due = self.scheduled.iter().map(|s| s.at).min().unwrap_or(Tick::MAX);
        let mut slice = self.state.core.slice();
        if self.trace.is_some() {
            slice.max_insts = TRACE_SLICE;
        }
        let last_cycle = bounds.cycles.min(self.config.clock.edge_at_or_after(due).0.max(cycles + 1));
        let (max_insts, max_cycles) = (
            bounds.insts.min(insts.saturating_add(slice.max_insts)),
            last_cycle.min(cycles.saturating_add(slice.max_cycles)),
        );
        // A slice may be longer.
        let (late_insts, late_cycles) = (bounds.insts - max_insts, last_cycle - max_cycles);
        let budget = Budget { max_insts, max_cycles, late_insts, late_cycles };
        let State { fe, core, mem } = &mut self.state;
        self.bus.pauses.work = match (self.only_work_in_detail, core.is_functional()) {
            (false, _) => Work::Reported,
            (true, false) => Work::InDetail,
            (true, true) => Work::Functional,
        };
        let stop = fe.run(core, &mut self.bus, mem, budget);
        if self.trace.is_some() && !self.drain_trace(false) {
            return Some((End::Cause(Cause::HostFailed), 1));
        }
        if let Some(lost) = self.bus.flush_console() {
            self.bus.refusal = Some(lost);
            return Some((End::Cause(Cause::HostFailed), 1));
        }
        match stop {
            Stop::MaxInsts | Stop::MaxCycles | Stop::SliceOver => {
                self.bus.begin_slice();
                observer(Event::Slice).is_break().then_some((End::Cause(Cause::Interrupted), 0))
            }
            Stop::Paused if std::mem::take(&mut self.bus.pauses.at_work) => {
                self.state.core.switch(self.state.fe.pc());
                self.state.mem.time(!self.state.core.is_functional());
                None
            }
            Stop::Paused => Some((End::Cause(Cause::Paused), 0)),
            Stop::Deadlock(report) => Some((End::Reported(Cause::Deadlock, report), 1)),
            Stop::NotRepeated(report) => Some((End::Reported(Cause::NotRepeated, report), 1)),
            Stop::Effect(effect) => match std::mem::take(&mut self.bus.delay) {
                (0, 0) => self.act(effect, observer),
                (delay, period) => {
                    let at = Tick(self.now().0.saturating_add(delay.saturating_mul(NS)));
                    if self.scheduled.len() == SCHEDULE_LIMIT {
                        return Some(
                            self.refuse(format!("the guest put off more than {SCHEDULE_LIMIT} pseudo-ops at once")),
                        );
                    }
                    self.scheduled.push(Scheduled { at, period: period.saturating_mul(NS), effect });
                    None
                }
            },
        }
    }

    /// Carries out the delayed effects that are due.
    fn run_due(&mut self, observer: &mut dyn FnMut(Event) -> ControlFlow<()>) -> Option<(End, i64)> {
        loop {
            let now = self.now();
            let next = self
                .scheduled
                .iter()
                .enumerate()
                .filter(|(_, s)| s.at <= now)
                .min_by_key(|(i, s)| (s.at, *i))
                .map(|(i, _)| i)?;
            let due = self.scheduled[next];
            if due.period > 0 {
                // A period below a cycle happens once a cycle.
                self.scheduled[next].at = Tick(due.at.0.saturating_add(due.period).max(now.0 + 1));
            } else {
                self.scheduled.remove(next);
            }
            self.carried_out += 1;
            if self.carried_out > CARRIED_OUT_LIMIT {
                let why = format!("more than {CARRIED_OUT_LIMIT} pseudo-ops that the guest put off were carried out");
                return Some(self.refuse(why));
            }
            if let Some(end) = self.act(due.effect, observer) {
                return Some(end);
            }
        }
    }

    fn act(&mut self, effect: SysEffect, observer: &mut dyn FnMut(Event) -> ControlFlow<()>) -> Option<(End, i64)> {
        let stop_at_work = self.config.exit_on_work_items && !self.only_work_in_detail;
        match effect {
            SysEffect::None | SysEffect::TlbFlush { .. } | SysEffect::FetchFlush | SysEffect::CacheFlush { .. } => {}
            SysEffect::ResetStats => self.reset_stats(),
            SysEffect::DumpStats | SysEffect::DumpResetStats => {
                let stats = self.stats();
                let stop = observer(Event::Dump(&stats)).is_break();
                if !self.dumps.push(stats) {
                    return Some(self.refuse(format!("the guest dumped statistics more than {} times", Dumps::LIMIT)));
                }
                if effect == SysEffect::DumpResetStats {
                    self.reset_stats();
                }
                return stop.then_some((End::Cause(Cause::Interrupted), 0));
            }
            #[allow(clippy::cast_possible_wrap)] // the guest's number
            SysEffect::WorkBegin { id } if stop_at_work => return Some((End::Cause(Cause::WorkBegin), id as i64)),
            #[allow(clippy::cast_possible_wrap)] // as above
            SysEffect::WorkEnd { id } if stop_at_work => return Some((End::Cause(Cause::WorkEnd), id as i64)),
            SysEffect::WorkBegin { .. } | SysEffect::WorkEnd { .. } => {}
            SysEffect::Exit { cause, code } => {
                if matches!(cause, ExitCause::ProcessExit | ExitCause::ProcessSignal) {
                    self.ended = Some(effect);
                }
                return Some((End::Cause(Cause::Exit(cause)), code));
            }
        }
        None
    }

    /// The run ends because of what the guest did.
    fn refuse(&mut self, refusal: String) -> (End, i64) {
        self.bus.refusal = Some(refusal);
        (End::Cause(Cause::Unsupported), 1)
    }

    /// Starts all statistics anew.
    pub fn reset_stats(&mut self) {
        self.state.core.reset_stats();
        self.state.mem.reset_stats();
        self.reset = self.totals();
        self.started = Instant::now();
    }

    /// From now on the statistics include the cycle accounting (where the commit slots went), if the core has it: a little slower on Minor.
    pub fn keep_account(&mut self) {
        self.state.core.keep_account();
    }

    /// Switches memoized execution, on a core that has it: the same cycles. Default: `BREAKEVEN_MEMOIZE` (on).
    pub fn memoize(&mut self, on: bool) {
        self.state.core.memoize(on);
    }

    /// From now on all instructions of wrong paths are executed, where a description would do: the same cycles.
    pub fn execute_wrong_paths(&mut self) {
        self.state.fe.execute_wrong_paths();
    }

    /// Statistics of memoized execution, on a core that has it.
    #[must_use]
    pub fn memo_statistics(&self) -> Option<MemoStatistics> {
        self.state.core.memo_statistics()
    }

    /// The statistics now, since the last reset of them.
    #[must_use]
    pub fn stats(&self) -> Vec<Stat> {
        let mut parts = StatSink::new();
        self.state.core.collect(&mut parts);
        self.state.mem.collect(&mut parts);
        // A core that does not see micro-ops counts instructions alone.
        let ops = parts.stats.iter().find(|s| s.name.ends_with(".commitStats0.numOps")).map(|s| s.value);
        let mut whole = StatSink::new();
        stats::simulation(&mut whole, self.reset, self.totals(), ops, self.started.elapsed().as_secs_f64());
        whole.stats.append(&mut parts.stats);
        whole.stats
    }

    /// Keeps the present statistics as one more dump; whether there was room ([`Dumps::LIMIT`]).
    pub fn dump_stats(&mut self) -> bool {
        let stats = self.stats();
        self.dumps.push(stats)
    }

    /// Every dump so far.
    #[must_use]
    pub fn dumps(&self) -> Vec<Vec<Stat>> {
        self.dumps.iter().collect()
    }

    /// The dumps since the last call, as gem5's `stats.txt`; they are forgotten and make room for more.
    pub fn take_stats_txt(&mut self) -> String {
        let text = self.stats_txt();
        self.dumps = Dumps::default();
        text
    }

    /// Every dump so far as gem5's `stats.txt`.
    #[must_use]
    pub fn stats_txt(&self) -> String {
        stats::text(self.dumps.iter())
    }
}

enum End {
    Cause(Cause),
    Reported(Cause, String),
}

/// Absolute limits with what reaching them is called.
struct Bounds {
    insts: u64,
    insts_cause: Cause,
    cycles: u64,
    cycles_cause: Cause,
}

impl Bounds {
    fn new(m: &Machine, limits: Limits) -> Bounds {
        let or = |n: u64, default: u64| if n == 0 { default } else { n };
        let mut b = Bounds {
            insts: or(limits.insts, DEFAULT_INSTS),
            insts_cause: Cause::MaxInsts,
            cycles: or(limits.cycles, DEFAULT_CYCLES),
            cycles_cause: Cause::MaxCycles,
        };
        // A run that goes on after this limit is no longer held by it.
        let thread_limit = m.config.max_insts;
        if thread_limit > m.state.core.insts() && thread_limit < b.insts {
            (b.insts, b.insts_cause) = (thread_limit, Cause::ThreadMaxInsts);
        }
        if limits.ticks > 0 {
            let end = m.config.clock.edge_at_or_after(Tick(limits.ticks)).0;
            if end < b.cycles {
                (b.cycles, b.cycles_cause) = (end, Cause::MaxTicks);
            }
        }
        b
    }

    fn reached(&self, insts: u64, cycles: u64) -> Option<Cause> {
        if insts >= self.insts {
            Some(self.insts_cause)
        } else {
            (cycles >= self.cycles).then_some(self.cycles_cause)
        }
    }
}
