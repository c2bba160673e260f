//! Calls that take paths, and what files are.

use std::fs::Metadata;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use super::super::errno::{Errno, EFAULT, EINVAL, ENOENT, EROFS};
use super::super::files::{open, Open, Target};
use super::super::host::{here, Inode};
use super::super::task::Until;
use super::{Call, R};
use crate::IsaName;

pub(super) const AT_FDCWD: i32 = -100;
pub(super) const AT_SYMLINK_NOFOLLOW: u64 = 0x100;
pub(super) const AT_EMPTY_PATH: u64 = 0x1000;
const S_IFCHR: u32 = 0o020_000;
const S_IFIFO: u32 = 0o010_000;
const BLOCK: u64 = 4096;
const W_OK: u64 = 2;

/// What `stat` tells of a file. Times are the start of the simulation, unless the process has set others: a copy of the same
/// files gives the same run.
pub(super) struct Facts {
    pub inode: u64,
    pub mode: u32,
    links: u32,
    size: u64,
    blocks: u64,
}

impl From<&Metadata> for Facts {
    fn from(m: &Metadata) -> Facts {
        Facts { inode: m.ino(), mode: m.mode(), links: m.nlink() as u32, size: m.size(), blocks: m.blocks() }
    }
}

/// A device that is no host file.
const DEVICE: Facts = Facts { inode: 1, mode: S_IFCHR | 0o666, links: 1, size: 0, blocks: 0 };

/// The descriptor that a path names.
fn descriptor_of(path: &[u8]) -> Option<u64> {
    match path {
        b"/dev/stdin" => Some(0),
        b"/dev/stdout" => Some(1),
        b"/dev/stderr" => Some(2),
        _ => {
            let number = path.strip_prefix(b"/dev/fd/").or_else(|| path.strip_prefix(b"/proc/self/fd/"))?;
            std::str::from_utf8(number).ok()?.parse::<u32>().ok().map(u64::from)
        }
    }
}

