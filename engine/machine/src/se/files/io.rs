//! Opening, reading, writing.

use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use cap_std::fs::{OpenOptions, OpenOptionsExt};

use super::target::{open, Open, Target};
use super::{Files, Room, WRITE_LIMIT};
use crate::se::errno::{Errno, EAGAIN, EBADF, EISDIR, ENOENT, ENOSPC, ESPIPE};
use crate::se::host::{is_kernels, join, path_of};
use crate::se::random::Random;

impl Files {
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

    /// Reads up to `to.len()` bytes, at `offset` or at the file offset.
    pub fn read(&mut self, fd: u64, to: &mut [u8], offset: Option<u64>, random: &mut Random) -> Result<usize, Errno> {
        if let Target::Stdin = self.get(fd)?.target {
            if offset.is_some() {
                return Err(ESPIPE);
            }
            let rest = &self.stdin.bytes[self.stdin.at..];
            let n = rest.len().min(to.len());
            to[..n].copy_from_slice(&rest[..n]);
            self.stdin.at += n;
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
    pub fn write(&mut self, fd: u64, from: &[u8], offset: Option<u64>, room: &mut Room) -> Result<usize, Errno> {
        let file = self.get(fd)?;
        if file.flags & open::ACCESS == 0 {
            return Err(EBADF);
        }
        let written = match &mut file.target {
            Target::File(f) => {
                let in_memory = file.flags & open::MEMORY != 0;
                let left = room.left(in_memory);
                let from = &from[..from.len().min(usize::try_from(left).unwrap_or(usize::MAX))];
                let far = offset.is_some_and(|at| at > WRITE_LIMIT) || f.stream_position()? > WRITE_LIMIT;
                if from.is_empty() || far {
                    return if left == 0 || far { Err(ENOSPC) } else { Ok(0) };
                }
                let n = match offset {
                    Some(at) => f.write_at(from, at)?,
                    None => f.write(from)?,
                };
                room.take(n as u64, in_memory);
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

    /// Moves the file offset; `whence` as lseek has it.
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
