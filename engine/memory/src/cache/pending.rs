//! Pending misses: MSHRs that are allocated but not sent yet, as in gem5's caches (24.0 `BaseCache::allocateMissBuffer`,
//! `sendMSHRQueuePacket`, `MSHR::TargetList::updateWriteFlags`): a miss leaves the cache after its tag latency, when the bus
//! and the level below take it. Stores to the line join it until then; a line that has been written whole by then is not
//! read: an `InvalidateReq` goes out.
//!
//! Only requests that say so wait ([`Request::may_wait`]); their sender is told the MSHR and asks for its response.

use breakeven_base::{MemKind, Tick};

use super::mshr::{Mshr, MshrState};
use crate::config::Link;
use crate::packet::{Cmd, Pkt};
use crate::prefetch::{Access, Found};
use crate::xbar::Slot;
use crate::{MemorySystem, MshrId, Port, Request, Response};
use educe::Educe;

/// Longer lines do not fit the byte mask: their misses are sent at once.
const LONGEST_LINE: u32 = 128;
const NEVER: u64 = u64::MAX;

/// When the targets of an MSHR that has been sent are served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MissResponse {
    pub id: MshrId,
    /// The first target's address: the critical word.
    first: u64,
    at: Tick,
    rest: u64,
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
struct PendingMiss {
    line: u64,
    /// Mask of the bytes that its stores have written so far.
    written: u128,
    /// The first target.
    first: Pkt,
    slot: Slot,
    /// Number and sum of arrival times of its targets: of those at the first one's address, and of the others.
    arrivals: [(u64, u64); 2],
    /// The core's access, on which prefetchers of lower levels train.
    asked: Access,
}

