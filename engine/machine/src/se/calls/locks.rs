//! Locks of files: `fcntl`'s, `flock`.

use std::collections::BTreeSet;

use super::super::errno::{Errno, EAGAIN, EBADF, EINVAL};
use super::super::files::{open, Target};
use super::super::host::Inode;
use super::super::locks::{Lock, Owner, END};
use super::super::task::{Until, Wait};
use super::{Call, R};

const F_GETLK: u64 = 5;
const F_SETLK: u64 = 6;
const F_SETLKW: u64 = 7;
const F_OFD_GETLK: u64 = 36;
const F_OFD_SETLK: u64 = 37;
const F_OFD_SETLKW: u64 = 38;
pub(super) const COMMANDS: [u64; 6] = [F_GETLK, F_SETLK, F_SETLKW, F_OFD_GETLK, F_OFD_SETLK, F_OFD_SETLKW];

const RDLCK: u16 = 0;
const WRLCK: u16 = 1;
const UNLCK: u16 = 2;
const EOVERFLOW: Errno = Errno(libc::EOVERFLOW);
const WAITS: &str = "waits for a lock of a file that nobody releases";

impl Call<'_> {
    /// `at`: `struct flock`, of which type and whence have 16 bits each, start and length 64, the process 32.
    pub(super) fn lock(&mut self, fd: u64, command: u64, at: u64) -> R {
        let mut words = [0; 4];
        for (n, word) in words.iter_mut().enumerate() {
            *word = self.read_word(at.wrapping_add(8 * n as u64))?;
        }
        let [head, start, len, pid] = words;
        let (kind, whence) = (head as u16, (head >> 16) as u16);
        let asks = matches!(command, F_GETLK | F_OFD_GETLK);
        let of_open_file = command >= F_OFD_GETLK;
        if kind > UNLCK || (asks && kind == UNLCK) || (of_open_file && pid as u32 != 0) {
            return Err(EINVAL);
        }
        let file = self.p.files.inode(fd)?;
        let owner = if of_open_file { Owner::Open(self.p.files.id(fd)?) } else { Owner::Process(self.p.task.ids.pid) };
        let (start, end) = self.range_of_lock(fd, whence, start as i64, len as i64)?;
        let lock = Lock { owner, shared: kind == RDLCK, start, end, whole: false };
        if asks {
            return self.report_conflict(file, &lock, at);
        }
        let access = self.p.files.get(fd)?.flags & open::ACCESS;
        match kind {
            RDLCK if access == open::WRITE_ONLY => Err(EBADF),
            WRLCK if access == 0 => Err(EBADF),
            UNLCK => {
                self.p.files.locks.release(file, &lock);
                Ok(0)
            }
            _ => self.take_lock(file, lock, matches!(command, F_SETLKW | F_OFD_SETLKW)),
        }
    }

    fn range_of_lock(&mut self, fd: u64, whence: u16, start: i64, len: i64) -> Result<(u64, u64), Errno> {
        let from = match (whence, &self.p.files.get(fd)?.target) {
            (0, _) => 0,
            (1, Target::File(_)) => self.p.files.seek(fd, 0, 1)?,
            (2, Target::File(file)) => file.metadata()?.len(),
            (1 | 2, _) => 0,
            _ => return Err(EINVAL),
        };
        // No sum of these leaves 128 bits.
        let start = i128::from(from) + i128::from(start);
        let (start, end) = match i128::from(len) {
            0 => (start, i128::from(END)),
            len if len > 0 => (start, start + len),
            len => (start + len, start),
        };
        if start > i128::from(i64::MAX) || end > i128::from(END) {
            return Err(EOVERFLOW);
        }
        let start = u64::try_from(start).map_err(|_| EINVAL)?;
        Ok((start, u64::try_from(end).map_err(|_| EINVAL)?))
    }

    /// F_GETLK: writes the first conflicting lock to `at`.
    fn report_conflict(&mut self, file: Inode, asked: &Lock, at: u64) -> R {
        let Some(lock) = self.p.files.locks.conflicts(file, asked).next().copied() else {
            self.write(at, &UNLCK.to_le_bytes())?;
            return Ok(0);
        };
        let kind = if lock.shared { RDLCK } else { WRLCK };
        let len = if lock.end == END { 0 } else { lock.end - lock.start };
        let pid = match lock.owner {
            Owner::Process(pid) => pid,
            // -1: it is nobody's in particular.
            Owner::Open(_) => u32::MAX,
        };
        self.write_words(at, &[u64::from(kind), lock.start, len])?;
        self.write_u32(at.wrapping_add(24), pid)?;
        Ok(0)
    }

    fn take_lock(&mut self, file: Inode, lock: Lock, waits: bool) -> R {
        if self.p.files.locks.conflicts(file, &lock).next().is_none() {
            return self.p.files.locks.grant(file, lock).map(|()| 0);
        }
        if !waits {
            return Err(EAGAIN);
        }
        if self.waits_for_itself(file, &lock) {
            return Err(Errno(libc::EDEADLK));
        }
        self.wait_for(Until::Unlocked(file, lock), true, WAITS)
    }

    /// Whether a holder, or who it waits for, waits for this process: locks of processes only, as in Linux.
    fn waits_for_itself(&self, file: Inode, lock: &Lock) -> bool {
        let own = self.p.task.ids.pid;
        if lock.owner != Owner::Process(own) {
            return false;
        }
        let holders = |file: Inode, lock: &Lock| -> Vec<u32> {
            let of = |held: &Lock| match held.owner {
                Owner::Process(pid) => Some(pid),
                Owner::Open(_) => None,
            };
            self.p.files.locks.conflicts(file, lock).filter_map(of).collect()
        };
        let (mut seen, mut open) = (BTreeSet::new(), holders(file, lock));
        while let Some(pid) = open.pop() {
            if pid == own {
                return true;
            }
            let wait = self.p.processes.others.get(&pid).and_then(|parked| parked.task.wait.as_ref());
            if let (true, Some(Wait { until: Until::Unlocked(file, lock), .. })) = (seen.insert(pid), wait) {
                open.extend(holders(*file, lock));
            }
        }
        false
    }

    pub(super) fn flock(&mut self, fd: u64, operation: u64) -> R {
        const SHARED: u64 = 1;
        const EXCLUSIVE: u64 = 2;
        const AT_ONCE: u64 = 4;
        const UNLOCK: u64 = 8;
        let (file, owner) = (self.p.files.inode(fd)?, Owner::Open(self.p.files.id(fd)?));
        let lock = Lock { owner, shared: operation & SHARED != 0, start: 0, end: END, whole: true };
        match operation & !AT_ONCE {
            SHARED | EXCLUSIVE => {
                // Linux gives up what it had before it asks for the other kind.
                self.p.files.locks.release(file, &lock);
                self.take_lock(file, lock, operation & AT_ONCE == 0)
            }
            UNLOCK => {
                self.p.files.locks.release(file, &lock);
                Ok(0)
            }
            _ => Err(EINVAL),
        }
    }
}
