//! `brk`, `mmap` and their kin.

use super::super::errno::{Errno, EFAULT, EINVAL, ENOMEM};
use super::super::files::{open, Target};
use super::super::memory::{whole_pages, Prot, PAGE};
use super::{Call, R};

const MAP_SHARED: u64 = 1;
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
            "msync" | "mlock" | "munlock" | "mlockall" | "munlockall" => Ok(0),
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
        if flags & MAP_ANONYMOUS == 0 {
            let file = self.p.files.get(fd)?;
            if !matches!(file.target, Target::File(_)) {
                return Err(Errno(libc::ENODEV));
            }
            let access = file.flags & open::ACCESS;
            let writes_back = flags & MAP_TYPE == MAP_SHARED && prot.has(Prot::WRITE);
            if access == open::WRITE_ONLY || writes_back {
                // Nothing is ever written back: a shared mapping that can be written is refused.
                return Err(Errno(libc::EACCES));
            }
        }
        self.p.shares_memory |= flags & MAP_TYPE != MAP_PRIVATE && prot.has(Prot::WRITE);
        let start = self.place(asked, len, flags)?;
        let (start, end) = whole_pages(start, len).ok_or(ENOMEM)?;
        self.p.space.map(self.ram, start, end, prot);
        if flags & MAP_ANONYMOUS == 0 {
            if let Err(e) = self.fill(start, end, fd, offset) {
                self.p.space.unmap(self.ram, start, end);
                return Err(e);
            }
        }
        Ok(start)
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
        self.p.space.protect(self.ram, start, end, Prot::from_bits(self.args[2]));
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
            space.map(self.ram, old_end, new_end, prot);
            return Ok(start);
        }
        if flags & MREMAP_MAYMOVE == 0 {
            return Err(ENOMEM);
        }
        let to = space.find_free(new_end - start).ok_or(ENOMEM)?;
        space.relocate(self.ram, start, old_end - start, to)?;
        space.map(self.ram, to + (old_end - start), to + (new_end - start), prot);
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
