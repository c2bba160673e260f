//! Accesses that wait with an MSHR until it is sent: see [`super::pending`].

use breakeven_base::Tick;

use super::mshr::{Mshr, MshrState};
use super::pending::{bytes, MissResponse, PendingMiss, LONGEST_LINE, NEVER};
use super::Cache;
use crate::line::LineAddr;
use crate::network::Network;
use crate::packet::{Cmd, Pkt};
use crate::prefetch::{Access, Found};
use crate::request::{MshrId, Port, Request, Response};

impl Cache {
    /// An access through the data port that stays pending if it misses, until its MSHR is sent: loads and stores reach the
    /// next level in the order in which MSHRs are sent. `None`: it is to be answered at once, behind what is pending
    /// (`cmd` is none of a kind that waits, or the cache takes no MSHR for it). `may_begin`: nothing outside the cache forbids
    /// an MSHR.
    pub(crate) fn wait(
        &mut self,
        net: &mut Network,
        now: u64,
        req: &Request,
        cmd: Option<Cmd>,
        may_begin: bool,
    ) -> Option<Response> {
        self.run_prefetches(net, now);
        self.mshrs.retire(now);
        let cmd = cmd?;
        let line = self.tags.line(req.paddr);
        let place = self.pending.misses.iter().position(|h| h.line == line);
        let waits = match place {
            // Loads merge with loads, stores with stores; any other access sends the MSHR at once.
            Some(i) => self.pending.misses[i].first.cmd == cmd && self.blocked(now).is_none(),
            None => may_begin && self.may_begin(now, req.paddr, cmd),
        };
        waits.then(|| self.hold(net, now, req, cmd, place))
    }

    /// Whether an access to `addr` misses this cache, which accepts it, with no MSHR for its line.
    fn may_begin(&mut self, now: u64, addr: u64, cmd: Cmd) -> bool {
        let line = self.tags.line(addr);
        (self.p.write_allocate || cmd == Cmd::ReadReq)
            && self.p.line_bytes <= LONGEST_LINE
            && self.tags.find(addr).is_none()
            && self.mshrs.find(line, now).is_none()
            && self.wait_until_free(now) <= now
    }

    #[inline(never)]
    fn hold(&mut self, net: &mut Network, now: u64, req: &Request, cmd: Cmd, place: Option<usize>) -> Response {
        net.asked = Access { addr: req.paddr, pc: req.pc, requestor: Port::Data as u8 };
        let pkt = Pkt::new(cmd, req.paddr, u32::from(req.size), Port::Data as u8);
        let found = if place.is_some() { Found::Joined(None) } else { Found::Miss };
        let until = match place {
            Some(place) => self.join_pending(place, &pkt, now),
            None => self.allocate_pending(net, &pkt, now),
        };
        if self.prefetching.is_some() {
            self.show_prefetchers(net, &pkt, now, found);
        }
        Response::Pending { id: MshrId::of(req.paddr, self.p.line_bytes), until: Tick(until) }
    }

    /// Allocates an MSHR and books its slot on the bus; when it may be sent.
    fn allocate_pending(&mut self, net: &mut Network, pkt: &Pkt, at: u64) -> u64 {
        let (line, size) = (self.tags.line(pkt.addr), self.p.line_bytes);
        let out = self.clock.edge(at) + self.p.tag;
        let s = self.stats.at(pkt.cmd, pkt.requestor);
        s.misses += 1;
        s.mshr_misses += 1;
        let down = Pkt { cmd: Cmd::ReadExReq, addr: line.addr(), size, from_cache: true, ..*pkt };
        let slot = net.book(self.p.mem_side, &down, out);
        self.mshrs.push(Mshr {
            line,
            state: MshrState::Allocated,
            alloc_at: at,
            resp_at: slot.start,
            payload: 0,
            addr: pkt.addr,
            targets: 1,
            level: 1,
        });
        self.note_mshrs(at);
        let written = bytes(pkt.addr, pkt.size, size);
        let arrivals = [(1, at), (0, 0)];
        self.pending.misses.push(PendingMiss { line, written, first: *pkt, slot, arrivals, asked: net.asked });
        self.pending.note_next();
        slot.start
    }

