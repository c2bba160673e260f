//! Store misses that wait in their register, as in gem5's caches (24.0 `BaseCache::allocateMissBuffer`,
//! `sendMSHRQueuePacket`, `MSHR::TargetList::updateWriteFlags`): a miss leaves the cache after its tag latency, when the bus
//! and the level below take it. Stores to the line join it until then; a line that has been written whole by then is not
//! read: an `InvalidateReq` goes out.
//!
//! Only for a core that asks for it ([`MemorySystem::store`]) and comes back for the end of what was held.

use breakeven_base::{MemKind, Tick};

use super::mshr::Mshr;
use crate::config::Link;
use crate::packet::{Cmd, Pkt};
use crate::prefetch::{Access, Found};
use crate::util::clone_by_field;
use crate::xbar::Slot;
use crate::{MemorySystem, Port, Request, Response};

/// Longer lines have no mask: nothing is held.
const LONGEST_LINE: u32 = 128;
const NEVER: u64 = u64::MAX;

/// What became of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
    Done {
        at: Tick,
        level: u8,
    },
    Blocked {
        retry: Tick,
    },
    /// It waits with its line's miss: [`MemorySystem::send_held`] at `until`, then [`MemorySystem::held_end`].
    Held {
        until: Tick,
    },
}

impl From<Response> for Stored {
    fn from(r: Response) -> Self {
        match r {
            Response::Done { at, level } => Stored::Done { at, level },
            Response::Blocked { retry } => Stored::Blocked { retry },
        }
    }
}

/// One miss that has not left.
#[derive(Clone, Copy, Debug)]
struct Held {
    line: u64,
    /// Bytes written so far.
    written: u128,
    /// The first store.
    first: Pkt,
    slot: Slot,
    /// When its stores arrived, added up: of those to the first one's address, and of the others.
    arrivals: [(u64, u64); 2],
}

/// The held misses of the data side's cache, in the order of their arrival.
#[derive(Debug)]
pub(crate) struct HeldMisses {
    misses: Vec<Held>,
    /// When the first of them may leave.
    next: u64,
}
clone_by_field!(HeldMisses { misses, next });

impl HeldMisses {
    pub fn new() -> Self {
        HeldMisses { misses: Vec::new(), next: NEVER }
    }

