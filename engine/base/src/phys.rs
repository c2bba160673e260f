//! Guest RAM: one flat mapping of one physical range, with copy-on-write images for snapshots.
//!
//! Fresh RAM is a shared mapping of an anonymous memory file, so [`PhysMem::freeze`] has nothing to copy: the file becomes
//! the image and the memory goes on as a private view of it. Every [`MemImage::open`] is another private view, so a
//! thousand points share one booted guest and each pays only for the pages it writes.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::Arc;

use crate::error::ConfigError;

/// Frozen RAM contents, shared between threads.
#[derive(Clone, Debug)]
pub struct MemImage {
    fd: Arc<OwnedFd>,
    start: u64,
    len: u64,
}

/// RAM of one guest. All accesses are bounds-checked against the mapping; nothing outside it can be touched.
#[derive(Debug)]
pub struct PhysMem {
    host: *mut u8,
    start: u64,
    len: u64,
    /// Accesses to this 64-byte line are reported to devices (HTIF); `u64::MAX`: none.
    watch: u64,
    fd: Arc<OwnedFd>,
    /// A private view of an image (else: the file itself).
    private: bool,
}

// SAFETY: the mapping is owned by this value alone and is only reached through `&self`/`&mut self`.
unsafe impl Send for PhysMem {}
// SAFETY: every method that takes `&self` only reads the mapping; writing takes `&mut self`.
unsafe impl Sync for PhysMem {}

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

fn os_error(what: &str) -> ConfigError {
    ConfigError::new("guest memory", format!("{what}: {}", std::io::Error::last_os_error()))
}

fn memory_file(len: u64) -> Result<OwnedFd, ConfigError> {
    // SAFETY: the name is a valid C string; the descriptor is checked and owned at once.
    let raw = unsafe { libc::memfd_create(c"breakeven-ram".as_ptr(), libc::MFD_CLOEXEC) };
    if raw < 0 {
        return Err(os_error("cannot create a memory file"));
    }
    // SAFETY: `raw` is a descriptor that nothing else owns.
    let fd = unsafe { OwnedFd::from_raw_fd(raw) };
    let size = i64::try_from(len).map_err(|_| ConfigError::new("guest memory", "size is beyond 2^63 bytes"))?;
    // SAFETY: a plain system call on an owned descriptor.
    if unsafe { libc::ftruncate(fd.as_raw_fd(), size) } != 0 {
        return Err(os_error("cannot size a memory file"));
    }
    Ok(fd)
}

impl MemImage {
    /// A private, writable view of the image.
    ///
    /// # Errors
    /// When the host refuses the mapping.
    pub fn open(&self) -> Result<PhysMem, ConfigError> {
        PhysMem::map(self.fd.clone(), self.start, self.len, true)
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
        PhysMem::map(Arc::new(memory_file(len)?), start, len, false)
    }

    fn map(fd: Arc<OwnedFd>, start: u64, len: u64, private: bool) -> Result<Self, ConfigError> {
        // `len` was checked to fit when the file was made.
        let size = len as usize;
        let kind = if private { libc::MAP_PRIVATE } else { libc::MAP_SHARED };
        // SAFETY: a fresh mapping of a file we own, of exactly its size.
        let p = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                size,
                libc::PROT_READ | libc::PROT_WRITE,
                kind | libc::MAP_NORESERVE,
                fd.as_raw_fd(),
                0,
            )
        };
        if p == libc::MAP_FAILED {
            return Err(os_error("cannot map it"));
        }
        Ok(PhysMem { host: p.cast(), start, len, watch: u64::MAX, fd, private })
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
        let fd = if self.private { Arc::new(self.copy_to_file()?) } else { self.fd.clone() };
        let image = MemImage { fd, start: self.start, len: self.len };
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
            let bytes = unsafe { std::slice::from_raw_parts(self.host.add(at), page) };
            if bytes != zero {
                // SAFETY: writes one page from a valid slice to our own file.
                let n = unsafe { libc::pwrite(fd.as_raw_fd(), bytes.as_ptr().cast(), page, at as i64) };
                if n != page as isize {
                    return Err(os_error("cannot write a snapshot"));
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
        if !self.private {
            return Ok(());
        }
        // SAFETY: our own private file mapping; dropped pages are read again from the file.
        let done = unsafe { libc::madvise(self.host.cast(), self.len as usize, libc::MADV_DONTNEED) };
        if done != 0 {
            return Err(os_error("cannot go back to the snapshot"));
        }
        Ok(())
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
        Some(unsafe { self.host.add((paddr - self.start) as usize).cast::<T>().read_unaligned() })
    }

    /// Stores a little-endian word; `None` outside RAM. Any alignment.
    #[inline]
    pub fn write<T: Word>(&mut self, paddr: u64, v: T) -> Option<()> {
        if !self.contains(paddr, T::SIZE) {
            return None;
        }
        // SAFETY: as in `read`, and `&mut self` is the only access.
        unsafe { self.host.add((paddr - self.start) as usize).cast::<T>().write_unaligned(v) };
        Some(())
    }

    /// The bytes of a range; `None` outside RAM.
    #[must_use]
    pub fn slice(&self, paddr: u64, len: u64) -> Option<&[u8]> {
        if !self.contains(paddr, len) {
            return None;
        }
        // SAFETY: inside the mapping, and borrowed with it.
        Some(unsafe { std::slice::from_raw_parts(self.host.add((paddr - self.start) as usize), len as usize) })
    }

    /// The bytes of a range, writable; `None` outside RAM.
    pub fn slice_mut(&mut self, paddr: u64, len: u64) -> Option<&mut [u8]> {
        if !self.contains(paddr, len) {
            return None;
        }
        // SAFETY: inside the mapping, and borrowed with it exclusively.
        Some(unsafe { std::slice::from_raw_parts_mut(self.host.add((paddr - self.start) as usize), len as usize) })
    }
}

const _: () = assert!(cfg!(target_endian = "little"), "guest memory is little-endian and so must the host be");

impl Drop for PhysMem {
    fn drop(&mut self) {
        // SAFETY: the mapping that `map` made, unmapped once.
        unsafe { libc::munmap(self.host.cast(), self.len as usize) };
    }
}

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
    fn nothing_outside_can_be_touched() {
        let mut m = PhysMem::new(0x1000, 0x1000).expect("maps");
        assert_eq!(m.read::<u64>(0x0ff9), None);
        assert_eq!(m.read::<u64>(0x1ff9), None);
        assert_eq!(m.write::<u64>(u64::MAX - 3, 0), None);
        assert!(m.slice(0x1000, 0x1001).is_none() && m.slice_mut(0x1fff, 1).is_some());
        assert!(PhysMem::new(0x1000, 0).is_err() && PhysMem::new(u64::MAX - 4095, 4096).is_err());
    }
}
