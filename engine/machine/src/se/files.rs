//! Descriptors: the three standard ones, regular files and directories below the allowed directory, and the few devices that
//! are only data (`/dev/null`, `/dev/zero`, `/dev/urandom`).

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use cap_std::fs::{OpenOptions, OpenOptionsExt};

use super::errno::{Errno, EAGAIN, EBADF, EISDIR, ENOENT, ENOSPC, ESPIPE};
use super::host::{here, is_kernels, join, path_of, Host, Root};
use super::pipes::{Pipes, Ready};
use super::random::Random;
use crate::platform::Console;
use crate::EngineError;

/// Descriptors of one process.
pub(super) const MOST: usize = 256;
/// Open files of all processes.
const MOST_OPEN: usize = 4096;
/// All that the processes may write to files together, in bytes: a runaway guest must not fill the host's disk.
pub(super) const WRITE_LIMIT: u64 = 4 << 30;

/// As [`WRITE_LIMIT`], to files in memory (`memfd_create`): they are in the host's.
const MEMORY_LIMIT: u64 = 256 << 20;

pub(super) mod open {
    pub const ACCESS: u64 = 3;
    pub const WRITE_ONLY: u64 = 1;
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
pub(super) mod event {
    pub const IN: u32 = 1;
    pub const OUT: u32 = 4;
    pub const ERR: u32 = 8;
    pub const HUP: u32 = 0x10;
    pub const INVALID: u32 = 0x20;
    pub const ONE_SHOT: u32 = 1 << 30;
}

/// What a descriptor stands for.
#[derive(Debug)]
pub(super) enum Target {
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

/// What `epoll` looks at: a descriptor, the file that it stood for then, events, and what the process calls it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Interest {
    pub fd: u32,
    pub file: FileId,
    pub events: u32,
    pub data: u64,
}

/// An open file, whatever descriptors stand for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileId {
    slot: usize,
    serial: u64,
}

/// A directory's entry.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub name: Vec<u8>,
    pub inode: u64,
    /// `DT_...`
    pub kind: u8,
}

/// An open file: what `dup` shares.
#[derive(Debug)]
pub(super) struct Open {
    pub target: Target,
    /// Flags as `fcntl` reports them.
    pub flags: u64,
    /// Below the allowed directory.
    pub path: PathBuf,
}

#[derive(Clone, Copy, Debug)]
struct Descriptor {
    open: usize,
    close_on_exec: bool,
}

