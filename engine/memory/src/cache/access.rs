//! The paths of a request through a cache: hit, MSHR target, miss, write-back, maintenance, bypass.

use super::mshr::Mshr;
use super::tags::Victim;
use super::Cache;
use crate::line::LineAddr;
use crate::network::Network;
use crate::packet::{Cmd, Pkt, Reply, WRITEBACKS};
use crate::prefetch::Found;
use crate::request::Port;
use breakeven_base::{PhysAddr, Tick};

impl Cache {
    /// `pkt` arrives at the cache at `at`. Waits while the cache is blocked; a core asks [`Cache::blocked`] first.
    pub(crate) fn request(&mut self, net: &mut Network, pkt: Pkt, at: Tick) -> Reply {
        if pkt.cmd == Cmd::NonTemporalReq {
            return self.bypassing_write(net, pkt, at);
        }
        if self.mshrs.next_send().is_some() {
            // Those that are due, or of the same line, are sent first.
            let line = self.tags.line(pkt.addr);
            self.issue_pending_mshrs(net, at, Some(line));
        }
        self.mshrs.retire(net.now);
        let at = self.wait_until_free(at);
        let reply = match pkt.cmd {
            Cmd::WritebackDirty | Cmd::WritebackClean => self.take_writeback(net, pkt, at),
            Cmd::CleanEvict | Cmd::WriteClean => self.pass_eviction(net, pkt, at),
            Cmd::CleanSharedReq | Cmd::CleanInvalidReq | Cmd::InvalidateReq => self.maintain(net, pkt, at),
            _ if pkt.uncached => self.uncacheable_access(net, pkt, at),
            Cmd::WriteReq
                if !self.p.write_allocate && self.tags.find(pkt.addr).is_none() && self.no_mshr(pkt.addr, at) =>
            {
                self.write_around(net, pkt, at)
            }
            _ => self.demand(net, pkt, at),
        };
        Reply { accepted: at, ..reply }
    }

    fn demand(&mut self, net: &mut Network, pkt: Pkt, at: Tick) -> Reply {
        let seen = self.prefetching.is_some() && !net.untimed;
        if seen {
            // The core accesses a first level in order of time; a walker may book ahead, and prefetches wait for that time.
            self.run_prefetches(net, if self.p.first_level { net.now } else { at });
        }
        let found = self.look_up(&pkt, at);
        let reply = match found {
            Found::Hit(i) => self.hit(i, pkt, at),
            Found::Joined(_) => self.join(pkt, at),
            Found::Miss => self.miss(net, pkt, at, 0),
        };
        if seen {
            self.notify_prefetchers(net, &pkt, at, found);
        }
        reply
    }

    /// A miss without an MSHR: fetches the line. `by`: the prefetcher that asks (from 1 on), or 0 for a demand access. The
    /// reply's `accepted` is that of the level below.
    #[inline(always)] // one busy caller; the other is rare
    pub(crate) fn miss(&mut self, net: &mut Network, pkt: Pkt, at: Tick, by: u8) -> Reply {
        let p = self.p;
        let edge = self.clock.edge(at);
        let line = self.tags.line(pkt.addr);
        let cmd = match pkt.cmd {
            Cmd::WriteLineReq => Cmd::InvalidateReq,
            cmd if cmd.needs_writable() => Cmd::ReadExReq,
            _ if p.is_read_only => Cmd::ReadCleanReq,
            _ => Cmd::ReadSharedReq,
        };
        let down = Pkt {
            cmd,
            addr: line.addr(),
            size: p.line_bytes,
            from_cache: true,
            header: 0,
            payload: 0,
            write_buffers: 0,
            ..pkt
        };
        // A prefetch was looked up while it waited in its queue.
        let out = if pkt.cmd == Cmd::HardPFReq { at } else { edge + p.tag + pkt.header };
        let r = net.send(p.mem_side, p.source, down, out);

        let mut reply = self.fill_from(net, &pkt, &r, by);
        self.mshrs.push(Mshr {
            line,
            unsent: None,
            alloc_at: at,
            resp_at: r.at,
            payload: r.payload,
            addr: pkt.addr,
            targets: 1,
            level: reply.level,
        });
        self.note_mshrs(at);
        let s = self.stats.at(pkt.cmd, pkt.requestor);
        s.mshr_misses += 1;
        if pkt.cmd != Cmd::HardPFReq {
            s.misses += 1;
            s.miss_latency += reply.at - at;
        }
        s.mshr_miss_latency += r.at - at;
        if pkt.cmd.is_prefetch() {
            reply.at = out;
        }
        reply
    }

