//! The load-store queue's state in relative form.
//!
//! A reference of a micro-op in flight stands in the ring. Those of stores that have committed, and of loads that have and
//! have not left yet, are written here.

use breakeven_base::{Cycle, MemRef, UopFlags};

use super::dcache_port::{DcachePort, SplitAccess, ANSWERS};
use super::depend::{Barrier, Dependences, Op};
use super::loads::{Load, Loads, PendingLoad};
use super::store_sets::StoreSets;
use super::stores::{has_bytes, range_of, Store, Stores};
use super::translate::{Translation, Walker};
use super::{uses_load_queue, Lsq, Replay, Stalled, NEVER};
use crate::memo::archive::{AddressRules, Archive};
use crate::o3::inst::{InstRing, State};
use crate::o3::seq::{LoadPos, Seq, StorePos, LOADS, STORES};

const TRANSLATIONS: [Translation; 3] = [Translation::NotStarted, Translation::UnderWay, Translation::Done];

impl Archive<'_> {
    #[inline]
    fn load_position(&mut self, LoadPos(value): &mut LoadPos) {
        self.number(LOADS, value);
    }
    #[inline]
    fn store_position(&mut self, StorePos(value): &mut StorePos) {
        self.number(STORES, value);
    }
}

impl Lsq {
    /// The micro-ops in flight stand in `ring` already.
    pub fn archive(&mut self, a: &mut Archive, ring: &InstRing) {
        let line = self.rules.line;
        let Self {
            rules: _,
            loads,
            stores,
            depend,
            walker,
            dcache_port,
            violation,
            blocked,
            portless,
            pending,
            replays,
            stalled,
            fence_after,
            counts: _,
            store_log: _,
        } = self;
        loads.archive(a, ring);
        stores.archive(a, ring, line);
        depend.archive(a, ring);
        walker.archive(a);
        dcache_port.archive(a);
        a.refuse(violation.is_some());
        a.empty(violation, None);
        a.list(pending, PendingLoad { seq: Seq::NONE, slot: 0, extra: 0 }, |a, PendingLoad { seq, slot, extra }| {
            a.seq(seq);
            a.u64(extra);
            a.empty(slot, loads.slot(depend.load(*seq)));
        });
        a.seqs(blocked);
        a.seqs(portless);
        a.list(replays, Replay { load: Seq::NONE, store: StorePos(0) }, |a, Replay { load, store }| {
            a.seq(load);
            a.store_position(store);
        });
        if a.present(stalled.is_some()) {
            let mut s = stalled.unwrap_or(Stalled { store: StorePos(0), load: Seq::NONE });
            a.store_position(&mut s.store);
            a.seq(&mut s.load);
            *stalled = Some(s);
        } else {
            *stalled = None;
        }
        a.cycle(fence_after);
    }

    /// What of addresses the queue looks at.
    pub fn address_rules(&self) -> AddressRules {
        let line = u64::from(self.rules.line);
        let costs = self.rules.costs.granules(self.rules.line).map(u64::from);
        // Accesses that wait with an MSHR share it with those of their line.
        let granule = if self.dcache_port.misses_wait { line } else { 1 };
        let granule = granule.max(1 << self.rules.check_shift);
        AddressRules { line, granule, costs, apart: line.max(granule), physical: false }
    }

    /// Which instructions are of which store set.
    pub fn store_sets(&self) -> &[u32] {
        &self.depend.store_sets.ssit
    }

    /// How often that has changed.
    pub fn sets_changed(&self) -> u64 {
        self.depend.store_sets.changes
    }

    /// Stores that may be dispatched before the store sets are cleared.
    pub fn stores_until_clear(&self) -> u64 {
        let sets = &self.depend.store_sets;
        sets.clear_period.saturating_sub(sets.stores)
    }

    /// Of how many loads and stores it holds: how many it still takes.
    pub fn signature(&self) -> u64 {
        u64::from(self.loads.free()) << 32 | u64::from(self.stores.free())
    }

    /// The positions that are filled next, and the stores dispatched.
    pub fn places(&self) -> (u64, u64) {
        (self.loads.tail().0, self.stores.tail().0)
    }
}

/// The reference of `seq`: in the ring while it is in flight, else beside the bytes.
fn archive_reference(seq: Seq, mem: &mut MemRef, a: &mut Archive, ring: &InstRing) {
    if seq < ring.head() {
        a.reference(seq, mem);
    } else {
        a.empty(mem, *ring.mem(seq));
    }
}

