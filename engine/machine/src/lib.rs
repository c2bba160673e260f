//! Whole machines: a description and an ELF become a core, its memory and its platform, which run until
//! an event; and sweeps, which run thousands of points from one booted guest.

pub mod contents;
mod core;
pub mod description;
pub mod elf;
mod error;
mod exec;
mod isa;
mod isa_name;
pub mod machine;
pub mod measured;
pub mod platform;
pub mod se;
pub mod stats;
pub mod sweep;
mod trace;

pub use description::{CoreConfig, MachineConfig, Use, Used, Uses};
pub use elf::{Elf, Routine, RoutineKind};
pub use error::{reason, EngineError};
pub use exec::Coverage;
pub use isa::IsaConfig;
pub use isa_name::IsaName;
pub use machine::{Cause, Event, Limits, Machine, RunEnd};
pub use measured::{Measured, TraceTo};
pub use platform::Sink;
pub use se::Host;
pub use sweep::{Detail, Report as SweepReport, Sweep};
pub use trace::TraceOptions;