    /// One more target of pending MSHR number `place`; when it may be sent.
    fn join_pending(&mut self, place: usize, pkt: &Pkt, at: u64) -> u64 {
        let h = &mut self.pending.misses[place];
        h.written |= bytes(pkt.addr, pkt.size, self.p.line_bytes);
        let (n, sum) = &mut h.arrivals[usize::from(pkt.addr != h.first.addr)];
        *n += 1;
        *sum += at;
        let (line, start) = (h.line, h.slot.start);
        let s = self.stats.at(pkt.cmd, pkt.requestor);
        s.misses += 1;
        s.mshr_hits += 1;
        if self.mshrs.takes_target(line) {
            self.note_mshrs(at);
        }
        start
    }

    /// Sends what may be sent by `at`, and the MSHR of `line` whatever its time is (another kind of access needs the line).
    #[inline(never)]
    pub(crate) fn issue_pending_mshrs(&mut self, net: &mut Network, at: u64, line: Option<LineAddr>) {
        let link = self.p.mem_side;
        let mut place = 0;
        while let Some(mut h) = self.pending.misses.get(place).copied() {
            let joined = line == Some(h.line);
            let free =
                if h.slot.start <= at || joined { net.free_from(link, h.line.addr(), h.slot.start) } else { NEVER };
            if free <= at || joined {
                if free > h.slot.start {
                    h.slot = net.slot_at(link, free);
                }
                self.pending.misses.remove(place);
                self.send_pending_mshr(net, &h);
                continue;
            }
            if free != NEVER {
                // The next level is blocked: targets may merge until it is not.
                self.pending.misses[place].slot = net.slot_at(link, free);
                self.mshrs.postpone(h.line, free);
                self.note_mshrs(at);
            }
            place += 1;
        }
        self.pending.note_next();
    }

    fn send_pending_mshr(&mut self, net: &mut Network, h: &PendingMiss) {
        let p = self.p;
        let whole = h.written == bytes(0, p.line_bytes, p.line_bytes);
        let cmd = match h.first.cmd {
            Cmd::ReadReq if p.is_read_only => Cmd::ReadCleanReq,
            Cmd::ReadReq => Cmd::ReadSharedReq,
            _ if whole => Cmd::InvalidateReq,
            _ => Cmd::ReadExReq,
        };
        net.asked = h.asked;
        let down = Pkt { cmd, addr: h.line.addr(), size: p.line_bytes, from_cache: true, ..h.first };
        let r = net.send_booked(p.mem_side, p.source, down, h.slot);
        let reply = self.fill_from(net, &h.first, &r, 0);
        let Some(alloc_at) = self.mshrs.sent(h.line, r.at, r.payload, reply.level) else { return };
        let [(first, firsts), (rest, rests)] = h.arrivals;
        let s = self.stats.at(h.first.cmd, h.first.requestor);
        s.miss_latency += first * reply.at + rest * (reply.at + r.payload) - firsts - rests;
        s.mshr_miss_latency += r.at.saturating_sub(alloc_at);
        self.note_mshrs(h.slot.start);
    }

    /// Response times of the accesses that wait with an MSHR. `None`: it has not been sent by `now`.
    pub(crate) fn response_of(&mut self, now: Tick, id: MshrId) -> Option<MissResponse> {
        if self.pending.misses.iter().any(|h| h.line == id.line) {
            return None;
        }
        // No MSHR: the line has been filled already, the core asks late.
        let Some(m) = self.mshrs.find(id.line, now.0) else {
            return Some(MissResponse { id, first: id.line.addr(), at: now, rest: 0, level: 1 });
        };
        let (first, rest, level, resp_at) = (m.addr, m.payload, m.level, m.resp_at);
        Some(MissResponse { id, first, at: Tick(self.clock.edge(resp_at) + self.p.response), rest, level })
    }
}
