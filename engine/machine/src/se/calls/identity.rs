//! Who the process is: users, groups, sessions, and what a scheduler would know of it.

use super::super::errno::{Errno, EINVAL, EPERM};
use super::paths::AT_FDCWD;
use super::{Call, R};

/// `(uid_t)-1`: leave as it is.
const SAME: u32 = u32::MAX;
const SCHED_FIFO: u64 = 1;
const SCHED_RR: u64 = 2;
/// Calls that only root may make, and that would change the host.
const ROOT_ONLY: [&str; 18] = [
    "acct",
    "clock_settime",
    "delete_module",
    "finit_module",
    "init_module",
    "ioperm",
    "iopl",
    "mount",
    "pivot_root",
    "reboot",
    "setdomainname",
    "sethostname",
    "setns",
    "settimeofday",
    "swapoff",
    "swapon",
    "umount2",
    "vhangup",
];
/// The policies of Linux end with SCHED_DEADLINE; there is no 4.
const MOST_POLICY: u64 = 6;

impl Call<'_> {
    pub(super) fn identity_call(&mut self, name: &str) -> Option<R> {
        let ids = self.p.task.ids;
        let [a, b, c, ..] = self.args;
        let itself = |pid: u64| pid as u32 == 0 || pid as u32 == ids.pid;
        let lives = |pid: u64| itself(pid) || self.p.processes.others.contains_key(&(pid as u32));
        Some(match name {
            "getpid" | "gettid" => Ok(u64::from(ids.pid)),
            "getppid" => Ok(u64::from(ids.ppid)),
            "getpgid" | "getsid" if !itself(a) => match self.p.processes.others.get(&(a as u32)) {
                Some(other) => Ok(u64::from(other.task.ids.pgid)),
                None => Err(Errno(libc::ESRCH)),
            },
            "getpgrp" | "getpgid" | "getsid" => Ok(u64::from(ids.pgid)),
            "getuid" => Ok(u64::from(ids.uid)),
            "geteuid" => Ok(u64::from(ids.euid)),
            "getgid" => Ok(u64::from(ids.gid)),
            "getegid" => Ok(u64::from(ids.egid)),
            "getgroups" => Ok(0),
            "setgroups" if ids.euid == 0 => Ok(0),
            "setgroups" => Err(EPERM),
            "setuid" => self.set_ids(false, [a as u32, a as u32, a as u32], true),
            "setgid" => self.set_ids(true, [a as u32, a as u32, a as u32], true),
            "setreuid" => self.set_ids(false, [a as u32, b as u32, SAME], false),
            "setregid" => self.set_ids(true, [a as u32, b as u32, SAME], false),
            "setresuid" => self.set_ids(false, [a as u32, b as u32, c as u32], false),
            "setresgid" => self.set_ids(true, [a as u32, b as u32, c as u32], false),
            "getresuid" => self.get_ids([ids.uid, ids.euid, self.p.task.saved[0]]),
            "getresgid" => self.get_ids([ids.gid, ids.egid, self.p.task.saved[1]]),
            // They return what was, and only files would look at what is.
            "setfsuid" => Ok(u64::from(ids.euid)),
            "setfsgid" => Ok(u64::from(ids.egid)),
            "setsid" if ids.pid == ids.pgid => Err(EPERM),
            "setsid" => {
                self.p.task.ids.pgid = ids.pid;
                Ok(u64::from(ids.pid))
            }
            "setpgid" if !itself(a) => self.set_group_of(a as u32, b as u32),
            "setpgid" if b as u32 == 0 || itself(b) => {
                self.p.task.ids.pgid = ids.pid;
                Ok(0)
            }
            "setpgid" => Err(EPERM),
            "sched_getscheduler"
            | "sched_getparam"
            | "sched_rr_get_interval"
            | "sched_setscheduler"
            | "sched_setparam"
            | "sched_getaffinity"
            | "sched_setaffinity"
                if !lives(a) =>
            {
                Err(Errno(libc::ESRCH))
            }
            // SCHED_OTHER, of priority 0.
            "sched_getscheduler" | "ioprio_get" => Ok(0),
            "ioprio_set" if self.ioprio_is_allowed() => Ok(0),
            "ioprio_set" => Err(EPERM),
            "sched_getparam" => self.write_u32(b, 0).map(|()| 0),
            "sched_setscheduler" => self.schedule(b, c),
            "sched_setparam" => self.schedule(0, b),
            "sched_get_priority_min" | "sched_get_priority_max" if a > MOST_POLICY || a == 4 => Err(EINVAL),
            "sched_get_priority_min" => Ok(u64::from(matches!(a, SCHED_FIFO | SCHED_RR))),
            "sched_get_priority_max" => Ok(if matches!(a, SCHED_FIFO | SCHED_RR) { 99 } else { 0 }),
            // 4 ms, as a kernel of 250 Hz has it for SCHED_OTHER.
            "sched_rr_get_interval" => self.write_words(b, &[0, 4_000_000]).map(|()| 0),
            "sched_getaffinity" => self.affinity(),
            "sched_setaffinity" => self.set_affinity(),
            "personality" => {
                let own = &mut self.p.task.personality;
                let old = *own;
                if a as u32 != SAME {
                    *own = a as u32;
                }
                Ok(u64::from(old))
            }
            "chroot" => self.facts_at(i64::from(AT_FDCWD) as u64, a, 0).and_then(|_| self.refuse(name)),
            _ if ROOT_ONLY.contains(&name) => self.refuse(name),
            "getcpu" => self.getcpu(),
            _ => return None,
        })
    }

    /// What only root may do: nobody here is the host's root.
    fn refuse(&mut self, name: &str) -> R {
        if self.p.task.ids.euid == 0 {
            self.p.warn(format!("{name} is not emulated, even for root: EPERM"));
        }
        Err(EPERM)
    }

    /// Real, effective and saved user (or group): each becomes one of the three, or anything for root. `all`: `setuid`, by
    /// which only root changes more than the effective one.
    fn set_ids(&mut self, group: bool, new: [u32; 3], all: bool) -> R {
        let ids = self.p.task.ids;
        let slot = usize::from(group);
        let old =
            if group { [ids.gid, ids.egid, self.p.task.saved[1]] } else { [ids.uid, ids.euid, self.p.task.saved[0]] };
        if ids.euid != 0 && new.iter().any(|id| *id != SAME && !old.contains(id)) {
            return Err(EPERM);
        }
        let keep = all && ids.euid != 0;
        let pick = |n: usize| if new[n] == SAME || (keep && n != 1) { old[n] } else { new[n] };
        let ids = &mut self.p.task.ids;
        if group {
            (ids.gid, ids.egid) = (pick(0), pick(1));
        } else {
            (ids.uid, ids.euid) = (pick(0), pick(1));
        }
        self.p.task.saved[slot] = pick(2);
        Ok(0)
    }

    /// The group of a child: its own, or that of its parent.
    fn set_group_of(&mut self, pid: u32, group: u32) -> R {
        let own = self.p.task.ids;
        let child = self.p.processes.others.get_mut(&pid).filter(|p| p.task.ids.ppid == own.pid);
        let ids = &mut child.ok_or(Errno(libc::ESRCH))?.task.ids;
        match group {
            0 => ids.pgid = pid,
            group if group == pid || group == own.pgid => ids.pgid = group,
            _ => return Err(EPERM),
        }
        Ok(0)
    }

    /// Best effort and idle, which change nothing here; real time is root's.
    fn ioprio_is_allowed(&self) -> bool {
        const REAL_TIME: u64 = 1;
        self.args[2] >> 13 & 7 != REAL_TIME || self.p.task.ids.euid == 0
    }

    fn get_ids(&mut self, ids: [u32; 3]) -> R {
        for (at, id) in [self.args[0], self.args[1], self.args[2]].into_iter().zip(ids) {
            self.write_u32(at, id)?;
        }
        Ok(0)
    }

    /// Only the policy and the priority that it has.
    fn schedule(&mut self, policy: u64, at: u64) -> R {
        let mut priority = [0; 4];
        self.read(at, &mut priority)?;
        match (policy, u32::from_le_bytes(priority)) {
            (0, 0) => Ok(0),
            (0, _) => Err(EINVAL),
            (1..=MOST_POLICY, _) => Err(EPERM),
            _ => Err(EINVAL),
        }
    }

    /// One processor.
    fn affinity(&mut self) -> R {
        if self.args[1] < 8 {
            return Err(EINVAL);
        }
        self.write_words(self.args[2], &[1])?;
        Ok(8)
    }

    fn set_affinity(&mut self) -> R {
        let mut first = [0];
        if self.args[1] > 0 {
            self.read(self.args[2], &mut first)?;
        }
        if first[0] & 1 == 0 {
            return Err(EINVAL);
        }
        Ok(0)
    }

    fn getcpu(&mut self) -> R {
        for at in [self.args[0], self.args[1]] {
            if at != 0 {
                self.write(at, &[0; 4])?;
            }
        }
        Ok(0)
    }
}
