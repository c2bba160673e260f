//! A run: its limits, why it ended, its observer's events.

use breakeven_base::bus::ExitCause;
use breakeven_base::Stat;

/// Limits of one call of [`crate::Machine::run`], as totals since reset; 0: [`DEFAULT_INSTS`], [`DEFAULT_CYCLES`], no ticks' limit.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    pub insts: u64,
    pub cycles: u64,
    pub ticks: u64,
}

/// What a run may take when nothing else is said: a guest that never ends is stopped all the same.
pub const DEFAULT_INSTS: u64 = 1_000_000_000_000;
pub const DEFAULT_CYCLES: u64 = 10_000_000_000_000;

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    Exit(ExitCause),
    /// A pseudo-op, or so many of them, that this engine refuses.
    Unsupported,
    /// The host takes no more of the trace or of the guest's output; the detail says why.
    HostFailed,
    WorkBegin,
    WorkEnd,
    MaxInsts,
    /// `max_insts_any_thread` of the description.
    ThreadMaxInsts,
    MaxCycles,
    MaxTicks,
    Deadlock,
    /// A bug of memoized execution.
    NotRepeated,
    /// Before the guest's first `readfile` (`Pauses::at_readfile`).
    Paused,
    /// The observer wanted it.
    Interrupted,
}

impl Cause {
    /// gem5's wording where gem5 has one.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Cause::Exit(ExitCause::M5Exit) => "m5_exit instruction encountered",
            Cause::Exit(ExitCause::M5Fail) => "m5_fail instruction encountered",
            Cause::Exit(ExitCause::M5Panic) => "m5_panic instruction encountered",
            Cause::Exit(ExitCause::HtifExit) => "htif exit",
            Cause::Exit(ExitCause::HaltedForever) => "halted: no interrupt that could come",
            Cause::Exit(ExitCause::Unimplemented) => "instruction not implemented",
            Cause::Exit(ExitCause::TripleFault) => "triple fault",
            Cause::Exit(ExitCause::ProcessExit) => "exiting with last active thread context",
            Cause::Exit(ExitCause::ProcessSignal) => "the process was ended by a signal",
            Cause::Unsupported => "unsupported pseudo-op",
            Cause::HostFailed => "the host failed",
            Cause::WorkBegin => "workbegin",
            Cause::WorkEnd => "workend",
            Cause::MaxInsts => "max instruction count",
            Cause::ThreadMaxInsts => "a thread reached the max instruction count",
            Cause::MaxCycles => "max cycle count",
            Cause::MaxTicks => "simulate() limit reached",
            Cause::Deadlock => "deadlock",
            Cause::NotRepeated => "memoized execution has not repeated itself (a bug)",
            Cause::Paused => "paused before readfile",
            Cause::Interrupted => "interrupted",
        }
    }
}

/// How a run ended, with totals since reset.
#[derive(Clone, Debug, PartialEq)]
pub struct RunEnd {
    pub cause: Cause,
    pub code: i64,
    pub insts: u64,
    pub cycles: u64,
    pub ticks: u64,
    /// Of this call.
    pub host_seconds: f64,
    /// Deadlock report, what was not repeated, or what was refused.
    pub detail: String,
}

/// What an observer is told.
pub enum Event<'a> {
    /// Nothing happened for a while.
    Slice,
    /// The guest dumped statistics.
    Dump(&'a [Stat]),
}
