//! Signals of one process: what is to happen at each, which are blocked, which have come.

use std::collections::BTreeMap;

/// One more than the last signal.
pub(super) const COUNT: usize = 65;
pub(super) const HUP: u32 = 1;
pub(super) const ILL: u32 = 4;
pub(super) const TRAP: u32 = 5;
pub(super) const ABRT: u32 = 6;
pub(super) const BUS: u32 = 7;
pub(super) const FPE: u32 = 8;
pub(super) const KILL: u32 = 9;
pub(super) const SEGV: u32 = 11;
pub(super) const PIPE: u32 = 13;
pub(super) const ALRM: u32 = 14;
pub(super) const CHLD: u32 = 17;
pub(super) const CONT: u32 = 18;
pub(super) const STOP: u32 = 19;
pub(super) const XFSZ: u32 = 25;
pub(super) const VTALRM: u32 = 26;
pub(super) const PROF: u32 = 27;
/// SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU.
const STOPS: [u32; 4] = [STOP, 20, 21, 22];
/// SIGCHLD, SIGCONT, SIGURG, SIGWINCH do nothing of themselves.
const QUIET: [u32; 4] = [CHLD, CONT, 23, 28];

const SIG_DFL: u64 = 0;
const SIG_IGN: u64 = 1;
pub(super) const SA_NOCLDSTOP: u64 = 1;
pub(super) const SA_NOCLDWAIT: u64 = 2;
pub(super) const SA_RESTORER: u64 = 0x0400_0000;
pub(super) const SA_ONSTACK: u64 = 0x0800_0000;
pub(super) const SA_RESTART: u64 = 0x1000_0000;
pub(super) const SA_NODEFER: u64 = 0x4000_0000;
pub(super) const SA_RESETHAND: u64 = 0x8000_0000;

pub(super) fn name(n: u32) -> &'static str {
    match n {
        HUP => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        ILL => "SIGILL",
        TRAP => "SIGTRAP",
        ABRT => "SIGABRT",
        BUS => "SIGBUS",
        FPE => "SIGFPE",
        KILL => "SIGKILL",
        10 => "SIGUSR1",
        SEGV => "SIGSEGV",
        12 => "SIGUSR2",
        PIPE => "SIGPIPE",
        ALRM => "SIGALRM",
        15 => "SIGTERM",
        STOP => "SIGSTOP",
        20 => "SIGTSTP",
        21 => "SIGTTIN",
        22 => "SIGTTOU",
        XFSZ => "SIGXFSZ",
        VTALRM => "SIGVTALRM",
        PROF => "SIGPROF",
        _ => "a signal",
    }
}

/// `wait`'s status of a process that has been continued.
pub(super) const CONTINUED: u32 = 0xffff;

/// The bit of a signal in a set.
pub(super) fn bit(number: u32) -> u64 {
    1u64.checked_shl(number.wrapping_sub(1)).unwrap_or(0)
}

/// Signals that stop a process of themselves.
pub(super) fn stops(number: u32) -> bool {
    STOPS.contains(&number)
}

/// What is never blocked.
const UNBLOCKABLE: u64 = 1 << (KILL - 1) | 1 << (STOP - 1);

/// `struct sigaction`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Action {
    pub handler: u64,
    pub flags: u64,
    pub restorer: u64,
    pub mask: u64,
}

impl Action {
    pub fn ignores(&self) -> bool {
        self.handler == SIG_IGN
    }
    pub fn is_default(&self) -> bool {
        self.handler == SIG_DFL
    }
    pub fn handles(&self) -> bool {
        self.handler > SIG_IGN
    }
}

/// What a signal tells its handler (`siginfo_t`), and us.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Info {
    /// `si_code`.
    pub code: i32,
    /// The words behind it: the address of a fault; else process and user, status.
    pub fields: [u64; 2],
    /// Why it came, for the report of an end by it.
    pub why: String,
}

