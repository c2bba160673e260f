//! The scheduler. There is one core: a process runs until it waits, ends, or its time slice is over; then the next runs, in
//! order of process numbers. Where all wait, the clock advances to the first deadline.

use breakeven_base::bus::ExitCause;
use breakeven_base::{PhysMem, SysEffect, Tick, UserState};

use super::config::Ids;
use super::files::FileId;
use super::frame::{self, Delivery};
use super::memory::{Map, Prot, PAGE};
use super::process::Process;
use super::signals::{self, Info};
use super::task::{named, End, Ended, Suspended, Task, Timer, Until, Wait};
use crate::IsaName;

/// The time slice, in nanoseconds.
const SLICE: u64 = 1_000_000;
/// Ticks of a nanosecond.
const TICKS: u64 = 1000;
/// Who takes in processes without a parent.
const INIT: u32 = 1;
/// `li a7, 139; ecall`: RISC-V's `rt_sigreturn`.
const TRAMPOLINE: [u8; 8] = [0x93, 0x08, 0xb0, 0x08, 0x73, 0, 0, 0];
const SS_ONSTACK: u64 = 1;
const SS_DISABLE: u64 = 2;

const EXPIRED: &str = "its timer has expired";

/// A timer that has expired, from `now` on; `None`: it has no period.
fn after((at, period): Timer, now: u64) -> Option<Timer> {
    let next = at.saturating_add(period.saturating_mul((now - at) / period.max(1) + 1));
    (period > 0).then_some((next, period))
}

/// Puts a call's result where the instruction set has it.
pub(super) fn set_result(isa: IsaName, state: &mut UserState, value: u64) {
    let reg = if isa == IsaName::X86 { 0 } else { 10 };
    state.regs[reg] = value;
}

impl Process {
    /// Nanoseconds since the start: what was simulated and what was slept.
    pub(super) fn nanoseconds(&self) -> u64 {
        (self.clock.tick / TICKS).saturating_add(self.clock.slept)
    }
    /// Whether nobody could do anything while the running process waits, and no alarm interrupts it.
    pub(super) fn is_alone(&self) -> bool {
        self.processes.others.is_empty() && self.processes.next_alarm == u64::MAX && self.task.signals.due() == 0
    }
    fn slice_is_over(&self) -> bool {
        !self.processes.others.is_empty() && self.nanoseconds().saturating_sub(self.processes.since) >= SLICE
    }

    /// When the running process is interrupted if it makes no call: by a timer, or at the end of its time slice.
    pub(crate) fn deadline(&self) -> Tick {
        let turn = if self.processes.others.is_empty() { u64::MAX } else { self.processes.since.saturating_add(SLICE) };
        match self.processes.next_alarm.min(turn).min(self.next_cpu_timer()) {
            u64::MAX => Tick::MAX,
            ns => Tick(ns.saturating_sub(self.clock.slept).saturating_mul(TICKS)),
        }
    }
    /// Whether that has come.
    pub(super) fn is_due(&mut self) -> bool {
        self.expire_alarms();
        self.expire_cpu_timers();
        // What ends a wait is answered by its call, which comes next.
        !self.task.call.again && (self.task.signals.due() != 0 || self.slice_is_over())
    }

    /// Whether the running process continues after its call.
    pub(super) fn continues(&mut self) -> bool {
        let task = &self.task;
        let calm = self.replaced.is_none()
            && !self.processes.yielded
            && task.wait.is_none()
            && task.end.is_none()
            && task.signals.due() == 0
            && task.signals.restore.is_none()
            && self.processes.next_alarm.min(self.next_cpu_timer()) > self.nanoseconds()
            && !self.slice_is_over();
        if calm {
            (self.task.call.deadline, self.task.call.done) = (None, 0);
            self.cancel_open();
        }
        calm
    }