impl SplitAccess {
    /// `mem`: the reference, once it is known.
    fn archive(&mut self, a: &mut Archive, mem: &MemRef) {
        let Self { sent, at, level, pending, lines } = self;
        a.u16(sent);
        a.tick(at);
        a.u8(level);
        a.u8(pending);
        // Which of its packets wait for a response: each is known by its first byte.
        for line in &mut lines[..usize::from(*pending).min(2)] {
            let mut second = *line != mem.paddr;
            a.flag(&mut second);
            let to_line_end = a.rules.line - (mem.vaddr & (a.rules.line - 1));
            #[allow(clippy::cast_possible_truncation)] // at most a line
            let first = mem.paddr_of(if second { to_line_end as u16 } else { 0 });
            a.refuse(!a.loads() && first != *line);
            *line = first;
        }
    }
}

impl Loads {
    fn archive(&mut self, a: &mut Archive, ring: &InstRing) {
        if a.loads() {
            self.executed.clear();
        }
        a.load_position(&mut self.head);
        a.load_position(&mut self.tail);
        for position in self.head.until(self.tail) {
            let slot = self.slot(position);
            let mut executed = self.lo[slot] <= self.hi[slot];
            let Load { seq, stores, translation, partial, access } = &mut self.entries[slot];
            a.seq(seq);
            a.store_position(stores);
            a.one_of(translation, &TRANSLATIONS);
            a.flag(partial);
            let in_flight = *seq >= ring.head();
            a.refuse(!a.loads() && access.pending > 0 && !in_flight);
            let known = if in_flight { *ring.mem(*seq) } else { MemRef::default() };
            access.archive(a, &known);
            a.flag(&mut executed);
            let mut mem = MemRef::default();
            if executed {
                mem.valid = true;
                mem.vaddr = self.lo[slot];
                #[allow(clippy::cast_possible_truncation)] // at most a reference's size
                {
                    mem.size = self.hi[slot].wrapping_sub(self.lo[slot]).wrapping_add(1) as u16;
                }
                let seq = *seq;
                archive_reference(seq, &mut mem, a, ring);
            }
            if a.loads() {
                (self.lo[slot], self.hi[slot]) = (u64::MAX, 0);
                if executed {
                    self.set_range(slot, &mem);
                }
            }
        }
    }
}

impl Stores {
    fn archive(&mut self, a: &mut Archive, ring: &InstRing, line: u32) {
        let Self {
            head,
            sent,
            committed,
            tail,
            size: _,
            mask: _,
            ports: _,
            entries: _,
            lo: _,
            hi: _,
            unsent,
            may_send,
            refused,
            last_written,
            in_fills,
        } = self;
        if a.loads() {
            unsent.clear();
        }
        let (last, number) = last_written;
        a.cycle(last);
        if *last == Cycle::ZERO {
            // It counts only for stores that are written then or before.
            *number = 0;
        }
        a.u64(number);
        [head, sent, committed, tail].into_iter().for_each(|position| a.store_position(position));
        a.flag(may_send);
        a.flag(refused);
        let mut fills = if *in_fills == Cycle::ZERO { NEVER } else { *in_fills };
        a.cycle(&mut fills);
        *in_fills = if fills == NEVER { Cycle::ZERO } else { fills.max(Cycle(1)) };
        for position in self.head.until(self.tail) {
            let slot = self.slot(position);
            let mut unsent = self.lo[slot] <= self.hi[slot];
            self.entries[slot].archive(a, ring);
            a.flag(&mut unsent);
            if a.loads() {
                (self.lo[slot], self.hi[slot]) = (u64::MAX, 0);
                if unsent {
                    let (lo, hi) = range_of(&self.entries[slot].mem, line);
                    (self.lo[slot], self.hi[slot]) = (lo, hi);
                    self.unsent.add(lo, hi);
                }
            } else if unsent {
                let mem = &self.entries[slot].mem;
                a.refuse((self.lo[slot], self.hi[slot]) != range_of(mem, line) || !has_bytes(mem.kind));
            }
        }
    }
}

impl Store {
    fn archive(&mut self, a: &mut Archive, ring: &InstRing) {
        let Self { seq, pc, mem, flags, loads, translation, access, extra, slots, leaves } = self;
        a.seq(seq);
        a.load_position(loads);
        a.one_of(translation, &TRANSLATIONS);
        if *translation == Translation::Done {
            a.u64(pc);
            a.flags(flags);
            a.u32(extra);
            a.u32(slots);
            archive_reference(*seq, mem, a, ring);
        } else {
            // It has not executed, or it goes nowhere.
            a.empty(pc, 0);
            a.empty(mem, MemRef::default());
            a.empty(flags, UopFlags::default());
        }
        access.archive(a, mem);
        a.cycle(leaves);
    }
}

