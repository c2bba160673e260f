//! The store queue: stores from their dispatch until the cache has written them.
//! Fact source: gem5 24.0 `LSQUnit::executeStore`, `checkViolations`, `writebackStores`, `completeStore`.
//!
//! - A store that executes looks for younger loads that have read from its granules already: the oldest is a violation.
//! - Committed stores are sent in order, as many a cycle as there are ports, without waiting for responses; their entries
//!   are freed in order, as responses come. With `needsTSO` they also complete in order, at most `tsoStoresInFlight` of them
//!   under way (0: any number; what is under way overlaps as ownership requests ahead of the write would).
//! - With `storesLeaveOnMiss` the entry of a store that misses is free in the cycle after it was sent; until the line is
//!   there the queue does not count as drained, and stores that hit are written after it (under TSO).
//! - Atomics are sent when they execute; a store-conditional only when it is the oldest store.

mod drain;

use breakeven_base::{Cycle, MemKind, MemRef, UopFlags};
use educe::Educe;

use super::super::inst::{InstRing, Wait};
use super::super::seq::{LoadPos, Seq, StorePos};
use super::filter::Filter;
use super::translate::Translation;
use super::{Found, Lsq, MemOutcome, SplitAccess, NEVER};
use crate::outside::Outside;
use crate::when::When;

/// What the older stores have of what a load wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coverage {
    None,
    /// Only the low address bits agree.
    Alias,
    Full,
    /// The youngest that overlaps has not all of it.
    Partial {
        store: StorePos,
    },
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Store {
    pub seq: Seq,
    pub pc: u64,
    pub mem: MemRef,
    pub flags: UopFlags,
    /// Loads from this position on are younger.
    pub loads: LoadPos,
    pub translation: Translation,
    pub access: SplitAccess,
    /// Cycles that the response comes later, that its port is held longer.
    pub extra: u32,
    pub slots: u32,
    /// When its entry is free (once sent): the cache has written it, or a fill buffer has taken it.
    pub leaves: Cycle,
}

impl Store {
    /// The cycle in which the last of its answers, all known, is taken.
    fn arrives(&self, when: &When) -> Cycle {
        when.cycle_of(self.access.at).max(when.cycle + 1) + u64::from(self.extra)
    }
}

/// `head..sent` are on their way, `sent..committed` may be sent,
/// `committed..tail` are speculative.
#[derive(Debug, Educe)]
#[educe(Clone)]
pub struct Stores {
    pub head: StorePos,
    pub sent: StorePos,
    pub committed: StorePos,
    pub tail: StorePos,
    pub size: u64,
    pub mask: u64,
    pub ports: u64,
    pub entries: Box<[Store]>,
    /// First and last byte of those that have executed and can be forwarded from; else a range that overlaps nothing.
    pub lo: Box<[u64]>,
    pub hi: Box<[u64]>,
    /// The ranges of those that have not been sent.
    pub unsent: Filter,
    /// [`Lsq::tick`] may be able to send a store.
    pub may_send: bool,
    /// The oldest store was refused by the cache.
    pub refused: bool,
    /// Under TSO: when the last store is written, and how many in that cycle.
    pub last_written: (Cycle, u64),
    /// When the last line is there for which fill buffers hold stores that have left; 0: they hold none.
    pub in_fills: Cycle,
}

impl Stores {
    pub fn new(size: u32, ports: u32, alias_bits: u32) -> Self {
        let n = (size as usize).next_power_of_two();
        Stores {
            head: StorePos(0),
            sent: StorePos(0),
            committed: StorePos(0),
            tail: StorePos(0),
            size: u64::from(size),
            mask: n as u64 - 1,
            ports: u64::from(ports),
            entries: vec![Store::default(); n].into_boxed_slice(),
            lo: vec![u64::MAX; n].into_boxed_slice(),
            hi: vec![0; n].into_boxed_slice(),
            unsent: Filter::new(4, alias_bits),
            may_send: false,
            refused: false,
            last_written: (Cycle::ZERO, 0),
            in_fills: Cycle::ZERO,
        }
    }