    /// From the running process's `state` on (at its call when that waits: it is made again from there): the state of the
    /// process that runs now, or how the last one ended.
    pub(super) fn resume(&mut self, ram: &mut PhysMem, mut state: Box<UserState>) -> Result<Box<UserState>, SysEffect> {
        loop {
            self.expire_alarms();
            self.expire_cpu_timers();
            if let Some(end) = self.task.end.take() {
                self.finish(ram, end);
                state = self.next(None)?;
            } else if self.task.is_stopped() {
                state = self.next(Some(state))?;
            } else if self.task.wait.as_ref().is_some_and(|wait| self.is_over(wait, &self.task)) {
                // The call is made again, and answers what has come of it; signals come behind it.
                (self.task.wait, self.task.call.again) = (None, true);
                break;
            } else if self.task.signals.due() != 0 {
                self.deliver(ram, &mut state);
            } else if self.task.wait.is_some() {
                state = self.next(Some(state))?;
            } else if let Some(mask) = self.task.signals.restore.take() {
                self.task.signals.set_mask(mask);
            } else {
                (self.task.call.deadline, self.task.call.done) = (None, 0);
                self.cancel_open();
                if std::mem::take(&mut self.processes.yielded) || self.slice_is_over() {
                    self.processes.since = self.nanoseconds();
                    state = self.next(Some(state))?;
                    continue;
                }
                break;
            }
        }
        state.page_table = self.space.root();
        Ok(state)
    }

    /// Whether a process has something to do.
    fn can_run(&self, task: &Task) -> bool {
        if task.is_stopped() {
            return false;
        }
        let Some(wait) = &task.wait else { return true };
        task.end.is_some() || task.signals.due() != 0 || self.is_over(wait, task)
    }

    fn is_over(&self, wait: &Wait, task: &Task) -> bool {
        if task.call.deadline.is_some_and(|d| d <= self.nanoseconds()) {
            return true;
        }
        match &wait.until {
            Until::Ready { files, signals } => {
                let pending = task.signals.pending();
                let ready = |(id, writes): &(FileId, bool)| {
                    let r = self.files.ready(*id, pending);
                    r.hung_up || if *writes { r.write } else { r.read }
                };
                files.iter().any(ready) || pending & signals != 0
            }
            Until::Room(n, len) => self.files.pipes.room(*n).is_none_or(|room| room >= *len),
            Until::Child(which, changes) => {
                let own = task.ids;
                let mine = |e: &&Ended| e.parent == own.pid && named(*which, own.pgid, e.pid, e.pgid);
                let changed = |t: &Task| t.stop.change.is_some_and(|status| changes.include(status));
                (changes.ended && self.processes.zombies.iter().any(|e| mine(&e)))
                    || self.children(task, *which).any(changed)
                    || self.children(task, *which).next().is_none()
            }
            Until::Opened(end) => self.files.pipes.is_open(end),
            Until::Unlocked(file, lock) => self.files.locks.conflicts(*file, lock).next().is_none(),
            Until::Woken(_) => task.woken,
            Until::Never => false,
        }
    }

    /// The children that live, of those that `which` names.
    pub(super) fn children(&self, task: &Task, which: i32) -> impl Iterator<Item = &Task> {
        let own = task.ids;
        let all = self.processes.others.values().map(|p| &p.task).chain([&self.task]);
        all.filter(move |t| t.ids.ppid == own.pid && t.ids.pid != own.pid)
            .filter(move |t| named(which, own.pgid, t.ids.pid, t.ids.pgid))
    }

    /// The process that runs next; `state`: of the one that has run, unless it has ended.
    fn next(&mut self, state: Option<Box<UserState>>) -> Result<Box<UserState>, SysEffect> {
        let own = self.task.ids.pid;
        loop {
            let in_turn = self.processes.others.range(own + 1..).chain(self.processes.others.range(..own));
            let ready = in_turn.filter(|(_, p)| p.map.is_some() && self.can_run(&p.task)).map(|(pid, _)| *pid).next();
            if let Some(pid) = ready {
                return self.switch(pid, state).ok_or_else(|| self.result());
            }
            if let Some(state) = state.as_ref().filter(|_| self.can_run(&self.task)) {
                self.processes.since = self.nanoseconds();
                return Ok(state.clone());
            }
            if self.processes.others.is_empty() && state.is_none() {
                return Err(self.result());
            }
            // All processes wait.
            let own = state.is_some().then_some(&self.task);
            let tasks = self.processes.others.values().map(|p| &p.task).chain(own);
            let times =
                tasks.filter(|t| !t.is_stopped()).flat_map(|t| [t.wait.as_ref().and(t.call.deadline), t.wakes_at()]);
            let Some(first) = times.flatten().min() else { return Err(self.deadlock(state.is_some())) };
            self.clock.slept = self.clock.slept.saturating_add(first.saturating_sub(self.nanoseconds()));
            self.expire_alarms();
        }
    }