/// What is a process's own.
#[derive(Clone, Debug)]
pub(super) struct Table {
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

/// See the module. All processes share the open files; the table is the running one's.
#[derive(Debug)]
pub(super) struct Files {
    pub root: Option<Root>,
    pub table: Table,
    open: Vec<Option<Shared>>,
    /// Of the file opened last.
    serial: u64,
    stdin: Vec<u8>,
    stdin_at: usize,
    pub stdout: Console,
    pub stderr: Console,
    /// Both, as they came, while neither has a sink.
    pub both: Vec<u8>,
    pub pipes: Pipes,
    pub written: u64,
    /// Bytes that may still be written to files in memory.
    memory_left: u64,
    /// Files, directories and links made, and how many may be.
    made: u64,
    max_files: u64,
    /// Access and modification that the process has set, by inode: seconds and nanoseconds each.
    pub times: BTreeMap<u64, [u64; 4]>,
}

impl Files {
    /// # Errors
    /// An allowed directory that cannot be opened.
    pub fn new(host: &Host, cwd: &str) -> Result<Files, EngineError> {
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
            table: Table { cwd, umask: 0o022, descriptors: vec![number(0), number(1), number(2)] },
            open: vec![
                standard(Target::Stdin, 0),
                standard(Target::Stdout, open::WRITE_ONLY),
                standard(Target::Stderr, open::WRITE_ONLY),
            ],
            serial: 0,
            stdin: host.stdin.clone(),
            stdin_at: 0,
            stdout: Console::default(),
            stderr: Console::default(),
            both: Vec::new(),
            pipes: Pipes::default(),
            written: 0,
            memory_left: MEMORY_LIMIT,
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
        if at >= MOST_OPEN {
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

    /// One descriptor less stands for an open file.
    fn release(&mut self, d: Descriptor) {
        let Some(slot) = self.open.get_mut(d.open) else { return };
        let Some(shared) = slot else { return };
        shared.descriptors -= 1;
        if shared.descriptors == 0 {
            if let Some(Shared { open: Open { target: Target::Pipe { number, writes }, .. }, .. }) = slot.take() {
                self.pipes.close(number, writes);
            }
        }
    }

    /// The table of a child: the same open files.
    pub fn fork(&mut self) -> Table {
        for d in self.table.descriptors.iter().flatten() {
            if let Some(Some(shared)) = self.open.get_mut(d.open) {
                shared.descriptors += 1;
            }
        }
        self.table.clone()
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

    /// The open file behind a descriptor.
    pub fn id(&self, fd: u64) -> Result<FileId, Errno> {
        let slot = self.descriptor(fd)?.open;
        let shared = self.open.get(slot).and_then(Option::as_ref).ok_or(EBADF)?;
        Ok(FileId { slot, serial: shared.serial })
    }

    /// What can be done with a file now without waiting, in a process with these signals `pending`; nothing with one that is
    /// closed.
    pub fn ready(&self, id: FileId, pending: u64) -> Ready {
        let nothing = Ready { read: false, write: false, hung_up: false };
        let shared = self.open.get(id.slot).and_then(Option::as_ref).filter(|s| s.serial == id.serial);
        match shared.map(|s| &s.open.target) {
            None => nothing,
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

    /// A path below the allowed directory. `from` is the descriptor of the directory where a relative one starts, `None`
    /// the working directory.
    pub fn resolve(&mut self, from: Option<u64>, bytes: &[u8]) -> Result<PathBuf, Errno> {
        let path = path_of(bytes);
        let start = match from {
            Some(fd) if path.is_relative() => match self.get(fd)? {
                Open { target: Target::Directory { .. }, path, .. } => path.clone(),
                _ => return Err(Errno(libc::ENOTDIR)),
            },
            _ => self.table.cwd.clone(),
        };
        let root = self.root.as_ref().ok_or(ENOENT)?;
        if bytes.is_empty() {
            return Err(ENOENT);
        }
        if path.is_absolute() {
            return root.below(path).ok_or(ENOENT);
        }
        Ok(join(&start, path))
    }

    /// Opens a path below the allowed directory.
    pub fn open(&mut self, path: PathBuf, flags: u64, mode: u32) -> Result<u64, Errno> {
        let root = self.root.as_ref().ok_or(ENOENT)?;
        let write = flags & open::ACCESS != 0;
        let changes = write || flags & (open::CREATE | open::TRUNCATE) != 0;
        if flags & open::NOT_MODELLED != 0 {
            return Err(Errno(libc::EOPNOTSUPP));
        }
        if changes && !root.writable {
            // What is there can be opened for reading even with O_CREAT.
            let reads = !write && flags & open::TRUNCATE == 0 && root.dir.exists(&path);
            if !reads {
                return Err(Errno(libc::EROFS));
            }
        }
        let makes = flags & open::CREATE != 0 && write && !root.dir.exists(&path);
        let follow = if flags & open::NO_FOLLOW != 0 { libc::O_NOFOLLOW } else { 0 };
        let mut how = OpenOptions::new();
        how.read(flags & open::ACCESS != open::WRITE_ONLY)
            .write(write && flags & open::APPEND == 0)
            .append(write && flags & open::APPEND != 0)
            .create(flags & open::CREATE != 0 && root.writable && write)
            .create_new(flags & (open::CREATE | open::EXCLUSIVE) == open::CREATE | open::EXCLUSIVE && write)
            .truncate(flags & open::TRUNCATE != 0 && write && flags & open::APPEND == 0)
            .mode(mode & 0o777 & !self.table.umask)
            // A pipe that somebody put there must not hold the simulator up.
            .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY | follow);
        if makes {
            self.make()?;
        }
        let file = self.root.as_ref().ok_or(ENOENT)?.dir.open_with(&path, &how)?.into_std();
        let kind = file.metadata()?.file_type();
        let target = if kind.is_dir() {
            Target::Directory { file, entries: None, at: 0 }
        } else if flags & open::DIRECTORY != 0 {
            return Err(Errno(libc::ENOTDIR));
        } else if kind.is_file() && !is_kernels(&file) {
            Target::File(file)
        } else {
            return Err(Errno(libc::EACCES));
        };
        self.insert(Open { target, flags, path })
    }

    /// Reads up to `to.len()` bytes, at `offset` or where the file stands.
    pub fn read(&mut self, fd: u64, to: &mut [u8], offset: Option<u64>, random: &mut Random) -> Result<usize, Errno> {
        if let Target::Stdin = self.get(fd)?.target {
            if offset.is_some() {
                return Err(ESPIPE);
            }
            let rest = &self.stdin[self.stdin_at..];
            let n = rest.len().min(to.len());
            to[..n].copy_from_slice(&rest[..n]);
            self.stdin_at += n;
            return Ok(n);
        }
        let file = self.get(fd)?;
        if file.flags & open::ACCESS == open::WRITE_ONLY {
            return Err(EBADF);
        }
        match &mut file.target {
            Target::Pipe { .. } if offset.is_some() => Err(ESPIPE),
            Target::Pipe { number, .. } => {
                let number = *number;
                self.pipes.read(number, to)
            }
            Target::File(f) => Ok(match offset {
                Some(at) => f.read_at(to, at)?,
                None => f.read(to)?,
            }),
            Target::Zero => {
                to.fill(0);
                Ok(to.len())
            }
            Target::Event { .. } if to.len() < 8 => Err(Errno(libc::EINVAL)),
            Target::Event { count: 0, .. } => Err(EAGAIN),
            Target::Event { count, semaphore } => {
                let taken = if *semaphore { 1 } else { *count };
                *count -= taken;
                to[..8].copy_from_slice(&taken.to_le_bytes());
                Ok(8)
            }
            Target::Poll(_) | Target::Signals(_) => Err(Errno(libc::EINVAL)),
            Target::Random => {
                random.fill(to);
                Ok(to.len())
            }
            Target::Directory { .. } => Err(EISDIR),
            _ => Ok(0),
        }
    }

    /// Writes; returns how many bytes.
    pub fn write(&mut self, fd: u64, from: &[u8], offset: Option<u64>) -> Result<usize, Errno> {
        let (room, memory) = (WRITE_LIMIT - self.written.min(WRITE_LIMIT), self.memory_left);
        let file = self.get(fd)?;
        if file.flags & open::ACCESS == 0 {
            return Err(EBADF);
        }
        let written = match &mut file.target {
            Target::File(f) => {
                let in_memory = file.flags & open::MEMORY != 0;
                let room = if in_memory { room.min(memory) } else { room };
                let from = &from[..from.len().min(usize::try_from(room).unwrap_or(usize::MAX))];
                let far = offset.is_some_and(|at| at > WRITE_LIMIT) || f.stream_position()? > WRITE_LIMIT;
                if from.is_empty() || far {
                    return if room == 0 || far { Err(ENOSPC) } else { Ok(0) };
                }
                let n = match offset {
                    Some(at) => f.write_at(from, at)?,
                    None => f.write(from)?,
                };
                self.written += n as u64;
                if in_memory {
                    self.memory_left -= n as u64;
                }
                return Ok(n);
            }
            Target::Null | Target::Zero | Target::Random => return Ok(from.len()),
            Target::Stdout | Target::Stderr | Target::Pipe { .. } if offset.is_some() => return Err(ESPIPE),
            Target::Pipe { number, .. } => {
                let number = *number;
                return self.pipes.write(number, from);
            }
            Target::Stdout => self.stdout.write(from),
            Target::Stderr => self.stderr.write(from),
            Target::Event { count, .. } => {
                let bytes: [u8; 8] = from.get(..8).and_then(|b| b.try_into().ok()).ok_or(Errno(libc::EINVAL))?;
                let sum = count.checked_add(u64::from_le_bytes(bytes)).ok_or(Errno(libc::EINVAL))?;
                if sum == u64::MAX {
                    return Err(EAGAIN);
                }
                *count = sum;
                return Ok(8);
            }
            Target::Poll(_) | Target::Signals(_) => return Err(Errno(libc::EINVAL)),
            Target::Stdin | Target::Directory { .. } => return Err(EBADF),
        };
        written.map_err(Errno)?;
        if !self.stdout.has_sink() && !self.stderr.has_sink() {
            self.both.extend_from_slice(from);
        }
        Ok(from.len())
    }

    /// Moves where a file stands; `whence` as lseek has it.
    pub fn seek(&mut self, fd: u64, offset: i64, whence: u64) -> Result<u64, Errno> {
        let file = self.get(fd)?;
        match &mut file.target {
            Target::File(f) => {
                let to = match whence {
                    0 => SeekFrom::Start(u64::try_from(offset).map_err(|_| Errno(libc::EINVAL))?),
                    1 => SeekFrom::Current(offset),
                    2 => SeekFrom::End(offset),
                    _ => return Err(Errno(libc::EINVAL)),
                };
                Ok(f.seek(to)?)
            }
            Target::Directory { entries, at, .. } if whence == 0 => {
                (*entries, *at) = (None, usize::try_from(offset).unwrap_or(0));
                Ok(*at as u64)
            }
            Target::Null | Target::Zero | Target::Random => Ok(0),
            _ => Err(ESPIPE),
        }
    }
}
