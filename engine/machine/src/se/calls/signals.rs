//! Signals: what is to happen, what is blocked, sending them, waiting for them, timers.

use super::super::errno::{Errno, EAGAIN, EFAULT, EINVAL, EPERM};
use super::super::frame;
use super::super::signals::{self, Action, Info};
use super::super::task::{Timer, Until};
use super::{Call, NANOSECOND, R};
use crate::IsaName;

const MICROSECOND: u64 = 1000;
const SS_DISABLE: u64 = 2;
const MINSIGSTKSZ: u64 = 2048;

/// What is left of a timer, and its period: nanoseconds, 0 when there is none.
fn left_of(timer: Option<Timer>, now: u64) -> (u64, u64) {
    timer.map_or((0, 0), |(at, period)| (at.saturating_sub(now).max(1), period))
}

impl Call<'_> {
    pub(super) fn signal_call(&mut self, name: &str) -> Option<R> {
        let [a, b, c, d, ..] = self.args;
        Some(match name {
            "rt_sigaction" => self.sigaction(),
            "rt_sigprocmask" => self.sigprocmask(),
            "rt_sigpending" => {
                let signals = &self.p.task.signals;
                let blocked = signals.pending() & signals.mask();
                self.write_words(a, &[blocked]).map(|()| 0)
            }
            "rt_sigsuspend" => self.suspend(),
            "rt_sigtimedwait" => self.timed_wait(a, b, c),
            "rt_sigreturn" => self.sigreturn(),
            "sigaltstack" => self.sigaltstack(),
            "pause" => self.wait_for(Until::Never, false, "waits for a signal that nobody sends (pause)"),
            "kill" => self.kill(a as i32, b),
            "tkill" => self.kill_one(a, b),
            "tgkill" if a as u32 != b as u32 => Err(Errno(libc::ESRCH)),
            "tgkill" => self.kill_one(b, c),
            "rt_sigqueueinfo" => self.queue(a, b, c),
            "rt_tgsigqueueinfo" => self.queue(b, c, d),
            "alarm" => {
                let old = self.set_alarm(a.saturating_mul(NANOSECOND), 0);
                Ok(old.0.div_ceil(NANOSECOND))
            }
            "setitimer" => self.set_timer(a, b, c),
            "getitimer" if a <= 2 => self.write_timer(a, b),
            "getitimer" => Err(EINVAL),
            _ => return None,
        })
    }

    /// Words of `struct sigaction` before the mask: handler and flags, and on x86-64 a restorer.
    fn sigaction(&mut self) -> R {
        let [number, new, old, size, ..] = self.args;
        let wrong = number == 0 || number >= signals::COUNT as u64 || size != 8;
        let fixed = matches!(number as u32, signals::KILL | signals::STOP) && new != 0;
        if wrong || fixed {
            return Err(EINVAL);
        }
        let x86 = self.p.isa == IsaName::X86;
        let number = number as u32;
        let before = self.p.task.signals.action(number);
        if new != 0 {
            let mut word = |n: u64| self.read_word(new.checked_add(8 * n).ok_or(EFAULT)?);
            let (handler, flags) = (word(0)?, word(1)?);
            let action = if x86 {
                Action { handler, flags, restorer: word(2)?, mask: word(3)? }
            } else {
                Action { handler, flags, restorer: 0, mask: word(2)? }
            };
            self.p.task.signals.set_action(number, action);
        }
        if old != 0 {
            let Action { handler, flags, restorer, mask } = before;
            if x86 {
                self.write_words(old, &[handler, flags, restorer, mask])?;
            } else {
                self.write_words(old, &[handler, flags, mask])?;
            }
        }
        Ok(0)
    }

    fn sigprocmask(&mut self) -> R {
        let [how, new, old, size, ..] = self.args;
        if size != 8 {
            return Err(EINVAL);
        }
        let before = self.p.task.signals.mask();
        if new != 0 {
            let set = self.read_word(new)?;
            self.p.task.signals.set_mask(match how {
                0 => before | set,
                1 => before & !set,
                2 => set,
                _ => return Err(EINVAL),
            });
        }
        if old != 0 {
            self.write_words(old, &[before])?;
        }
        Ok(0)
    }

    /// For the length of a call the mask is the one at `at`, unless that is 0.
    pub(super) fn mask_for_now(&mut self, at: u64) -> Result<(), Errno> {
        if at != 0 {
            let mask = self.read_word(at)?;
            let signals = &mut self.p.task.signals;
            // Made again, the call has set it already.
            signals.restore = signals.restore.or(Some(signals.mask()));
            signals.set_mask(mask);
        }
        Ok(())
    }

    fn suspend(&mut self) -> R {
        if self.args[1] != 8 {
            return Err(EINVAL);
        }
        self.mask_for_now(self.args[0])?;
        self.wait_for(Until::Never, false, "waits for a signal that nobody sends (sigsuspend)")
    }

    fn timed_wait(&mut self, set: u64, info_at: u64, timeout: u64) -> R {
        let set = self.read_word(set)?;
        if let Some((number, info)) = self.p.task.signals.take_one(set) {
            if info_at != 0 {
                let words = [u64::from(number), u64::from(info.code as u32), info.fields[0], info.fields[1]];
                self.write_words(info_at, &words)?;
            }
            return Ok(u64::from(number));
        }
        if timeout != 0 && self.times_out(timeout)? {
            return Err(EAGAIN);
        }
        let until = Until::Ready { files: Vec::new(), signals: set };
        self.wait_for(until, false, "waits for a signal that nobody sends (sigtimedwait)")
    }

    /// Whether the `struct timespec` at `at` has passed since the call was made first.
    pub(super) fn times_out(&mut self, at: u64) -> Result<bool, Errno> {
        let (seconds, ns) = (self.read_word(at)?, self.read_word(at.wrapping_add(8))?);
        if ns >= NANOSECOND || seconds as i64 > i64::MAX / 2 {
            return Err(EINVAL);
        }
        Ok(self.is_overdue(seconds.saturating_mul(NANOSECOND).saturating_add(ns)))
    }
    /// Whether that many nanoseconds have passed since the call was made first.
    pub(super) fn is_overdue(&mut self, ns: u64) -> bool {
        let now = self.p.nanoseconds();
        let deadline = *self.p.task.call.deadline.get_or_insert(now.saturating_add(ns));
        deadline <= now
    }

    fn sigreturn(&mut self) -> R {
        let state = self.context.save();
        let p = &mut *self.p;
        let space = &mut p.space;
        let ram = &mut *self.ram;
        let read = |at: u64, to: &mut [u8]| space.read(ram, at, to);
        match frame::pop(p.isa, &state, read) {
            Ok((mut to, mask, [base, flags, len])) => {
                to.bases = self.bases;
                p.task.signals.set_mask(mask);
                p.task.signals.alternate = (flags & SS_DISABLE == 0 && len >= MINSIGSTKSZ).then_some((base, len));
                p.replaced = Some(to);
            }
            Err(_) => p.die(signals::SEGV, "rt_sigreturn finds no frame at the stack pointer"),
        }
        Ok(0)
    }

    fn sigaltstack(&mut self) -> R {
        let [new, old, ..] = self.args;
        let state = self.context.save();
        let sp = state.regs[if self.p.isa == IsaName::X86 { 4 } else { 2 }];
        let before = self.p.alternate_stack(sp);
        if new != 0 {
            if before[1] & !SS_DISABLE != 0 {
                return Err(EPERM);
            }
            let mut word = |n: u64| self.read_word(new.wrapping_add(8 * n));
            let (base, flags, len) = (word(0)?, word(1)? & 0xffff_ffff, word(2)?);
            match flags & 0x7fff_ffff {
                SS_DISABLE => self.p.task.signals.alternate = None,
                0 | 1 if len < MINSIGSTKSZ => return Err(Errno(libc::ENOMEM)),
                0 | 1 => self.p.task.signals.alternate = Some((base, len)),
                _ => return Err(EINVAL),
            }
        }
        if old != 0 {
            self.write_words(old, &before)?;
        }
        Ok(0)
    }

    fn sent_by_me(&self, to_itself: bool) -> Info {
        let ids = self.p.task.ids;
        let why = if to_itself {
            format!("the process sent it to itself, at pc {:#x}", self.pc)
        } else {
            format!("process {} sent it", ids.pid)
        };
        Info::sent(ids.pid, ids.uid, why)
    }

    /// Sends a signal to every process that `named` names; how many there are.
    fn send(&mut self, number: u64, named: impl Fn(u32, u32) -> bool, info: Option<Info>) -> R {
        if number >= signals::COUNT as u64 {
            return Err(EINVAL);
        }
        let number = number as u32;
        let own = self.p.task.ids;
        let mut found = self.p.processes.zombies.iter().any(|e| named(e.pid, e.pgid));
        let (mine, others) = (self.sent_by_me(true), self.sent_by_me(false));
        let mut continued = Vec::new();
        if named(own.pid, own.pgid) {
            found = true;
            self.p.task.post(number, info.clone().unwrap_or(mine));
        }
        for parked in self.p.processes.others.values_mut().filter(|p| named(p.task.ids.pid, p.task.ids.pgid)) {
            found = true;
            if parked.task.post(number, info.clone().unwrap_or_else(|| others.clone())) {
                continued.push(parked.task.ids);
            }
        }
        for child in continued {
            self.p.notify_parent(child, signals::CONTINUED);
        }
        if found {
            Ok(0)
        } else {
            Err(Errno(libc::ESRCH))
        }
    }

    fn kill(&mut self, which: i32, number: u64) -> R {
        let own = self.p.task.ids;
        // All processes but this one.
        self.send(
            number,
            |pid, pgid| match which {
                -1 => pid != own.pid,
                _ => super::super::task::named(which, own.pgid, pid, pgid),
            },
            None,
        )
    }
    fn kill_one(&mut self, id: u64, number: u64) -> R {
        match id as u32 as i32 {
            id if id <= 0 => Err(EINVAL),
            id => {
                const SI_TKILL: i32 = -6;
                let info = self.sent_by_me(id.unsigned_abs() == self.p.task.ids.pid);
                self.send(number, |pid, _| pid == id.unsigned_abs(), Some(Info { code: SI_TKILL, ..info }))
            }
        }
    }
    /// With what the sender says of it.
    fn queue(&mut self, id: u64, number: u64, at: u64) -> R {
        let mut word = |n: u64| self.read_word(at.wrapping_add(8 * n));
        let (code, fields) = (word(1)? as u32 as i32, [word(2)?, word(3)?]);
        if code >= 0 && id as u32 != self.p.task.ids.pid {
            return Err(EPERM);
        }
        let why = format!("process {} sent it", self.p.task.ids.pid);
        self.send(number, |pid, _| pid == id as u32, Some(Info { code, fields, why }))
    }

    /// Sets `ITIMER_REAL`; returns what was left of it and its period.
    fn set_alarm(&mut self, after: u64, period: u64) -> (u64, u64) {
        let now = self.p.nanoseconds();
        let new = (after > 0).then(|| (now.saturating_add(after), period));
        let old = std::mem::replace(&mut self.p.task.alarm, new);
        self.p.find_next_alarm();
        left_of(old, now)
    }
    /// As [`Call::set_alarm`], `ITIMER_VIRTUAL` or `ITIMER_PROF`: all processor time is the user's.
    fn set_cpu_timer(&mut self, which: usize, after: u64, period: u64) -> (u64, u64) {
        let now = self.p.processor_time();
        let new = (after > 0).then(|| (now.saturating_add(after), period));
        left_of(std::mem::replace(&mut self.p.task.used.timers[which], new), now)
    }

    /// `struct itimerval`: period, then what is left; seconds and microseconds each.
    fn write_timer(&mut self, which: u64, to: u64) -> R {
        let (left, period) = match which {
            0 => left_of(self.p.task.alarm, self.p.nanoseconds()),
            _ => left_of(self.p.task.used.timers[which as usize - 1], self.p.processor_time()),
        };
        self.write_timer_value(to, left, period)
    }
    fn write_timer_value(&mut self, to: u64, left: u64, period: u64) -> R {
        let left = left.checked_next_multiple_of(MICROSECOND).unwrap_or(left);
        let words = [period, left].map(|ns| [ns / NANOSECOND, ns % NANOSECOND / MICROSECOND]);
        self.write_words(to, words.as_flattened()).map(|()| 0)
    }
    fn set_timer(&mut self, which: u64, new: u64, old: u64) -> R {
        if which > 2 {
            return Err(EINVAL);
        }
        let mut words = [0; 4];
        if new != 0 {
            for (n, word) in words.iter_mut().enumerate() {
                *word = self.read_word(new.wrapping_add(8 * n as u64))?;
            }
        }
        if words[1] >= 1_000_000 || words[3] >= 1_000_000 {
            return Err(EINVAL);
        }
        let ns = |s: u64, us: u64| s.saturating_mul(NANOSECOND).saturating_add(us * MICROSECOND);
        let (after, every) = (ns(words[2], words[3]), ns(words[0], words[1]));
        let (left, period) = match which {
            0 => self.set_alarm(after, every),
            _ => self.set_cpu_timer(which as usize - 1, after, every),
        };
        if old != 0 {
            self.write_timer_value(old, left, period)?;
        }
        Ok(0)
    }
}
