//! The rest: the end, time, identity, limits, signals, and what threads would need.

use super::super::errno::{Errno, EAGAIN, EINVAL, ENOSYS};
use super::super::memory::Prot;
use super::super::task::{Task, Until};
use super::{Call, NANOSECOND, R};
use crate::IsaName;

const CLOCK_REALTIME: u64 = 0;
const CLOCK_PROCESS_CPUTIME_ID: u64 = 2;
const CLOCK_THREAD_CPUTIME_ID: u64 = 3;
const CLOCK_REALTIME_COARSE: u64 = 5;
const MOST_CLOCK: u64 = 11;
const TIMER_ABSTIME: u64 = 1;
const RLIM_INFINITY: u64 = u64::MAX;
const RLIMIT_STACK: u64 = 3;
const RLIMIT_NOFILE: u64 = 7;
const ARCH_SET_GS: u64 = 0x1001;
const ARCH_SET_FS: u64 = 0x1002;
const ARCH_GET_FS: u64 = 0x1003;
const ARCH_GET_GS: u64 = 0x1004;
const PR_SET_NAME: u64 = 15;
const PR_GET_NAME: u64 = 16;
/// One field of `struct utsname`.
const UTS_FIELD: usize = 65;

impl Call<'_> {
    pub(super) fn system_call(&mut self, name: &str) -> Option<R> {
        let ids = self.p.task.ids;
        let [a, b, ..] = self.args;
        Some(match name {
            "set_tid_address" => Ok(u64::from(ids.pid)),
            "set_robust_list" | "membarrier" | "setpriority" => Ok(0),
            "sync" => {
                self.p.write_back(self.ram);
                Ok(0)
            }
            // 20 minus nice, so that it is no error.
            "getpriority" => Ok(20),
            "uname" => self.uname(),
            "sysinfo" => self.sysinfo(),
            "getrandom" => self.getrandom(),
            "prctl" => self.prctl(),
            "arch_prctl" => self.arch_prctl(),
            "prlimit64" if b == u64::from(u32::MAX) => Err(EINVAL),
            "prlimit64" => self.limit(b, self.args[3], self.args[2]),
            "getrlimit" => self.limit(a, b, 0),
            "setrlimit" => Ok(0),
            "getrusage" | "times" => self.usage(name),
            "clock_gettime" => self.clock(a, b),
            "clock_getres" if a > MOST_CLOCK => Err(EINVAL),
            "clock_getres" if b == 0 => Ok(0),
            "clock_getres" => self.write_words(b, &[0, 1]).map(|()| 0),
            "gettimeofday" => self.time_of_day(),
            "time" => self.time(),
            "nanosleep" => self.sleep(a, false),
            "clock_nanosleep" if a > MOST_CLOCK => Err(EINVAL),
            "clock_nanosleep" => self.sleep(self.args[2], b & TIMER_ABSTIME != 0),
            "futex" => self.futex(),
            _ => return None,
        })
    }

    fn clock(&mut self, id: u64, to: u64) -> R {
        if id > MOST_CLOCK {
            return Err(EINVAL);
        }
        let since =
            if matches!(id, CLOCK_REALTIME | CLOCK_REALTIME_COARSE | MOST_CLOCK) { self.p.clock.epoch } else { 0 };
        let ns = match id {
            CLOCK_PROCESS_CPUTIME_ID | CLOCK_THREAD_CPUTIME_ID => self.p.processor_time(),
            _ => self.p.nanoseconds(),
        };
        self.write_words(to, &[since + ns / NANOSECOND, ns % NANOSECOND])?;
        Ok(0)
    }

    /// The clock goes on at once when nobody else has something to do meanwhile.
    fn sleep(&mut self, at: u64, absolute: bool) -> R {
        let (seconds, ns) = (self.read_word(at)?, self.read_word(at.wrapping_add(8))?);
        if ns >= NANOSECOND || (seconds as i64) < 0 {
            return Err(EINVAL);
        }
        let now = self.p.nanoseconds();
        let mut long = seconds.saturating_mul(NANOSECOND).saturating_add(ns);
        if absolute {
            let realtime = self.args[0] == CLOCK_REALTIME;
            let since = if realtime { self.p.clock.epoch.saturating_mul(NANOSECOND) } else { 0 };
            long = long.saturating_sub(since).saturating_sub(now);
        }
        if self.is_overdue(long) {
            return Ok(0);
        }
        if self.p.is_alone() {
            self.p.clock.slept = self.p.clock.slept.saturating_add(long);
            return Ok(0);
        }
        self.wait_for(Until::Never, false, "sleeps")
    }

    fn time_of_day(&mut self) -> R {
        let ns = self.p.nanoseconds();
        let [to, zone, ..] = self.args;
        if to != 0 {
            self.write_words(to, &[self.p.clock.epoch + ns / NANOSECOND, ns % NANOSECOND / 1000])?;
        }
        if zone != 0 {
            self.write_words(zone, &[0])?;
        }
        Ok(0)
    }

    fn time(&mut self) -> R {
        let now = self.p.clock.epoch + self.p.nanoseconds() / NANOSECOND;
        if self.args[0] != 0 {
            self.write_words(self.args[0], &[now])?;
        }
        Ok(now)
    }

    /// All processor time is the user's.
    fn usage(&mut self, name: &str) -> R {
        const RUSAGE_CHILDREN: i32 = -1;
        let (own, children) = (self.p.processor_time(), self.p.task.used.children);
        if name == "times" {
            let clocks = |ns: u64| ns / (NANOSECOND / 100);
            if self.args[0] != 0 {
                self.write_words(self.args[0], &[clocks(own), 0, clocks(children), 0])?;
            }
            return Ok(clocks(self.p.nanoseconds()));
        }
        let ns = match self.args[0] as i32 {
            RUSAGE_CHILDREN => children,
            0 | 1 => own,
            _ => return Err(EINVAL),
        };
        let mut words = vec![ns / NANOSECOND, ns % NANOSECOND / 1000];
        words.resize(18, 0);
        self.write_words(self.args[1], &words)?;
        Ok(0)
    }

    fn uname(&mut self) -> R {
        const PER_MASK: u32 = 0xff;
        const PER_LINUX32: u32 = 8;
        let machine = match (self.p.isa, self.p.task.personality & PER_MASK) {
            (IsaName::Riscv, PER_LINUX32) => "riscv",
            (IsaName::Riscv, _) => "riscv64",
            (IsaName::X86, PER_LINUX32) => "i686",
            (IsaName::X86, _) => "x86_64",
        };
        let mut bytes = Vec::new();
        for field in ["Linux", "breakeven", &self.p.config.release, "#1", machine, "(none)"] {
            let end = bytes.len() + UTS_FIELD;
            bytes.extend(field.bytes().take(UTS_FIELD - 1));
            bytes.resize(end, 0);
        }
        self.write(self.args[0], &bytes)?;
        Ok(0)
    }

    fn sysinfo(&mut self) -> R {
        let total = self.ram.len();
        let seconds = self.p.nanoseconds() / NANOSECOND;
        // Uptime, three loads, total and free RAM, shared, buffers, swap total and free, processes, high total and free, unit.
        self.write_words(self.args[0], &[seconds, 0, 0, 0, total, total, 0, 0, 0, 0, 1, 0, 0, 1])?;
        Ok(0)
    }

    fn getrandom(&mut self) -> R {
        const MOST: u64 = 1 << 20;
        let [to, len, ..] = self.args;
        let mut bytes = vec![0; len.min(MOST) as usize];
        self.p.random.fill(&mut bytes);
        self.write(to, &bytes)?;
        Ok(bytes.len() as u64)
    }

    fn prctl(&mut self) -> R {
        let [what, at, ..] = self.args;
        match what {
            PR_SET_NAME => {
                let mut name = [0; 16];
                for (n, slot) in name[..15].iter_mut().enumerate() {
                    let mut byte = [0];
                    self.read(at.wrapping_add(n as u64), &mut byte)?;
                    if byte[0] == 0 {
                        break;
                    }
                    *slot = byte[0];
                }
                self.p.task.name = name.iter().copied().take_while(|b| *b != 0).collect();
                Ok(0)
            }
            PR_GET_NAME => {
                let mut name = self.p.task.name.clone();
                name.resize(16, 0);
                self.write(at, &name)?;
                Ok(0)
            }
            _ => Err(EINVAL),
        }
    }

    fn arch_prctl(&mut self) -> R {
        let [what, value, ..] = self.args;
        if matches!(what, ARCH_SET_FS | ARCH_SET_GS) && value >= self.p.space.limit {
            return Err(Errno(libc::EPERM));
        }
        match what {
            ARCH_SET_FS => self.bases[0] = value,
            ARCH_SET_GS => self.bases[1] = value,
            ARCH_GET_FS => self.write_words(value, &[self.bases[0]])?,
            ARCH_GET_GS => self.write_words(value, &[self.bases[1]])?,
            _ => return Err(EINVAL),
        }
        Ok(0)
    }

    /// Reports a limit; a new one is accepted and changes nothing.
    fn limit(&mut self, which: u64, to: u64, new: u64) -> R {
        let limit = match which {
            RLIMIT_STACK => self.p.config.max_stack,
            RLIMIT_NOFILE => 256,
            0..=15 => RLIM_INFINITY,
            _ => return Err(EINVAL),
        };
        if new != 0 {
            self.read_word(new)?;
        }
        if to != 0 {
            self.write_words(to, &[limit, limit])?;
        }
        Ok(0)
    }

    /// Processes wait for each other in memory that they share: at the same physical address.
    fn futex(&mut self) -> R {
        const WAIT: u64 = 0;
        const WAKE: u64 = 1;
        const WAIT_BITSET: u64 = 9;
        const WAKE_BITSET: u64 = 10;
        const COMMAND: u64 = 0x7f;
        let [at, op, value, timeout, ..] = self.args;
        if at % 4 != 0 {
            return Err(EINVAL);
        }
        match op & COMMAND {
            WAKE | WAKE_BITSET => {
                let at = self.p.space.touch(self.ram, at, Prot::READ)?;
                let waits =
                    |task: &Task| !task.woken && task.wait.as_ref().is_some_and(|w| w.until == Until::Woken(at));
                let waiting = self.p.processes.others.values_mut().map(|p| &mut p.task).filter(|task| waits(task));
                let woken = waiting.take(value as u32 as usize).map(|task| task.woken = true).count();
                Ok(woken as u64)
            }
            WAIT | WAIT_BITSET => self.futex_wait(at, value as u32, timeout, op),
            _ => Err(ENOSYS),
        }
    }

    fn futex_wait(&mut self, at: u64, value: u32, timeout: u64, op: u64) -> R {
        const BITSET: u64 = 9;
        const REALTIME: u64 = 0x100;
        if std::mem::take(&mut self.p.task.woken) {
            return Ok(0);
        }
        let mut word = [0; 4];
        self.read(at, &mut word)?;
        // Made again, the call has found its value already.
        if self.p.task.call.deadline.is_none() && u32::from_le_bytes(word) != value {
            return Err(EAGAIN);
        }
        if timeout != 0 {
            // That of the second kind is a point in time.
            let absolute = op & 0x7f == BITSET;
            let since = if absolute && op & REALTIME != 0 { self.p.clock.epoch.saturating_mul(NANOSECOND) } else { 0 };
            let (seconds, ns) = (self.read_word(timeout)?, self.read_word(timeout.wrapping_add(8))?);
            if ns >= NANOSECOND || (seconds as i64) < 0 {
                return Err(EINVAL);
            }
            let long = seconds.saturating_mul(NANOSECOND).saturating_add(ns);
            let now = self.p.nanoseconds();
            if self.is_overdue(if absolute { long.saturating_sub(since).saturating_sub(now) } else { long }) {
                return Err(Errno(libc::ETIMEDOUT));
            }
        }
        let at = self.p.space.touch(self.ram, at, Prot::READ)?;
        self.wait_for(Until::Woken(at), timeout == 0, "waits for another thread or process (futex), and none wakes it")
    }
}
