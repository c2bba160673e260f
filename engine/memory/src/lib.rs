//! The timing side of memory: caches, TLBs, walkers, buses, DRAM. Knows addresses and instants, no data and no pipeline.
//!
//! *Latency-computing*: an access is resolved when it is made. Each component on its way answers with the instant at
//! which it will have served it, reserves what it occupies until then (MSHR, port, bank, bus), and updates its tags.
//! The core calls in non-decreasing time order per port; nothing here ever calls back.

pub mod config;

use breakeven_base::{ConfigError, MemKind, StatSink, Tick, WalkPath};

pub use config::MemorySystemConfig;

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

/// The memory side of one core. Cloning it clones every tag, queue and statistic.
#[derive(Clone)]
pub struct MemorySystem {
    cfg: MemorySystemConfig,
}

impl MemorySystem {
    /// # Errors
    /// Everything in the description that cannot be built, one error each.
    pub fn new(cfg: MemorySystemConfig) -> Result<Self, Vec<ConfigError>> {
        Ok(MemorySystem { cfg })
    }
    pub fn access(&mut self, _port: Port, now: Tick, _req: &Request) -> Response {
        Response::Done { at: now, level: 0 }
    }
    /// Looks a page up in the timing TLBs; `page_shift` 0 (translation off) always hits.
    pub fn tlb_lookup(&mut self, _side: Side, now: Tick, _vaddr: u64, _page_shift: u8, _asid: u16, _is_store: bool) -> TlbResult {
        TlbResult::Hit { at: now }
    }
    /// Reads the entries of `path` one after another and fills the TLBs; the instant at which the translation is known.
    pub fn tlb_walk(&mut self, _side: Side, now: Tick, _vaddr: u64, _page_shift: u8, _asid: u16, _path: &WalkPath) -> Tick {
        now
    }
    /// Forgets all timing-TLB entries, or those of one page.
    pub fn tlb_flush(&mut self, _vaddr: Option<u64>) {}
    /// fence.i.
    pub fn fetch_flush(&mut self) {}
    #[must_use]
    pub fn line_bytes(&self) -> u32 {
        self.cfg.line_bytes
    }
    pub fn reset_stats(&mut self) {}
    /// Statistics under the components' own paths.
    pub fn collect(&self, _sink: &mut StatSink) {}
    /// What every queue holds, for the deadlock report.
    #[must_use]
    pub fn describe_queues(&self, _now: Tick) -> String {
        String::new()
    }
}
