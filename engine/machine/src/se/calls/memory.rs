//! `brk`, `mmap` and related calls.

use super::super::errno::{Errno, EFAULT, EINVAL, ENOMEM};
use super::super::files::{open, Target};
use super::super::memory::shared::Behind;
use super::super::memory::{whole_pages, Prot, PAGE};
use super::{Call, R};

const MAP_PRIVATE: u64 = 2;
const MAP_TYPE: u64 = 15;
const MAP_FIXED: u64 = 0x10;
const MAP_ANONYMOUS: u64 = 0x20;
const MAP_FIXED_NOREPLACE: u64 = 0x10_0000;
const MREMAP_MAYMOVE: u64 = 1;
const MREMAP_FIXED: u64 = 2;
const MADV_DONTNEED: u64 = 4;
const MADV_FREE: u64 = 8;
/// Between the break and what is mapped above it.
const BREAK_GAP: u64 = 16 * PAGE;
/// Bytes of a file copied at a time.
const CHUNK: usize = 1 << 16;

impl Call<'_> {
    pub(super) fn memory_call(&mut self, name: &str) -> Option<R> {
        Some(match name {
            "brk" => Ok(self.brk()),
            "mmap" => self.mmap(),
            "munmap" => self.munmap(),
            "mprotect" => self.mprotect(),
            "mremap" => self.mremap(),
            "madvise" => self.madvise(),
            "msync" => self.msync(),
            "mlock" | "munlock" | "mlockall" | "munlockall" => Ok(0),
            "riscv_flush_icache" => {
                self.p.space.mark_stale();
                Ok(0)
            }
            _ => return None,
        })
    }

    /// Returns the break, moved or not.
    fn brk(&mut self) -> u64 {
        let (asked, b) = (self.args[0], self.p.task.brk);
        let pages = |at: u64| at.next_multiple_of(PAGE);
        if asked < b.start || asked > self.p.space.mmap_top {
            return b.now;
        }
        let (old, new) = (pages(b.now), pages(asked));
        let space = &mut self.p.space;
        if new > old {
            if !space.is_free(old, new + BREAK_GAP) || !space.has_room() {
                return b.now;
            }
            space.map(self.ram, old, new, Prot::RW);
        } else if new < old {
            space.unmap(self.ram, new, old);
        }
        self.p.task.brk.now = asked;
        asked
    }

    /// Where a mapping of `len` bytes goes.
    fn place(&mut self, asked: u64, len: u64, flags: u64) -> R {
        let space = &self.p.space;
        let len = len.checked_next_multiple_of(PAGE).filter(|l| *l <= space.limit).ok_or(ENOMEM)?;
        if !space.has_room() {
            return Err(ENOMEM);
        }
        let fixed = flags & (MAP_FIXED | MAP_FIXED_NOREPLACE) != 0;
        if fixed && asked & (PAGE - 1) != 0 {
            return Err(EINVAL);
        }
        let hint = asked & !(PAGE - 1);
        let end = hint.checked_add(len).filter(|end| hint >= PAGE && space.inside(hint, *end));
        match end {
            Some(end) if flags & MAP_FIXED_NOREPLACE != 0 && !space.is_free(hint, end) => Err(Errno(libc::EEXIST)),
            Some(_) if fixed => Ok(hint),
            None if fixed => Err(ENOMEM),
            Some(end) if space.is_free(hint, end) => Ok(hint),
            _ => space.find_free(len).ok_or(ENOMEM),
        }
    }

    fn mmap(&mut self) -> R {
        let [asked, len, prot, flags, fd, offset] = self.args;
        if len == 0 || offset & (PAGE - 1) != 0 || !(1..=3).contains(&(flags & MAP_TYPE)) {
            return Err(EINVAL);
        }
        let prot = Prot::from_bits(prot);
        let shared = flags & MAP_TYPE != MAP_PRIVATE;
        let file = if flags & MAP_ANONYMOUS == 0 { self.mappable(fd, shared, prot)? } else { None };
        let start = self.place(asked, len, flags)?;
        let (start, end) = whole_pages(start, len).ok_or(ENOMEM)?;
        offset.checked_add(end - start).ok_or(Errno(libc::EOVERFLOW))?;
        let copies = file.is_some() && !shared;
        let objects = &mut self.p.space.shared;
        let share = match file {
            _ if !shared => None,
            None => Some(objects.anonymous(end - start)),
            Some(file) => Some(objects.of_file(file, offset)),
        };
        self.p.space.map_as(self.ram, start, end, prot, share);
        if copies {
            if let Err(e) =
                self.write_back_mapped(fd, Some(offset), end - start).and_then(|()| self.fill(start, end, fd, offset))
            {
                self.p.space.unmap(self.ram, start, end);
                return Err(e);
            }
        }
        Ok(start)
    }

    /// The file that a mapping shows; `None`: `/dev/zero`, which is as anonymous.
    fn mappable(&mut self, fd: u64, shared: bool, prot: Prot) -> Result<Option<Behind>, Errno> {
        const EACCES: Errno = Errno(libc::EACCES);
        let inode = self.p.files.inode(fd)?;
        let file = self.p.files.get(fd)?;
        let (access, appends) = (file.flags & open::ACCESS, file.flags & open::APPEND != 0);
        let writable = access != 0;
        match &file.target {
            Target::Zero => Ok(None),
            Target::File(_) if access == open::WRITE_ONLY => Err(EACCES),
            Target::File(_) if shared && prot.has(Prot::WRITE) && !writable => Err(EACCES),
            Target::File(_) if shared && writable && appends => {
                // The host would put at its end what goes back to it.
                self.p.warn("a file opened with O_APPEND cannot be mapped as shared: EACCES".to_owned());
                Err(EACCES)
            }
            Target::File(f) => {
                let in_memory = file.flags & open::MEMORY != 0;
                Ok(Some(Behind { inode, file: f.try_clone()?, writable, in_memory }))
            }
            _ => Err(Errno(libc::ENODEV)),
        }
    }

    /// What processes have stored to a mapped file goes back to it: before it is read. `from`: `None`, the file offset.
    pub(super) fn write_back_mapped(&mut self, fd: u64, from: Option<u64>, len: u64) -> Result<(), Errno> {
        if !self.p.space.shared.has_files() || !matches!(self.p.files.get(fd)?.target, Target::File(_)) {
            return Ok(());
        }
        let inode = self.p.files.inode(fd)?;
        let from = from.map_or_else(|| self.p.files.seek(fd, 0, 1), Ok)?;
        self.p.space.shared.write_back_file(self.ram, inode, from, len)
    }

    /// What has been written to a file shows where it is mapped. `at`: `None`, it ends at the file offset.
    pub(super) fn refresh(&mut self, fd: u64, at: Option<u64>, bytes: &[u8]) -> Result<(), Errno> {
        if !self.p.space.shared.has_files() || !matches!(self.p.files.get(fd)?.target, Target::File(_)) {
            return Ok(());
        }
        let (inode, len) = (self.p.files.inode(fd)?, bytes.len() as u64);
        let file = self.p.files.get(fd)?;
        let at = match (&file.target, at) {
            // Linux puts it at the end, wherever it was to go.
            (Target::File(f), Some(_)) if file.flags & open::APPEND != 0 => f.metadata()?.len().saturating_sub(len),
            (_, Some(at)) => at,
            _ => self.p.files.seek(fd, 0, 1)?.saturating_sub(len),
        };
        self.p.space.shared.refresh(self.ram, inode, at, bytes);
        Ok(())
    }

    fn msync(&mut self) -> R {
        const ASYNC: u64 = 1;
        const SYNC: u64 = 4;
        let flags = self.args[2];
        if flags & !7 != 0 || flags & (ASYNC | SYNC) == ASYNC | SYNC {
            return Err(EINVAL);
        }
        if self.args[1] == 0 {
            return Ok(0);
        }
        let (start, end) = self.range()?;
        if !self.p.space.is_mapped(start, end) {
            return Err(ENOMEM);
        }
        for (share, len) in self.p.space.shares(start, end) {
            self.p.space.shared.write_back(self.ram, share.object, share.offset, len)?;
        }
        Ok(0)
    }

    /// Copies a file's part into a fresh mapping.
    fn fill(&mut self, start: u64, end: u64, fd: u64, offset: u64) -> Result<(), Errno> {
        let mut buffer = vec![0; CHUNK];
        let mut at = start;
        while at < end {
            let want = usize::try_from(end - at).unwrap_or(CHUNK).min(CHUNK);
            let from = offset.checked_add(at - start).ok_or(EINVAL)?;
            let n = self.p.files.read(fd, &mut buffer[..want], Some(from), &mut self.p.random)?;
            if n == 0 {
                break;
            }
            self.p.space.put(self.ram, at, &buffer[..n])?;
            at += n as u64;
        }
        self.p.space.mark_stale();
        Ok(())
    }

    fn range(&self) -> Result<(u64, u64), Errno> {
        let (start, end) = whole_pages(self.args[0], self.args[1]).ok_or(EINVAL)?;
        if self.p.space.inside(start, end) {
            Ok((start, end))
        } else {
            Err(EINVAL)
        }
    }

    fn munmap(&mut self) -> R {
        let (start, end) = self.range()?;
        if !self.p.space.has_room() {
            return Err(ENOMEM);
        }
        self.p.space.unmap(self.ram, start, end);
        Ok(0)
    }

    fn mprotect(&mut self) -> R {
        if self.args[1] == 0 {
            return Ok(0);
        }
        let (start, end) = self.range()?;
        if !self.p.space.is_mapped(start, end) || !self.p.space.has_room() {
            return Err(ENOMEM);
        }
        let prot = Prot::from_bits(self.args[2]);
        if prot.has(Prot::WRITE) && !self.p.space.may_be_written(start, end) {
            return Err(Errno(libc::EACCES));
        }
        self.p.space.protect(self.ram, start, end, prot);
        Ok(0)
    }

    fn mremap(&mut self) -> R {
        let [old, old_len, new_len, flags, ..] = self.args;
        let (start, old_end) = whole_pages(old, old_len).ok_or(EINVAL)?;
        let (_, new_end) = whole_pages(old, new_len).ok_or(EINVAL)?;
        if flags & !(MREMAP_MAYMOVE | MREMAP_FIXED) != 0 || flags & MREMAP_FIXED != 0 {
            return Err(EINVAL);
        }
        let space = &mut self.p.space;
        if !space.inside(start, old_end) || space.span(start, old_end) != (old_end, space.rights(start)) {
            return Err(EFAULT);
        }
        let Some(prot) = space.rights(start) else { return Err(EFAULT) };
        if new_end <= old_end {
            if new_end < old_end {
                space.unmap(self.ram, new_end, old_end);
            }
            return Ok(start);
        }
        if !space.has_room() {
            return Err(ENOMEM);
        }
        if space.inside(start, new_end) && space.is_free(old_end, new_end) {
            let share = space.share(start).map(|share| share.after(old_end - start));
            space.map_as(self.ram, old_end, new_end, prot, share);
            return Ok(start);
        }
        if flags & MREMAP_MAYMOVE == 0 {
            return Err(ENOMEM);
        }
        let to = space.find_free(new_end - start).ok_or(ENOMEM)?;
        space.relocate(self.ram, start, old_end - start, to)?;
        let share = space.share(to).map(|share| share.after(old_end - start));
        space.map_as(self.ram, to + (old_end - start), to + (new_end - start), prot, share);
        Ok(to)
    }

    fn madvise(&mut self) -> R {
        if self.args[1] == 0 {
            return Ok(0);
        }
        let (start, end) = self.range()?;
        if !self.p.space.is_mapped(start, end) {
            return Err(ENOMEM);
        }
        if matches!(self.args[2], MADV_DONTNEED | MADV_FREE) {
            self.p.space.discard(self.ram, start, end);
        }
        Ok(0)
    }
}
