//! Guest RAM: one flat mapping of one physical range, with copy-on-write images for snapshots.
//!
//! Fresh RAM is a shared mapping of an anonymous memory file, so [`PhysMem::freeze`] has nothing to copy: the file becomes
//! the image and the memory goes on as a private view of it. Every [`MemImage::open`] is another private view, so a
//! thousand points share one booted guest and each pays only for the pages it writes. Going back to the image copies those
//! pages instead of dropping them: the next point writes most of them again, and a page fault costs more than a copy.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::fs::{ftruncate, memfd_create, MemfdFlags};
use rustix::io::{pwrite, Errno};
use rustix::mm::{madvise, mmap, munmap, Advice, MapFlags, ProtFlags};

use crate::error::ConfigError;
use crate::units::PAGE;

/// Beyond so many written pages, going back to the image drops all of them and with them the host's memory.
const MOST_COPIED: usize = 2048;

/// Frozen RAM contents, shared between threads.
#[derive(Clone, Debug)]
pub struct MemImage {
    fd: Arc<OwnedFd>,
    contents: Arc<Mapping>,
    start: u64,
}

/// RAM of one guest. All accesses are bounds-checked against the mapping; nothing outside it can be touched.
#[derive(Debug)]
pub struct PhysMem {
    map: Mapping,
    start: u64,
    len: u64,
    /// Accesses to this 64-byte line are reported to devices (HTIF); `u64::MAX`: none.
    watch: u64,
    fd: Arc<OwnedFd>,
    /// This is a private view of an image, and here is what has been written since (else: the file itself).
    written: Option<Written>,
}

// SAFETY: the mapping is owned by this value alone and is only reached through `&self`/`&mut self`.
unsafe impl Send for PhysMem {}
// SAFETY: every method that takes `&self` only reads the mapping; writing takes `&mut self`.
unsafe impl Sync for PhysMem {}

/// A file mapped into the host's memory, as long as this lives.
#[derive(Debug)]
struct Mapping {
    host: *mut u8,
    len: usize,
}

// SAFETY: the mapping stays where it is until the drop. What goes through the pointer is its user's to argue.
unsafe impl Send for Mapping {}
// SAFETY: as above; through `&Mapping` alone nothing is accessed.
unsafe impl Sync for Mapping {}

impl Mapping {
    fn new(fd: &OwnedFd, len: u64, protection: ProtFlags, kind: MapFlags) -> Result<Mapping, ConfigError> {
        // `len` was checked to fit when the file was made.
        let len = len as usize;
        // SAFETY: a fresh mapping of a file we own, of exactly its size.
        let p = unsafe { mmap(std::ptr::null_mut(), len, protection, kind | MapFlags::NORESERVE, fd, 0) };
        Ok(Mapping { host: p.map_err(os_error("cannot map it"))?.cast(), len })
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping that `new` made, unmapped once. It cannot fail for a whole mapping.
        let _ = unsafe { munmap(self.host.cast(), self.len) };
    }
}

/// Which pages of a view differ from its image.
#[derive(Debug)]
struct Written {
    image: Arc<Mapping>,
    /// A bit a page.
    bits: Vec<u64>,
    /// The same as a list.
    pages: Vec<u32>,
}

impl Written {
    #[inline]
    fn has(&self, page: u64) -> bool {
        self.bits.get((page / 64) as usize).is_none_or(|w| w >> (page % 64) & 1 != 0)
    }

    #[cold]
    fn add(&mut self, pages: std::ops::RangeInclusive<u64>) {
        for page in pages {
            if !self.has(page) {
                self.bits[(page / 64) as usize] |= 1 << (page % 64);
                // RAM has at most 2^28 pages.
                self.pages.push(page as u32);
            }
        }
    }
}