    /// Runs process `pid` in place of the present one.
    fn switch(&mut self, pid: u32, state: Option<Box<UserState>>) -> Option<Box<UserState>> {
        let Suspended { task, table, map, state: to } = self.processes.others.remove(&pid)?;
        let map = self.space.switch(map?);
        self.count_time();
        let task = std::mem::replace(&mut self.task, task);
        let table = std::mem::replace(&mut self.files.table, table);
        if let Some(state) = state {
            self.processes.others.insert(task.ids.pid, Suspended { task, table, map: Some(map), state });
        }
        self.processes.since = self.nanoseconds();
        Some(to)
    }

    /// Deadlock: no process can run any more.
    fn deadlock(&mut self, present: bool) -> SysEffect {
        let own = present.then_some(&self.task);
        let tasks = self.processes.others.values().map(|p| &p.task).chain(own);
        let mut waits: Vec<(u32, String)> = tasks
            .map(|t| {
                let name = String::from_utf8_lossy(&t.name);
                (t.ids.pid, format!("process {} ({name}): {}", t.ids.pid, t.waits_for()))
            })
            .collect();
        waits.sort();
        let all = waits.into_iter().map(|(_, why)| why).collect::<Vec<_>>().join("; ");
        if self.end_of_first.is_some() {
            self.warn(format!("processes are left that wait for ever: {all}"));
            return self.result();
        }
        let why = match self.processes.others.is_empty() {
            true => self.task.waits_for().to_owned(),
            false => format!("all processes wait for each other: {all}"),
        };
        self.end_of_first = Some(End::Signal { number: signals::KILL, why });
        self.result()
    }

    /// What the machine ends with: the first process's end.
    fn result(&mut self) -> SysEffect {
        let end = self.end_of_first.clone().unwrap_or(End::Exit(0));
        let effect = match end {
            End::Exit(status) => SysEffect::Exit { cause: ExitCause::ProcessExit, code: i64::from(status) },
            End::Signal { number, why } => {
                self.detail = format!("{} ({number}): {why}", signals::name(number));
                SysEffect::Exit { cause: ExitCause::ProcessSignal, code: 128 + i64::from(number) }
            }
        };
        self.ended = Some(effect);
        effect
    }

    /// Ends the running process: frees descriptors and memory, notifies its parent.
    fn finish(&mut self, ram: &PhysMem, end: End) {
        let ids = self.task.ids;
        let status = end.status();
        self.count_time();
        self.cancel_open();
        if ids.pid == self.config.ids.pid {
            self.end_of_first = Some(end);
        } else if let End::Signal { number, why } = end {
            if !why.is_empty() {
                let name = String::from_utf8_lossy(&self.task.name).into_owned();
                let signal = signals::name(number);
                self.warn(format!("process {} ({name}) was ended by {signal} ({number}): {why}", ids.pid));
            }
        }
        // The last one leaves everything as it was, but that files have what was stored to them.
        if self.processes.others.is_empty() {
            self.write_back(ram);
        } else {
            self.files.close_all(false);
            let map = self.space.switch(Map::default());
            self.release_map(ram, map);
        }
        for parked in self.processes.others.values_mut().filter(|p| p.task.ids.ppid == ids.pid) {
            parked.task.ids.ppid = INIT;
        }
        self.processes.zombies.retain(|e| e.parent != ids.pid);
        // It stands in its place until another one runs, but it is nobody's child and has no timer.
        (self.task.ids.ppid, self.task.alarm) = (0, None);
        self.find_next_alarm();
        let Some(parent) = self.processes.others.get_mut(&ids.ppid) else { return };
        let action = parent.task.signals.action(signals::CHLD);
        if !action.ignores() && action.flags & signals::SA_NOCLDWAIT == 0 {
            let used = self.task.used.own + self.task.used.children;
            let ended = Ended { pid: ids.pid, pgid: ids.pgid, parent: ids.ppid, uid: ids.uid, status, used };
            self.processes.zombies.push(ended);
        }
        parent.task.post(signals::CHLD, Info::of_child(ids.pid, ids.uid, status));
    }

