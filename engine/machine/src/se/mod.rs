//! Syscall emulation: a static Linux program runs in user mode, and the engine answers its system calls and faults; so it
//! does for processes that the program starts, one after the other
//! (`docs/syscall-emulation.md`). Everything is deterministic: time is simulated, randomness has a fixed seed, files are
//! those of one directory that the caller allows.

// Arguments of system calls are truncated and reinterpreted as their C types say.
#![allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_possible_wrap)]

mod answer;
mod calls;
mod config;
mod errno;
mod files;
mod frame;
mod host;
mod loader;
mod locks;
mod memory;
mod pipes;
mod process;
mod random;
mod schedule;
mod signals;
mod task;
#[cfg(test)]
mod tests;

pub use config::{Ids, ProcessConfig};
pub use host::{Host, MAX_FILES, START_TIME};
pub(crate) use loader::Hardware;
pub use process::Process;
