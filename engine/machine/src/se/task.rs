//! One process of those that the emulation runs: what is its own beside memory and descriptors, and what it waits for.

use std::collections::BTreeMap;

use breakeven_base::UserState;

use super::config::Ids;
use super::files::{FileId, Table};
use super::host::Inode;
use super::locks::Lock;
use super::memory::Map;
use super::pipes::Opening;
use super::signals::{self, Info, Signals};

/// Processes that may be there at once, ended ones that nobody has waited for among them.
pub(super) const MOST_PROCESSES: usize = 64;

/// The data segment's end, as `brk` moves it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Break {
    pub start: u64,
    pub now: u64,
}

/// How a process ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    Exit(u8),
    Signal { number: u32, why: String },
}

impl End {
    /// As `wait` reports it.
    pub fn status(&self) -> u32 {
        match self {
            End::Exit(status) => u32::from(*status) << 8,
            End::Signal { number, .. } => *number,
        }
    }
}

/// What ends a wait, beside a signal and a deadline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Until {
    /// One of these files can be read (`true`: written), or one of these signals is pending.
    Ready { files: Vec<(FileId, bool)>, signals: u64 },
    /// Room for that many bytes in a pipe, or nobody who reads.
    Room(usize, usize),
    /// No lock conflicts with this one any more.
    Unlocked(Inode, Lock),
    /// Somebody wakes those who wait at this physical address (`futex`).
    Woken(u64),
    /// One of these children, as `wait4` names them, has changed so, or there is none any more.
    Child(i32, Changes),
    /// Somebody has opened the other end of this named pipe.
    Opened(Opening),
    /// Nothing else.
    Never,
}

/// A call that waits: it is made again when it may go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wait {
    pub until: Until,
    /// Made again after a handler that asks for it (`SA_RESTART`); else EINTR.
    pub restarts: bool,
    /// What it does, for the report of a deadlock.
    pub why: &'static str,
}

/// What `wait` asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Changes {
    pub ended: bool,
    pub stopped: bool,
    pub continued: bool,
}

impl Changes {
    /// Whether a status of `wait`, of a child that lives, is one of them.
    pub fn include(self, status: u32) -> bool {
        if status == signals::CONTINUED {
            self.continued
        } else {
            self.stopped
        }
    }
}

/// A timer: the next time and the period, nanoseconds.
pub(super) type Timer = (u64, u64);

/// Processor time: nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Used {
    /// The process's own, up to when it ran last.
    pub own: u64,
    /// Of children that it has waited for.
    pub children: u64,
    /// `ITIMER_VIRTUAL` and `ITIMER_PROF`: on the process's own.
    pub timers: [Option<Timer>; 2],
}

/// Progress of a call that waits.
#[derive(Clone, Debug, Default)]
pub(super) struct PendingCall {
    /// When it times out: nanoseconds.
    pub deadline: Option<u64>,
    /// Bytes that it has moved already.
    pub done: usize,
    /// Its wait is over: the process restarts the call.
    pub again: bool,
    /// The end of a named pipe that it opens.
    pub opening: Option<Opening>,
}

/// Whether a signal has stopped a process.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stop {
    pub now: bool,
    /// It has been stopped or continued, and its parent has not asked yet: `wait`'s status.
    pub change: Option<u32>,
}

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Task {
    pub ids: Ids,
    /// Saved user and group.
    pub saved: [u32; 2],
    pub brk: Break,
    /// `AT_EXECFN`, `/proc/self/exe`.
    pub executable: String,
    /// `prctl`'s.
    pub name: Vec<u8>,
    pub signals: Signals,
    pub wait: Option<Wait>,
    pub call: PendingCall,
    /// Somebody has woken it at its futex.
    pub woken: bool,
    pub end: Option<End>,
    /// `ITIMER_REAL`.
    pub alarm: Option<Timer>,
    pub used: Used,
    pub stop: Stop,
    /// `personality`'s.
    pub personality: u32,
    /// The process whose memory it uses (`vfork`).
    pub vfork_parent: Option<u32>,
}

impl Task {
    /// A child as `fork` makes it.
    pub fn child(&self, pid: u32) -> Task {
        let ids = Ids { pid, ppid: self.ids.pid, ..self.ids };
        Task {
            ids,
            signals: self.signals.inherited(),
            wait: None,
            call: PendingCall::default(),
            woken: false,
            end: None,
            alarm: None,
            used: Used::default(),
            stop: Stop::default(),
            vfork_parent: None,
            ..self.clone()
        }
    }

    /// A signal comes; whether it goes on again.
    pub fn post(&mut self, number: u32, info: Info) -> bool {
        self.signals.post(number, info);
        let continued = number == signals::CONT && std::mem::take(&mut self.stop.now);
        if continued {
            self.stop.change = Some(signals::CONTINUED);
        }
        continued
    }

    /// What it waits for, for the report of a deadlock.
    pub fn waits_for(&self) -> &'static str {
        match &self.wait {
            _ if self.stop.now => "is stopped, and nobody continues it (SIGCONT)",
            Some(wait) => wait.why,
            None => "waits for the child that uses its memory",
        }
    }

    /// Whether it cannot run whatever else happens: stopped, and not killed.
    pub fn is_stopped(&self) -> bool {
        self.stop.now && self.signals.pending() & signals::bit(signals::KILL) == 0
    }

    /// When its alarm ends its wait: not where that is ignored or blocked.
    pub fn wakes_at(&self) -> Option<u64> {
        let alarm = signals::bit(signals::ALRM);
        let asked = match &self.wait {
            Some(Wait { until: Until::Ready { signals, .. }, .. }) => signals & alarm,
            _ => 0,
        };
        let blocked = self.signals.mask() & alarm & !asked != 0;
        self.alarm.map(|(at, _)| at).filter(|_| !self.stop.now && !blocked && !self.signals.is_ignored(signals::ALRM))
    }
}

/// Whether `which` names a process, as `wait4` and `kill` do: one, a group, any. `own` is the caller's group.
pub(super) fn named(which: i32, own: u32, pid: u32, pgid: u32) -> bool {
    match which {
        -1 => true,
        0 => pgid == own,
        1.. => pid == which.unsigned_abs(),
        _ => pgid == which.unsigned_abs(),
    }
}

/// A process that does not run now.
#[derive(Debug)]
pub(super) struct Suspended {
    pub task: Task,
    pub table: Table,
    /// `None`: a child runs in it (`vfork`).
    pub map: Option<Map>,
    pub state: Box<UserState>,
}

/// A process that has ended and that its parent has not waited for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ended {
    pub pid: u32,
    pub pgid: u32,
    pub parent: u32,
    pub uid: u32,
    pub status: u32,
    /// Processor time, its children's with it: nanoseconds.
    pub used: u64,
}

/// Those that do not run, by their numbers.
pub(super) type Others = BTreeMap<u32, Suspended>;
