//! Write-combining buffers (ours; gem5 ignores non-temporal hints): non-temporal stores, and stores to write-combining memory,
//! gather here and go to the memory past the caches.
//!
//! As Intel's Software Developer's Manual describes it (volume 3, "Methods of Caching Available" and "Buffering of Write
//! Combining Memory Locations"): a buffer whose bytes are all there leaves as one burst; one that
//! is evicted before leaves in pieces of at most 8 bytes (`partial_bytes`). A buffer is evicted when another is needed
//! (the oldest; which one the manual leaves open), by fences, locked and uncached accesses, and here by an access to its line. A
//! line that a non-temporal store hits in a cache is written back and invalidated (the manual's rule for stores to WC memory
//! that is cached; what its processors do for MOVNTDQ). A buffer is held until the memory has answered the write, as a
//! fill buffer is; or, `posted`, until it has accepted it, as a cache's write buffer is. Fences wait for the answers.
//!
//! Not modelled: that many processors use their fill buffers (L1 MSHRs) for this, so that misses and stores compete.

use breakeven_base::{MemKind, PhysAddr, StatSink, Tick, Unit};

use crate::config::{AddrRange, Link, WriteCombiningConfig};
use crate::line::LineAddr;
use crate::network::Network;
use crate::packet::{Cmd, Pkt};
use crate::request::{Port, Request, Response};
use educe::Educe;

#[derive(Clone, Copy, Debug, Default)]
struct Buffer {
    /// Address of its first byte.
    block: PhysAddr,
    /// Bit n: byte n is there. 0: nothing gathers in it.
    mask: u64,
    /// When it was taken, in buffers taken before.
    since: u64,
    /// After it has been sent: free again.
    until: Tick,
}