impl Call<'_> {
    pub(super) fn path_call(&mut self, name: &str) -> Option<R> {
        let [a, b, c, d, ..] = self.args;
        let cwd = i64::from(AT_FDCWD) as u64;
        Some(match name {
            "openat" => self.open(a, b, c, d),
            "open" => self.open(cwd, a, b, c),
            "creat" => self.open(cwd, a, open::CREATE | open::WRITE_ONLY | open::TRUNCATE, b),
            "newfstatat" => self.stat_at(a, b, c, d),
            "stat" => self.stat_at(cwd, a, b, 0),
            "lstat" => self.stat_at(cwd, a, b, AT_SYMLINK_NOFOLLOW),
            "fstat" => self.facts_of(a).and_then(|f| self.write_stat(b, &f)),
            "statx" => self.statx(),
            "faccessat" => self.access(a, b, c),
            "faccessat2" => self.access(a, b, c),
            "access" => self.access(cwd, a, b),
            "readlinkat" => self.readlink(a, b, c, d),
            "readlink" => self.readlink(cwd, a, b, c),
            "getcwd" => self.getcwd(),
            "chdir" => self.chdir(),
            "fchdir" => self.fchdir(),
            "umask" => {
                let old = std::mem::replace(&mut self.p.files.table.umask, a as u32 & 0o777);
                Ok(u64::from(old))
            }
            _ => return None,
        })
    }

    /// The directory that a relative path starts from.
    fn from(fd: u64) -> Option<u64> {
        (fd as u32 as i32 != AT_FDCWD).then_some(fd)
    }

    /// A path below the allowed directory; says once which one was outside.
    pub(super) fn path(&mut self, fd: u64, at: u64) -> Result<(PathBuf, Vec<u8>), Errno> {
        let text = self.string(at)?;
        let found = self.p.files.resolve(Self::from(fd), &text);
        if found == Err(ENOENT) && !text.is_empty() {
            let shown = String::from_utf8_lossy(&text).into_owned();
            self.p.warn(match &self.p.files.root {
                Some(root) => format!("{shown} is outside of {}: ENOENT", root.name().display()),
                None => format!("{shown} was not looked for: the process may use no directory"),
            });
        }
        found.map(|path| (path, text))
    }

    fn open(&mut self, fd: u64, path: u64, flags: u64, mode: u64) -> R {
        let text = self.string(path)?;
        let device = match text.as_slice() {
            b"/dev/null" => Some(Target::Null),
            b"/dev/zero" => Some(Target::Zero),
            b"/dev/urandom" | b"/dev/random" => Some(Target::Random),
            _ => None,
        };
        if let Some(target) = device {
            return self.p.files.insert(Open { target, flags, path: PathBuf::new() });
        }
        if let Some(fd) = descriptor_of(&text) {
            return self.p.files.duplicate(fd, 0, flags & open::CLOSE_ON_EXEC != 0);
        }
        let (path, _) = self.path(fd, path)?;
        if let Some(file) = self.p.files.named_pipe(&path, flags) {
            return self.open_pipe(file, path, flags);
        }
        let opened = self.p.files.open(path, flags, mode as u32);
        self.warn_of_quota(&opened);
        if let (Ok(fd), true) = (opened, flags & open::TRUNCATE != 0 && self.p.space.shared.has_files()) {
            let inode = self.p.files.inode(fd)?;
            self.p.space.shared.truncate(self.ram, inode, 0);
        }
        opened
    }

    /// Opens a named pipe, when somebody has opened its other end: another emulated process. To read and write is both ends.
    fn open_pipe(&mut self, file: Inode, path: PathBuf, flags: u64) -> R {
        let writes = flags & open::ACCESS == open::WRITE_ONLY;
        let both = flags & open::ACCESS == open::READ_WRITE;
        match () {
            () if flags & open::DIRECTORY != 0 => return Err(Errno(libc::ENOTDIR)),
            () if flags & open::CREATE != 0 && flags & open::EXCLUSIVE != 0 => return Err(Errno(libc::EEXIST)),
            () => {}
        }
        let waits = flags & open::NON_BLOCKING == 0 && !both;
        let pipes = &mut self.p.files.pipes;
        let end = match self.p.task.call.opening.filter(|end| pipes.is_of(end, file, writes)) {
            Some(end) => end,
            None if writes && !waits && !pipes.is_read(file) => return Err(Errno(libc::ENXIO)),
            None => pipes.open(file, writes),
        };
        if waits && !pipes.is_open(&end) {
            self.p.task.call.opening = Some(end);
            return self.wait_for(Until::Opened(end), true, "opens a named pipe whose other end nobody else opens");
        }
        self.p.task.call.opening = None;
        if both {
            self.p.files.pipes.open(file, !writes);
        }
        let target = Target::Pipe { number: end.pipe, writes };
        let opened = self.p.files.insert(Open { target, flags, path });
        if opened.is_err() {
            self.p.files.pipes.close(end.pipe, writes);
            if both {
                self.p.files.pipes.close(end.pipe, !writes);
            }
        }
        opened
    }

    pub(super) fn facts_of(&mut self, fd: u64) -> Result<Facts, Errno> {
        match &self.p.files.get(fd)?.target {
            Target::File(f) | Target::Directory { file: f, .. } => Ok(Facts::from(&f.metadata()?)),
            Target::Pipe { .. } => Ok(Facts { mode: S_IFIFO | 0o600, ..DEVICE }),
            _ => Ok(DEVICE),
        }
    }

    pub(super) fn facts_at(&mut self, fd: u64, path: u64, flags: u64) -> Result<Facts, Errno> {
        let text = self.string(path)?;
        if text.is_empty() && flags & AT_EMPTY_PATH != 0 && fd as u32 as i32 != AT_FDCWD {
            return self.facts_of(fd);
        }
        if matches!(text.as_slice(), b"/dev/null" | b"/dev/zero" | b"/dev/urandom" | b"/dev/random") {
            return Ok(DEVICE);
        }
        if let Some(fd) = descriptor_of(&text) {
            return self.facts_of(fd);
        }
        let (path, _) = self.path(fd, path)?;
        let dir = &self.p.files.root.as_ref().ok_or(ENOENT)?.dir;
        let m = if flags & AT_SYMLINK_NOFOLLOW != 0 { dir.symlink_metadata(path)? } else { dir.metadata(path)? };
        use cap_std::fs::MetadataExt;
        Ok(Facts { inode: m.ino(), mode: m.mode(), links: m.nlink() as u32, size: m.size(), blocks: m.blocks() })
    }

    fn stat_at(&mut self, fd: u64, path: u64, to: u64, flags: u64) -> R {
        let facts = self.facts_at(fd, path, flags)?;
        self.write_stat(to, &facts)
    }

    /// `struct stat`: x86-64 has its own.
    fn write_stat(&mut self, to: u64, f: &Facts) -> R {
        let ids = self.p.task.ids;
        let owner = u64::from(ids.uid) | u64::from(ids.gid) << 32;
        let mut words = vec![1, f.inode];
        match self.p.isa {
            IsaName::X86 => {
                let mode = u64::from(f.mode) | u64::from(ids.uid) << 32;
                words.extend([u64::from(f.links), mode, u64::from(ids.gid), 0, f.size, BLOCK, f.blocks]);
            }
            IsaName::Riscv => {
                let mode = u64::from(f.mode) | u64::from(f.links) << 32;
                words.extend([mode, owner, 0, 0, f.size, BLOCK, f.blocks]);
            }
        }
        // Access, modification, change.
        words.extend(self.times_of(f));
        words.extend([self.p.clock.epoch, 0]);
        words.resize(if self.p.isa == IsaName::X86 { 18 } else { 16 }, 0);
        self.write_words(to, &words)?;
        Ok(0)
    }

    /// Access and modification, seconds and nanoseconds each.
    fn times_of(&self, f: &Facts) -> [u64; 4] {
        let epoch = self.p.clock.epoch;
        self.p.files.times.get(&f.inode).copied().unwrap_or([epoch, 0, epoch, 0])
    }

    fn statx(&mut self) -> R {
        /// Everything that `struct stat` has.
        const BASIC: u64 = 0x7ff;
        let [fd, path, flags, _, to, _] = self.args;
        let f = self.facts_at(fd, path, flags)?;
        let ids = self.p.task.ids;
        let mut words = vec![
            BASIC | BLOCK << 32,
            0,
            u64::from(f.links) | u64::from(ids.uid) << 32,
            u64::from(ids.gid) | u64::from(f.mode) << 32,
            f.inode,
            f.size,
            f.blocks,
            0,
        ];
        // Access, birth, change, modification.
        let (epoch, times) = (self.p.clock.epoch, self.times_of(&f));
        words.extend([times[0], times[1], epoch, 0, epoch, 0, times[2], times[3]]);
        // Devices: of the file none, where it lies 0:1.
        words.extend([0, 1 << 32]);
        words.resize(32, 0);
        self.write_words(to, &words)?;
        Ok(0)
    }

    fn access(&mut self, fd: u64, path: u64, mode: u64) -> R {
        let facts = self.facts_at(fd, path, 0)?;
        let writable = self.p.files.root.as_ref().is_some_and(|r| r.writable) || facts.mode & S_IFCHR == S_IFCHR;
        if mode & W_OK != 0 && !writable {
            return Err(EROFS);
        }
        let bits = (facts.mode >> 6 | facts.mode >> 3 | facts.mode) & 7;
        if mode & 7 & !u64::from(bits) != 0 {
            return Err(Errno(libc::EACCES));
        }
        Ok(0)
    }

    fn readlink(&mut self, fd: u64, path: u64, to: u64, len: u64) -> R {
        if len == 0 || len > i32::MAX as u64 {
            return Err(EINVAL);
        }
        let text = self.string(path)?;
        let mut target = if text == b"/proc/self/exe" {
            // Libraries rely on its being absolute.
            let name = &self.p.task.executable;
            let path = self.working_directory().join(name.strip_prefix("./").unwrap_or(name));
            path.into_os_string().into_encoded_bytes()
        } else {
            let (path, _) = self.path(fd, path)?;
            let dir = &self.p.files.root.as_ref().ok_or(ENOENT)?.dir;
            dir.read_link_contents(path)?.as_os_str().as_bytes().to_vec()
        };
        target.truncate(len as usize);
        self.write(to, &target)?;
        Ok(target.len() as u64)
    }

    fn working_directory(&self) -> PathBuf {
        let files = &self.p.files;
        match &files.root {
            Some(root) if files.table.cwd.as_os_str() == "." => root.name().to_owned(),
            Some(root) => root.name().join(&files.table.cwd),
            None => PathBuf::from("/"),
        }
    }

    fn getcwd(&mut self) -> R {
        let [to, len, ..] = self.args;
        let path = self.working_directory();
        let mut text = path.as_os_str().as_bytes().to_vec();
        text.push(0);
        if (text.len() as u64) > len {
            return Err(Errno(libc::ERANGE));
        }
        self.write(to, &text).map_err(|_| EFAULT)?;
        Ok(text.len() as u64)
    }

    fn chdir(&mut self) -> R {
        let (path, _) = self.path(i64::from(AT_FDCWD) as u64, self.args[0])?;
        let dir = &self.p.files.root.as_ref().ok_or(ENOENT)?.dir;
        if !dir.metadata(&path)?.is_dir() {
            return Err(Errno(libc::ENOTDIR));
        }
        self.p.files.table.cwd = here(&dir.canonicalize(path)?);
        Ok(0)
    }

    fn fchdir(&mut self) -> R {
        match self.p.files.get(self.args[0])? {
            Open { target: Target::Directory { .. }, path, .. } => {
                let path = path.clone();
                self.p.files.table.cwd = path;
                Ok(0)
            }
            _ => Err(Errno(libc::ENOTDIR)),
        }
    }
}
