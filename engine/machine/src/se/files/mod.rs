//! Descriptors: the three standard ones, regular files and directories below the allowed directory, and the few devices that
//! are only data (`/dev/null`, `/dev/zero`, `/dev/urandom`).

mod io;
mod target;

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::errno::{Errno, EBADF};
use super::host::{here, Host, Inode, Root};
use super::locks::{Locks, Owner};
use super::pipes::Pipes;
use crate::platform::Console;
use crate::EngineError;

pub(super) use target::{event, open, Entry, FileId, Interest, Open, Target};

/// Descriptors of one process.
pub(super) const MOST: usize = 256;
/// Open files of all processes.
const MOST_OPEN: usize = 4096;
/// All that the processes may write to files together, in bytes: a runaway guest must not fill the host's disk.
pub(super) const WRITE_LIMIT: u64 = 4 << 30;

/// Entries of all directories that are being read, in lists that the host keeps.
pub(super) const MOST_LISTED: usize = 1 << 17;

/// As [`WRITE_LIMIT`], to files in memory (`memfd_create`): they are in the host's.
const MEMORY_LIMIT: u64 = 256 << 20;

/// Bytes that may still go to files, whether a process writes them or stores them to a mapping.
#[derive(Debug)]
pub(super) struct Room {
    pub all: u64,
    /// Of it, to files in memory.
    pub memory: u64,
}

impl Default for Room {
    fn default() -> Room {
        Room { all: WRITE_LIMIT, memory: MEMORY_LIMIT }
    }
}

