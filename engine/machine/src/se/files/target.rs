//! What a descriptor can stand for, and what can be done with it without waiting.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::PathBuf;

use super::Files;
use crate::se::pipes::Ready;

pub(in crate::se) mod open {
    pub const ACCESS: u64 = 3;
    pub const WRITE_ONLY: u64 = 1;
    pub const READ_WRITE: u64 = 2;
    pub const CREATE: u64 = 0o100;
    pub const EXCLUSIVE: u64 = 0o200;
    pub const TRUNCATE: u64 = 0o1000;
    pub const APPEND: u64 = 0o2000;
    pub const NON_BLOCKING: u64 = 0o4000;
    pub const DIRECTORY: u64 = 0o200_000;
    pub const NO_FOLLOW: u64 = 0o400_000;
    pub const CLOSE_ON_EXEC: u64 = 0o2_000_000;
    /// Of `memfd_create`: not one of Linux's.
    pub const MEMORY: u64 = 1 << 63;
    /// `O_PATH` and `O_TMPFILE`'s own bit.
    pub const NOT_MODELLED: u64 = 0o10_000_000 | 0o20_000_000;
}

/// Of `poll` and `epoll`.
pub(in crate::se) mod event {
    pub const IN: u32 = 1;
    pub const OUT: u32 = 4;
    pub const ERR: u32 = 8;
    pub const HUP: u32 = 0x10;
    pub const INVALID: u32 = 0x20;
    pub const ONE_SHOT: u32 = 1 << 30;
}

/// What a descriptor refers to.
#[derive(Debug)]
pub(in crate::se) enum Target {
    Stdin,
    Stdout,
    Stderr,
    Null,
    Zero,
    Random,
    File(File),
    /// One end.
    Pipe {
        number: usize,
        writes: bool,
    },
    /// `eventfd`'s number; whether a read takes 1 of it.
    Event {
        count: u64,
        semaphore: bool,
    },
    /// `signalfd`'s set.
    Signals(u64),
    /// `epoll`'s list.
    Poll(Vec<Interest>),
    /// Entries as `getdents64` gives them, from `at` on.
    Directory {
        file: File,
        entries: Option<Vec<Entry>>,
        at: usize,
    },
}

/// The last descriptors that the host allows this process are the simulator's: it still has to write what it has found.
const RESERVED: u64 = 64;

/// Whether a descriptor is one of them, with so many allowed. A host gives the lowest that is free, whoever has the others: this
/// run's processes or another run in this process.
fn is_reserved(fd: i32, allowed: u64) -> bool {
    fd as u64 + RESERVED.min(allowed / 4) >= allowed
}

impl Target {
    /// Whether this is an open file of the host's that processes may not have, see [`RESERVED`].
    pub(super) fn takes_the_hosts_last(&self) -> bool {
        let (Target::File(file) | Target::Directory { file, .. }) = self else { return false };
        let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
        limit.is_some_and(|allowed| is_reserved(file.as_raw_fd(), allowed))
    }
}

/// What `epoll` looks at: a descriptor, the file that it referred to then, events, and what the process calls it.
#[derive(Clone, Copy, Debug)]
pub(in crate::se) struct Interest {
    pub fd: u32,
    pub file: FileId,
    pub events: u32,
    pub data: u64,
}

/// An open file, whatever descriptors stand for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::se) struct FileId {
    pub(super) slot: usize,
    pub(super) serial: u64,
}

/// A directory's entry.
#[derive(Clone, Debug)]
pub(in crate::se) struct Entry {
    pub name: Vec<u8>,
    pub inode: u64,
    /// `DT_...`
    pub kind: u8,
}

/// An open file: what `dup` shares.
#[derive(Debug)]
pub(in crate::se) struct Open {
    pub target: Target,
    /// Flags as `fcntl` reports them.
    pub flags: u64,
    /// Below the allowed directory.
    pub path: PathBuf,
}

impl Files {
    /// What can be done with a file now without waiting, in a process with these signals `pending`; nothing with one that is
    /// closed.
    pub fn ready(&self, id: FileId, pending: u64) -> Ready {
        let nothing = Ready { read: false, write: false, hung_up: false };
        let shared = self.open.get(id.slot).and_then(Option::as_ref).filter(|s| s.serial == id.serial);
        match shared.map(|s| &s.open.target) {
            None => nothing,
            Some(Target::Pipe { number, .. })
                if shared.is_some_and(|s| s.open.flags & open::ACCESS == open::READ_WRITE) =>
            {
                Ready { write: self.pipes.ready(*number, true).write, ..self.pipes.ready(*number, false) }
            }
            Some(Target::Pipe { number, writes }) => self.pipes.ready(*number, *writes),
            Some(Target::Event { count, .. }) => Ready { read: *count > 0, write: true, hung_up: false },
            Some(Target::Signals(set)) => Ready { read: pending & set != 0, ..nothing },
            // No list holds another one.
            Some(Target::Poll(list)) => Ready { read: list.iter().any(|i| self.events(i, pending) != 0), ..nothing },
            Some(_) => Ready { read: true, write: true, hung_up: false },
        }
    }

    /// The events of an interest that have come: as `poll` names them, errors without being asked for.
    pub fn events(&self, interest: &Interest, pending: u64) -> u32 {
        let r = self.ready(interest.file, pending);
        let bit = |on: bool, bit: u32| if on { bit } else { 0 };
        // A reader sees the end of the data, a writer its error.
        let asked = bit(r.read, event::IN) | bit(r.write, event::OUT);
        let writes = self.writes(interest.file);
        asked & interest.events | bit(r.hung_up, if writes { event::ERR } else { event::HUP })
    }

    fn writes(&self, id: FileId) -> bool {
        let shared = self.open.get(id.slot).and_then(Option::as_ref);
        matches!(shared.map(|s| &s.open.target), Some(Target::Pipe { writes: true, .. }))
    }

    /// The pipe that a descriptor is an end of, and whether it is the one to write to.
    pub fn pipe_of(&mut self, fd: u64) -> Option<(usize, bool)> {
        match self.get(fd).ok()?.target {
            Target::Pipe { number, writes } => Some((number, writes)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_descriptors_of_the_host_are_the_simulators() {
        let first = |allowed| (0..).find(|fd| is_reserved(*fd, allowed));
        assert_eq!([1024, 256, 64, 8, 0].map(first), [960, 192, 48, 6, 0].map(Some));
        assert!(!Target::Null.takes_the_hosts_last());
    }
}
