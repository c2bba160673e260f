//! The ways of a request through a cache: hit, MSHR target, miss, write-back, maintenance, bypass.

use super::mshr::{Mshr, MshrState};
use super::tags::Victim;
use super::Cache;
use crate::config::Link;
use crate::packet::{Cmd, Pkt, Reply, WRITEBACKS};
use crate::prefetch::Found;
use crate::MemorySystem;

/// No line has this address: registers that take no further target.
const NO_LINE: u64 = u64::MAX;

impl MemorySystem {
    /// `pkt` arrives at cache `ci` at `at`. Waits while the cache is blocked; a core asks [`Cache::blocked`] first.
    pub(crate) fn cache_request(&mut self, ci: usize, pkt: Pkt, at: u64) -> Reply {
        if pkt.cmd == Cmd::NonTemporalReq {
            return self.cache_written_past(ci, pkt, at);
        }
        if !self.pending.is_empty() {
            self.join_pending_mshr(ci, &pkt, at);
        }
        let c = &mut self.caches[ci];
        c.mshrs.retire(self.now);
        let at = c.wait_until_free(at);
        let reply = match pkt.cmd {
            Cmd::WritebackDirty | Cmd::WritebackClean => self.cache_takes_writeback(ci, pkt, at),
            Cmd::CleanEvict | Cmd::WriteClean => self.cache_passes_eviction(ci, pkt, at),
            Cmd::CleanSharedReq | Cmd::CleanInvalidReq | Cmd::InvalidateReq => self.cache_maintains(ci, pkt, at),
            _ if pkt.uncached => self.cache_passes_by(ci, pkt, at),
            Cmd::WriteReq if !c.p.write_allocate && c.tags.find(pkt.addr).is_none() && c.no_mshr(pkt.addr, at) => {
                self.cache_writes_around(ci, pkt, at)
            }
            _ => self.cache_demand(ci, pkt, at),
        };
        Reply { accepted: at, ..reply }
    }

    fn cache_demand(&mut self, ci: usize, pkt: Pkt, at: u64) -> Reply {
        let seen = self.caches[ci].prefetching.is_some();
        if seen {
            // The core accesses a first level in order of time; a walker may book ahead, and prefetches wait for that time.
            let first_level = self.ports.contains(&Link::Cache(ci as u16));
            self.run_prefetches_of(ci, if first_level { self.now } else { at });
        }
        let found = self.caches[ci].look_up(&pkt, at);
        let reply = match found {
            Found::Hit(i) => self.caches[ci].hit(i, pkt, at),
            Found::Joined(_) => self.caches[ci].join(pkt, at),
            Found::Miss => self.cache_misses(ci, pkt, at, 0),
        };
        if seen {
            self.show_prefetchers(ci, &pkt, at, found);
        }
        reply
    }

    /// A miss without an MSHR: fetches the line. `by`: the prefetcher that asks (from 1 on), or 0 for a demand access. The
    /// reply's `accepted` is that of the level below.
    #[inline(always)] // one busy caller; the other is rare
    pub(crate) fn cache_misses(&mut self, ci: usize, pkt: Pkt, at: u64, by: u8) -> Reply {
        let c = &mut self.caches[ci];
        let p = c.p;
        let edge = c.clock.edge(at);
        let line = c.tags.line(pkt.addr);
        let cmd = match pkt.cmd {
            Cmd::WriteLineReq => Cmd::InvalidateReq,
            cmd if cmd.needs_writable() => Cmd::ReadExReq,
            _ if p.is_read_only => Cmd::ReadCleanReq,
            _ => Cmd::ReadSharedReq,
        };
        let down = Pkt {
            cmd,
            addr: line,
            size: p.line_bytes,
            from_cache: true,
            header: 0,
            payload: 0,
            low_priority: false,
            ..pkt
        };
        // A prefetch was looked up while it waited in its queue.
        let out = if pkt.cmd == Cmd::HardPFReq { at } else { edge + p.tag + pkt.header };
        let r = self.send(p.mem_side, self.source_of_cache(ci), down, out);

        let mut reply = self.cache_fills(ci, &pkt, &r, by);
        let c = &mut self.caches[ci];
        c.mshrs.push(Mshr {
            line,
            state: MshrState::Sent,
            alloc_at: at,
            resp_at: r.at,
            payload: r.payload,
            addr: pkt.addr,
            targets: 1,
            level: reply.level,
        });
        c.note_mshrs(at);
        let s = c.stats.at(pkt.cmd, pkt.requestor);
        s.mshr_misses += 1;
        if pkt.cmd != Cmd::HardPFReq {
            s.misses += 1;
            s.miss_latency += reply.at - at;
        }
        s.mshr_miss_latency += r.at.saturating_sub(at);
        if pkt.cmd.is_prefetch() {
            reply.at = out;
        }
        reply
    }