    #[inline]
    #[allow(clippy::cast_possible_truncation)] // masked
    pub fn slot(&self, position: StorePos) -> usize {
        (position.0 & self.mask) as usize
    }
    #[inline]
    #[allow(clippy::cast_possible_truncation)] // at most `size`
    pub fn free(&self) -> u32 {
        (self.size - (self.tail - self.head)) as u32
    }
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.head == self.tail && self.in_fills == Cycle::ZERO
    }
    #[inline]
    pub fn tail(&self) -> StorePos {
        self.tail
    }
    #[inline]
    pub fn has_committed(&self) -> bool {
        self.head < self.committed || self.in_fills != Cycle::ZERO
    }

    #[inline]
    pub fn push(&mut self, seq: Seq, loads: LoadPos) -> StorePos {
        let slot = self.slot(self.tail);
        let s = &mut self.entries[slot];
        s.seq = seq;
        s.loads = loads;
        s.translation = Translation::NotStarted;
        s.access = SplitAccess::default();
        s.leaves = NEVER;
        self.lo[slot] = u64::MAX;
        self.hi[slot] = 0;
        self.tail += 1;
        self.tail - 1
    }

    /// The slot of `seq`, which stands at `position`.
    #[inline]
    fn find(&self, position: StorePos, seq: Seq) -> Option<usize> {
        let slot = self.slot(position);
        (self.entries[slot].seq == seq).then_some(slot)
    }

    #[inline]
    fn clear_range(&mut self, slot: usize) {
        if self.lo[slot] <= self.hi[slot] {
            self.unsent.remove(self.lo[slot], self.hi[slot]);
            self.lo[slot] = u64::MAX;
            self.hi[slot] = 0;
        }
    }

    /// What the stores before `before` have of a load's bytes. `linked`: a load-reserved takes nothing from a store.
    #[inline]
    pub fn search(&self, before: StorePos, m: &MemRef, linked: bool, alias_bits: u32) -> Coverage {
        let (lo, hi) = (m.vaddr, m.vaddr.saturating_add(u64::from(m.size.max(1) - 1)));
        if before <= self.sent || !self.unsent.may_overlap(lo, hi) {
            return Coverage::None;
        }
        let mut alias = Coverage::None;
        let low_bits = if alias_bits == 0 { 0 } else { (1u64 << alias_bits) - 1 };
        for position in self.sent.until(before).rev() {
            let slot = self.slot(position);
            let (s_lo, s_hi) = (self.lo[slot], self.hi[slot]);
            if s_lo <= hi && s_hi >= lo {
                let whole = s_lo <= lo && s_hi >= hi;
                let atomic = self.entries[slot].flags.any(UopFlags::ATOMIC);
                return if whole && !atomic && !linked {
                    Coverage::Full
                } else {
                    Coverage::Partial { store: position }
                };
            }
            if low_bits != 0 && s_lo <= s_hi && alias == Coverage::None {
                let distance = (lo.wrapping_sub(s_lo)) & low_bits;
                let behind = (s_lo.wrapping_sub(lo)) & low_bits;
                if distance <= s_hi - s_lo || behind <= hi - lo {
                    alias = Coverage::Alias;
                }
            }
        }
        alias
    }

    #[inline]
    pub fn commit(&mut self, seq: Seq) {
        while self.committed < self.tail && self.entries[self.slot(self.committed)].seq <= seq {
            self.committed += 1;
            self.may_send = true;
        }
    }

    /// The youngest leaves if it is younger than `last` and has not committed.
    #[inline]
    pub fn squash_one(&mut self, last: Seq) -> Option<Seq> {
        if self.tail == self.committed {
            return None;
        }
        let slot = self.slot(self.tail - 1);
        let seq = self.entries[slot].seq;
        if seq <= last {
            return None;
        }
        self.clear_range(slot);
        self.tail -= 1;
        Some(seq)
    }

    /// When the oldest store leaves.
    #[inline]
    fn next_leaves(&self) -> Cycle {
        if self.head < self.sent {
            self.entries[self.slot(self.head)].leaves
        } else {
            NEVER
        }
    }

    /// When a store leaves next, or the last line comes for one that has.
    #[inline]
    pub fn next_written(&self) -> Cycle {
        if self.in_fills == Cycle::ZERO {
            self.next_leaves()
        } else {
            self.next_leaves().min(self.in_fills)
        }
    }

    /// Stores whose response has come, or that a fill buffer has taken, leave in order. Whether one has, or the last line came.
    #[inline]
    pub fn retire_written(&mut self, now: Cycle) -> bool {
        let (head, in_fills) = (self.head, self.in_fills);
        while self.next_leaves() <= now {
            self.head += 1;
            // One that waited for those before it may go now.
            self.may_send |= self.sent < self.committed;
        }
        if self.in_fills != Cycle::ZERO && self.in_fills <= now {
            self.in_fills = Cycle::ZERO;
            self.may_send |= self.sent < self.committed;
        }
        (head, in_fills) != (self.head, self.in_fills)
    }

    /// When a store that the cache answers at `at` counts as written.
    fn complete(&mut self, at: Cycle, tso: bool) -> Cycle {
        if !tso {
            return at;
        }
        let (last, n) = self.last_written;
        self.last_written = match at {
            at if at > last => (at, 1),
            _ if n < self.ports => (last, n + 1),
            _ => (last + 1, 1),
        };
        self.last_written.0
    }

    #[cfg(test)]
    pub fn filter_is_empty(&self) -> bool {
        self.unsent.is_empty()
    }

    pub fn describe(&self) -> String {
        let oldest = match self.is_empty() {
            true => String::new(),
            false => format!(", the oldest {}", self.entries[self.slot(self.head)].seq),
        };
        format!(
            "{} of {}{oldest}: {} sent, {} committed and not sent{}",
            self.tail - self.head,
            self.size,
            self.sent - self.head,
            self.committed - self.sent,
            if self.refused { ", the cache refused the first of them" } else { "" },
        )
    }
}

