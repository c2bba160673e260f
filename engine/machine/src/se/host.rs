//! What a process may reach of the host: one directory, through `cap-std`, which lets no path out of it (`..`, symbolic
//! links, `/proc`), and standard input as bytes.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use rustix::fs::{flock, openat, FlockOperation, Mode, OFlags};

use super::errno::{Errno, EBUSY};
use crate::EngineError;

/// What the real-time clock shows when the simulation starts, as gem5's: seconds since 1970.
pub const START_TIME: u64 = 1_000_000_000;
/// Files that a process may make unless the caller says otherwise.
pub const MAX_FILES: u64 = 10_000;

/// A file, however many names and descriptors it has: device and number.
pub(super) type Inode = (u64, u64);

/// What the caller allows.
#[derive(Clone, Debug)]
pub struct Host {
    /// Standard input.
    pub stdin: Vec<u8>,
    /// The directory that the process may use; none: no files.
    pub directory: Option<PathBuf>,
    /// It may write there.
    pub writable: bool,
    /// How many files, directories and links it may make there.
    pub max_files: u64,
    /// What its real-time clock shows at the start, and the time of every file: seconds since 1970.
    pub start_time: u64,
}

impl Default for Host {
    fn default() -> Host {
        Host { stdin: Vec::new(), directory: None, writable: false, max_files: MAX_FILES, start_time: START_TIME }
    }
}

/// The allowed directory, open.
#[derive(Debug)]
pub(super) struct Root {
    pub dir: Dir,
    /// As the caller wrote it, made absolute, and without symbolic links: the process may use both names.
    names: [PathBuf; 2],
    pub writable: bool,
}

/// How long a simulator waits for another one that changes names: that takes milliseconds, but it may have been stopped. A
/// test does not wait.
const PATIENCE: Duration = Duration::from_secs(if cfg!(test) { 0 } else { 10 });

/// Where kernels keep files that act.
const NOT_ALLOWED: [&str; 3] = ["/proc", "/sys", "/dev"];

impl Root {
    /// Opens the directory.
    ///
    /// # Errors
    /// A directory that cannot be opened, or one in which files are more than data.
    pub fn open(host: &Host) -> Result<Option<Root>, EngineError> {
        let Some(path) = &host.directory else { return Ok(None) };
        let bad = |what: String| EngineError::Process(format!("the directory {}: {what}", path.display()));
        let real = path.canonicalize().map_err(|e| bad(format!("{e}; name one that exists")))?;
        if real == Path::new("/") || NOT_ALLOWED.iter().any(|p| real.starts_with(p)) {
            return Err(bad("holds the kernel's own files; allow a directory of data".to_owned()));
        }
        let dir = Dir::open_ambient_dir(&real, ambient_authority()).map_err(|e| bad(e.to_string()))?;
        let given = std::path::absolute(path).map_err(|e| bad(e.to_string()))?;
        Ok(Some(Root { dir, names: [real, given], writable: host.writable }))
    }

    /// Keeps other simulators from changing names in the directory until what this returns is dropped.
    ///
    /// # Errors
    /// EBUSY: another program has locked the directory, and keeps it so.
    pub fn lock(&self) -> Result<OwnedFd, Errno> {
        // A lock is an open file's: this one is nobody else's, and `dir` has been opened for no reading (O_PATH).
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = openat(&self.dir, ".", flags, Mode::empty()).map_err(std::io::Error::from)?;
        let start = Instant::now();
        loop {
            match flock(&opened, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(opened),
                Err(rustix::io::Errno::WOULDBLOCK) if start.elapsed() < PATIENCE => {
                    thread::sleep(Duration::from_millis(1));
                }
                Err(rustix::io::Errno::WOULDBLOCK) => return Err(EBUSY),
                Err(e) => return Err(std::io::Error::from(e).into()),
            }
        }
    }

    /// The path of the directory.
    pub fn name(&self) -> &Path {
        &self.names[0]
    }

    /// The part of an absolute path below the directory, at least `.`; `None` when it lies elsewhere.
    pub fn below(&self, path: &Path) -> Option<PathBuf> {
        self.names.iter().find_map(|name| path.strip_prefix(name).ok()).map(here)
    }
}

/// Nothing is the directory itself.
pub(super) fn here(path: &Path) -> PathBuf {
    if path.as_os_str().is_empty() {
        PathBuf::from(".")
    } else {
        path.to_owned()
    }
}

/// `path` seen from `base`, both below the directory. Going up is left to whoever opens it: only he knows what is a link.
pub(super) fn join(base: &Path, path: &Path) -> PathBuf {
    here(&base.join(path))
}

pub(super) fn path_of(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

/// Whether a file is one of the kernel's (`proc`, `sysfs`, `debugfs`, ...), however it came into the directory.
pub(super) fn is_kernels(file: &std::fs::File) -> bool {
    // From linux/magic.h: proc, sysfs, debugfs, tracefs, securityfs, bpf, cgroup, cgroup2, configfs, devpts, efivarfs.
    const MAGIC: [u64; 11] = [
        0x9fa0,
        0x6265_6572,
        0x6462_6720,
        0x7472_6163,
        0x7363_6673,
        0xcafe_4a11,
        0x0027_e0eb,
        0x6367_7270,
        0x6265_6570,
        0x1cd1,
        0xde5e_81e4,
    ];
    match rustix::fs::fstatfs(file) {
        Ok(fs) => MAGIC.contains(&((fs.f_type as u64) & 0xffff_ffff)),
        Err(_) => true,
    }
}
