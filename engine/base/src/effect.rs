//! What instructions do to the machine around the core, and how a simulation ends.

use crate::units::Tick;

/// What an instruction does beyond registers and memory; takes place when it commits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum SysEffect {
    #[default]
    None,
    /// Forget timing-TLB entries: all, or those of one page.
    TlbFlush {
        vaddr: Option<u64>,
    },
    /// fence.i: the instruction cache is made coherent.
    FetchFlush,
    /// From `at` on all caches are written back and emptied; each of their lines takes so many cycles.
    CacheFlush {
        at: Tick,
        line_cycles: u8,
    },
    ResetStats,
    DumpStats,
    DumpResetStats,
    WorkBegin {
        id: u64,
    },
    WorkEnd {
        id: u64,
    },
    /// The simulation ends with gem5's cause for `cause` and this exit code.
    Exit {
        cause: ExitCause,
        code: i64,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitCause {
    /// "m5_exit instruction encountered"
    M5Exit,
    /// "m5_fail instruction encountered"
    M5Fail,
    /// "m5_panic instruction encountered"
    M5Panic,
    /// HTIF `tohost` written: the code is `value >> 1`.
    HtifExit,
    /// wfi with every interrupt source off: nothing can happen any more.
    HaltedForever,
    /// The front end does not execute this instruction; it tells which.
    Unimplemented,
    /// An exception that no handler takes (x86: a triple fault); the front end tells which.
    TripleFault,
    /// A process called exit: the code is its status.
    ProcessExit,
    /// A process did what a signal ends: the code is 128 + the signal's number.
    ProcessSignal,
}