impl Info {
    /// `SI_USER`, by a process.
    pub fn sent(pid: u32, uid: u32, why: String) -> Info {
        Info { code: 0, fields: [u64::from(pid) | u64::from(uid) << 32, 0], why }
    }
    /// Of a child: `CLD_EXITED`, `CLD_KILLED`, `CLD_STOPPED` or `CLD_CONTINUED`, and its status as `wait` has it.
    pub fn of_child(pid: u32, uid: u32, status: u32) -> Info {
        let (code, value) = match status & 0x7f {
            _ if status == CONTINUED => (6, CONT),
            0x7f => (5, status >> 8),
            0 => (1, status >> 8),
            number => (2, number),
        };
        Info { code, fields: [u64::from(pid) | u64::from(uid) << 32, u64::from(value)], why: String::new() }
    }
    /// `SI_KERNEL`.
    pub fn kernel(why: &str) -> Info {
        Info { code: 0x80, fields: [0; 2], why: why.to_owned() }
    }
}

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Signals {
    actions: Vec<Action>,
    mask: u64,
    pending: u64,
    infos: BTreeMap<u32, Info>,
    /// The mask to go back to after a call that has set its own (`sigsuspend`, `ppoll`).
    pub restore: Option<u64>,
    /// The alternate stack: its start and its length.
    pub alternate: Option<(u64, u64)>,
}

impl Default for Signals {
    fn default() -> Signals {
        Signals {
            actions: vec![Action::default(); COUNT],
            mask: 0,
            pending: 0,
            infos: BTreeMap::new(),
            restore: None,
            alternate: None,
        }
    }
}

impl Signals {
    /// What a child starts with.
    pub fn inherited(&self) -> Signals {
        Signals { pending: 0, infos: BTreeMap::new(), restore: None, ..self.clone() }
    }

    /// Another program has no handlers.
    pub fn forget_handlers(&mut self) {
        for action in &mut self.actions {
            *action = Action { handler: if action.ignores() { SIG_IGN } else { SIG_DFL }, ..Action::default() };
        }
        self.alternate = None;
    }

    pub fn mask(&self) -> u64 {
        self.mask
    }
    pub fn set_mask(&mut self, mask: u64) {
        self.mask = mask & !UNBLOCKABLE;
    }
    pub fn pending(&self) -> u64 {
        self.pending
    }
    /// Pending and not blocked.
    pub fn due(&self) -> u64 {
        self.pending & !self.mask
    }

    /// A default action by a number out of range.
    pub fn action(&self, number: u32) -> Action {
        self.actions.get(number as usize).copied().unwrap_or_default()
    }
    pub fn set_action(&mut self, number: u32, action: Action) {
        if let Some(slot) = self.actions.get_mut(number as usize) {
            *slot = action;
        }
        if self.is_ignored(number) {
            self.take(number);
        }
    }

    /// It would do nothing.
    pub fn is_ignored(&self, number: u32) -> bool {
        let action = self.action(number);
        action.ignores() || action.is_default() && QUIET.contains(&number)
    }

    /// A signal comes. What is ignored and not blocked leaves no trace. Those that stop and SIGCONT take each other back.
    pub fn post(&mut self, number: u32, info: Info) {
        let set = bit(number);
        if number == CONT {
            STOPS.into_iter().for_each(|stop| drop(self.take(stop)));
        } else if stops(number) {
            self.take(CONT);
        }
        if set == 0 || (self.is_ignored(number) && self.mask & set == 0) {
            return;
        }
        if self.pending & set == 0 {
            self.pending |= set;
            self.infos.insert(number, info);
        }
    }

    /// The processor's own signal cannot be put off: blocked or ignored, its default is what happens.
    pub fn force(&mut self, number: u32, info: Info) {
        if self.mask & bit(number) != 0 || self.action(number).ignores() {
            self.set_action(number, Action::default());
            self.mask &= !bit(number);
        }
        self.take(number);
        self.post(number, info);
    }

    /// Takes one of `set` that is pending: what the processor did wrong first, then the lowest number.
    pub fn take_one(&mut self, set: u64) -> Option<(u32, Info)> {
        const FIRST: [u32; 6] = [KILL, SEGV, BUS, ILL, TRAP, FPE];
        let some = self.pending & set;
        let number =
            FIRST.into_iter().find(|n| some & bit(*n) != 0).or((some != 0).then(|| some.trailing_zeros() + 1))?;
        Some((number, self.take(number)))
    }
    fn take(&mut self, number: u32) -> Info {
        self.pending &= !bit(number);
        self.infos.remove(&number).unwrap_or_default()
    }
}
