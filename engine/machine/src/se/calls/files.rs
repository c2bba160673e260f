//! Calls on descriptors.

use std::os::unix::fs::MetadataExt;

use cap_std::fs::FileTypeExt;

use super::super::errno::{Errno, EAGAIN, EBADF, EFAULT, EFBIG, EINVAL, ENOMEM, ENOTTY, EPIPE};
use super::super::files::{open, Entry, Target, MOST, MOST_LISTED};
use super::super::memory::{Prot, PAGE};
use super::super::pipes::WHOLE;
use super::super::signals;
use super::super::task::Until;
use super::{locks, Call, R};

const F_DUPFD: u64 = 0;
const F_GETFD: u64 = 1;
const F_SETFD: u64 = 2;
const F_GETFL: u64 = 3;
const F_SETFL: u64 = 4;
const F_DUPFD_CLOEXEC: u64 = 1030;
/// Bytes moved at a time; a call that asks for more gets less, as it may.
const CHUNK: u64 = 1 << 20;
const DT_FIFO: u8 = 1;
const DT_DIR: u8 = 4;
const DT_REG: u8 = 8;
const DT_LNK: u8 = 10;

impl Call<'_> {
    pub(super) fn file_call(&mut self, name: &str) -> Option<R> {
        let [fd, a, b, c, ..] = self.args;
        Some(match name {
            "read" => self.read_to(fd, a, b, None),
            "pread64" => self.read_to(fd, a, b, Some(c)),
            "write" => self.write_from(fd, a, b, None),
            "pwrite64" => self.write_from(fd, a, b, Some(c)),
            "readv" => self.each_buffer(|call, at, len| call.read_to(fd, at, len, None)),
            "preadv" | "preadv2" => self.each_at(|call, at, len, from| call.read_to(fd, at, len, from)),
            "pwritev" | "pwritev2" => self.each_at(|call, at, len, from| call.write_from(fd, at, len, from)),
            "sendfile" => self.send_file(fd, a, b, c, None),
            "copy_file_range" if self.args[5] != 0 => Err(EINVAL),
            "copy_file_range" => self.send_file(b, fd, a, self.args[4], Some(c)),
            "pipe" => self.pipe(fd, 0),
            "pipe2" => self.pipe(fd, a),
            "close_range" => self.close_range(),
            "readahead" | "sync_file_range" | "syncfs" => self.p.files.get(fd).map(|_| 0),
            "writev" => self.write_vector(fd, a, b),
            "close" => self.p.files.close(fd).map(|()| 0),
            #[allow(clippy::cast_possible_wrap)] // off_t
            "lseek" => self.p.files.seek(fd, a as i64, b),
            "dup" => self.p.files.duplicate(fd, 0, false),
            "dup2" => self.p.files.duplicate_to(fd, a, false),
            "dup3" if fd as u32 == a as u32 => Err(EINVAL),
            "dup3" => self.p.files.duplicate_to(fd, a, b & open::CLOSE_ON_EXEC != 0),
            "fcntl" => self.fcntl(),
            "ioctl" => self.ioctl(),
            "fsync" | "fdatasync" => self.write_back_mapped(fd, Some(0), u64::MAX).and(self.p.files.get(fd).map(|_| 0)),
            "fadvise64" => self.p.files.get(fd).map(|_| 0),
            "flock" => self.flock(fd, a),
            "getdents64" => self.getdents(),
            _ => return None,
        })
    }

    fn read_to(&mut self, fd: u64, at: u64, len: u64, offset: Option<u64>) -> R {
        let len = len.min(CHUNK);
        // What has been read from a file must have somewhere to go: every page, and the last byte's.
        for n in (0..len).step_by(PAGE as usize).chain(len.checked_sub(1)) {
            self.p.space.touch(self.ram, at.checked_add(n).ok_or(EFAULT)?, Prot::WRITE)?;
        }
        let mut buffer = vec![0; len as usize];
        let n = match self.p.files.get(fd)?.target {
            Target::Signals(set) => self.take_signals(fd, set, &mut buffer)?,
            _ => self.take(fd, &mut buffer, offset)?,
        };
        self.write(at, &buffer[..n])?;
        Ok(n as u64)
    }

    /// Reads; at an empty pipe the process waits.
    fn take(&mut self, fd: u64, to: &mut [u8], offset: Option<u64>) -> Result<usize, Errno> {
        self.write_back_mapped(fd, offset, to.len() as u64)?;
        let read = self.p.files.read(fd, to, offset, &mut self.p.random);
        if read == Err(EAGAIN) && self.waits_at(fd) {
            let until = Until::Ready { files: vec![(self.p.files.id(fd)?, false)], signals: 0 };
            self.wait_for(until, true, "reads from an empty pipe that nobody else could write to")?;
        }
        read
    }

    pub(super) fn waits_at(&mut self, fd: u64) -> bool {
        self.p.files.get(fd).is_ok_and(|file| file.flags & open::NON_BLOCKING == 0)
    }

    /// Writes as the process may: what Linux answers with a signal, too. A pipe takes all of it, if need be in several turns.
    fn give(&mut self, fd: u64, from: &[u8], offset: Option<u64>) -> Result<usize, Errno> {
        let before = self.p.task.call.done.min(from.len());
        let written = self.p.files.write(fd, &from[before..], offset, &mut self.p.space.shared.room);
        match written {
            Ok(n) => self.refresh(fd, offset, &from[before..before + n])?,
            Err(EPIPE) => self.p.raise(signals::PIPE, "nobody reads what it writes"),
            Err(EFBIG) => {
                let why = "its output is longer than the 16 MiB that are kept where nothing takes it as it comes";
                self.p.die(signals::XFSZ, why);
            }
            _ => {}
        }
        let Some((pipe, _)) = self.p.files.pipe_of(fd).filter(|_| self.waits_at(fd)) else { return written };
        let done = before + if written == Err(EAGAIN) { 0 } else { written? };
        if done < from.len() {
            self.p.task.call.done = done;
            let until = Until::Room(pipe, (from.len() - done).min(WHOLE));
            self.wait_for(until, true, "writes more to a pipe than that holds, and nobody else could read it")?;
        }
        Ok(done)
    }

    fn write_from(&mut self, fd: u64, at: u64, len: u64, offset: Option<u64>) -> R {
        self.p.files.get(fd)?;
        let mut buffer = vec![0; len.min(CHUNK) as usize];
        self.read(at, &mut buffer)?;
        Ok(self.give(fd, &buffer, offset)? as u64)
    }

    /// Writes a vector of buffers as one.
    fn write_vector(&mut self, fd: u64, at: u64, count: u64) -> R {
        self.p.files.get(fd)?;
        let mut all = Vec::new();
        for (at, len) in self.vector(at, count)? {
            let before = all.len();
            let room = CHUNK - before as u64;
            all.resize(before + len.min(room) as usize, 0);
            if let Err(e) = self.p.space.read(self.ram, at, &mut all[before..]) {
                all.truncate(before);
                if before == 0 {
                    return Err(e.into());
                }
                break;
            }
            if len > room {
                break;
            }
        }
        Ok(self.give(fd, &all, None)? as u64)
    }

    /// Goes through a vector of buffers until one is not used up, or as much has been moved as a call moves.
    fn each_buffer(&mut self, mut step: impl FnMut(&mut Self, u64, u64) -> R) -> R {
        let (at, count) = (self.args[1], self.args[2]);
        let mut done = 0;
        for (at, len) in self.vector(at, count)? {
            let room = CHUNK - done;
            match step(self, at, len.min(room)) {
                Ok(n) => {
                    done += n;
                    if n < len || n == room {
                        break;
                    }
                }
                Err(e) if done == 0 => return Err(e),
                Err(_) => break,
            }
        }
        Ok(done)
    }

    /// As [`Call::each_buffer`], from an offset on (-1, of the second kind: the file offset).
    fn each_at(&mut self, mut step: impl FnMut(&mut Self, u64, u64, Option<u64>) -> R) -> R {
        let start = self.args[3];
        if start as i64 == -1 {
            return self.each_buffer(|call, at, len| step(call, at, len, None));
        }
        if (start as i64) < 0 {
            return Err(EINVAL);
        }
        let mut done = 0;
        self.each_buffer(|call, at, len| {
            let n = step(call, at, len, Some(start.saturating_add(done)))?;
            done += n;
            Ok(n)
        })
    }

    /// Copies from one descriptor to another. Offsets are pointers, 0: the file offset.
    fn send_file(&mut self, out: u64, from: u64, offset: u64, len: u64, out_offset: Option<u64>) -> R {
        let out_at = out_offset.filter(|at| *at != 0);
        let start = if offset == 0 { None } else { Some(self.read_word(offset)?) };
        let out_start = out_at.map(|at| self.read_word(at)).transpose()?;
        if !matches!(self.p.files.get(from)?.target, Target::File(_)) {
            return Err(EINVAL);
        }
        if self.p.files.get(out)?.flags & open::ACCESS == 0 {
            return Err(EBADF);
        }
        let mut buffer = vec![0; len.min(CHUNK) as usize];
        let n = self.take(from, &mut buffer, start)?;
        let sent = match self.give(out, &buffer[..n], out_start) {
            Err(e) if start.is_none() => {
                // It may be made again.
                self.p.files.seek(from, -(n as i64), 1)?;
                return Err(e);
            }
            sent => sent?,
        };
        match start {
            Some(start) => self.write_words(offset, &[start + sent as u64])?,
            // What did not go out is still to come.
            None if sent < n => {
                self.p.files.seek(from, sent as i64 - n as i64, 1)?;
            }
            None => {}
        }
        if let (Some(at), Some(start)) = (out_at, out_start) {
            self.write_words(at, &[start + sent as u64])?;
        }
        Ok(sent as u64)
    }

    fn pipe(&mut self, to: u64, flags: u64) -> R {
        if flags & !(open::CLOSE_ON_EXEC | open::NON_BLOCKING) != 0 {
            return Err(EINVAL);
        }
        let ends = self.p.files.pipe(flags)?;
        let words = ends[0] | ends[1] << 32;
        if let Err(e) = self.write_words(to, &[words]) {
            for fd in ends {
                self.p.files.close(fd)?;
            }
            return Err(e);
        }
        Ok(0)
    }

    fn close_range(&mut self) -> R {
        const CLOSE_ON_EXEC: u64 = 4;
        let (first, last) = (self.args[0] as u32, self.args[1] as u32);
        if first > last {
            return Err(EINVAL);
        }
        for fd in first..=last.min(MOST as u32) {
            // Descriptors that are not open are passed over.
            let _ = match self.args[2] & CLOSE_ON_EXEC {
                0 => self.p.files.close(u64::from(fd)),
                _ => self.p.files.close_on_exec(u64::from(fd), Some(true)).map(|_| ()),
            };
        }
        Ok(0)
    }

    fn fcntl(&mut self) -> R {
        let [fd, command, value, ..] = self.args;
        let files = &mut self.p.files;
        match command {
            F_DUPFD | F_DUPFD_CLOEXEC => files.duplicate(fd, value, command == F_DUPFD_CLOEXEC),
            F_GETFD => Ok(u64::from(files.close_on_exec(fd, None)?)),
            F_SETFD => files.close_on_exec(fd, Some(value & 1 != 0)).map(|_| 0),
            F_GETFL => Ok(files.get(fd)?.flags & (open::ACCESS | open::APPEND | open::NON_BLOCKING)),
            // Append was decided when the file was opened.
            F_SETFL => {
                let file = files.get(fd)?;
                file.flags = file.flags & !open::NON_BLOCKING | value & open::NON_BLOCKING;
                Ok(0)
            }
            _ if locks::COMMANDS.contains(&command) => self.lock(fd, command, value),
            _ => files.get(fd).and(Err(EINVAL)),
        }
    }

    /// No descriptor is a terminal, so that a program's output does not depend on where the simulator runs.
    fn ioctl(&mut self) -> R {
        self.p.files.get(self.args[0]).and(Err(ENOTTY))
    }

    /// Entries of a directory, by name: the host's order differs from run to run.
    fn getdents(&mut self) -> R {
        let [fd, buffer, len, ..] = self.args;
        let files = &mut self.p.files;
        let path = files.get(fd)?.path.clone();
        let root = files.root.as_ref().map(|r| r.dir.try_clone()).transpose()?;
        let listed = files.listed();
        let Target::Directory { entries, at, file } = &mut files.get(fd)?.target else {
            return Err(Errno(libc::ENOTDIR));
        };
        if entries.is_none() {
            let own = |name: &[u8], inode| Entry { name: name.to_vec(), inode, kind: DT_DIR };
            let inode = file.metadata()?.ino();
            let mut list = vec![own(b".", inode), own(b"..", inode)];
            let dir = root.ok_or(EBADF)?.read_dir(&path)?;
            for entry in dir {
                let entry = entry?;
                let kind = entry.file_type()?;
                let kind = match () {
                    () if kind.is_dir() => DT_DIR,
                    () if kind.is_file() => DT_REG,
                    () if kind.is_symlink() => DT_LNK,
                    () if kind.is_fifo() => DT_FIFO,
                    () => 0,
                };
                let inode = cap_std::fs::MetadataExt::ino(&entry.metadata()?);
                list.push(Entry { name: entry.file_name().into_encoded_bytes(), inode, kind });
            }
            if listed > 0 && listed + list.len() > MOST_LISTED {
                return Err(ENOMEM);
            }
            list[2..].sort_by(|a, b| a.name.cmp(&b.name));
            *entries = Some(list);
        }
        let mut out = Vec::new();
        for entry in entries.iter().flatten().skip(*at) {
            let size = (19 + entry.name.len() + 1).next_multiple_of(8);
            if (out.len() + size) as u64 > len {
                break;
            }
            *at += 1;
            let end = out.len() + size;
            out.extend_from_slice(&entry.inode.to_le_bytes());
            out.extend_from_slice(&(*at as u64).to_le_bytes());
            out.extend_from_slice(&(size as u16).to_le_bytes());
            out.push(entry.kind);
            out.extend_from_slice(&entry.name);
            out.resize(end, 0);
        }
        let left = entries.as_ref().is_some_and(|e| *at < e.len());
        if out.is_empty() && left {
            return Err(EINVAL);
        }
        self.write(buffer, &out)?;
        Ok(out.len() as u64)
    }
}