    /// Fills the line that `pkt` missed with the response `r`, unless an exclusive level above keeps it, and evicts a victim.
    #[inline(always)] // of the busy way of a miss
    pub(crate) fn fill_from(&mut self, net: &mut Network, pkt: &Pkt, r: &Reply, by: u8) -> Reply {
        let p = self.p;
        let arrived = self.clock.edge(r.at);
        let mut reply =
            Reply { at: arrived + p.response, level: r.level + 1, accepted: r.accepted, ..Reply::default() };
        let dirty = r.dirty || pkt.cmd.dirties();
        if (p.mostly_excl || pkt.bypass) && pkt.from_cache {
            reply.dirty = dirty;
            return reply;
        }
        if let Some(v) = self.fill(pkt.addr, arrived + p.data + r.payload, dirty, by) {
            self.stats.replacements += 1;
            self.evict(net, v, arrived, arrived + p.tag, pkt.requestor);
        }
        reply
    }

    /// The cache evicts a line at `at`, to be sent at `out`.
    fn evict(&mut self, net: &mut Network, victim: Victim, at: Tick, out: Tick, requestor: u8) {
        let (cmd, size, requestor) = match (victim.dirty, self.p.writeback_clean) {
            (true, _) => (Cmd::WritebackDirty, self.p.line_bytes, WRITEBACKS),
            (false, true) => (Cmd::WritebackClean, self.p.line_bytes, WRITEBACKS),
            (false, false) => (Cmd::CleanEvict, 0, requestor),
        };
        if cmd != Cmd::CleanEvict {
            self.stats.writebacks += 1;
        }
        let pkt = Pkt { from_cache: true, ..Pkt::new(cmd, victim.line.addr(), size, requestor) };
        self.send_write(net, pkt, at, out);
    }

    /// Evicts the line of `addr` from the cache; whether it was there.
    pub(crate) fn evict_line(&mut self, net: &mut Network, addr: PhysAddr, at: Tick, out: Tick, requestor: u8) -> bool {
        let Some(i) = self.tags.find(addr) else { return false };
        let victim = Victim { line: self.tags.line(addr), dirty: self.tags.invalidate(i) };
        self.evict(net, victim, at, out, requestor);
        true
    }

    /// Writes back or drops all lines from `at` on, `each` ticks a line; when that is done.
    pub(crate) fn flush(&mut self, net: &mut Network, mut at: Tick, each: u64) -> Tick {
        let lines: Vec<LineAddr> = self.tags.lines().collect();
        for line in lines {
            at += each;
            let Some(i) = self.tags.find(line.addr()) else { continue };
            if self.tags.dirty(i) {
                at = self.wait_until_free(at);
                self.evict_line(net, line.addr(), at, at, Port::Data as u8);
            } else {
                self.tags.invalidate(i);
            }
        }
        at
    }

    /// Sends a packet without a response through the cache's write buffer: enters at `at`, leaves at `out` or when the next
    /// level accepts it.
    fn send_write(&mut self, net: &mut Network, pkt: Pkt, at: Tick, out: Tick) {
        let link = self.p.mem_side;
        // Data that a maintenance operation writes back goes before the operation: gem5 keeps packets of one line in order.
        let write_buffers = if pkt.cmd == Cmd::WriteClean { 0 } else { self.writes.entries() };
        let pkt = Pkt { from_cache: true, header: 0, payload: 0, write_buffers, ..pkt };
        let r = net.send(link, self.p.source, pkt, out);
        let now = net.now;
        let line = self.tags.line(pkt.addr);
        self.buffer_write(line, at, r.accepted.max(out), now);
    }

    fn take_writeback(&mut self, net: &mut Network, pkt: Pkt, at: Tick) -> Reply {
        let p = self.p;
        let edge = self.clock.edge(at);
        let header = self.clock.whole_cycles(pkt.header);
        let ready = edge + p.data + pkt.header + p.tag.max(pkt.payload);
        let dirty = pkt.cmd == Cmd::WritebackDirty;
        self.stats.at(pkt.cmd, pkt.requestor).hits += 1;
        let mut victim = None;
        if let Some(i) = self.tags.find(pkt.addr) {
            self.tags.touch(pkt.addr, i);
            let ready = ready.max(self.tags.ready(i));
            self.tags.set_ready(i, ready);
            if dirty {
                self.tags.set_dirty(i);
            }
        } else {
            victim = self.fill(pkt.addr, ready, dirty, 0);
        }
        if let Some(v) = victim {
            self.stats.replacements += 1;
            self.evict(net, v, at, edge + header + 2 * p.tag, pkt.requestor);
        }
        Reply { at: edge + header + p.tag, ..Reply::default() }
    }

