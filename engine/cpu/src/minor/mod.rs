//! The in-order core, after gem5's MinorCPU.

pub mod config;

pub use config::{default_fu_pool, FuConfig, FuTiming, MinorConfig};