    /// Memory that the running process does not use any more: its own, or that of a parent who waits for it (`vfork`).
    pub(super) fn release_map(&mut self, ram: &PhysMem, map: Map) {
        let brk = self.task.brk;
        match self
            .task
            .vfork_parent
            .take()
            .and_then(|pid| self.processes.others.get_mut(&pid))
            .filter(|p| p.map.is_none())
        {
            Some(parent) => (parent.map, parent.task.brk) = (Some(map), brk),
            None => self.space.free(ram, map),
        }
    }

    /// Alarms whose time has come.
    fn expire_alarms(&mut self) {
        let now = self.nanoseconds();
        if self.processes.next_alarm > now {
            return;
        }
        for task in self.processes.others.values_mut().map(|p| &mut p.task).chain([&mut self.task]) {
            let Some((at, period)) = task.alarm.filter(|(at, _)| *at <= now) else { continue };
            task.post(signals::ALRM, Info::kernel(EXPIRED));
            task.alarm = after((at, period), now);
        }
        self.find_next_alarm();
    }
    pub(super) fn find_next_alarm(&mut self) {
        let tasks = self.processes.others.values().map(|p| &p.task).chain([&self.task]);
        self.processes.next_alarm = tasks.filter_map(|t| t.alarm.map(|(at, _)| at)).min().unwrap_or(u64::MAX);
    }

    /// Processor time of the running process: a system call takes none, nor does waiting.
    pub(super) fn processor_time(&self) -> u64 {
        self.task.used.own + (self.clock.tick / TICKS).saturating_sub(self.processes.simulated)
    }
    /// What the running process has used is its own; from now on another one's time counts.
    pub(super) fn count_time(&mut self) {
        self.task.used.own = self.processor_time();
        self.processes.simulated = self.clock.tick / TICKS;
    }
    /// When the running process's first timer of processor time expires, by the clock.
    fn next_cpu_timer(&self) -> u64 {
        let first = self.task.used.timers.iter().flatten().map(|(at, _)| *at).min();
        let left = first.map(|at| at.saturating_sub(self.processor_time()));
        left.map_or(u64::MAX, |left| self.nanoseconds().saturating_add(left))
    }
    /// Timers of processor time: the running process's.
    fn expire_cpu_timers(&mut self) {
        if self.task.used.timers == [None; 2] {
            return;
        }
        let now = self.processor_time();
        for (n, number) in [signals::VTALRM, signals::PROF].into_iter().enumerate() {
            let Some(timer) = self.task.used.timers[n].filter(|(at, _)| *at <= now) else { continue };
            self.task.post(number, Info::kernel(EXPIRED));
            self.task.used.timers[n] = after(timer, now);
        }
    }

    /// Stops the running process and notifies its parent.
    fn stop(&mut self, number: u32) {
        let status = number << 8 | 0x7f;
        (self.task.stop.now, self.task.stop.change) = (true, Some(status));
        self.notify_parent(self.task.ids, status);
    }
    /// A child has been stopped or continued.
    pub(super) fn notify_parent(&mut self, child: Ids, status: u32) {
        let parent = match self.processes.others.get_mut(&child.ppid) {
            Some(parked) => &mut parked.task,
            None if self.task.ids.pid == child.ppid => &mut self.task,
            None => return,
        };
        if parent.signals.action(signals::CHLD).flags & signals::SA_NOCLDSTOP == 0 {
            parent.post(signals::CHLD, Info::of_child(child.pid, child.uid, status));
        }
    }
    /// The running process waits no more for the other end of a named pipe.
    pub(super) fn cancel_open(&mut self) {
        if let Some(end) = self.task.call.opening.take() {
            self.files.pipes.close(end.pipe, end.writes);
        }
    }

