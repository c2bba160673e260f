//! What a core asks of the memory side, and what it is answered.

use breakeven_base::{MemKind, PhysAddr, Tick};

use crate::line::LineAddr;

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
    pub paddr: PhysAddr,
    /// Bytes, 1..=line size.
    pub size: u16,
    pub kind: MemKind,
    pub uncacheable: bool,
    pub non_temporal: bool,
    /// Of the instruction that asks; prefetchers train on it.
    pub pc: u64,
    /// Its sender takes [`Response::Pending`] for an answer (data port only).
    pub may_wait: bool,
}

/// What became of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Response {
    /// The response reaches the core at `at`. `level`: 0 hit in the first-level cache, 1 in the second, ...; the memory is the last.
    Done { at: Tick, level: u8 },
    /// The first-level cache cannot accept it (MSHRs, targets or write buffers full), or it waits for a write-combining
    /// buffer: ask again at `retry` (later than now).
    Blocked { retry: Tick },
    /// A load or store that may wait has missed, and its MSHR has not been sent yet: others join it until it is. Call
    /// [`crate::MemorySystem::send_pending`] at `until`, then ask for [`crate::MemorySystem::response_of`] this MSHR.
    Pending { id: MshrId, until: Tick },
}

/// An MSHR of the data cache, which has one a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MshrId {
    pub(crate) line: LineAddr,
}

impl MshrId {
    /// The one for the line of `paddr`.
    #[inline]
    #[must_use]
    pub fn of(paddr: PhysAddr, line_bytes: u32) -> Self {
        MshrId { line: LineAddr::of(paddr, u64::from(line_bytes)) }
    }
}

/// A timing-TLB look-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TlbResult {
    /// Translated at this instant (a first-level hit costs nothing: `now`).
    Hit { at: Tick },
    /// Both levels missed, known at this instant: call `walk` with the path.
    Miss { at: Tick },
}

/// When the targets of an MSHR that has been sent are served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MissResponse {
    pub id: MshrId,
    /// The first target's address: the critical word.
    pub first: PhysAddr,
    pub at: Tick,
    pub rest: u64,
    /// Level that supplied the line (0: first-level cache).
    pub level: u8,
}

impl MissResponse {
    /// Response time of a target at `paddr`, in the line.
    #[inline]
    #[must_use]
    pub fn of(&self, paddr: PhysAddr) -> Tick {
        self.at + if paddr == self.first { 0 } else { self.rest }
    }
}