/// Integers that guest memory holds, little-endian.
pub trait Word: Copy {
    const SIZE: u64;
    fn from_u64(v: u64) -> Self;
    fn to_u64(self) -> u64;
}
macro_rules! word { ($($t:ty),*) => { $(impl Word for $t {
    const SIZE: u64 = std::mem::size_of::<$t>() as u64;
    // The low bytes are meant.
    #[inline] fn from_u64(v: u64) -> Self { v as $t }
    #[inline] fn to_u64(self) -> u64 { self as u64 }
})* } }
word!(u8, u16, u32, u64);

const READ_WRITE: ProtFlags = ProtFlags::READ.union(ProtFlags::WRITE);

fn os_error(what: &'static str) -> impl Fn(Errno) -> ConfigError {
    move |e| ConfigError::new("guest memory", format!("{what}: {}", std::io::Error::from(e)))
}

fn memory_file(len: u64) -> Result<OwnedFd, ConfigError> {
    let fd = memfd_create("breakeven-ram", MemfdFlags::CLOEXEC).map_err(os_error("cannot create a memory file"))?;
    ftruncate(&fd, len).map_err(os_error("cannot size a memory file"))?;
    Ok(fd)
}

impl MemImage {
    /// A private, writable view of the image.
    ///
    /// # Errors
    /// When the host refuses the mapping.
    pub fn open(&self) -> Result<PhysMem, ConfigError> {
        let len = self.contents.len as u64;
        let map = Mapping::new(&self.fd, len, READ_WRITE, MapFlags::PRIVATE)?;
        let bits = vec![0; len.div_ceil(64 * PAGE) as usize];
        let written = Written { image: self.contents.clone(), bits, pages: Vec::new() };
        Ok(PhysMem::over(map, self.start, self.fd.clone(), Some(written)))
    }
}

impl PhysMem {
    /// Zeroed RAM of `len` bytes at physical `start`; both are multiples of 4096.
    ///
    /// # Errors
    /// A range that is empty, unaligned, wraps, or that the host cannot map.
    pub fn new(start: u64, len: u64) -> Result<Self, ConfigError> {
        if len == 0 || (start | len) & 4095 != 0 || start.checked_add(len).is_none() || len > 1 << 40 {
            return Err(ConfigError::new(
                "guest memory",
                format!(
                    "range {start:#x}+{len:#x} must be a non-empty multiple of 4096 bytes, at most 1 TiB, and not wrap"
                ),
            ));
        }
        let fd = memory_file(len)?;
        let map = Mapping::new(&fd, len, READ_WRITE, MapFlags::SHARED)?;
        Ok(PhysMem::over(map, start, Arc::new(fd), None))
    }

    fn over(map: Mapping, start: u64, fd: Arc<OwnedFd>, written: Option<Written>) -> Self {
        PhysMem { len: map.len as u64, map, start, watch: u64::MAX, fd, written }
    }

    #[inline]
    #[must_use]
    pub fn start(&self) -> u64 {
        self.start
    }
    /// Bytes.
    #[inline]
    #[must_use]
    pub fn len(&self) -> u64 {
        self.len
    }
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Freezes the present contents into an image that others can open; this memory goes on as a view of it.
    ///
    /// # Errors
    /// When the host has no room for it.
    pub fn freeze(&mut self) -> Result<MemImage, ConfigError> {
        // Without a view in between this writes to the file itself: below, it stops doing so.
        let fd = if self.written.is_some() { Arc::new(self.copy_to_file()?) } else { self.fd.clone() };
        let contents = Mapping::new(&fd, self.len, ProtFlags::READ, MapFlags::SHARED)?;
        let image = MemImage { fd, contents: Arc::new(contents), start: self.start };
        let watch = self.watch;
        *self = image.open()?;
        self.watch = watch;
        Ok(image)
    }

