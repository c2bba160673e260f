//! Calls on descriptors.

use std::os::unix::fs::MetadataExt;

use super::super::errno::{Errno, EBADF, EFAULT, EINVAL, ENOTTY};
use super::super::files::{open, Entry, Target, WRITE_LIMIT};
use super::super::memory::{Prot, PAGE};
use super::{Call, R};

const F_DUPFD: u64 = 0;
const F_GETFD: u64 = 1;
const F_SETFD: u64 = 2;
const F_GETFL: u64 = 3;
const F_SETFL: u64 = 4;
const F_DUPFD_CLOEXEC: u64 = 1030;
/// Bytes moved at a time; a call that asks for more gets less, as it may.
const CHUNK: u64 = 1 << 20;
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
            "writev" => self.each_buffer(|call, at, len| call.write_from(fd, at, len, None)),
            "close" => self.p.files.close(fd).map(|()| 0),
            #[allow(clippy::cast_possible_wrap)] // off_t
            "lseek" => self.p.files.seek(fd, a as i64, b),
            "dup" => self.p.files.duplicate(fd, 0, false),
            "dup2" => self.p.files.duplicate_to(fd, a, false),
            "dup3" if fd as u32 == a as u32 => Err(EINVAL),
            "dup3" => self.p.files.duplicate_to(fd, a, b & open::CLOSE_ON_EXEC != 0),
            "fcntl" => self.fcntl(),
            "ioctl" => self.ioctl(),
            "ftruncate" => self.ftruncate(),
            "fsync" | "fdatasync" | "fadvise64" | "flock" | "fchmod" | "fchown" => self.p.files.get(fd).map(|_| 0),
            "getdents64" => self.getdents(),
            "poll" | "ppoll" => self.poll(),
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
        let n = self.p.files.read(fd, &mut buffer, offset, &mut self.p.random)?;
        self.write(at, &buffer[..n])?;
        Ok(n as u64)
    }

    fn write_from(&mut self, fd: u64, at: u64, len: u64, offset: Option<u64>) -> R {
        self.p.files.get(fd)?;
        let mut buffer = vec![0; len.min(CHUNK) as usize];
        self.read(at, &mut buffer)?;
        Ok(self.p.files.write(fd, &buffer, offset)? as u64)
    }

    /// Goes through a vector of buffers until one is not used up.
    fn each_buffer(&mut self, mut step: impl FnMut(&mut Self, u64, u64) -> R) -> R {
        let (at, count) = (self.args[1], self.args[2]);
        let mut done = 0;
        for (at, len) in self.vector(at, count)? {
            match step(self, at, len) {
                Ok(n) => {
                    done += n;
                    if n < len {
                        break;
                    }
                }
                Err(e) if done == 0 => return Err(e),
                Err(_) => break,
            }
        }
        Ok(done)
    }

    fn fcntl(&mut self) -> R {
        let [fd, command, value, ..] = self.args;
        let files = &mut self.p.files;
        match command {
            F_DUPFD | F_DUPFD_CLOEXEC => files.duplicate(fd, value, command == F_DUPFD_CLOEXEC),
            F_GETFD => Ok(u64::from(files.close_on_exec(fd, None)?)),
            F_SETFD => files.close_on_exec(fd, Some(value & 1 != 0)).map(|_| 0),
            F_GETFL => Ok(files.get(fd)?.flags & (open::ACCESS | open::APPEND)),
            // Nothing ever blocks; append was decided when the file was opened.
            F_SETFL => files.get(fd).map(|_| 0),
            _ => files.get(fd).and(Err(EINVAL)),
        }
    }

    /// No descriptor is a terminal, so that a program's output does not depend on where the simulator runs.
    fn ioctl(&mut self) -> R {
        self.p.files.get(self.args[0]).and(Err(ENOTTY))
    }

    fn ftruncate(&mut self) -> R {
        let len = self.args[1];
        let file = self.p.files.get(self.args[0])?;
        match &file.target {
            Target::File(f) if file.flags & open::ACCESS != 0 && len <= WRITE_LIMIT => f.set_len(len)?,
            Target::File(_) if len > WRITE_LIMIT => return Err(Errno(libc::EFBIG)),
            _ => return Err(EINVAL),
        }
        Ok(0)
    }

    /// Entries of a directory, by name: the host's order differs from run to run.
    fn getdents(&mut self) -> R {
        let [fd, buffer, len, ..] = self.args;
        let files = &mut self.p.files;
        let path = files.get(fd)?.path.clone();
        let root = files.root.as_ref().map(|r| r.dir.try_clone()).transpose()?;
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
                    () => 0,
                };
                let inode = cap_std::fs::MetadataExt::ino(&entry.metadata()?);
                list.push(Entry { name: entry.file_name().into_encoded_bytes(), inode, kind });
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

    /// Everything is always ready.
    fn poll(&mut self) -> R {
        const POLLNVAL: u16 = 0x20;
        const READY: u16 = 1 | 4;
        let (at, count) = (self.args[0], self.args[1]);
        if count > 1024 {
            return Err(EINVAL);
        }
        let mut ready = 0;
        for n in 0..count {
            let entry = at.checked_add(8 * n).ok_or(EFAULT)?;
            let word = self.read_word(entry)?;
            let (fd, asked) = (word as u32, (word >> 32) as u16);
            let found = match self.p.files.get(u64::from(fd)) {
                _ if fd >> 31 != 0 => 0,
                Ok(_) => asked & READY,
                Err(_) => POLLNVAL,
            };
            ready += u64::from(found != 0);
            self.write(entry, &(word & 0xffff_ffff_ffff | u64::from(found) << 48).to_le_bytes())?;
        }
        Ok(ready)
    }
}