    /// `CleanEvict` stops where the line is; `WriteClean` goes on to the memory and leaves the line clean.
    fn pass_eviction(&mut self, net: &mut Network, pkt: Pkt, at: Tick) -> Reply {
        let out = self.clock.edge(at) + self.p.tag + pkt.header;
        let found = self.tags.find(pkt.addr);
        let s = self.stats.at(pkt.cmd, pkt.requestor);
        if found.is_some() {
            s.hits += 1;
        } else {
            s.misses += 1;
        }
        if let (Cmd::WriteClean, Some(i)) = (pkt.cmd, found) {
            self.tags.clean(i);
        }
        if found.is_none() || pkt.cmd == Cmd::WriteClean {
            self.send_write(net, pkt, at, out);
        }
        Reply { at: out, ..Reply::default() }
    }

    /// Cache-block operations: they change this level's line and go on to the point of coherency.
    fn maintain(&mut self, net: &mut Network, pkt: Pkt, at: Tick) -> Reply {
        let p = self.p;
        let out = self.clock.edge(at) + p.tag + pkt.header;
        let found = self.tags.find(pkt.addr);
        let line = self.tags.line(pkt.addr);
        let s = self.stats.at(pkt.cmd, pkt.requestor);
        if pkt.cmd == Cmd::InvalidateReq {
            // A higher level will overwrite the whole line: a copy here is enough, no lower level is asked.
            if let Some(i) = found {
                s.hits += 1;
                self.tags.invalidate(i);
                return Reply {
                    at: self.clock.edge(at) + p.tag + self.clock.whole_cycles(pkt.header),
                    ..Reply::default()
                };
            }
        }
        s.misses += 1;
        s.mshr_misses += 1;
        let dirty = match (pkt.cmd, found) {
            (Cmd::CleanSharedReq, Some(i)) => self.tags.clean(i),
            (_, Some(i)) => self.tags.invalidate(i),
            (_, None) => false,
        };
        if dirty {
            self.stats.writebacks += 1;
            let data =
                Pkt { cmd: Cmd::WriteClean, addr: line.addr(), size: p.line_bytes, requestor: WRITEBACKS, ..pkt };
            self.send_write(net, data, at, out);
        }
        let down = Pkt { addr: line.addr(), from_cache: true, header: 0, payload: 0, write_buffers: 0, ..pkt };
        let r = net.send(p.mem_side, p.source, down, out);
        self.forwarded(&pkt, at, r, p.response)
    }

    /// An uncacheable access: a cached copy is evicted first.
    fn uncacheable_access(&mut self, net: &mut Network, pkt: Pkt, at: Tick) -> Reply {
        let p = self.p;
        let out = self.clock.edge(at) + p.tag + pkt.header;
        self.evict_line(net, pkt.addr, at, out, pkt.requestor);
        let down = Pkt { from_cache: true, header: 0, payload: 0, write_buffers: 0, ..pkt };
        let r = net.send(p.mem_side, p.source, down, out);
        let reply = self.forwarded(&pkt, at, r, p.response + r.payload);
        let s = self.stats.at(pkt.cmd, pkt.requestor);
        s.uncacheable += 1;
        s.uncacheable_latency += reply.at - at;
        reply
    }

    /// The response to a forwarded request: occupies an MSHR until it arrives, and returns `extra` ticks later.
    fn forwarded(&mut self, pkt: &Pkt, at: Tick, r: Reply, extra: u64) -> Reply {
        let level = r.level + 1;
        let m = Mshr {
            line: LineAddr::NONE,
            unsent: None,
            alloc_at: at,
            resp_at: r.at,
            payload: 0,
            addr: pkt.addr,
            targets: 1,
            level,
        };
        self.mshrs.push(m);
        self.note_mshrs(at);
        Reply { at: self.clock.edge(r.at) + extra, level, ..Reply::default() }
    }

