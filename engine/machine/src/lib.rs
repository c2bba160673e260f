//! Whole machines: a description and an ELF become a core, its memory and the world around it, which run until
//! something happens; and sweeps, which run thousands of points from one booted guest.

pub mod description;
pub mod elf;
mod error;
pub mod platform;

pub use description::MachineConfig;
pub use elf::{Elf, Routine, RoutineKind};
pub use error::EngineError;
