//! Syscall emulation: a static Linux program runs in user mode, and the engine answers its system calls.

mod config;

pub use config::{Ids, ProcessConfig};
