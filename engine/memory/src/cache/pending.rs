//! Pending misses: MSHRs that are allocated but not sent yet, as in gem5's caches (24.0 `BaseCache::allocateMissBuffer`,
//! `sendMSHRQueuePacket`, `MSHR::TargetList::updateWriteFlags`): a miss leaves the cache after its tag latency, when the bus
//! and the level below take it. Stores to the line join it until then; a line that has been written whole by then is not
//! read: an `InvalidateReq` goes out.
//!
//! Only requests that say so wait ([`Request::may_wait`]); their sender is told the MSHR and asks for its response.

use breakeven_base::Tick;

use crate::layer::Slot;
use crate::line::LineAddr;
use crate::packet::Pkt;
use crate::prefetch::Access;
use crate::request::MshrId;
use educe::Educe;

/// Longer lines do not fit the byte mask: their misses are sent at once.
pub(super) const LONGEST_LINE: u32 = 128;
pub(super) const NEVER: u64 = u64::MAX;

/// When the targets of an MSHR that has been sent are served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MissResponse {
    pub id: MshrId,
    /// The first target's address: the critical word.
    pub first: u64,
    pub at: Tick,
    pub rest: u64,
    /// Level that supplied the line (0: first-level cache).
    pub level: u8,
}

impl MissResponse {
    /// Response time of a target at `paddr`, in the line.
    #[inline]
    #[must_use]
    pub fn of(&self, paddr: u64) -> Tick {
        self.at + if paddr == self.first { 0 } else { self.rest }
    }
}

/// One MSHR that has been allocated and not sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct PendingMiss {
    pub line: LineAddr,
    /// Mask of the bytes that its stores have written so far.
    pub written: u128,
    /// The first target.
    pub first: Pkt,
    pub slot: Slot,
    /// Number and sum of arrival times of its targets: of those at the first one's address, and of the others.
    pub arrivals: [(u64, u64); 2],
    /// The core's access, on which prefetchers of lower levels train.
    pub asked: Access,
}

/// The pending MSHRs of a cache (the first-level data cache; others have none), oldest first.
#[derive(Debug, Educe)]
#[educe(Clone)]
pub(crate) struct PendingMisses {
    pub(super) misses: Vec<PendingMiss>,
    /// When the first of them may be sent.
    pub next: u64,
}
impl PendingMisses {
    pub fn new() -> Self {
        PendingMisses { misses: Vec::new(), next: NEVER }
    }

    pub fn note_next(&mut self) {
        self.next = self.misses.iter().map(|h| h.slot.start).min().unwrap_or(NEVER);
    }

    #[inline]
    pub fn due(&self, now: u64) -> bool {
        self.next <= now
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.next == NEVER
    }
}

/// Byte mask, one bit a byte.
pub(super) fn bytes(addr: u64, size: u32, line: u32) -> u128 {
    let ones = |n: u32| if n >= u128::BITS { u128::MAX } else { (1 << n) - 1 };
    ones(size) << (addr & u64::from(line - 1))
}
