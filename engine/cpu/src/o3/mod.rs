//! The out-of-order core, after gem5's O3CPU.

pub mod config;
mod inst;
pub mod lsq;

pub use config::{default_fu_pool, FuDesc, O3Config, OpDesc, RenameRecovery};
pub use inst::{InstRing, Seq, Wait};