impl Buffer {
    /// When it is free; [`Tick::MAX`] while it gathers.
    fn free_from(&self) -> Tick {
        if self.mask == 0 {
            self.until
        } else {
            Tick::MAX
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Stats {
    stores: u64,
    full: u64,
    partial: u64,
    partial_writes: u64,
    for_space: u64,
    expelled: u64,
    streaming_hits: u64,
}

#[derive(Educe)]
#[educe(Clone)]
pub(crate) struct WriteCombining {
    bytes: u64,
    full: u64,
    partial: u64,
    latency: u64,
    pub nta_first_level: bool,
    posted: bool,
    /// The memory has answered all that was sent.
    answered: Tick,
    ranges: Vec<AddrRange>,
    buffers: Vec<Buffer>,
    /// From then on every buffer is free; [`Tick::MAX`]: one gathers.
    free_from: Tick,
    taken: u64,
    /// The line of write-combining memory that a non-temporal load fetched last, and when it is there.
    streamed: Option<(LineAddr, Tick)>,
    stats: Stats,
}
/// Which buffer a store can take.
enum Room {
    Buffer(usize),
    /// This one must be sent.
    Evict(usize),
    /// All have been sent; one is free then.
    Wait(Tick),
}

impl WriteCombining {
    pub fn new(c: &WriteCombiningConfig, core_period: u64) -> Self {
        let bytes = u64::from(c.buffer_bytes);
        WriteCombining {
            bytes,
            full: u64::MAX >> (64 - bytes.clamp(1, 64)),
            partial: u64::from(c.partial_bytes.max(1)),
            latency: u64::from(c.latency) * core_period,
            nta_first_level: c.prefetch_nta_first_level,
            posted: c.posted,
            answered: Tick::ZERO,
            ranges: c.ranges.clone(),
            buffers: vec![Buffer::default(); c.buffers as usize],
            free_from: Tick::ZERO,
            taken: 0,
            streamed: None,
            stats: Stats::default(),
        }
    }

    fn is_write_combining(&self, paddr: PhysAddr) -> bool {
        self.ranges.iter().any(|r| r.contains(paddr))
    }

    /// The bits of the bytes `from..to` in the buffer of `block`.
    fn bits(&self, block: PhysAddr, from: PhysAddr, to: PhysAddr) -> u64 {
        let (first, last) = (from.max(block) - block, to.min(PhysAddr(block.0.saturating_add(self.bytes))) - block);
        (u64::MAX >> (64 - (last - first).clamp(1, 64))) << first
    }

    fn gathering(&self, block: PhysAddr) -> Option<usize> {
        self.buffers.iter().position(|b| b.mask != 0 && b.block == block)
    }

    fn room(&self, now: Tick) -> Room {
        if let Some(n) = self.buffers.iter().position(|b| b.mask == 0 && b.until <= now) {
            return Room::Buffer(n);
        }
        let oldest = self.buffers.iter().enumerate().filter(|(_, b)| b.mask != 0).min_by_key(|(_, b)| b.since);
        // One that is on its way is free soon enough; evict only if none is.
        let sent = self.buffers.iter().filter(|b| b.mask == 0).map(|b| b.until).min();
        match (sent, oldest) {
            (Some(t), _) => Room::Wait(t),
            (None, Some((n, _))) => Room::Evict(n),
            (None, None) => Room::Wait(now + 1),
        }
    }

    /// Whether a buffer gathers.
    pub fn gathers(&self) -> bool {
        self.buffers.iter().any(|b| b.mask != 0)
    }

    pub fn reset_stats(&mut self) {
        self.stats = Stats::default();
    }

    pub fn collect(&self, sink: &mut StatSink) {
        let s = &self.stats;
        for (name, v, desc) in [
            ("stores", s.stores, "stores that went to a write-combining buffer"),
            ("fullWrites", s.full, "buffers written in one piece"),
            ("partialFlushes", s.partial, "buffers written before they were full"),
            ("partialWrites", s.partial_writes, "writes that these took"),
            ("evictions", s.for_space, "buffers written because another was needed"),
            ("expelledLines", s.expelled, "cached lines that non-temporal stores evicted"),
            ("streamingLoadHits", s.streaming_hits, "non-temporal loads served by the line fetched last"),
        ] {
            sink.count(name, v, Unit::Count, desc);
        }
    }

    pub fn describe(&self, now: Tick) -> String {
        let gathering = self.buffers.iter().filter(|b| b.mask != 0).count();
        let sent = self.buffers.iter().filter(|b| b.mask == 0 && b.until > now).count();
        format!("{gathering} of {} buffers gathering, {sent} being written", self.buffers.len())
    }

    pub fn audit(&self) -> Result<(), String> {
        let free_from = self.buffers.iter().map(Buffer::free_from).max().unwrap_or(Tick::ZERO);
        if self.free_from < free_from {
            return Err(format!("buffers count as free from {} on, and are from {free_from} on", self.free_from));
        }
        for (i, b) in self.buffers.iter().enumerate().filter(|(_, b)| b.mask != 0) {
            if b.block.0 % self.bytes != 0 || b.mask & !self.full != 0 || b.mask == self.full {
                return Err(format!("buffer {i} of {:#x} holds bytes {:#x}", b.block, b.mask));
            }
            if self.gathering(b.block) != Some(i) {
                return Err(format!("two buffers gather for {:#x}", b.block));
            }
        }
        Ok(())
    }
}

impl WriteCombining {
    /// Sends what the buffers hold from `now` on; when the memory has answered all of it. `now` when there is nothing.
    pub fn flush(&mut self, net: &mut Network, now: Tick) -> Tick {
        while let Some(n) = self.oldest_buffer(|_| true) {
            self.send_buffer(net, n, now);
        }
        self.streamed = None;
        now.max(self.answered)
    }

    fn oldest_buffer(&self, which: impl Fn(&Buffer) -> bool) -> Option<usize> {
        let all = self.buffers.iter().enumerate();
        all.filter(|(_, b)| b.mask != 0 && which(b)).min_by_key(|(_, b)| b.since).map(|(n, _)| n)
    }

    /// What write combining makes of an access that is not a plain hit; `None`: it goes its usual way.
    pub fn combine(&mut self, net: &mut Network, now: Tick, req: &Request, uncached: bool) -> Option<Response> {
        let owned = self.is_write_combining(req.paddr);
        let store = matches!(req.kind, MemKind::Store | MemKind::StoreLine | MemKind::CboZero);
        if store && (owned || req.non_temporal && !uncached && req.kind != MemKind::CboZero) {
            return Some(self.combine_store(net, now, req));
        }
        let wait = if req.kind == MemKind::Atomic || uncached && !owned {
            self.flush(net, now)
        } else if self.free_from <= now {
            now
        } else {
            // Other accesses to the line wait until its buffers have been written.
            let line_bytes = u64::from(net.line_bytes);
            let line = LineAddr::of(req.paddr, line_bytes);
            let in_line = |b: &Buffer| LineAddr::of(b.block, line_bytes) == line;
            while let Some(n) = self.oldest_buffer(in_line) {
                self.send_buffer(net, n, now);
            }
            self.buffers.iter().filter(|b| in_line(b)).map(|b| b.until).max().unwrap_or(now)
        };
        if wait > now {
            return Some(Response::Blocked { retry: wait });
        }
        (owned && req.kind == MemKind::Load && req.non_temporal).then(|| self.streaming_load(net, now, req))
    }

    fn combine_store(&mut self, net: &mut Network, now: Tick, req: &Request) -> Response {
        let line = u64::from(net.line_bytes);
        let whole = matches!(req.kind, MemKind::StoreLine | MemKind::CboZero);
        let (from, size) =
            if whole { (req.paddr.align_down(line), line) } else { (req.paddr, u64::from(req.size).max(1)) };
        if self.streamed.is_some_and(|(of, _)| of == LineAddr::of(req.paddr, line)) {
            self.streamed = None;
        }
        let to = PhysAddr(from.0.saturating_add(size));
        let mut block = from.align_down(self.bytes);
        while block < to {
            if let Err(retry) = self.gather(net, block, from, to, now) {
                return Response::Blocked { retry };
            }
            let Some(next) = block.0.checked_add(self.bytes) else { break };
            block = PhysAddr(next);
        }
        self.stats.stores += 1;
        Response::Done { at: now + self.latency, level: 0 }
    }

    /// Puts the bytes `from..to` that are in `block` into its buffer. `Err`: no buffer before then.
    fn gather(
        &mut self,
        net: &mut Network,
        block: PhysAddr,
        from: PhysAddr,
        to: PhysAddr,
        now: Tick,
    ) -> Result<(), Tick> {
        let n = match self.gathering(block) {
            Some(n) => n,
            None => {
                let n = match self.room(now) {
                    Room::Buffer(n) => n,
                    Room::Wait(t) => return Err(t),
                    Room::Evict(n) => {
                        self.stats.for_space += 1;
                        return Err(self.send_buffer(net, n, now));
                    }
                };
                self.taken += 1;
                self.buffers[n] = Buffer { block, mask: 0, since: self.taken, until: Tick::ZERO };
                self.free_from = Tick::MAX;
                self.evict_copies(net, block, now);
                n
            }
        };
        self.buffers[n].mask |= self.bits(block, from, to);
        if self.buffers[n].mask == self.full {
            self.send_buffer(net, n, now + self.latency);
        }
        Ok(())
    }

    /// Writes buffer `n` to the memory from `at` on; when it is free again.
    fn send_buffer(&mut self, net: &mut Network, n: usize, at: Tick) -> Tick {
        let Buffer { block, mask, .. } = self.buffers[n];
        let (full, piece) = if mask == self.full { (true, self.bytes) } else { (false, self.partial) };
        self.stats.full += u64::from(full);
        self.stats.partial += u64::from(!full);
        let (link, source) = (net.ports[Port::Data as usize], net.source_of(Port::Data));
        let (mut out, mut answered, mut pieces) = (at, at + 1, 0);
        for offset in (0..self.bytes).step_by(piece as usize) {
            if mask >> offset & (u64::MAX >> (64 - piece)) == 0 {
                continue;
            }
            let pkt = Pkt::new(Cmd::NonTemporalReq, block + offset, piece as u32, Port::Data as u8);
            let r = net.send(link, source, pkt, out);
            (out, answered, pieces) = (r.accepted.max(out), answered.max(r.at), pieces + 1);
        }
        let until = if self.posted { out.max(at + 1) } else { answered };
        self.answered = self.answered.max(answered);
        self.stats.partial_writes += if full { 0 } else { pieces };
        self.buffers[n] = Buffer { mask: 0, until, ..self.buffers[n] };
        self.free_from = self.buffers.iter().map(Buffer::free_from).max().unwrap_or(Tick::ZERO);
        until
    }

    /// Evicts the line of `addr` from all caches on the data side.
    fn evict_copies(&mut self, net: &mut Network, addr: PhysAddr, at: Tick) {
        let mut link = net.ports[Port::Data as usize];
        loop {
            link = match link {
                Link::Cache(i) => {
                    let Some((out, below)) = net.caches.get(i).map(|c| (c.clock.edge(at), c.p.mem_side)) else {
                        return;
                    };
                    self.stats.expelled += u64::from(net.evict_line(i, addr, at, out, Port::Data as u8));
                    below
                }
                Link::XBar(i) => net.xbars.get(i).map_or(Link::None, |x| x.route(addr).1),
                Link::None | Link::Memory(_) => return,
            };
        }
    }

    /// A non-temporal load from write-combining memory fetches its line, from which those that follow are served.
    fn streaming_load(&mut self, net: &mut Network, now: Tick, req: &Request) -> Response {
        let line = LineAddr::of(req.paddr, u64::from(net.line_bytes));
        if let Some((of, ready)) = self.streamed {
            if of == line {
                self.stats.streaming_hits += 1;
                return Response::Done { at: (now + self.latency).max(ready), level: 0 };
            }
        }
        // Past the caches, whose first must take it.
        if let Link::Cache(i) = net.ports[Port::Data as usize] {
            let retry = net.caches.get(i).map_or(now, |c| c.wait_until_free(now));
            if retry > now {
                return Response::Blocked { retry };
            }
        }
        let pkt = Pkt { uncached: true, ..Pkt::new(Cmd::ReadReq, line.addr(), net.line_bytes, Port::Data as u8) };
        let r = net.send(net.ports[Port::Data as usize], net.source_of(Port::Data), pkt, now);
        self.streamed = Some((line, r.at));
        Response::Done { at: r.at, level: r.level }
    }
}