    /// The contents as a new file; pages of zeros stay holes.
    fn copy_to_file(&self) -> Result<OwnedFd, ConfigError> {
        let fd = memory_file(self.len)?;
        let page = 4096usize;
        let total = self.len as usize;
        let zero = [0u8; 4096];
        let mut at = 0;
        while at < total {
            // SAFETY: `at + page <= total`: the length is a multiple of the page.
            let bytes = unsafe { std::slice::from_raw_parts(self.map.host.add(at), page) };
            if bytes != zero {
                let n = pwrite(&fd, bytes, at as u64).map_err(os_error("cannot write a snapshot"))?;
                if n != page {
                    return Err(os_error("cannot write a snapshot")(Errno::NOSPC));
                }
            }
            at += page;
        }
        Ok(fd)
    }

    /// Throws away every write since this view was opened. Memory that was never frozen keeps its contents.
    ///
    /// # Errors
    /// When the host keeps the pages: what was written would still be there.
    pub fn reset_to_image(&mut self) -> Result<(), ConfigError> {
        let Some(written) = &mut self.written else { return Ok(()) };
        if written.pages.len() > MOST_COPIED {
            // SAFETY: our own private file mapping; dropped pages are read again from the file.
            let done = unsafe { madvise(self.map.host.cast(), self.len as usize, Advice::LinuxDontNeed) };
            done.map_err(os_error("cannot go back to the snapshot"))?;
        }
        let copied = written.pages.len() <= MOST_COPIED;
        for page in written.pages.drain(..) {
            written.bits[page as usize / 64] &= !(1 << (page % 64));
            if copied {
                let at = page as usize * PAGE as usize;
                // SAFETY: the page lies in both mappings, which have the same length and do not overlap; nobody writes the
                // image's, and this one is ours.
                unsafe {
                    std::ptr::copy_nonoverlapping(written.image.host.add(at), self.map.host.add(at), PAGE as usize);
                };
            }
        }
        Ok(())
    }

    /// `[off, off + size)` is about to be written; `size` is not 0.
    #[inline]
    fn note_write(&mut self, off: u64, size: u64) {
        if let Some(written) = &mut self.written {
            let (first, last) = (off / PAGE, (off + size - 1) / PAGE);
            if first != last || !written.has(first) {
                written.add(first..=last);
            }
        }
    }

    /// Makes stores to the 64-byte line at `paddr` visible to [`PhysMem::watched`].
    pub fn watch(&mut self, paddr: u64) {
        self.watch = paddr & !63;
    }
    /// Whether a store to `paddr` has to be told to [`crate::Bus::device_write`].
    #[inline]
    #[must_use]
    pub fn watched(&self, paddr: u64) -> bool {
        paddr & !63 == self.watch
    }

    /// Whether a store to one of the `size` bytes at `paddr` has to be told.
    #[inline]
    #[must_use]
    pub fn watches_any(&self, paddr: u64, size: u64) -> bool {
        size > 0 && (paddr & !63..=paddr.saturating_add(size - 1)).contains(&self.watch)
    }

    /// Whether all of `[paddr, paddr + size)` is RAM.
    #[inline]
    #[must_use]
    pub fn contains(&self, paddr: u64, size: u64) -> bool {
        let off = paddr.wrapping_sub(self.start);
        off < self.len && size <= self.len - off
    }

    /// A little-endian word; `None` outside RAM. Any alignment.
    #[inline]
    #[must_use]
    pub fn read<T: Word>(&self, paddr: u64) -> Option<T> {
        if !self.contains(paddr, T::SIZE) {
            return None;
        }
        // SAFETY: the bytes lie inside the mapping; unaligned reads are allowed here. Hosts are little-endian (checked below).
        Some(unsafe { self.map.host.add((paddr - self.start) as usize).cast::<T>().read_unaligned() })
    }

    /// Stores a little-endian word; `None` outside RAM. Any alignment.
    #[inline]
    pub fn write<T: Word>(&mut self, paddr: u64, v: T) -> Option<()> {
        if !self.contains(paddr, T::SIZE) {
            return None;
        }
        self.note_write(paddr - self.start, T::SIZE);
        // SAFETY: as in `read`, and `&mut self` is the only access.
        unsafe { self.map.host.add((paddr - self.start) as usize).cast::<T>().write_unaligned(v) };
        Some(())
    }