    /// Fills the line that `pkt` missed with the response `r`, unless an exclusive level above keeps it, and evicts a victim.
    #[inline(always)] // of the busy way of a miss
    pub(crate) fn cache_fills(&mut self, ci: usize, pkt: &Pkt, r: &Reply, by: u8) -> Reply {
        let c = &mut self.caches[ci];
        let p = c.p;
        let arrived = c.clock.edge(r.at);
        let mut reply =
            Reply { at: arrived + p.response, level: r.level + 1, accepted: r.accepted, ..Reply::default() };
        let dirty = r.dirty || pkt.cmd.dirties();
        if (p.mostly_excl || pkt.bypass) && pkt.from_cache {
            reply.dirty = dirty;
            return reply;
        }
        if let Some(v) = c.fill(pkt.addr, arrived + p.data + r.payload, dirty, by) {
            c.stats.replacements += 1;
            self.cache_evicts(ci, v, arrived, arrived + p.tag, pkt.requestor);
        }
        reply
    }

    /// Cache `ci` evicts a line at `at`, to be sent at `out`.
    fn cache_evicts(&mut self, ci: usize, victim: Victim, at: u64, out: u64, requestor: u8) {
        let c = &mut self.caches[ci];
        let (cmd, size, requestor) = match (victim.dirty, c.p.writeback_clean) {
            (true, _) => (Cmd::WritebackDirty, c.p.line_bytes, WRITEBACKS),
            (false, true) => (Cmd::WritebackClean, c.p.line_bytes, WRITEBACKS),
            (false, false) => (Cmd::CleanEvict, 0, requestor),
        };
        if cmd != Cmd::CleanEvict {
            c.stats.writebacks += 1;
        }
        let pkt = Pkt { from_cache: true, ..Pkt::new(cmd, victim.line, size, requestor) };
        self.cache_sends_write(ci, pkt, at, out);
    }

    /// Evicts the line of `addr` from cache `ci`; whether it was there.
    pub(crate) fn cache_evicts_line(&mut self, ci: usize, addr: u64, at: u64, out: u64, requestor: u8) -> bool {
        let c = &mut self.caches[ci];
        let Some(i) = c.tags.find(addr) else { return false };
        let victim = Victim { line: c.tags.line(addr), dirty: c.tags.invalidate(i) };
        self.cache_evicts(ci, victim, at, out, requestor);
        true
    }

    /// Sends a packet without a response through cache `ci`'s write buffer: enters at `at`, leaves at `out` or when the next
    /// level accepts it.
    fn cache_sends_write(&mut self, ci: usize, pkt: Pkt, at: u64, out: u64) {
        let c = &self.caches[ci];
        let link = c.p.mem_side;
        // Data that a maintenance operation writes back goes before the operation: gem5 keeps packets of one line in order.
        let low_priority = pkt.cmd != Cmd::WriteClean && !c.writes.nearly_full(out);
        let pkt = Pkt { from_cache: true, header: 0, payload: 0, low_priority, ..pkt };
        let r = self.send(link, self.source_of_cache(ci), pkt, out);
        let now = self.now;
        let c = &mut self.caches[ci];
        let line = c.tags.line(pkt.addr);
        c.buffer_write(line, at, r.accepted.max(out), now);
    }

    fn cache_takes_writeback(&mut self, ci: usize, pkt: Pkt, at: u64) -> Reply {
        let c = &mut self.caches[ci];
        let p = c.p;
        let edge = c.clock.edge(at);
        let header = c.clock.edge(pkt.header);
        let ready = edge + p.data + pkt.header + p.tag.max(pkt.payload);
        let dirty = pkt.cmd == Cmd::WritebackDirty;
        c.stats.at(pkt.cmd, pkt.requestor).hits += 1;
        let mut victim = None;
        if let Some(i) = c.tags.find(pkt.addr) {
            c.tags.touch(pkt.addr, i);
            let ready = ready.max(c.tags.ready(i));
            c.tags.set_ready(i, ready);
            if dirty {
                c.tags.set_dirty(i);
            }
        } else {
            victim = c.fill(pkt.addr, ready, dirty, 0);
        }
        if let Some(v) = victim {
            c.stats.replacements += 1;
            self.cache_evicts(ci, v, at, edge + header + 2 * p.tag, pkt.requestor);
        }
        Reply { at: edge + header + p.tag, ..Reply::default() }
    }

    /// `CleanEvict` stops where the line is; `WriteClean` goes on to the memory and leaves the line clean.
    fn cache_passes_eviction(&mut self, ci: usize, pkt: Pkt, at: u64) -> Reply {
        let c = &mut self.caches[ci];
        let out = c.clock.edge(at) + c.p.tag + pkt.header;
        let found = c.tags.find(pkt.addr);
        let s = c.stats.at(pkt.cmd, pkt.requestor);
        if found.is_some() {
            s.hits += 1;
        } else {
            s.misses += 1;
        }
        if let (Cmd::WriteClean, Some(i)) = (pkt.cmd, found) {
            c.tags.clean(i);
        }
        if found.is_none() || pkt.cmd == Cmd::WriteClean {
            self.cache_sends_write(ci, pkt, at, out);
        }
        Reply { at: out, ..Reply::default() }
    }