    /// A write that goes past the cache: a copy that came here meanwhile leaves first.
    fn bypassing_write(&mut self, net: &mut Network, pkt: Pkt, at: Tick) -> Reply {
        let out = self.clock.edge(at) + pkt.header;
        self.evict_line(net, pkt.addr, at, out, pkt.requestor);
        let down = Pkt { from_cache: true, header: 0, ..pkt };
        let r = net.send(self.p.mem_side, self.p.source, down, out);
        Reply { at: self.clock.edge(r.at), level: r.level + 1, ..r }
    }

    /// A write that misses a cache without write-allocate: done once it is in the write buffer.
    fn write_around(&mut self, net: &mut Network, pkt: Pkt, at: Tick) -> Reply {
        let out = self.clock.edge(at) + self.p.tag + pkt.header;
        let line = self.tags.line(pkt.addr);
        let joined = self.writes.holds(line, at);
        let s = self.stats.at(pkt.cmd, pkt.requestor);
        s.misses += 1;
        s.miss_latency += out - at;
        if joined {
            s.mshr_hits += 1;
        } else {
            s.mshr_misses += 1;
            self.send_write(net, pkt, at, out);
        }
        Reply { at: out, level: 1, ..Reply::default() }
    }

    /// The response to a read that a cache beside this one has missed.
    pub(crate) fn snoop_response(&self, cmd: Cmd, start: Tick, header: u64) -> Reply {
        let at = self.clock.edge(start) + self.p.tag + header;
        Reply { at, accepted: start, dirty: cmd == Cmd::ReadExReq, ..Reply::default() }
    }

    fn look_up(&mut self, pkt: &Pkt, at: Tick) -> Found {
        let line = self.tags.line(pkt.addr);
        let on_its_way = self.mshrs.find(line, at).is_some();
        match self.tags.find(pkt.addr) {
            Some(i) if !on_its_way || self.tags.ready(i) <= at => Found::Hit(i),
            found if on_its_way => Found::Joined(found),
            _ => Found::Miss,
        }
    }

    fn no_mshr(&mut self, addr: PhysAddr, at: Tick) -> bool {
        let line = self.tags.line(addr);
        self.mshrs.find(line, at).is_none()
    }

    /// A hit on line `i`; waits for data that is still being filled in.
    fn hit(&mut self, i: usize, pkt: Pkt, at: Tick) -> Reply {
        let edge = self.clock.edge(at);
        let mut latency = self.clock.whole_cycles(pkt.header);
        if pkt.cmd.is_read() {
            latency += self.p.read;
            let waits = self.clock.whole_cycles(self.tags.ready(i) - (at + pkt.header));
            if waits > latency {
                latency += waits;
            }
        } else {
            latency += self.p.tag;
        }
        self.tags.touch(pkt.addr, i);
        if pkt.cmd.dirties() {
            self.tags.set_dirty(i);
        }
        let mut reply = Reply { at: self.through_data_port(edge, pkt.size) + latency, ..Reply::default() };
        if pkt.from_cache && pkt.cmd != Cmd::ReadCleanReq && !pkt.cmd.dirties() {
            reply.dirty = self.tags.clean(i);
        }
        if pkt.from_cache && self.p.mostly_excl && !self.tags.dirty(i) {
            self.tags.invalidate(i);
        }
        let s = self.stats.at(pkt.cmd, pkt.requestor);
        s.hits += 1;
        s.hit_latency += reply.at - at;
        reply
    }

    /// A secondary miss: one more target of an outstanding line.
    fn join(&mut self, pkt: Pkt, at: Tick) -> Reply {
        let line = self.tags.line(pkt.addr);
        let found = self.tags.find(pkt.addr);
        let request_time = self.clock.edge(at) + self.p.tag + pkt.header;
        let Some(m) = self.mshrs.join(line, at) else {
            return Reply { at: request_time, ..Reply::default() };
        };
        let rest = if m.addr == pkt.addr { 0 } else { m.payload };
        let (resp_at, level) = (m.resp_at, m.level);
        let mut done = self.clock.edge(resp_at) + self.p.response + rest;
        let s = self.stats.at(pkt.cmd, pkt.requestor);
        s.misses += 1;
        s.mshr_hits += 1;
        s.miss_latency += done - at;
        if pkt.cmd.is_prefetch() {
            done = request_time;
        }
        if let (true, Some(i)) = (pkt.cmd.dirties(), found) {
            self.tags.set_dirty(i);
        }
        self.note_mshrs(at);
        Reply { at: done, level, ..Reply::default() }
    }
}