impl Room {
    /// For one file.
    pub fn left(&self, in_memory: bool) -> u64 {
        if in_memory {
            self.all.min(self.memory)
        } else {
            self.all
        }
    }
    /// Takes what is left, `bytes` of it.
    pub fn take(&mut self, bytes: u64, in_memory: bool) {
        self.all -= bytes;
        if in_memory {
            self.memory -= bytes;
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Descriptor {
    open: usize,
    close_on_exec: bool,
}

/// What is a process's own.
#[derive(Clone, Debug)]
pub(super) struct Table {
    /// The process's number.
    pub pid: u32,
    /// The working directory below the allowed one.
    pub cwd: PathBuf,
    pub umask: u32,
    descriptors: Vec<Option<Descriptor>>,
}

/// An open file, and how many descriptors stand for it.
#[derive(Debug)]
struct Shared {
    open: Open,
    descriptors: usize,
    serial: u64,
}

/// Standard input, and how far it has been read.
#[derive(Debug)]
struct Stdin {
    bytes: Vec<u8>,
    at: usize,
}

/// See the module. All processes share the open files; the table is the running one's.
#[derive(Debug)]
pub(super) struct Files {
    pub root: Option<Root>,
    pub table: Table,
    open: Vec<Option<Shared>>,
    /// Of the file opened last.
    serial: u64,
    stdin: Stdin,
    pub stdout: Console,
    pub stderr: Console,
    /// Both, as they came, while neither has a sink.
    pub both: Vec<u8>,
    pub pipes: Pipes,
    pub locks: Locks,
    /// Files, directories and links made, and how many may be.
    made: u64,
    max_files: u64,
    /// Access and modification that the process has set, by inode: seconds and nanoseconds each.
    pub times: BTreeMap<u64, [u64; 4]>,
}

impl Files {
    /// # Errors
    /// An allowed directory that cannot be opened.
    pub fn new(host: &Host, cwd: &str, pid: u32) -> Result<Files, EngineError> {
        let root = Root::open(host)?;
        let cwd = root
            .as_ref()
            .filter(|_| !cwd.is_empty())
            .and_then(|r| {
                let below = r.below(Path::new(cwd)).unwrap_or_else(|| PathBuf::from(cwd));
                r.dir.canonicalize(below).ok().map(|path| here(&path))
            })
            .unwrap_or_else(|| PathBuf::from("."));
        let standard = |target, flags| {
            Some(Shared { open: Open { target, flags, path: PathBuf::new() }, descriptors: 1, serial: 0 })
        };
        let number = |open| Some(Descriptor { open, close_on_exec: false });
        Ok(Files {
            root,
            table: Table { pid, cwd, umask: 0o022, descriptors: vec![number(0), number(1), number(2)] },
            open: vec![
                standard(Target::Stdin, 0),
                standard(Target::Stdout, open::WRITE_ONLY),
                standard(Target::Stderr, open::WRITE_ONLY),
            ],
            serial: 0,
            stdin: Stdin { bytes: host.stdin.clone(), at: 0 },
            stdout: Console::default(),
            stderr: Console::default(),
            both: Vec::new(),
            pipes: Pipes::default(),
            locks: Locks::default(),
            made: 0,
            max_files: host.max_files,
            times: BTreeMap::new(),
        })
    }

    fn descriptor(&self, fd: u64) -> Result<Descriptor, Errno> {
        // Descriptors are int: the upper half is not theirs.
        self.table.descriptors.get(fd as u32 as usize).copied().flatten().ok_or(EBADF)
    }
    pub fn get(&mut self, fd: u64) -> Result<&mut Open, Errno> {
        let d = self.descriptor(fd)?;
        self.open.get_mut(d.open).and_then(Option::as_mut).map(|shared| &mut shared.open).ok_or(EBADF)
    }

    /// Entries of the directories that are being read.
    pub fn listed(&self) -> usize {
        let length = |shared: &Shared| match &shared.open.target {
            Target::Directory { entries: Some(list), .. } => list.len(),
            _ => 0,
        };
        self.open.iter().flatten().map(length).sum()
    }

    /// Puts an open file at the lowest free descriptor from `least` on.
    fn place(&mut self, open: usize, close_on_exec: bool, least: usize) -> Result<u64, Errno> {
        let descriptors = &mut self.table.descriptors;
        let free = (least..MOST).find(|n| descriptors.get(*n).is_none_or(Option::is_none));
        let at = free.ok_or(Errno(libc::EMFILE))?;
        if descriptors.len() <= at {
            descriptors.resize(at + 1, None);
        }
        descriptors[at] = Some(Descriptor { open, close_on_exec });
        if let Some(Some(shared)) = self.open.get_mut(open) {
            shared.descriptors += 1;
        }
        Ok(at as u64)
    }

    pub fn insert(&mut self, file: Open) -> Result<u64, Errno> {
        let close_on_exec = file.flags & open::CLOSE_ON_EXEC != 0;
        let at = self.open.iter().position(Option::is_none).unwrap_or(self.open.len());
        if at >= MOST_OPEN || file.target.takes_the_hosts_last() {
            return Err(Errno(libc::ENFILE));
        }
        let fd = self.place(at, close_on_exec, 0)?;
        self.serial += 1;
        let shared = Some(Shared { open: file, descriptors: 1, serial: self.serial });
        if at == self.open.len() {
            self.open.push(shared);
        } else {
            self.open[at] = shared;
        }
        Ok(fd)
    }

    pub fn close(&mut self, fd: u64) -> Result<(), Errno> {
        let d = self.descriptor(fd)?;
        self.table.descriptors[fd as u32 as usize] = None;
        self.release(d);
        Ok(())
    }

    /// The file behind a descriptor; what is none is a file of its own.
    pub fn inode(&self, fd: u64) -> Result<Inode, Errno> {
        Ok(self.inode_of(self.descriptor(fd)?.open))
    }
    fn inode_of(&self, open: usize) -> Inode {
        let target = self.open.get(open).and_then(Option::as_ref).map(|shared| &shared.open.target);
        let file = match target {
            Some(Target::File(file) | Target::Directory { file, .. }) => file.metadata().ok(),
            _ => None,
        };
        file.map_or((u64::MAX, open as u64), |meta| (meta.dev(), meta.ino()))
    }

    /// One descriptor of this process less refers to an open file.
    fn release(&mut self, d: Descriptor) {
        let locked = (!self.locks.is_empty()).then(|| self.inode_of(d.open));
        if let Some(inode) = locked {
            // As POSIX has it: whatever other descriptors it has for the file.
            self.locks.forget(inode, Owner::Process(self.table.pid));
        }
        let Some(slot) = self.open.get_mut(d.open) else { return };
        let Some(shared) = slot else { return };
        shared.descriptors -= 1;
        if shared.descriptors == 0 {
            if let Some(inode) = locked {
                self.locks.forget(inode, Owner::Open(FileId { slot: d.open, serial: shared.serial }));
            }
            if let Some(Shared { open: Open { target: Target::Pipe { number, writes }, flags, .. }, .. }) = slot.take()
            {
                self.pipes.close(number, writes);
                if flags & open::ACCESS == open::READ_WRITE {
                    self.pipes.close(number, !writes);
                }
            }
        }
    }

    /// The table of a child: the same open files.
    pub fn fork(&mut self, pid: u32) -> Table {
        for d in self.table.descriptors.iter().flatten() {
            if let Some(Some(shared)) = self.open.get_mut(d.open) {
                shared.descriptors += 1;
            }
        }
        Table { pid, ..self.table.clone() }
    }

    /// Closes everything (a process ends), or what another program is not to have.
    pub fn close_all(&mut self, on_exec: bool) {
        for n in 0..self.table.descriptors.len() {
            if let Some(d) = self.table.descriptors[n].filter(|d| d.close_on_exec || !on_exec) {
                self.table.descriptors[n] = None;
                self.release(d);
            }
        }
    }

    /// A pipe: the descriptors of its two ends.
    pub fn pipe(&mut self, flags: u64) -> Result<[u64; 2], Errno> {
        let number = self.pipes.make();
        let end = |writes| Open {
            target: Target::Pipe { number, writes },
            flags: flags & (open::CLOSE_ON_EXEC | open::NON_BLOCKING) | u64::from(writes),
            path: PathBuf::new(),
        };
        let ends = self.insert(end(false)).and_then(|reads| match self.insert(end(true)) {
            Ok(writes) => Ok([reads, writes]),
            Err(e) => self.close(reads).and(Err(e)),
        });
        if ends.is_err() {
            self.pipes.close(number, false);
            self.pipes.close(number, true);
        }
        ends
    }

    /// The file at a path, if it is a named pipe.
    pub fn named_pipe(&self, path: &Path, flags: u64) -> Option<Inode> {
        use cap_std::fs::{FileTypeExt, MetadataExt};
        let dir = &self.root.as_ref()?.dir;
        let found = if flags & open::NO_FOLLOW != 0 { dir.symlink_metadata(path) } else { dir.metadata(path) };
        let found = found.ok().filter(|m| m.file_type().is_fifo())?;
        Some((found.dev(), found.ino()))
    }

    /// The open file behind a descriptor.
    pub fn id(&self, fd: u64) -> Result<FileId, Errno> {
        let slot = self.descriptor(fd)?.open;
        let shared = self.open.get(slot).and_then(Option::as_ref).ok_or(EBADF)?;
        Ok(FileId { slot, serial: shared.serial })
    }

    /// Counts one more file that the process makes.
    ///
    /// # Errors
    /// EDQUOT: as many as may be are there.
    pub fn make(&mut self) -> Result<(), Errno> {
        if self.made >= self.max_files {
            return Err(Errno(libc::EDQUOT));
        }
        self.made += 1;
        Ok(())
    }
    pub fn max_files(&self) -> u64 {
        self.max_files
    }

    /// A second descriptor for the same open file: the lowest from `least` on.
    pub fn duplicate(&mut self, fd: u64, least: u64, close_on_exec: bool) -> Result<u64, Errno> {
        let d = self.descriptor(fd)?;
        if least >= MOST as u64 {
            return Err(Errno(libc::EINVAL));
        }
        self.place(d.open, close_on_exec, least as usize)
    }
    /// As `duplicate`, at `to`, which is closed first.
    pub fn duplicate_to(&mut self, fd: u64, to: u64, close_on_exec: bool) -> Result<u64, Errno> {
        let d = self.descriptor(fd)?;
        if to >= MOST as u64 {
            return Err(EBADF);
        }
        if to == fd {
            return Ok(to);
        }
        // It need not be open.
        let _ = self.close(to);
        self.place(d.open, close_on_exec, to as usize)
    }
    pub fn close_on_exec(&mut self, fd: u64, set: Option<bool>) -> Result<bool, Errno> {
        let mut d = self.descriptor(fd)?;
        if let Some(on) = set {
            d.close_on_exec = on;
            self.table.descriptors[fd as u32 as usize] = Some(d);
        }
        Ok(d.close_on_exec)
    }
}