impl Lsq {
    pub(super) fn execute_store<X: Outside>(
        &mut self,
        seq: Seq,
        cx: &mut X,
        when: &When,
        ring: &mut InstRing,
    ) -> MemOutcome {
        let m = *ring.mem(seq);
        let position = self.depend.store(seq);
        let Some(slot) = self.stores.find(position, seq) else { return MemOutcome::Done(when.cycle) };
        if !m.valid {
            self.depend.store_executes(seq);
            self.stores.entries[slot].mem = m;
            return MemOutcome::Done(when.cycle);
        }
        if self.stores.entries[slot].translation == Translation::NotStarted {
            self.depend.store_executes(seq);
            self.stores.entries[slot].translation = Translation::UnderWay;
            if !self.walker.translate(seq, &m, true, cx, when) {
                ring.set_wait(seq, Wait::TlbWalk);
                return MemOutcome::Pending;
            }
        }
        let (flags, pc) = (ring.flags(seq), ring.pc(seq));
        let split = self.split(&m, true);
        let s = &mut self.stores.entries[slot];
        s.translation = Translation::Done;
        s.mem = m;
        s.flags = flags;
        s.pc = pc;
        (s.extra, s.slots) = (split.extra, split.slots);
        let loads = s.loads;
        let (lo, hi) = range_of(&m, self.rules.line);
        if has_bytes(m.kind) && !m.uncacheable {
            self.stores.lo[slot] = lo;
            self.stores.hi[slot] = hi;
            self.stores.unsent.add(lo, hi);
        }
        if let Some(load) = self.loads.overlapping(loads, lo, hi, self.rules.check_shift) {
            if self.violation.is_none_or(|v| load < v.load) {
                let pc_of = |seq| self.depend.store_set_pc(seq, ring);
                self.violation = Some(Found { load, load_pc: pc_of(load), store_pc: pc_of(seq) });
                self.counts.mem_order_violation += 1;
            }
        }
        if flags.any(UopFlags::ATOMIC) {
            // It is the oldest: it goes to the cache at once and writes back with the response.
            self.stores.committed = self.stores.committed.max(position + 1);
            self.stores.may_send = true;
            ring.set_wait(seq, Wait::StoreQueue);
            return MemOutcome::Pending;
        }
        if split.stall > 0 {
            self.dcache_port.stalled_until = when.cycle + u64::from(split.stall);
        }
        MemOutcome::Done(when.cycle + u64::from(split.stall))
    }
}

/// First and last byte that a store changes.
#[inline]
pub fn range_of(m: &MemRef, line: u32) -> (u64, u64) {
    if m.kind.acts_on_line() {
        let lo = m.vaddr & !u64::from(line - 1);
        (lo, lo + u64::from(line - 1))
    } else {
        (m.vaddr, m.vaddr.saturating_add(u64::from(m.size.max(1) - 1)))
    }
}

/// Whether a store of `kind` has bytes that a load can take.
#[inline]
pub fn has_bytes(kind: MemKind) -> bool {
    matches!(kind, MemKind::Store | MemKind::StoreLine | MemKind::Atomic | MemKind::CboZero)
}