    /// Cache-block operations: they change this level's line and go on to the point of coherency.
    fn cache_maintains(&mut self, ci: usize, pkt: Pkt, at: u64) -> Reply {
        let c = &mut self.caches[ci];
        let p = c.p;
        let out = c.clock.edge(at) + p.tag + pkt.header;
        let found = c.tags.find(pkt.addr);
        let line = c.tags.line(pkt.addr);
        let s = c.stats.at(pkt.cmd, pkt.requestor);
        if pkt.cmd == Cmd::InvalidateReq {
            // A higher level will overwrite the whole line: a copy here is enough, no lower level is asked.
            if let Some(i) = found {
                s.hits += 1;
                c.tags.invalidate(i);
                return Reply { at: c.clock.edge(at) + p.tag + c.clock.edge(pkt.header), ..Reply::default() };
            }
        }
        s.misses += 1;
        s.mshr_misses += 1;
        let dirty = match (pkt.cmd, found) {
            (Cmd::CleanSharedReq, Some(i)) => c.tags.clean(i),
            (_, Some(i)) => c.tags.invalidate(i),
            (_, None) => false,
        };
        if dirty {
            c.stats.writebacks += 1;
            let data = Pkt { cmd: Cmd::WriteClean, addr: line, size: p.line_bytes, requestor: WRITEBACKS, ..pkt };
            self.cache_sends_write(ci, data, at, out);
        }
        let down = Pkt { addr: line, from_cache: true, header: 0, payload: 0, low_priority: false, ..pkt };
        let r = self.send(p.mem_side, self.source_of_cache(ci), down, out);
        self.cache_forwards(ci, &pkt, at, r, p.response)
    }

    /// An uncacheable access: a cached copy is evicted first.
    fn cache_passes_by(&mut self, ci: usize, pkt: Pkt, at: u64) -> Reply {
        let c = &mut self.caches[ci];
        let p = c.p;
        let out = c.clock.edge(at) + p.tag + pkt.header;
        self.cache_evicts_line(ci, pkt.addr, at, out, pkt.requestor);
        let down = Pkt { from_cache: true, header: 0, payload: 0, low_priority: false, ..pkt };
        let r = self.send(p.mem_side, self.source_of_cache(ci), down, out);
        let reply = self.cache_forwards(ci, &pkt, at, r, p.response + r.payload);
        let s = self.caches[ci].stats.at(pkt.cmd, pkt.requestor);
        s.uncacheable += 1;
        s.uncacheable_latency += reply.at - at;
        reply
    }

    /// The response to a forwarded request: occupies an MSHR until it arrives, and returns `extra` ticks later.
    fn cache_forwards(&mut self, ci: usize, pkt: &Pkt, at: u64, r: Reply, extra: u64) -> Reply {
        let c = &mut self.caches[ci];
        let level = r.level + 1;
        let m = Mshr {
            line: NO_LINE,
            state: MshrState::Sent,
            alloc_at: at,
            resp_at: r.at,
            payload: 0,
            addr: pkt.addr,
            targets: 1,
            level,
        };
        c.mshrs.push(m);
        c.note_mshrs(at);
        Reply { at: c.clock.edge(r.at) + extra, level, ..Reply::default() }
    }

    /// A write that misses a cache without write-allocate: done once it is in the write buffer.
    fn cache_writes_around(&mut self, ci: usize, pkt: Pkt, at: u64) -> Reply {
        let c = &mut self.caches[ci];
        let out = c.clock.edge(at) + c.p.tag + pkt.header;
        let line = c.tags.line(pkt.addr);
        let joined = c.writes.holds(line, at);
        let s = c.stats.at(pkt.cmd, pkt.requestor);
        s.misses += 1;
        s.miss_latency += out - at;
        if joined {
            s.mshr_hits += 1;
        } else {
            s.mshr_misses += 1;
            self.cache_sends_write(ci, pkt, at, out);
        }
        Reply { at: out, level: 1, ..Reply::default() }
    }
}

impl Cache {
    fn look_up(&mut self, pkt: &Pkt, at: u64) -> Found {
        let line = self.tags.line(pkt.addr);
        let on_its_way = self.mshrs.find(line, at).is_some();
        match self.tags.find(pkt.addr) {
            Some(i) if !on_its_way || self.tags.ready(i) <= at => Found::Hit(i),
            found if on_its_way => Found::Joined(found),
            _ => Found::Miss,
        }
    }

    fn no_mshr(&mut self, addr: u64, at: u64) -> bool {
        let line = self.tags.line(addr);
        self.mshrs.find(line, at).is_none()
    }

    /// A hit on line `i`; waits for data that is still being filled in.
    fn hit(&mut self, i: usize, pkt: Pkt, at: u64) -> Reply {
        let edge = self.clock.edge(at);
        let mut latency = self.clock.edge(pkt.header);
        if pkt.cmd.is_read() {
            latency += self.p.read;
            let waits = self.clock.edge(self.tags.ready(i).saturating_sub(at + pkt.header));
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
    fn join(&mut self, pkt: Pkt, at: u64) -> Reply {
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