    /// The bytes of a range; `None` outside RAM.
    #[must_use]
    pub fn slice(&self, paddr: u64, len: u64) -> Option<&[u8]> {
        if !self.contains(paddr, len) {
            return None;
        }
        // SAFETY: inside the mapping, and borrowed with it.
        Some(unsafe { std::slice::from_raw_parts(self.map.host.add((paddr - self.start) as usize), len as usize) })
    }

    /// The bytes of a range, writable; `None` outside RAM.
    pub fn slice_mut(&mut self, paddr: u64, len: u64) -> Option<&mut [u8]> {
        if !self.contains(paddr, len) {
            return None;
        }
        if len > 0 {
            self.note_write(paddr - self.start, len);
        }
        // SAFETY: inside the mapping, and borrowed with it exclusively.
        Some(unsafe { std::slice::from_raw_parts_mut(self.map.host.add((paddr - self.start) as usize), len as usize) })
    }
}

const _: () = assert!(cfg!(target_endian = "little"), "guest memory is little-endian and so must the host be");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_sees_the_image_and_keeps_its_writes_to_itself() {
        let mut m = PhysMem::new(0x8000_0000, 1 << 20).expect("maps");
        m.write::<u64>(0x8000_0001, 0x1122_3344_5566_7788).expect("in range");
        let image = m.freeze().expect("freezes");
        let (mut a, b) = (image.open().expect("opens"), image.open().expect("opens"));
        a.write::<u8>(0x8000_0001, 0xff).expect("in range");
        assert_eq!(a.read::<u8>(0x8000_0001), Some(0xff));
        assert_eq!(b.read::<u64>(0x8000_0001), Some(0x1122_3344_5566_7788));
        assert_eq!(m.read::<u8>(0x8000_0001), Some(0x88));
        a.reset_to_image().expect("resets");
        assert_eq!(a.read::<u8>(0x8000_0001), Some(0x88));
    }

    #[test]
    fn every_way_to_write_is_undone_by_going_back() {
        let mut m = PhysMem::new(0, 64 << 20).expect("maps");
        m.slice_mut(0, 64 << 20).expect("in range").fill(7);
        let image = m.freeze().expect("freezes");
        let mut view = image.open().expect("opens");
        let zeros = |m: &PhysMem| m.slice(0, 64 << 20).expect("in range").iter().filter(|b| **b != 7).count();
        // Few pages are copied, many are dropped.
        for pages in [1, MOST_COPIED as u64 + 1] {
            for _ in 0..2 {
                (0..pages).for_each(|p| view.write::<u64>(p * PAGE + PAGE - 3, 0).expect("in range"));
                view.slice_mut(20 << 20, 3 * PAGE + 1).expect("in range").fill(0);
                assert!(view.slice_mut(30 << 20, 0).is_some_and(|s| s.is_empty()));
                assert_eq!(zeros(&view), pages as usize * 8 + 3 * PAGE as usize + 1);
                view.reset_to_image().expect("resets");
                assert_eq!(zeros(&view), 0);
            }
        }
        // A view can be frozen again; the first image stays as it was.
        view.write::<u8>(5, 0).expect("in range");
        let second = view.freeze().expect("freezes").open().expect("opens");
        assert_eq!((zeros(&second), zeros(&image.open().expect("opens"))), (1, 0));
    }

    #[test]
    fn nothing_outside_can_be_touched() {
        let mut m = PhysMem::new(0x1000, 0x1000).expect("maps");
        assert_eq!(m.read::<u64>(0x0ff9), None);
        assert_eq!(m.read::<u64>(0x1ff9), None);
        assert_eq!(m.write::<u64>(u64::MAX - 3, 0), None);
        assert!(m.slice(0x1000, 0x1001).is_none() && m.slice_mut(0x1fff, 1).is_some());
        assert!(PhysMem::new(0x1000, 0).is_err() && PhysMem::new(u64::MAX - 4095, 4096).is_err());
    }
}
