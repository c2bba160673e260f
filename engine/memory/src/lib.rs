//! The timing side of memory: caches, TLBs, walkers, buses, DRAM. Knows addresses and instants, no data and no pipeline.
//!
//! *Latency-computing*: an access is resolved when it is made. Each component on its way answers with the instant at
//! which it will have served it, reserves what it occupies until then (MSHR, port, bank, bus), and updates its tags.
//! The core calls in non-decreasing time order per port; nothing here ever calls back.

use breakeven_base::{MemKind, Tick};

/// Which of the core's ports an access comes through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Port {
    Inst,
    Data,
    InstWalk,
    DataWalk,
}

/// Instruction or data side (TLBs).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Inst,
    Data,
}

/// One access; never crosses a cache line (the core splits).
#[derive(Clone, Copy, Debug)]
pub struct Request {
    pub paddr: u64,
    /// Bytes, 1..=line size.
    pub size: u16,
    pub kind: MemKind,
    pub uncacheable: bool,
    pub non_temporal: bool,
    /// Of the instruction that asks; prefetchers train on it.
    pub pc: u64,
}

/// What became of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Response {
    /// The response reaches the core at `at`. `level`: 0 hit in the first-level cache, 1 in the second, ...; the memory is the last.
    Done { at: Tick, level: u8 },
    /// The first-level cache cannot accept it (MSHRs, targets or write buffers full): ask again at `retry` (later than now).
    Blocked { retry: Tick },
}

/// A timing-TLB look-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TlbResult {
    /// Translated at this instant (a first-level hit costs nothing: `now`).
    Hit { at: Tick },
    /// Both levels missed, known at this instant: call `walk` with the path.
    Miss { at: Tick },
}
