//! The timing side of memory: caches, TLBs, walkers, buses, DRAM. Knows addresses and instants, no data and no pipeline.
//!
//! *Latency-computing*: an access is resolved when it is made. Each component on its way answers with the instant at
//! which it will have served it, reserves what it occupies until then (MSHR, port, bank, bus), and updates its tags.
//! The core calls in non-decreasing time order per port; nothing here ever calls back.

mod cache;
pub mod config;
mod data_side;
mod dram;
mod inst_side;
mod layer;
mod line;
mod network;
mod packet;
mod prefetch;
mod request;
mod simple_mem;
mod system;
mod tlb;
mod translation;
mod uses;
mod util;
mod validate;
mod walk;
mod write_combining;
mod xbar;

pub use config::MemorySystemConfig;
pub use inst_side::InstSide;
pub use request::{MissResponse, MshrId, Port, Request, Response, Side, TlbResult};
pub use system::MemorySystem;
pub use uses::{DataUses, HitCounts, LineUse, PageUse};