    /// One signal of the running process: its handler is called, or the process ends, or nothing.
    fn deliver(&mut self, ram: &mut PhysMem, state: &mut Box<UserState>) {
        let signals = &mut self.task.signals;
        let mask = signals.mask();
        let Some((number, info)) = signals.take_one(!mask) else { return };
        let action = signals.action(number);
        if signals.is_ignored(number) {
            return;
        }
        if !action.handles() && signals::stops(number) {
            self.stop(number);
            return;
        }
        if !action.handles() {
            self.task.end = Some(End::Signal { number, why: info.why });
            return;
        }
        if let Some(wait) = self.task.wait.take() {
            self.interrupt(state, &wait, action.flags & signals::SA_RESTART != 0);
        }
        let signals = &mut self.task.signals;
        let old = signals.restore.take().unwrap_or(mask);
        let own = if action.flags & signals::SA_NODEFER == 0 { signals::bit(number) } else { 0 };
        signals.set_mask(mask | action.mask | own);
        if action.flags & signals::SA_RESETHAND != 0 {
            signals.set_action(number, signals::Action::default());
        }
        if let Err(why) = self.call_handler(ram, state, number, &action, &info, old) {
            self.task.end = Some(End::Signal { number: signals::SEGV, why: why.to_owned() });
        }
    }

    /// A handler comes between a call and what it waits for: the call is made again behind it, or returns.
    fn interrupt(&mut self, state: &mut UserState, wait: &Wait, again: bool) {
        self.cancel_open();
        let done = std::mem::take(&mut self.task.call.done);
        self.task.call.deadline = None;
        if done > 0 || !(again && wait.restarts) {
            // The length of `syscall` or `ecall`.
            state.pc = state.pc.wrapping_add(if self.isa == IsaName::X86 { 2 } else { 4 });
            let interrupted = i64::from(-libc::EINTR) as u64;
            set_result(self.isa, state, if done > 0 { done as u64 } else { interrupted });
        }
    }

    fn call_handler(
        &mut self,
        ram: &mut PhysMem,
        state: &mut Box<UserState>,
        number: u32,
        action: &signals::Action,
        info: &Info,
        mask: u64,
    ) -> Result<(), &'static str> {
        if self.isa == IsaName::X86 && action.flags & signals::SA_RESTORER == 0 {
            return Err("a handler without SA_RESTORER, which x86-64 needs");
        }
        let sp = state.regs[if self.isa == IsaName::X86 { 4 } else { 2 }];
        let stack = self.alternate_stack(sp);
        let unused = stack[1] == 0 && action.flags & signals::SA_ONSTACK != 0;
        let top = unused.then(|| stack[0].wrapping_add(stack[2]));
        const FULL: &str = "no room for a handler's frame on its stack";
        let trampoline = self.trampoline(ram).ok_or(FULL)?;
        let delivery = Delivery { number, action, info, mask, stack, top, trampoline };
        let frame = frame::push(self.isa, state, &delivery).ok_or(FULL)?;
        for (at, bytes) in &frame.parts {
            self.space.write(ram, *at, bytes).map_err(|_| FULL)?;
        }
        *state = frame.state;
        Ok(())
    }

    /// `stack_t` as a process at stack pointer `sp` sees it.
    pub(super) fn alternate_stack(&self, sp: u64) -> [u64; 3] {
        match self.task.signals.alternate {
            Some((base, len)) => [base, if sp.wrapping_sub(base) < len { SS_ONSTACK } else { 0 }, len],
            None => [0, SS_DISABLE, 0],
        }
    }

    /// RISC-V has no `sa_restorer`: Linux's vDSO has the way back. Here it is the last page, above the stack.
    fn trampoline(&mut self, ram: &mut PhysMem) -> Option<u64> {
        if self.isa == IsaName::X86 {
            return Some(0);
        }
        let at = self.space.limit - PAGE;
        if self.space.rights(at).is_none() {
            self.space.map(ram, at, at + PAGE, Prot::READ.with(Prot::EXEC));
            self.space.put(ram, at, &TRAMPOLINE).ok()?;
        }
        Some(at)
    }
}