/// The pending MSHRs of the first-level data cache, oldest first.
#[derive(Debug, Educe)]
#[educe(Clone)]
pub(crate) struct PendingMisses {
    misses: Vec<PendingMiss>,
    /// When the first of them may be sent.
    next: u64,
}
impl PendingMisses {
    pub fn new() -> Self {
        PendingMisses { misses: Vec::new(), next: NEVER }
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

/// Byte mask, one bit a byte.
fn bytes(addr: u64, size: u32, line: u32) -> u128 {
    let ones = |n: u32| if n >= u128::BITS { u128::MAX } else { (1 << n) - 1 };
    ones(size) << (addr & u64::from(line - 1))
}

impl MemorySystem {
    /// An access through the data port that stays pending if it misses, until its MSHR is sent: loads and stores reach the
    /// next level in the order in which MSHRs are sent. Other kinds are answered at once, behind what is pending.
    #[inline(always)] // one caller
    pub(crate) fn access_or_wait(&mut self, now: Tick, req: &Request) -> Response {
        let Link::Cache(ci) = self.ports[Port::Data as usize] else { return self.access_at_once(Port::Data, now, req) };
        let cmd = match req.kind {
            _ if req.uncacheable || req.non_temporal => None,
            MemKind::Load => Some(Cmd::ReadReq),
            MemKind::Store => Some(Cmd::WriteReq),
            _ => None,
        };
        if let (Some(cmd), Some(ci)) = (cmd, self.fast_path_caches[Port::Data as usize]) {
            let c = &mut self.caches[usize::from(ci)];
            if let Some(at) = c.fast_hit(cmd, Port::Data as u8, now.0, req.paddr, u32::from(req.size)) {
                return Response::Done { at: Tick(at), level: 0 };
            }
        }
        self.wait_in_full(usize::from(ci), now, req, cmd)
    }

    #[inline(never)]
    fn wait_in_full(&mut self, ci: usize, now: Tick, req: &Request, cmd: Option<Cmd>) -> Response {
        self.send_pending(now);
        self.now = self.now.max(now.0);
        if self.next_prefetch <= now.0 {
            self.run_prefetches(now.0);
        }
        if self.caches[ci].prefetching.is_some() {
            self.run_prefetches_of(ci, now.0);
        }
        let line = self.caches[ci].tags.line(req.paddr);
        let place = self.pending.misses.iter().position(|h| h.line == line);
        match (cmd, place) {
            // Loads merge with loads, stores with stores; any other access sends the MSHR at once.
            (Some(cmd), Some(i)) if self.pending.misses[i].first.cmd == cmd && self.may_join(ci, now.0) => {
                self.hold(ci, now.0, req, cmd, place)
            }
            (Some(cmd), None) if self.may_begin(ci, now.0, req.paddr, cmd) => self.hold(ci, now.0, req, cmd, None),
            _ => self.access_at_once(Port::Data, now, req),
        }
    }

    /// Whether cache `ci` accepts another target for a pending MSHR.
    #[inline]
    fn may_join(&self, ci: usize, now: u64) -> bool {
        self.caches[ci].blocked(now).is_none()
    }

    /// Whether an access to `addr` misses cache `ci`, which accepts it, with no MSHR for its line.
    fn may_begin(&mut self, ci: usize, now: u64, addr: u64, cmd: Cmd) -> bool {
        if self.write_combining.is_some() || self.is_uncached(addr) || self.line_bytes > LONGEST_LINE {
            return false;
        }
        let c = &mut self.caches[ci];
        let line = c.tags.line(addr);
        (c.p.write_allocate || cmd == Cmd::ReadReq)
            && c.tags.find(addr).is_none()
            && c.mshrs.find(line, now).is_none()
            && c.wait_until_free(now) <= now
    }

    #[inline(never)]
    fn hold(&mut self, ci: usize, now: u64, req: &Request, cmd: Cmd, place: Option<usize>) -> Response {
        self.asked = Access { addr: req.paddr, pc: req.pc, requestor: Port::Data as u8 };
        let pkt = Pkt::new(cmd, req.paddr, u32::from(req.size), Port::Data as u8);
        let found = if place.is_some() { Found::Joined(None) } else { Found::Miss };
        let until = match place {
            Some(place) => self.join_pending(ci, place, &pkt, now),
            None => self.allocate_pending(ci, &pkt, now),
        };
        if self.caches[ci].prefetching.is_some() {
            self.show_prefetchers(ci, &pkt, now, found);
        }
        Response::Pending { id: MshrId::of(req.paddr, self.line_bytes), until: Tick(until) }
    }

    /// Allocates an MSHR and books its slot on the bus; when it may be sent.
    fn allocate_pending(&mut self, ci: usize, pkt: &Pkt, at: u64) -> u64 {
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
        let m = Mshr {
            line,
            state: MshrState::Allocated,
            alloc_at: at,
            resp_at: slot.start,
            payload: 0,
            addr: pkt.addr,
            targets: 1,
            level: 1,
        };
        c.mshrs.push(m);
        c.note_mshrs(at);
        let written = bytes(pkt.addr, pkt.size, size);
        let arrivals = [(1, at), (0, 0)];
        self.pending.misses.push(PendingMiss { line, written, first: *pkt, slot, arrivals, asked: self.asked });
        self.pending.note_next();
        slot.start
    }

    /// One more target of pending MSHR number `place`; when it may be sent.
    fn join_pending(&mut self, ci: usize, place: usize, pkt: &Pkt, at: u64) -> u64 {
        let c = &mut self.caches[ci];
        let h = &mut self.pending.misses[place];
        h.written |= bytes(pkt.addr, pkt.size, c.p.line_bytes);
        let (n, sum) = &mut h.arrivals[usize::from(pkt.addr != h.first.addr)];
        *n += 1;
        *sum += at;
        let s = c.stats.at(pkt.cmd, pkt.requestor);
        s.misses += 1;
        s.mshr_hits += 1;
        if c.mshrs.takes_target(h.line) {
            c.note_mshrs(at);
        }
        h.slot.start
    }

    /// Sends the pending MSHRs that may be sent by `now`. When the next may; `None`: none is pending.
    #[inline]
    pub fn send_pending(&mut self, now: Tick) -> Option<Tick> {
        if self.pending.due(now.0) {
            self.now = self.now.max(now.0);
            self.issue_pending_mshrs(now.0, None);
        }
        (!self.pending.is_empty()).then_some(Tick(self.pending.next))
    }

    /// Sends what may be sent by `at`, and the MSHR of `line` whatever its time is (another kind of access needs the line).
    #[inline(never)]
    pub(crate) fn issue_pending_mshrs(&mut self, at: u64, line: Option<u64>) {
        let Link::Cache(ci) = self.ports[Port::Data as usize] else { return };
        let ci = usize::from(ci);
        let link = self.caches[ci].p.mem_side;
        let mut place = 0;
        while let Some(mut h) = self.pending.misses.get(place).copied() {
            let joined = line == Some(h.line);
            let free = if h.slot.start <= at || joined { self.free_below(link, h.line, h.slot.start) } else { NEVER };
            if free <= at || joined {
                if free > h.slot.start {
                    h.slot = self.slot_at(link, free);
                }
                self.pending.misses.remove(place);
                self.pending_mshr_leaves(ci, &h);
                continue;
            }
            if free != NEVER {
                // The next level is blocked: targets may merge until it is not.
                self.pending.misses[place].slot = self.slot_at(link, free);
                if let Some(m) = self.caches[ci].mshrs.allocated(h.line) {
                    m.resp_at = free;
                }
                self.caches[ci].note_mshrs(at);
            }
            place += 1;
        }
        self.pending.note_next();
    }

    /// `pkt` arrives at cache `ci` at `at`: pending MSHRs that are due, or of the same line, are sent first.
    #[inline(never)]
    pub(crate) fn join_pending_mshr(&mut self, ci: usize, pkt: &Pkt, at: u64) {
        if self.ports[Port::Data as usize] == Link::Cache(ci as u16) {
            let line = self.caches[ci].tags.line(pkt.addr);
            self.issue_pending_mshrs(at, Some(line));
        }
    }

    /// The first instant from `at` on at which the component behind `link` accepts a request.
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

    fn pending_mshr_leaves(&mut self, ci: usize, h: &PendingMiss) {
        let p = self.caches[ci].p;
        let whole = h.written == bytes(0, p.line_bytes, p.line_bytes);
        let cmd = match h.first.cmd {
            Cmd::ReadReq if p.is_read_only => Cmd::ReadCleanReq,
            Cmd::ReadReq => Cmd::ReadSharedReq,
            _ if whole => Cmd::InvalidateReq,
            _ => Cmd::ReadExReq,
        };
        self.asked = h.asked;
        let down = Pkt { cmd, addr: h.line, size: p.line_bytes, from_cache: true, ..h.first };
        let source = self.source_of_cache(ci);
        let r = match p.mem_side {
            Link::XBar(xi) => self.xbar_forwards(usize::from(xi), source, down, h.slot),
            link => self.send(link, source, down, h.slot.start),
        };
        let reply = self.cache_fills(ci, &h.first, &r, 0);
        let c = &mut self.caches[ci];
        let Some(m) = c.mshrs.allocated(h.line) else { return };
        (m.state, m.resp_at, m.payload, m.level) = (MshrState::Sent, r.at, r.payload, reply.level);
        let alloc_at = m.alloc_at;
        let [(first, firsts), (rest, rests)] = h.arrivals;
        let s = c.stats.at(h.first.cmd, h.first.requestor);
        s.miss_latency += first * reply.at + rest * (reply.at + r.payload) - firsts - rests;
        s.mshr_miss_latency += r.at.saturating_sub(alloc_at);
        c.note_mshrs(h.slot.start);
    }

    /// Response times of the accesses that wait with an MSHR. `None`: it has not been sent by `now`.
    pub fn response_of(&mut self, now: Tick, id: MshrId) -> Option<MissResponse> {
        let Link::Cache(ci) = self.ports[Port::Data as usize] else { return None };
        if self.pending.misses.iter().any(|h| h.line == id.line) {
            return None;
        }
        let c = &mut self.caches[usize::from(ci)];
        // No MSHR: the line has been filled already, the core asks late.
        let Some(m) = c.mshrs.find(id.line, now.0) else {
            return Some(MissResponse { id, first: id.line, at: now, rest: 0, level: 1 });
        };
        let (first, rest, level, resp_at) = (m.addr, m.payload, m.level, m.resp_at);
        Some(MissResponse { id, first, at: Tick(c.clock.edge(resp_at) + c.p.response), rest, level })
    }
}