    fn note_next(&mut self) {
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

/// A bit a byte.
fn bytes(addr: u64, size: u32, line: u32) -> u128 {
    let ones = |n: u32| if n >= u128::BITS { u128::MAX } else { (1 << n) - 1 };
    ones(size) << (addr & u64::from(line - 1))
}

impl MemorySystem {
    /// As [`MemorySystem::access`] through the data port, for a core that can wait for a store's end: one that misses is held
    /// until its miss leaves the first-level cache.
    #[inline]
    pub fn store(&mut self, now: Tick, req: &Request) -> Stored {
        let plain = req.kind == MemKind::Store && !req.uncacheable && !req.non_temporal;
        let Link::Cache(ci) = self.ports[Port::Data as usize] else { return self.access(Port::Data, now, req).into() };
        if let (true, Some(ci)) = (plain, self.quick_caches[Port::Data as usize]) {
            let c = &mut self.caches[usize::from(ci)];
            if let Some(at) = c.quick_hit(Cmd::WriteReq, Port::Data as u8, now.0, req.paddr, u32::from(req.size)) {
                return Stored::Done { at: Tick(at), level: 0 };
            }
        }
        self.send_held(now);
        if !plain || !self.may_hold(usize::from(ci), now.0, req.paddr) {
            return self.access(Port::Data, now, req).into();
        }
        self.hold(usize::from(ci), now.0, req)
    }

    /// Whether a store to `addr` misses cache `ci`, which takes it, and its line is not on its way.
    fn may_hold(&mut self, ci: usize, now: u64, addr: u64) -> bool {
        if self.write_combining.is_some() || self.is_uncached(addr) || self.line_bytes > LONGEST_LINE {
            return false;
        }
        let c = &mut self.caches[ci];
        let line = c.tags.line(addr);
        let held = self.held.misses.iter().any(|h| h.line == line);
        c.p.write_allocate
            && c.wait_until_free(now) <= now
            && c.tags.find(addr).is_none()
            && (held || c.mshrs.find(line, now).is_none())
    }

    #[inline(never)]
    fn hold(&mut self, ci: usize, now: u64, req: &Request) -> Stored {
        if self.next_prefetch <= now {
            self.run_prefetches(now);
        }
        self.now = self.now.max(now);
        self.asked = Access { addr: req.paddr, pc: req.pc, requestor: Port::Data as u8 };
        let pkt = Pkt {
            cmd: Cmd::WriteReq,
            addr: req.paddr,
            size: u32::from(req.size),
            requestor: Port::Data as u8,
            from_cache: false,
            uncached: false,
            header: 0,
            payload: 0,
            bypass: false,
            yields: false,
        };
        let seen = self.caches[ci].prefetching.is_some();
        if seen {
            self.run_prefetches_of(ci, now);
        }
        let line = self.caches[ci].tags.line(pkt.addr);
        let place = self.held.misses.iter().position(|h| h.line == line);
        let found = if place.is_some() { Found::Joined(None) } else { Found::Miss };
        let until = match place {
            Some(place) => self.held_joins(ci, place, &pkt, now),
            None => self.held_begins(ci, &pkt, now),
        };
        if seen {
            self.show_prefetchers(ci, &pkt, now, found);
        }
        Stored::Held { until: Tick(until) }
    }

    /// A register for a new miss, and its place on the bus.
    fn held_begins(&mut self, ci: usize, pkt: &Pkt, at: u64) -> u64 {
        let c = &mut self.caches[ci];
        let (line, size, link) = (c.tags.line(pkt.addr), c.p.line_bytes, c.p.mem_side);
        let out = c.clock.edge(at) + c.p.tag;
        let s = c.stats.at(pkt.cmd, pkt.requestor);
        s.misses += 1;
        s.mshr_misses += 1;
        let slot = match link {
            Link::XBar(xi) => {
                let down = Pkt { cmd: Cmd::ReadExReq, addr: line, size, from_cache: true, ..*pkt };
                self.xbar_books(usize::from(xi), &down, out)
            }
            _ => Slot::at(out),
        };
        let c = &mut self.caches[ci];
        let m = Mshr { line, alloc_at: at, resp_at: slot.start, payload: 0, addr: pkt.addr, targets: 1, level: 1 };
        c.mshrs.push(m);
        c.note_mshrs(at);
        let written = bytes(pkt.addr, pkt.size, size);
        self.held.misses.push(Held { line, written, first: *pkt, slot, arrivals: [(1, at), (0, 0)] });
        self.held.note_next();
        slot.start
    }

    /// One more store to the line of the miss at `place`.
    fn held_joins(&mut self, ci: usize, place: usize, pkt: &Pkt, at: u64) -> u64 {
        let c = &mut self.caches[ci];
        let h = &mut self.held.misses[place];
        h.written |= bytes(pkt.addr, pkt.size, c.p.line_bytes);
        let (n, sum) = &mut h.arrivals[usize::from(pkt.addr != h.first.addr)];
        *n += 1;
        *sum += at;
        let s = c.stats.at(pkt.cmd, pkt.requestor);
        s.misses += 1;
        s.mshr_hits += 1;
        let until = h.slot.start;
        if let Some(m) = c.mshrs.held(h.line) {
            m.targets += 1;
        }
        c.note_mshrs(at);
        until
    }

    /// Sends the held misses that may leave by `now`. When the next may; `None`: nothing is held.
    #[inline]
    pub fn send_held(&mut self, now: Tick) -> Option<Tick> {
        if self.held.due(now.0) {
            self.now = self.now.max(now.0);
            self.send_held_by(now.0, None);
        }
        (!self.held.is_empty()).then_some(Tick(self.held.next))
    }

    /// Sends what may leave by `at`, and the miss of `line` whatever its time is: something else than a store joins it.
    #[inline(never)]
    pub(crate) fn send_held_by(&mut self, at: u64, line: Option<u64>) {
        let Link::Cache(ci) = self.ports[Port::Data as usize] else { return };
        let ci = usize::from(ci);
        let link = self.caches[ci].p.mem_side;
        let mut place = 0;
        while let Some(mut h) = self.held.misses.get(place).copied() {
            let joined = line == Some(h.line);
            let free = if h.slot.start <= at || joined { self.free_below(link, h.line, h.slot.start) } else { NEVER };
            if free <= at || joined {
                if free > h.slot.start {
                    h.slot = self.slot_at(link, free);
                }
                self.held.misses.remove(place);
                self.held_leaves(ci, &h);
                continue;
            }
            if free != NEVER {
                // The level below takes nothing yet: stores may join until it does.
                self.held.misses[place].slot = self.slot_at(link, free);
                if let Some(m) = self.caches[ci].mshrs.held(h.line) {
                    m.resp_at = free;
                }
            }
            place += 1;
        }
        self.held.note_next();
    }

    /// `pkt` arrives at cache `ci` at `at`: what is held there and due by then, or of the same line, is sent first.
    #[inline(never)]
    pub(crate) fn meet_held(&mut self, ci: usize, pkt: &Pkt, at: u64) {
        if self.ports[Port::Data as usize] == Link::Cache(ci as u16) {
            let line = self.caches[ci].tags.line(pkt.addr);
            self.send_held_by(at, Some(line));
        }
    }

    /// From `at` on, the instant at which what is below `link` takes a request.
    fn free_below(&self, link: Link, addr: u64, at: u64) -> u64 {
        match link {
            Link::XBar(xi) => match self.xbars[usize::from(xi)].route(addr).1 {
                Link::Cache(ci) => self.caches[usize::from(ci)].wait_until_free(at),
                _ => at,
            },
            Link::Cache(ci) => self.caches[usize::from(ci)].wait_until_free(at),
            _ => at,
        }
    }

    fn slot_at(&self, link: Link, at: u64) -> Slot {
        match link {
            Link::XBar(xi) => self.xbars[usize::from(xi)].slot_at(at),
            _ => Slot::at(at),
        }
    }

    fn held_leaves(&mut self, ci: usize, h: &Held) {
        let p = self.caches[ci].p;
        let whole = h.written == bytes(0, p.line_bytes, p.line_bytes);
        let cmd = if whole { Cmd::InvalidateReq } else { Cmd::ReadExReq };
        let down = Pkt { cmd, addr: h.line, size: p.line_bytes, from_cache: true, ..h.first };
        let source = self.source_of_cache(ci);
        let r = match p.mem_side {
            Link::XBar(xi) => self.xbar_forwards(usize::from(xi), source, down, h.slot),
            link => self.send(link, source, down, h.slot.start),
        };
        let reply = self.cache_fills(ci, &h.first, &r, 0);
        let c = &mut self.caches[ci];
        let Some(m) = c.mshrs.held(h.line) else { return };
        (m.resp_at, m.payload, m.level) = (r.at, r.payload, reply.level);
        let alloc_at = m.alloc_at;
        let [(first, firsts), (rest, rests)] = h.arrivals;
        let s = c.stats.at(h.first.cmd, h.first.requestor);
        s.miss_latency += first * reply.at + rest * (reply.at + r.payload) - firsts - rests;
        s.mshr_miss_latency += r.at.saturating_sub(alloc_at);
        c.note_mshrs(h.slot.start);
    }

    /// The end of a store of `paddr` that was held: when it is in the cache, and from how far its line came. `None`: its miss
    /// has not left by `now`.
    pub fn held_end(&mut self, now: Tick, paddr: u64) -> Option<(Tick, u8)> {
        let Link::Cache(ci) = self.ports[Port::Data as usize] else { return Some((now, 0)) };
        let c = &mut self.caches[usize::from(ci)];
        let line = c.tags.line(paddr);
        if self.held.misses.iter().any(|h| h.line == line) {
            return None;
        }
        // Without a register the line has come already: the core asks late.
        let Some(m) = c.mshrs.find(line, now.0) else { return Some((now, 1)) };
        let rest = if m.addr == paddr { 0 } else { m.payload };
        let (resp_at, level) = (m.resp_at, m.level);
        Some((Tick(c.clock.edge(resp_at) + c.p.response + rest), level))
    }
}
