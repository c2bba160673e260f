//! Linux's error numbers; those of RISC-V and x86-64 are the host's.

/// An error as a system call returns it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Errno(pub i32);

pub(super) const EAGAIN: Errno = Errno(libc::EAGAIN);
pub(super) const EBADF: Errno = Errno(libc::EBADF);
pub(super) const EBUSY: Errno = Errno(libc::EBUSY);
pub(super) const EFAULT: Errno = Errno(libc::EFAULT);
pub(super) const EINVAL: Errno = Errno(libc::EINVAL);
pub(super) const EISDIR: Errno = Errno(libc::EISDIR);
pub(super) const EFBIG: Errno = Errno(libc::EFBIG);
pub(super) const ENOENT: Errno = Errno(libc::ENOENT);
pub(super) const ENOMEM: Errno = Errno(libc::ENOMEM);
pub(super) const ENOSPC: Errno = Errno(libc::ENOSPC);
pub(super) const ENOSYS: Errno = Errno(libc::ENOSYS);
pub(super) const ENOTTY: Errno = Errno(libc::ENOTTY);
pub(super) const EPERM: Errno = Errno(libc::EPERM);
pub(super) const EPIPE: Errno = Errno(libc::EPIPE);
pub(super) const EROFS: Errno = Errno(libc::EROFS);
pub(super) const ESPIPE: Errno = Errno(libc::ESPIPE);

impl Errno {
    /// As the return register holds it.
    pub fn value(self) -> u64 {
        u64::from(self.0.unsigned_abs()).wrapping_neg()
    }
}

impl From<std::io::Error> for Errno {
    /// `cap-std` refuses a path out of its directory without an error number of the system's.
    fn from(e: std::io::Error) -> Errno {
        Errno(e.raw_os_error().unwrap_or(match e.kind() {
            std::io::ErrorKind::NotFound => libc::ENOENT,
            std::io::ErrorKind::InvalidInput => libc::EINVAL,
            _ => libc::EACCES,
        }))
    }
}
