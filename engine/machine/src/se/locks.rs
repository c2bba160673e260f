//! Locks of files: POSIX's of processes, Linux's of open files (`F_OFD_SETLK`), `flock`'s. They bind the emulated processes
//! among each other; the host's know nothing of them.

use std::collections::BTreeMap;

use super::errno::Errno;
use super::files::FileId;
use super::host::Inode;

/// All locks together.
const MOST: usize = 4096;
/// Behind the last byte that a file can have.
pub(super) const END: u64 = 1 << 63;

/// Whose a lock is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    Process(u32),
    Open(FileId),
}

/// A range of bytes, or one that somebody asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lock {
    pub owner: Owner,
    /// Whether others may lock the same bytes.
    pub shared: bool,
    pub start: u64,
    pub end: u64,
    /// Of `flock`, which does not see the others.
    pub whole: bool,
}

impl Lock {
    fn conflicts_with(&self, other: &Lock) -> bool {
        self.whole == other.whole
            && self.owner != other.owner
            && !(self.shared && other.shared)
            && self.start < other.end
            && other.start < self.end
    }
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Locks(BTreeMap<Inode, Vec<Lock>>);

impl Locks {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The locks that conflict with `asked`, by start.
    pub fn conflicts<'a>(&'a self, file: Inode, asked: &'a Lock) -> impl Iterator<Item = &'a Lock> {
        self.0.get(&file).into_iter().flatten().filter(|lock| lock.conflicts_with(asked))
    }

    /// Takes from an owner what it has of a range.
    pub fn release(&mut self, file: Inode, range: &Lock) {
        let Some(list) = self.0.get_mut(&file) else { return };
        let mine = |lock: &Lock| lock.owner == range.owner && lock.whole == range.whole;
        let cut = |lock: Lock| {
            let before = Lock { end: lock.end.min(range.start), ..lock };
            let behind = Lock { start: lock.start.max(range.end), ..lock };
            [before, behind].into_iter().filter(|part| part.start < part.end)
        };
        let (own, others): (Vec<Lock>, Vec<Lock>) = list.iter().partition(|lock| mine(lock));
        *list = others;
        list.extend(own.into_iter().flat_map(cut));
        if list.is_empty() {
            self.0.remove(&file);
        }
    }

    /// Grants a lock without conflicts, in place of its owner's locks there.
    ///
    /// # Errors
    /// ENOLCK: there are as many as there may be.
    pub fn grant(&mut self, file: Inode, lock: Lock) -> Result<(), Errno> {
        if self.0.values().map(Vec::len).sum::<usize>() >= MOST {
            return Err(Errno(libc::ENOLCK));
        }
        self.release(file, &lock);
        let list = self.0.entry(file).or_default();
        // One with its neighbours of the same kind.
        let mut whole = lock;
        let joins = |a: &Lock, b: &Lock| {
            (a.owner, a.shared, a.whole) == (b.owner, b.shared, b.whole) && (a.end == b.start || b.end == a.start)
        };
        list.retain(|other| {
            let joined = joins(other, &lock);
            if joined {
                (whole.start, whole.end) = (whole.start.min(other.start), whole.end.max(other.end));
            }
            !joined
        });
        list.push(whole);
        list.sort_by_key(|lock| lock.start);
        Ok(())
    }

    /// All that an owner has of a file.
    pub fn forget(&mut self, file: Inode, owner: Owner) {
        for whole in [false, true] {
            self.release(file, &Lock { owner, shared: false, start: 0, end: END, whole });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: Inode = (1, 2);

    fn of(process: u32, shared: bool, start: u64, end: u64) -> Lock {
        Lock { owner: Owner::Process(process), shared, start, end, whole: false }
    }
    fn all(locks: &Locks) -> Vec<(u64, u64, bool)> {
        locks.0.get(&FILE).into_iter().flatten().map(|l| (l.start, l.end, l.shared)).collect()
    }

    #[test]
    fn ranges_are_split_joined_and_replaced() {
        let mut locks = Locks::default();
        locks.grant(FILE, of(1, false, 10, 20)).expect("room");
        locks.grant(FILE, of(1, false, 20, 30)).expect("room");
        assert_eq!(all(&locks), [(10, 30, false)]);
        locks.grant(FILE, of(1, true, 14, 16)).expect("room");
        assert_eq!(all(&locks), [(10, 14, false), (14, 16, true), (16, 30, false)]);
        assert_eq!(locks.conflicts(FILE, &of(2, true, 14, 16)).count(), 0);
        assert_eq!(locks.conflicts(FILE, &of(2, true, 13, 17)).count(), 2);
        assert_eq!(locks.conflicts(FILE, &of(1, false, 0, END)).count(), 0, "its own");
        assert_eq!(locks.conflicts(FILE, &Lock { whole: true, ..of(2, false, 0, END) }).count(), 0, "flock");
        locks.release(FILE, &of(1, false, 12, 18));
        assert_eq!(all(&locks), [(10, 12, false), (18, 30, false)]);
        locks.forget(FILE, Owner::Process(2));
        assert_eq!(all(&locks).len(), 2);
        locks.forget(FILE, Owner::Process(1));
        assert!(locks.is_empty());
    }

    #[test]
    fn there_is_an_end_of_them() {
        let mut locks = Locks::default();
        let full = (0..2 * MOST as u64).find_map(|n| locks.grant(FILE, of(1, false, 2 * n, 2 * n + 1)).err());
        assert_eq!(full, Some(Errno(libc::ENOLCK)));
    }
}
