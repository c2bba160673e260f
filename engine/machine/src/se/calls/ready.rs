//! `poll`, `select`, `epoll` and what they wait for: files, devices and directories are always ready, pipes when there is
//! something to take or room, `eventfd` and `signalfd` when something has come.

use std::path::PathBuf;

use super::super::errno::{Errno, EAGAIN, EFAULT, EINVAL, ENOENT, EPERM};
use super::super::files::{event, open, Interest, Open, Target};
use super::super::task::Until;
use super::{Call, NANOSECOND, R};
use crate::IsaName;

const EFD_SEMAPHORE: u64 = 1;

/// Descriptors of one `poll`, bits of one `select`.
const MOST: u64 = 1024;

impl Call<'_> {
    pub(super) fn ready_call(&mut self, name: &str) -> Option<R> {
        let [a, b, ..] = self.args;
        Some(match name {
            "poll" | "ppoll" | "select" | "pselect6" | "epoll_wait" | "epoll_pwait" | "epoll_pwait2" => {
                self.wait_ready(name)
            }
            "epoll_create" if a as i32 <= 0 => Err(EINVAL),
            "epoll_create" => self.new_file(Target::Poll(Vec::new()), 0),
            "epoll_create1" => self.new_file(Target::Poll(Vec::new()), a),
            "epoll_ctl" => self.poll_control(),
            "eventfd" => self.new_file(Target::Event { count: a & 0xffff_ffff, semaphore: false }, 0),
            "eventfd2" => {
                let semaphore = b & EFD_SEMAPHORE != 0;
                self.new_file(Target::Event { count: a & 0xffff_ffff, semaphore }, b & !EFD_SEMAPHORE)
            }
            "signalfd" => self.signal_file(0),
            "signalfd4" => self.signal_file(self.args[3]),
            "memfd_create" => self.memory_file(b),
            _ => return None,
        })
    }

    fn wait_ready(&mut self, name: &str) -> R {
        // Before anything happens: a bad pointer is told first.
        let (ready, waits) = match name {
            "poll" | "ppoll" => self.poll()?,
            "select" | "pselect6" => self.select()?,
            _ => self.poll_list()?,
        };
        if ready > 0 {
            return Ok(ready);
        }
        let [_, _, c, d, e, f] = self.args;
        let ms = if name == "poll" { c } else { d } as i32;
        let overdue = match name {
            "poll" | "epoll_wait" | "epoll_pwait" if ms < 0 => false,
            "poll" | "epoll_wait" | "epoll_pwait" => self.is_overdue(u64::from(ms.unsigned_abs()) * 1_000_000),
            "ppoll" if c != 0 => self.times_out(c)?,
            "epoll_pwait2" if d != 0 => self.times_out(d)?,
            "select" if e != 0 => {
                let (seconds, us) = (self.read_word(e)?, self.read_word(e.wrapping_add(8))?);
                self.is_overdue(seconds.saturating_mul(NANOSECOND).saturating_add(us.saturating_mul(1000)))
            }
            "pselect6" if e != 0 => self.times_out(e)?,
            _ => false,
        };
        match name {
            "ppoll" => self.mask_for_now(d)?,
            "epoll_pwait" | "epoll_pwait2" => self.mask_for_now(e)?,
            // A pointer to the mask's address and its length.
            "pselect6" if f != 0 => {
                let mask = self.read_word(f)?;
                self.mask_for_now(mask)?;
            }
            _ => {}
        }
        if overdue {
            if matches!(name, "select" | "pselect6") {
                self.clear_sets()?;
            }
            return Ok(0);
        }
        match self.p.task.call.deadline.filter(|_| self.p.is_alone()) {
            Some(deadline) => {
                self.p.clock.slept += deadline - self.p.nanoseconds();
                Ok(0)
            }
            None => self.wait_for(waits, false, "waits for descriptors that nobody else could make ready"),
        }
    }

    /// Nothing was ready in time.
    fn clear_sets(&mut self) -> Result<(), Errno> {
        let words = u64::from(self.args[0] as u32).div_ceil(64) as usize;
        for at in [self.args[1], self.args[2], self.args[3]].into_iter().filter(|at| *at != 0) {
            self.write_words(at, &vec![0; words])?;
        }
        Ok(())
    }

    /// How many are ready, and what could make one ready.
    fn poll(&mut self) -> Result<(u64, Until), Errno> {
        let (at, count) = (self.args[0], self.args[1]);
        if count > MOST {
            return Err(EINVAL);
        }
        let (mut ready, mut waits, pending) = (0, Vec::new(), self.p.task.signals.pending());
        for n in 0..count {
            let entry = at.checked_add(8 * n).ok_or(EFAULT)?;
            let word = self.read_word(entry)?;
            let (fd, asked) = (word as u32, (word >> 32) as u16);
            let file = self.p.files.id(u64::from(fd));
            let found = match file {
                _ if fd >> 31 != 0 => 0,
                Ok(file) => {
                    let asked = u32::from(asked);
                    waits.extend(
                        [(event::IN, false), (event::OUT, true)]
                            .into_iter()
                            .filter_map(|(bit, writes)| (asked & bit != 0 || !writes).then_some((file, writes))),
                    );
                    self.p.files.events(&Interest { fd, file, events: asked, data: 0 }, pending) as u16
                }
                Err(_) => event::INVALID as u16,
            };
            ready += u64::from(found != 0);
            self.write(entry, &(word & 0xffff_ffff_ffff | u64::from(found) << 48).to_le_bytes())?;
        }
        Ok((ready, Until::Ready { files: waits, signals: 0 }))
    }

    fn select(&mut self) -> Result<(u64, Until), Errno> {
        let [count, reads, writes, excepts, ..] = self.args;
        let count = u64::from(count as u32);
        if count > MOST {
            return Err(EINVAL);
        }
        let words = count.div_ceil(64);
        let mut results: Vec<(u64, Vec<u64>)> = Vec::new();
        let (mut ready, mut waits) = (0, Vec::new());
        for (at, which) in [(reads, 0), (writes, 1), (excepts, 2)] {
            if at == 0 {
                continue;
            }
            let mut found = vec![0u64; words as usize];
            for n in 0..words {
                let asked = self.read_word(at.checked_add(8 * n).ok_or(EFAULT)?)?;
                let first = 64 * n;
                for bit in (0..64).filter(|bit| asked >> bit & 1 != 0 && first + bit < count) {
                    let file = self.p.files.id(first + bit)?;
                    let r = self.p.files.ready(file, self.p.task.signals.pending());
                    waits.extend((which < 2).then_some((file, which == 1)));
                    if [r.read || r.hung_up, r.write || r.hung_up, false][which] {
                        found[n as usize] |= 1 << bit;
                        ready += 1;
                    }
                }
            }
            results.push((at, found));
        }
        let waits = Until::Ready { files: waits, signals: 0 };
        // While it waits the sets stay as they are: they are read again.
        if ready == 0 && !self.p.is_alone() {
            return Ok((0, waits));
        }
        for (at, found) in results {
            self.write_words(at, &found)?;
        }
        Ok((ready, waits))
    }

    /// `epoll_wait`: what has come is written at once.
    fn poll_list(&mut self) -> Result<(u64, Until), Errno> {
        let [fd, to, most, ..] = self.args;
        let most = most as u32 as i32;
        if most <= 0 {
            return Err(EINVAL);
        }
        let pending = self.p.task.signals.pending();
        let Target::Poll(list) = &self.p.files.get(fd)?.target else { return Err(EINVAL) };
        let list = list.clone();
        let found: Vec<(Interest, u32)> = list
            .iter()
            .map(|i| (*i, self.p.files.events(i, pending)))
            .filter(|(_, events)| *events != 0)
            .take(most.unsigned_abs() as usize)
            .collect();
        // x86-64's `struct epoll_event` is packed.
        let (size, data) = if self.p.isa == IsaName::X86 { (12, 4) } else { (16, 8) };
        let mut bytes = vec![0; size * found.len()];
        for (entry, (interest, events)) in bytes.chunks_exact_mut(size).zip(&found) {
            entry[..4].copy_from_slice(&events.to_le_bytes());
            entry[data..data + 8].copy_from_slice(&interest.data.to_le_bytes());
        }
        self.write(to, &bytes)?;
        if let Target::Poll(list) = &mut self.p.files.get(fd)?.target {
            let seen = |i: &Interest| found.iter().any(|(f, _)| f.fd == i.fd && f.file == i.file);
            for interest in list.iter_mut().filter(|i| i.events & event::ONE_SHOT != 0 && seen(i)) {
                interest.events = event::ONE_SHOT;
            }
        }
        let files = list.iter().flat_map(|i| {
            let writes = (i.events & event::OUT != 0).then_some((i.file, true));
            (i.events & event::IN != 0).then_some((i.file, false)).into_iter().chain(writes)
        });
        Ok((found.len() as u64, Until::Ready { files: files.collect(), signals: 0 }))
    }

    fn poll_control(&mut self) -> R {
        const ADD: u64 = 1;
        const DELETE: u64 = 2;
        const CHANGE: u64 = 3;
        let [list, command, fd, at, ..] = self.args;
        let file = self.p.files.id(fd)?;
        if matches!(self.p.files.get(fd)?.target, Target::File(_) | Target::Directory { .. }) {
            return Err(EPERM);
        }
        // A list in a list is not modelled.
        if list == fd || matches!(self.p.files.get(fd)?.target, Target::Poll(_)) {
            return Err(EINVAL);
        }
        let new = if command == DELETE {
            (0, 0)
        } else {
            let data = if self.p.isa == IsaName::X86 { 4 } else { 8 };
            let mut events = [0; 4];
            self.read(at, &mut events)?;
            (u32::from_le_bytes(events), self.read_word(at.wrapping_add(data))?)
        };
        let Target::Poll(all) = &mut self.p.files.get(list)?.target else { return Err(EINVAL) };
        let place = all.iter().position(|i| i.fd == fd as u32 && i.file == file);
        let interest = Interest { fd: fd as u32, file, events: new.0, data: new.1 };
        match (command, place) {
            (ADD, Some(_)) => return Err(Errno(libc::EEXIST)),
            (ADD, None) if all.len() >= MOST as usize => return Err(Errno(libc::ENOSPC)),
            (ADD, None) => all.push(interest),
            (DELETE, Some(n)) => {
                all.remove(n);
            }
            (CHANGE, Some(n)) => all[n] = interest,
            (DELETE | CHANGE, None) => return Err(ENOENT),
            _ => return Err(EINVAL),
        }
        Ok(0)
    }

    /// A descriptor for something that is no file of the host's.
    fn new_file(&mut self, target: Target, flags: u64) -> R {
        if flags & !(open::CLOSE_ON_EXEC | open::NON_BLOCKING) != 0 {
            return Err(EINVAL);
        }
        const READ_WRITE: u64 = 2;
        self.p.files.insert(Open { target, flags: flags | READ_WRITE, path: PathBuf::new() })
    }

    fn signal_file(&mut self, flags: u64) -> R {
        let [fd, set, size, ..] = self.args;
        if size != 8 {
            return Err(EINVAL);
        }
        let set = self.read_word(set)?;
        if fd as u32 as i32 == -1 {
            return self.new_file(Target::Signals(set), flags);
        }
        let Target::Signals(now) = &mut self.p.files.get(fd)?.target else { return Err(EINVAL) };
        *now = set;
        Ok(fd)
    }

    /// Reads from a `signalfd`: `struct signalfd_siginfo`, 128 bytes each.
    pub(super) fn take_signals(&mut self, fd: u64, set: u64, to: &mut [u8]) -> Result<usize, Errno> {
        const SIZE: usize = 128;
        if to.len() < SIZE {
            return Err(EINVAL);
        }
        let mut done = 0;
        for entry in to.chunks_exact_mut(SIZE) {
            let Some((number, info)) = self.p.task.signals.take_one(set) else { break };
            // Number, errno, code, process, user, descriptor, timer, band, overrun, trap, status.
            let [sender, value] = info.fields;
            let words =
                [number, 0, info.code as u32, sender as u32, (sender >> 32) as u32, 0, 0, 0, 0, 0, value as u32];
            for (slot, word) in entry.chunks_exact_mut(4).zip(words) {
                slot.copy_from_slice(&word.to_le_bytes());
            }
            done += SIZE;
        }
        if done == 0 && self.waits_at(fd) {
            let until = Until::Ready { files: Vec::new(), signals: set };
            self.wait_for(until, true, "reads signals that nobody sends")?;
        }
        if done == 0 {
            return Err(EAGAIN);
        }
        Ok(done)
    }

    /// A file without a name, in the host's memory.
    fn memory_file(&mut self, flags: u64) -> R {
        const MFD_CLOEXEC: u64 = 1;
        const MFD_ALLOW_SEALING: u64 = 2;
        self.string(self.args[0])?;
        if flags & !(MFD_CLOEXEC | MFD_ALLOW_SEALING) != 0 {
            return Err(EINVAL);
        }
        let file = rustix::fs::memfd_create("breakeven", rustix::fs::MemfdFlags::CLOEXEC);
        let file = std::fs::File::from(file.map_err(|e| Errno(e.raw_os_error()))?);
        let on_exec = if flags & MFD_CLOEXEC != 0 { open::CLOSE_ON_EXEC } else { 0 };
        let flags = 2 | on_exec | open::MEMORY;
        self.p.files.insert(Open { target: Target::File(file), flags, path: PathBuf::new() })
    }
}
