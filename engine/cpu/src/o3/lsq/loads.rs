//! The load queue: loads from their dispatch to their commit, which execute as soon as their address is known.
//! Fact source: gem5 24.0 `LSQUnit::executeLoad`, `LSQUnit::read`.
//!
//! - A load looks for its bytes in the older stores that have executed and have not been sent to the cache, youngest first:
//!   one that has all of them hands them over (`forwardLatency`); one that has part of them makes the load wait until it
//!   has been sent. Otherwise the load goes to the cache, past stores whose address is not known yet.
//! - A load that finds no port is issued again at once (gem5: from the next cycle on). A load that the cache refuses is
//!   issued again when the cache takes accesses again.

use breakeven_base::{MemRef, UopFlags};
use educe::Educe;

use super::super::inst::{InstRing, Wait};
use super::super::seq::{LoadPos, Seq, StorePos};
use super::filter::Filter;
use super::stores::Coverage;
use super::translate::Translation;
use super::{wait_for, Lsq, LsqOut, MemOutcome, PartialForward, Replay, Sent, SplitAccess, Stalled};
use crate::misaligned::Split;
use crate::outside::{Outside, Packet};
use crate::when::When;

#[derive(Clone, Copy, Debug, Default)]
pub struct Load {
    pub seq: Seq,
    /// Stores before this position are older.
    pub stores: StorePos,
    pub translation: Translation,
    /// A store had part of its data.
    pub partial: bool,
    pub access: SplitAccess,
}

/// A load whose MSHR is pending; its data is `extra` cycles later than the response.
#[derive(Clone, Copy, Debug)]
pub struct PendingLoad {
    pub seq: Seq,
    pub slot: usize,
    pub extra: u64,
}

/// Positions in the queue count from the first load ever; a load keeps its position until it leaves.
#[derive(Debug, Educe)]
#[educe(Clone)]
pub struct Loads {
    pub head: LoadPos,
    pub tail: LoadPos,
    size: u64,
    mask: u64,
    pub entries: Box<[Load]>,
    /// First and last byte of those that have executed; a range that overlaps nothing for the others.
    pub lo: Box<[u64]>,
    pub hi: Box<[u64]>,
    pub executed: Filter,
}

impl Loads {
    pub fn new(size: u32, check_shift: u32) -> Self {
        let n = (size as usize).next_power_of_two();
        Loads {
            head: LoadPos(0),
            tail: LoadPos(0),
            size: u64::from(size),
            mask: n as u64 - 1,
            entries: vec![Load::default(); n].into_boxed_slice(),
            lo: vec![u64::MAX; n].into_boxed_slice(),
            hi: vec![0; n].into_boxed_slice(),
            executed: Filter::new(check_shift.max(4), 0),
        }
    }

