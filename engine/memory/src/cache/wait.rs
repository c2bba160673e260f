//! Pending misses: MSHRs that are allocated but not sent yet, as in gem5's caches (24.0 `BaseCache::allocateMissBuffer`,
//! `sendMSHRQueuePacket`, `MSHR::TargetList::updateWriteFlags`): a miss leaves the cache after its tag latency, when the bus
//! and the level below take it. Stores to the line join it until then; a line that has been written whole by then is not
//! read: an `InvalidateReq` goes out.
//!
//! Only requests that say so wait ([`Request::may_wait`]); their sender is told the MSHR and asks for its response.
use breakeven_base::{PhysAddr, Tick};

use super::mshr::{Mshr, Unsent};
use super::Cache;
use crate::line::LineAddr;
use crate::network::Network;
use crate::packet::{Cmd, Pkt};
use crate::prefetch::{Access, Found};
use crate::request::{MissResponse, MshrId, Port, Request, Response};

/// Longer lines do not fit the byte mask: their misses are sent at once.
const LONGEST_LINE: u32 = 128;

/// Byte mask, one bit a byte.
fn bytes(addr: PhysAddr, size: u32, line: u32) -> u128 {
    let ones = |n: u32| if n >= u128::BITS { u128::MAX } else { (1 << n) - 1 };
    ones(size) << (addr.offset_in(u64::from(line)))
}

impl Cache {
    /// An access through the data port that stays pending if it misses, until its MSHR is sent: loads and stores reach the
    /// next level in the order in which MSHRs are sent. `None`: it is to be answered at once, behind what is pending
    /// (`cmd` is none of a kind that waits, or the cache takes no MSHR for it). `may_allocate`: nothing outside the cache forbids
    /// an MSHR.
    pub(crate) fn wait(
        &mut self,
        net: &mut Network,
        now: Tick,
        req: &Request,
        cmd: Option<Cmd>,
        may_allocate: bool,
    ) -> Option<Response> {
        self.run_prefetches(net, now);
        self.mshrs.retire(now);
        let cmd = cmd?;
        let line = self.tags.line(req.paddr);
        let first = self.mshrs.unsent(line).map(|unsent| unsent.first.cmd);
        let waits = match first {
            // Loads merge with loads, stores with stores; any other access sends the MSHR at once.
            Some(first) => first == cmd && self.blocked(now).is_none(),
            None => may_allocate && self.may_allocate(now, req.paddr, cmd),
        };
        waits.then(|| self.allocate_or_join(net, now, req, cmd, first.is_some()))
    }

    /// Whether an access to `addr` misses this cache, which accepts it, with no MSHR for its line.
    fn may_allocate(&mut self, now: Tick, addr: PhysAddr, cmd: Cmd) -> bool {
        let line = self.tags.line(addr);
        (self.p.write_allocate || cmd == Cmd::ReadReq)
            && self.p.line_bytes <= LONGEST_LINE
            && self.tags.find(addr).is_none()
            && self.mshrs.find(line, now).is_none()
            && self.wait_until_free(now) <= now
    }

    #[inline(never)]
    fn allocate_or_join(&mut self, net: &mut Network, now: Tick, req: &Request, cmd: Cmd, joins: bool) -> Response {
        net.trigger = Access { addr: req.paddr, pc: req.pc, requestor: Port::Data as u8 };
        let pkt = Pkt::new(cmd, req.paddr, u32::from(req.size), Port::Data as u8);
        let found = if joins { Found::Joined(None) } else { Found::Miss };
        let until = if joins { self.join_unsent(&pkt, now) } else { self.allocate_unsent(net, &pkt, now) };
        if self.prefetching.is_some() {
            self.notify_prefetchers(net, &pkt, now, found);
        }
        Response::Pending { id: MshrId::of(req.paddr, self.p.line_bytes), until }
    }

