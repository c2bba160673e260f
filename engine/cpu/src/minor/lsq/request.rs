//! One memory reference on its way: from execute, perhaps in several fragments, to the response or the store buffer.

use breakeven_base::{Cycle, MemKind, MemRef, PhysAddr};

use super::super::inst::Seq;
use crate::misaligned::Split;

/// gem5's `LSQRequestState`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    InTranslation,
    Translated,
    /// Some fragment has been sent from the requests queue.
    RequestIssuing,
    RequestNeedsRetry,
    /// A store that waits in the transfers queue for its commit.
    StoreToStoreBuffer,
    StoreInStoreBuffer,
    StoreBufferIssuing,
    StoreBufferNeedsRetry,
    /// A reference without an address (wrong path): goes nowhere.
    Failed,
    #[default]
    Complete,
}

/// How an older store relates to a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coverage {
    None,
    Partial,
    Full,
}

/// How far a reference is on its way through the memory port, which carries it in one fragment or several.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fragments {
    /// Bytes of the first one.
    pub first: u16,
    /// Bytes sent so far.
    pub sent: u16,
    pub issued: u8,
    pub retired: u8,
    /// Where the farthest answer so far comes from: 0 the first-level cache.
    pub level: u8,
    /// Cycles by which the last response is late (misaligned costs).
    pub extra: u32,
    /// Cycles for which the port stays taken after the last fragment.
    pub slots: u32,
}

impl Fragments {
    /// Nothing has been sent.
    #[inline]
    pub fn of(split: &Split) -> Self {
        Fragments { first: split.first, extra: split.extra, slots: split.slots, ..Fragments::default() }
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub struct LsqRequest {
    pub seq: Seq,
    pub pc: u64,
    pub mem: MemRef,
    pub stream: u32,
    pub state: State,
    pub is_load: bool,
    /// May wait in the store buffer, or be issued before it is known to commit.
    pub bufferable: bool,
    /// The barrier that the instruction is, besides or instead of a reference.
    pub barrier: bool,
    pub non_temporal: bool,
    /// Stands in the store buffer for a barrier only.
    pub barrier_only: bool,
    /// Cycle at which the translation is known.
    pub translated: Cycle,
    pub fragments: Fragments,
}

impl LsqRequest {
    #[inline]
    pub fn is_complete(&self) -> bool {
        self.state == State::Complete
    }
    #[inline]
    pub fn sent_all(&self) -> bool {
        self.fragments.sent >= self.mem.size
    }
    #[inline]
    pub fn in_memory(&self) -> bool {
        self.fragments.issued != self.fragments.retired
    }
    /// Carries no data: waits for nothing and forwards nothing.
    #[inline]
    pub fn is_prefetch(&self) -> bool {
        matches!(self.mem.kind, MemKind::PrefetchRead | MemKind::PrefetchWrite | MemKind::PrefetchFetch)
    }
    #[inline]
    fn forwards(&self) -> bool {
        matches!(self.mem.kind, MemKind::Store | MemKind::Atomic | MemKind::CboZero) && !self.barrier_only
    }

    /// The next fragment: address and bytes. Fragments end where the port's width (a power of two) does.
    #[inline]
    #[allow(clippy::cast_possible_truncation)] // at most the reference's size
    pub fn fragment(&self, port: u32) -> (PhysAddr, u16) {
        let Fragments { first, sent, .. } = self.fragments;
        if sent == 0 {
            return (self.mem.paddr, first);
        }
        let rest = self.mem.size - sent;
        let vaddr = self.mem.vaddr + u64::from(sent);
        let to_boundary = u64::from(port) - (vaddr & u64::from(port - 1));
        (self.mem.paddr_of(sent), u64::from(rest).min(to_boundary) as u16)
    }

    /// What this store has of what `load` wants.
    #[inline]
    pub fn covers(&self, load: &LsqRequest) -> Coverage {
        let (a, a_end) = (self.mem.paddr, self.mem.paddr + u64::from(self.mem.size));
        let (b, b_end) = (load.mem.paddr, load.mem.paddr + u64::from(load.mem.size));
        if !self.forwards() || a >= b_end || a_end <= b {
            Coverage::None
        } else if a <= b && a_end >= b_end {
            Coverage::Full
        } else {
            Coverage::Partial
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(kind: MemKind, vaddr: u64, size: u16, first: u16) -> LsqRequest {
        let mem = MemRef {
            vaddr,
            paddr: PhysAddr(vaddr),
            paddr2: PhysAddr(0x9000),
            size,
            kind,
            valid: true,
            ..MemRef::default()
        };
        LsqRequest { mem, fragments: Fragments { first, ..Fragments::default() }, ..LsqRequest::default() }
    }

    #[test]
    fn the_second_fragment_starts_on_the_second_page() {
        let mut r = request(MemKind::Load, 0x1ffc, 8, 4);
        assert_eq!(r.fragment(64), (PhysAddr(0x1ffc), 4));
        r.fragments.sent = 4;
        assert_eq!(r.fragment(64), (PhysAddr(0x9000), 4));
        r.fragments.sent = 8;
        assert!(r.sent_all());
    }

    #[test]
    fn a_store_forwards_only_what_it_has_whole() {
        let store = request(MemKind::Store, 0x100, 4, 4);
        assert_eq!(store.covers(&request(MemKind::Load, 0x100, 4, 4)), Coverage::Full);
        assert_eq!(store.covers(&request(MemKind::Load, 0x102, 2, 2)), Coverage::Full);
        assert_eq!(store.covers(&request(MemKind::Load, 0x100, 8, 8)), Coverage::Partial);
        assert_eq!(store.covers(&request(MemKind::Load, 0x104, 4, 4)), Coverage::None);
        assert_eq!(request(MemKind::CboClean, 0x100, 64, 64).covers(&store), Coverage::None);
    }
}