impl Dependences {
    fn archive(&mut self, a: &mut Archive, ring: &InstRing) {
        let Self { store_sets: _, by_instruction: _, ops, mask: _, barriers, read_barrier, write_barrier } = self;
        if a.loads() {
            ops.fill(Op { done: true, ..Op::default() });
        }
        a.list(barriers, Barrier { seq: Seq::NONE, read: false, write: false }, |a, Barrier { seq, read, write }| {
            a.seq(seq);
            a.flag(read);
            a.flag(write);
        });
        a.seq_or_none(read_barrier);
        a.seq_or_none(write_barrier);
        const ORDERED: UopFlags = UopFlags::MEM.union(UopFlags::READ_BARRIER).union(UopFlags::WRITE_BARRIER);
        for seq in ring.head().until(ring.tail()) {
            if !ring.state(seq).intersects(State::DISPATCHED) || !ring.flags(seq).any(ORDERED) {
                continue;
            }
            let slot = self.slot(seq);
            a.refuse(!a.loads() && self.ops[slot].seq != seq);
            let waits = !a.loads() && self.ops[slot].on.is_some() && self.waits(self.ops[slot].on);
            let store_set_pc = self.store_set_pc(seq, ring);
            let Op { seq: own, pc, first, next, on, position, done, is_store } = &mut self.ops[slot];
            a.empty(own, seq);
            a.empty(pc, store_set_pc);
            a.flag(done);
            a.flag(is_store);
            a.seq_in_flight(first);
            if a.present(waits) {
                a.seq(on);
                a.seq_in_flight(next);
            } else {
                a.empty(on, Seq::NONE);
                a.empty(next, Seq::NONE);
            }
            if *is_store {
                let mut at = StorePos(*position);
                a.store_position(&mut at);
                *position = at.0;
            } else if uses_load_queue(ring.flags(seq)) {
                let mut at = LoadPos(*position);
                a.load_position(&mut at);
                *position = at.0;
            }
        }
        // A set's last store is named while it waits; else it must be none.
        let stale = !a.loads() && self.store_sets.last_stores().any(|seq| !self.waits(seq));
        a.refuse(stale);
        self.store_sets.archive(a);
    }
}

impl StoreSets {
    /// Not which instructions are of which set: who keeps this form keeps that apart ([`StoreSets::sets`]).
    fn archive(&mut self, a: &mut Archive) {
        let Self { ssit: _, lfst, named, offset_bits: _, clear_period: _, stores: _, changes: _ } = self;
        let mut last: Vec<(u32, Seq)> = Vec::new();
        if a.loads() {
            lfst.fill(Seq::NONE);
        } else if *named > 0 {
            #[allow(clippy::cast_possible_truncation)] // few sets
            last.extend(lfst.iter().enumerate().filter(|(_, seq)| seq.is_some()).map(|(set, seq)| (set as u32, *seq)));
        }
        a.list(&mut last, (0, Seq::NONE), |a, (set, seq)| {
            a.u32(set);
            a.seq(seq);
        });
        if a.loads() {
            let sets = lfst.len();
            *named = last.len() as u32;
            last.into_iter().for_each(|(set, seq)| lfst[set as usize % sets] = seq);
        }
    }
}

impl Walker {
    fn archive(&mut self, a: &mut Archive) {
        let Self { walks, until, late, next_late } = self;
        a.refuse(!walks.is_empty());
        if a.loads() {
            walks.clear();
        }
        a.empty(until, NEVER);
        a.list(late, (Cycle::ZERO, Seq::NONE), |a, (at, seq)| {
            a.cycle(at);
            a.seq(seq);
        });
        *next_late = late.iter().map(|(at, _)| *at).min().unwrap_or(NEVER);
    }
}

impl DcachePort {
    fn archive(&mut self, a: &mut Archive) {
        let Self {
            load_ports,
            store_ports,
            blocked_until,
            answers,
            last_answer,
            serial_responses,
            stalled_until,
            misses_wait: _,
            pending_until,
        } = self;
        load_ports.archive(a);
        store_ports.archive(a);
        a.cycle(blocked_until);
        a.cycle(stalled_until);
        a.cycle(pending_until);
        if *serial_responses {
            a.cycle(last_answer);
            let tick = a.base.tick;
            let mut booked: Vec<(u16, breakeven_base::Tick)> = Vec::new();
            if a.loads() {
                answers.fill(breakeven_base::Tick::ZERO);
            } else {
                let now = a.base.cycle.0 as usize;
                let coming = (*last_answer + 1).after(a.base.cycle) as usize;
                let ahead = (0..coming.min(ANSWERS)).map(|ahead| (ahead as u16, answers[(now + ahead) % ANSWERS]));
                booked.extend(ahead.filter(|(_, at)| at.0 >= tick));
            }
            a.list(&mut booked, (0, breakeven_base::Tick::ZERO), |a, (ahead, at)| {
                a.u16(ahead);
                a.tick(at);
            });
            if a.loads() {
                let now = a.base.cycle.0 as usize;
                booked.into_iter().for_each(|(ahead, at)| answers[(now + usize::from(ahead)) % ANSWERS] = at);
            }
        }
    }
}