    #[inline]
    #[allow(clippy::cast_possible_truncation)] // masked
    pub fn slot(&self, position: LoadPos) -> usize {
        (position.0 & self.mask) as usize
    }
    #[inline]
    #[allow(clippy::cast_possible_truncation)] // at most `size`
    pub fn free(&self) -> u32 {
        (self.size - (self.tail - self.head)) as u32
    }
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.head == self.tail
    }
    #[inline]
    pub fn tail(&self) -> LoadPos {
        self.tail
    }

    #[inline]
    pub fn push(&mut self, seq: Seq, stores: StorePos) -> LoadPos {
        let slot = self.slot(self.tail);
        self.entries[slot] = Load { seq, stores, ..Load::default() };
        self.lo[slot] = u64::MAX;
        self.hi[slot] = 0;
        self.tail += 1;
        self.tail - 1
    }

    /// The slot of `seq`, which stands at `position`.
    #[inline]
    fn find(&self, position: LoadPos, seq: Seq) -> Option<usize> {
        let slot = self.slot(position);
        (self.entries[slot].seq == seq).then_some(slot)
    }

    /// From now on `slot` may be found by stores that execute.
    #[inline]
    pub fn set_range(&mut self, slot: usize, m: &MemRef) {
        let (lo, hi) = (m.vaddr, m.vaddr.saturating_add(u64::from(m.size.max(1) - 1)));
        if self.lo[slot] > self.hi[slot] {
            self.executed.add(lo, hi);
        }
        self.lo[slot] = lo;
        self.hi[slot] = hi;
    }

    #[inline]
    fn clear_range(&mut self, slot: usize) {
        if self.lo[slot] <= self.hi[slot] {
            self.executed.remove(self.lo[slot], self.hi[slot]);
            self.lo[slot] = u64::MAX;
            self.hi[slot] = 0;
        }
    }

    /// Whether any load has left.
    #[inline]
    pub fn commit(&mut self, seq: Seq) {
        while self.head < self.tail {
            let slot = self.slot(self.head);
            if self.entries[slot].seq > seq {
                break;
            }
            self.clear_range(slot);
            self.head += 1;
        }
    }

    /// The youngest leaves if it is younger than `last`.
    #[inline]
    pub fn squash_one(&mut self, last: Seq) -> Option<Seq> {
        if self.is_empty() {
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

    /// The oldest load from `from` on that has executed and shares a granule of 2^`shift` bytes with `lo..=hi`.
    #[inline]
    pub fn overlapping(&self, from: LoadPos, lo: u64, hi: u64, shift: u32) -> Option<Seq> {
        if !self.executed.may_overlap(lo, hi) {
            return None;
        }
        let (first, last) = (lo >> shift, hi >> shift);
        from.max(self.head)
            .until(self.tail)
            .map(|position| self.slot(position))
            .find(|&s| self.lo[s] <= self.hi[s] && self.lo[s] >> shift <= last && self.hi[s] >> shift >= first)
            .map(|s| self.entries[s].seq)
    }

    #[cfg(test)]
    pub fn filter_is_empty(&self) -> bool {
        self.executed.is_empty()
    }

    pub fn describe(&self) -> String {
        let used = self.tail - self.head;
        match used {
            0 => "none".to_owned(),
            _ => format!("{used} of {}, the oldest {}", self.size, self.entries[self.slot(self.head)].seq),
        }
    }
}

impl Lsq {
    pub(super) fn execute_load<X: Outside>(
        &mut self,
        seq: Seq,
        cx: &mut X,
        when: &When,
        ring: &mut InstRing,
        out: &mut LsqOut,
    ) -> MemOutcome {
        let m = *ring.mem(seq);
        let Some(slot) = self.loads.find(self.depend.load(seq), seq) else { return MemOutcome::Done(when.cycle) };
        if !m.valid {
            return MemOutcome::Done(when.cycle);
        }
        if self.loads.entries[slot].translation == Translation::NotStarted {
            self.loads.entries[slot].translation = Translation::UnderWay;
            if !self.walker.translate(seq, &m, false, cx, when) {
                ring.set_wait(seq, Wait::TlbWalk);
                return MemOutcome::Pending;
            }
        }
        if when.cycle < self.dcache_port.stalled_until {
            out.ready.push(seq);
            return MemOutcome::Pending;
        }
        let flags = ring.flags(seq);
        let split = self.split(&m, false);
        let load = &mut self.loads.entries[slot];
        if load.translation == Translation::UnderWay {
            load.translation = Translation::Done;
        }
        let mut extra = u64::from(split.extra);
        if !m.kind.is_prefetch() {
            self.loads.set_range(slot, &m);
            let stores = self.loads.entries[slot].stores;
            match self.stores.search(stores, &m, flags.any(UopFlags::ATOMIC), self.rules.cfg.aliasCheckBits) {
                Coverage::None => {}
                Coverage::Alias => {
                    self.counts.alias_matches += 1;
                    extra += u64::from(self.rules.cfg.aliasPenalty);
                }
                Coverage::Full => {
                    self.counts.forw_loads += 1;
                    ring.set_wait(seq, Wait::Level1);
                    return MemOutcome::Done(when.cycle + u64::from(self.rules.cfg.forwardLatency));
                }
                Coverage::Partial { store } => {
                    self.wait_for_store(slot, seq, store);
                    ring.set_wait(seq, Wait::ForwardFail);
                    return MemOutcome::Pending;
                }
            }
        }
        if self.loads.entries[slot].partial && self.rules.cfg.partialForwardPolicy == PartialForward::Penalty {
            extra += u64::from(self.rules.cfg.forwardFailPenalty);
        }
        self.send_load(slot, seq, &m, &split, extra, cx, when, ring, out)
    }

    /// Pending MSHRs have been sent: their loads' response times are known now.
    pub(super) fn end_pending_loads<X: Outside>(
        &mut self,
        cx: &mut X,
        when: &When,
        ring: &mut InstRing,
        out: &mut LsqOut,
    ) {
        let levels = cx.data_levels();
        let mut pending = std::mem::take(&mut self.pending);
        let mut known = None;
        pending.retain(|load| {
            let access = &mut self.loads.entries[load.slot].access;
            if !self.dcache_port.end_pending(load.seq, access, self.rules.line, &mut known, cx, when) {
                return true;
            }
            ring.set_wait(load.seq, wait_for(access.level, levels));
            out.done.push((load.seq, when.cycle_of(access.at).max(when.cycle + 1) + load.extra));
            false
        });
        self.pending = pending;
    }

    /// Partial forwarding: a store has only part of the load's bytes; the load is issued again when that store has been sent.
    fn wait_for_store(&mut self, slot: usize, seq: Seq, store: StorePos) {
        if self.rules.quirks.gem5ReplaysTogether && self.stalled.is_none_or(|s| seq < s.load) {
            self.stalled = Some(Stalled { store, load: seq });
        }
        self.counts.rescheduled_loads += 1;
        self.replays.push(Replay { load: seq, store });
        self.loads.clear_range(slot);
        let load = &mut self.loads.entries[slot];
        load.partial = true;
        if self.rules.quirks.gem5Retranslation {
            load.translation = Translation::NotStarted;
        }
        load.access = SplitAccess::default();
    }

    #[allow(clippy::too_many_arguments)] // one place calls it
    #[inline]
    fn send_load<X: Outside>(
        &mut self,
        slot: usize,
        seq: Seq,
        m: &MemRef,
        split: &Split,
        extra: u64,
        cx: &mut X,
        when: &When,
        ring: &mut InstRing,
        out: &mut LsqOut,
    ) -> MemOutcome {
        let (flags, pc) = (ring.flags(seq), ring.pc(seq));
        loop {
            let access = &self.loads.entries[slot].access;
            let packet = Packet { seq, sent: access.sent };
            let (request, sent) = access.next(m, self.rules.line, flags, pc);
            match self.dcache_port.send(true, packet, request, cx, when, &mut self.counts) {
                Sent::NoPort => {
                    let again = if self.rules.quirks.gem5PortRetries { &mut self.portless } else { &mut out.ready };
                    again.push(seq);
                    ring.set_wait(seq, Wait::Unit);
                    return MemOutcome::Pending;
                }
                Sent::Blocked => {
                    self.blocked.push(seq);
                    ring.set_wait(seq, Wait::Memory);
                    return MemOutcome::Pending;
                }
                answer => {
                    let access = &mut self.loads.entries[slot].access;
                    let single = access.sent == 0;
                    match answer {
                        Sent::Done { at, level } => access.sent(sent, at, level),
                        _ => access.waits(sent, request.paddr),
                    }
                    if sent < m.size {
                        self.counts.split_accesses += 1;
                        continue;
                    }
                    let (at, level) = (access.at, access.level);
                    let pending = access.pending > 0;
                    if split.slots > 0 {
                        self.dcache_port.load_ports.hold(when.cycle, split.slots);
                    }
                    if split.stall > 0 {
                        self.dcache_port.stalled_until = when.cycle + u64::from(split.stall);
                    }
                    let wait = match level {
                        0 if extra > 0 || !single => Wait::Split,
                        0 => Wait::Level1,
                        n => wait_for(n, cx.data_levels()),
                    };
                    ring.set_wait(seq, wait);
                    if m.kind.is_prefetch() {
                        return MemOutcome::Done(when.cycle + 1);
                    }
                    let extra = extra + u64::from(split.stall);
                    if pending {
                        if !single {
                            // The first half's MSHR may have been sent.
                            self.dcache_port.pending_until = self.dcache_port.pending_until.min(when.cycle + 1);
                        }
                        self.pending.push(PendingLoad { seq, slot, extra });
                        return MemOutcome::Pending;
                    }
                    let arrives = when.cycle_of(at).max(when.cycle + 1);
                    return MemOutcome::Done(arrives + extra);
                }
            }
        }
    }
}