    /// Allocates an MSHR and books its slot on the bus; when it may be sent.
    fn allocate_unsent(&mut self, net: &mut Network, pkt: &Pkt, at: Tick) -> Tick {
        let (line, size) = (self.tags.line(pkt.addr), self.p.line_bytes);
        let out = self.clock.edge(at) + self.p.tag;
        let s = self.stats.at(pkt.cmd, pkt.requestor);
        s.misses += 1;
        s.mshr_misses += 1;
        let down = Pkt { cmd: Cmd::ReadExReq, addr: line.addr(), size, from_cache: true, ..*pkt };
        let slot = net.book(self.p.mem_side, &down, out);
        let written = bytes(pkt.addr, pkt.size, size);
        let arrivals = [(1, at.0), (0, 0)];
        self.mshrs.push(Mshr {
            line,
            alloc_at: at,
            resp_at: slot.start,
            payload: 0,
            addr: pkt.addr,
            targets: 1,
            level: 1,
            unsent: Some(Unsent { written, first: *pkt, offset: slot.offset, arrivals, trigger: net.trigger }),
        });
        self.note_mshrs(at);
        slot.start
    }

    /// One more target of the MSHR of its line, which has not been sent; when that may be sent.
    fn join_unsent(&mut self, pkt: &Pkt, at: Tick) -> Tick {
        let written = bytes(pkt.addr, pkt.size, self.p.line_bytes);
        let s = self.stats.at(pkt.cmd, pkt.requestor);
        s.misses += 1;
        s.mshr_hits += 1;
        let line = self.tags.line(pkt.addr);
        let Some((start, full)) = self.mshrs.join_unsent(line, pkt, written, at) else { return at };
        if full {
            self.note_mshrs(at);
        }
        start
    }

    /// Sends what may be sent by `at`, and the MSHR of `line` whatever its time is (another kind of access needs the line).
    #[inline(never)]
    pub(crate) fn issue_pending_mshrs(&mut self, net: &mut Network, at: Tick, line: Option<LineAddr>) {
        let link = self.p.mem_side;
        let mut from = 0;
        while let Some((i, of, start)) = self.mshrs.next_unsent(from) {
            from = i + 1;
            let joined = line == Some(of);
            if start > at && !joined {
                continue;
            }
            let free = net.free_from(link, of.addr(), start);
            if free > start {
                self.mshrs.postpone(i, net.slot_at(link, free));
            }
            if free <= at || joined {
                self.send_mshr(net, i, of);
            } else {
                // The next level is blocked: targets may merge until it is not.
                self.note_mshrs(at);
            }
        }
        self.mshrs.note_next_send();
    }

    /// Sends MSHR number `i`, of `line`.
    fn send_mshr(&mut self, net: &mut Network, i: usize, line: LineAddr) {
        let Some((slot, unsent)) = self.mshrs.to_send(i) else { return };
        let (p, first) = (self.p, unsent.first);
        let whole = unsent.written == bytes(PhysAddr::ZERO, p.line_bytes, p.line_bytes);
        let cmd = match first.cmd {
            Cmd::ReadReq if p.is_read_only => Cmd::ReadCleanReq,
            Cmd::ReadReq => Cmd::ReadSharedReq,
            _ if whole => Cmd::InvalidateReq,
            _ => Cmd::ReadExReq,
        };
        net.trigger = unsent.trigger;
        let down = Pkt { cmd, addr: line.addr(), size: p.line_bytes, from_cache: true, ..first };
        let r = net.send_booked(p.mem_side, p.source, down, slot);
        let reply = self.fill_from(net, &first, &r, 0);
        let alloc_at = self.mshrs.sent(i, r.at, r.payload, reply.level);
        let [(firsts, first_arrivals), (rests, rest_arrivals)] = unsent.arrivals;
        let s = self.stats.at(first.cmd, first.requestor);
        s.miss_latency += firsts * reply.at.0 + rests * (reply.at.0 + r.payload) - first_arrivals - rest_arrivals;
        s.mshr_miss_latency += r.at - alloc_at;
        self.note_mshrs(slot.start);
    }

    /// Response times of the accesses that wait with an MSHR. `None`: it has not been sent by `now`.
    pub(crate) fn response_of(&mut self, now: Tick, id: MshrId) -> Option<MissResponse> {
        if self.mshrs.unsent(id.line).is_some() {
            return None;
        }
        // No MSHR: the line has been filled already, the core asks late.
        let Some(m) = self.mshrs.find(id.line, now) else {
            return Some(MissResponse { id, first: id.line.addr(), at: now, rest: 0, level: 1 });
        };
        let (first, rest, level, resp_at) = (m.addr, m.payload, m.level, m.resp_at);
        Some(MissResponse { id, first, at: self.clock.edge(resp_at) + self.p.response, rest, level })
    }
}
