//! One cache: tags, MSHRs, buffers, and the hit path. The miss path is in [`access`].
//!
//! Modelled after gem5's classic `Cache`: a hit answers after tag and data latency (parallel or sequential; a write after
//! the tag latency), a miss leaves after the tag latency and is answered `response_latency` after the level below;
//! non-inclusive (`mostly_incl`) or `mostly_excl`; dirty data moves up with a line and comes back when it is evicted.

pub(crate) mod access;
pub(crate) mod mshr;
mod prefetching;
pub(crate) mod replacement;
pub(crate) mod stats;
pub(crate) mod tags;
pub(crate) mod wait;
pub(crate) mod write_buffer;

use std::ops::Range;

use breakeven_base::{PhysAddr, StatSink, Tick};

use crate::config::{CacheConfig, Clusivity, Link};
use crate::line::LineAddr;
use crate::packet::Cmd;
use crate::prefetch::Prefetching;
use crate::uses::LineUse;
use crate::util::EdgeClock;
use educe::Educe;
use mshr::MshrFile;
use stats::{Blocked, CacheStats};
use tags::{Tags, Victim};
use write_buffer::WriteBuffer;

/// What does not change after construction; latencies in ticks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Params {
    pub tag: u64,
    /// Tag and data, parallel or one after the other.
    pub read: u64,
    pub data: u64,
    pub response: u64,
    pub line_bytes: u32,
    bandwidth: u32,
    pub write_allocate: bool,
    pub writeback_clean: bool,
    pub mostly_excl: bool,
    pub is_read_only: bool,
    pub mem_side: Link,
    /// Its number among the requesters of crossbars.
    pub source: usize,
    /// A port of the core leads here: demand accesses come in order of time.
    pub first_level: bool,
}

#[derive(Educe)]
#[educe(Clone)]
pub(crate) struct Cache {
    pub p: Params,
    pub clock: EdgeClock,
    pub tags: Tags,
    pub mshrs: MshrFile,
    pub writes: WriteBuffer,
    pub stats: CacheStats,
    /// No request is taken before this instant: MSHRs or targets used up.
    blocked_until: Tick,
    /// Nor before this one: everything is being written back.
    flushing_until: Tick,
    /// Nor from `.0` to `.1`: write buffers used up.
    writes_full: (Tick, Tick),
    /// The data port is free again.
    data_free: Tick,
    pub prefetching: Option<Box<Prefetching>>,
}
impl Cache {
    pub fn new(c: &CacheConfig, line_bytes: u32, source: usize, first_level: bool) -> Self {
        let clock = EdgeClock::new(c.clock.period());
        let (tag, data) = (clock.cycles(c.tag_latency), clock.cycles(c.data_latency));
        let read = if c.sequential_access { tag + data } else { tag.max(data) };
        Cache {
            p: Params {
                tag,
                read,
                data,
                response: clock.cycles(c.response_latency),
                line_bytes,
                bandwidth: c.bandwidth,
                write_allocate: c.write_allocate,
                writeback_clean: c.writeback_clean,
                mostly_excl: c.clusivity == Clusivity::MostlyExcl,
                is_read_only: c.is_read_only,
                mem_side: c.mem_side,
                source,
                first_level,
            },
            clock,
            tags: Tags::new(c.size, c.assoc, line_bytes, c.replacement, &c.way_predictor_masks),
            mshrs: MshrFile::new(c.mshrs, c.tgts_per_mshr),
            writes: WriteBuffer::new(c.write_buffers),
            stats: CacheStats::default(),
            blocked_until: Tick::ZERO,
            flushing_until: Tick::ZERO,
            writes_full: (Tick::ZERO, Tick::ZERO),
            data_free: Tick::ZERO,
            prefetching: Prefetching::new(
                &c.prefetchers,
                clock,
                line_bytes,
                (c.size / u64::from(line_bytes)) as usize,
                c.mshrs.saturating_sub(c.demand_mshr_reserve.saturating_add(1)),
            ),
        }
    }

    /// When the core side may ask again; `None`: now.
    #[inline]
    pub fn blocked(&self, now: Tick) -> Option<Tick> {
        if now < self.blocked_until {
            return Some(self.blocked_until);
        }
        let (from, until) = self.writes_full;
        (now < until && now >= from).then_some(until)
    }

    /// Fast path: a hit on a line whose data has arrived, which no prefetcher looks at while none has anything to send. The tick
    /// of the response.
    #[inline(always)]
    pub fn fast_hit(&mut self, cmd: Cmd, requestor: u8, now: Tick, addr: PhysAddr, size: u32) -> Option<Tick> {
        let is_due = self.prefetching.as_ref().is_some_and(|p| p.next_due <= now);
        if is_due || self.blocked(now).is_some() {
            return None;
        }
        let i = self.tags.use_ready(addr, now)?;
        if self.prefetching.as_ref().is_some_and(|p| !p.ignores_hit(i, addr)) {
            return None;
        }
        Some(self.answer_at_once(i, cmd, requestor, now, size))
    }

    /// Whether a hit that takes the fast path is answered after the same time, whatever came before it, and may take it at all.
    pub fn answers_hits_alike(&self) -> bool {
        self.p.bandwidth == 0 && self.prefetching.as_ref().is_none_or(|p| p.ignores_hits())
    }

    /// Whether accesses to `lines` at any time of `during` all take the fast path, if nothing else comes between.
    pub fn all_hit(&self, lines: &[LineUse], during: &Range<Tick>) -> bool {
        let (from, until) = self.writes_full;
        let is_blocked = self.blocked_until > during.start || until > during.start && from <= during.end;
        !is_blocked
            && self.prefetching.as_ref().is_none_or(|p| p.next_due > during.end)
            && lines.iter().all(|line| {
                self.tags.find_recent(line.addr).is_some_and(|i| {
                    self.tags.ready(i) <= during.start
                        && self.prefetching.as_ref().is_none_or(|p| p.ignores_hit(i, line.addr))
                })
            })
    }

    /// A hit on `line`, which is there, but for the counts.
    pub fn use_line(&mut self, line: &LineUse) {
        if let Some(i) = self.tags.use_ready(line.addr, Tick(u64::MAX)) {
            if line.is_written {
                self.tags.set_dirty(i);
            }
        }
    }

    /// The tick of the response to a hit on line `i`, whose data is there.
    #[inline(always)]
    fn answer_at_once(&mut self, i: usize, cmd: Cmd, requestor: u8, now: Tick, size: u32) -> Tick {
        let edge = self.clock.edge(now);
        // Of reads, writes and swaps: all that take the fast path.
        if cmd != Cmd::ReadReq {
            self.tags.set_dirty(i);
        }
        let latency = if cmd == Cmd::WriteReq { self.p.tag } else { self.p.read };
        let at = self.through_data_port(edge, size) + latency;
        let c = self.stats.at(cmd, requestor);
        c.hits += 1;
        c.hit_latency += at - now;
        at
    }

    /// Fills the line of `addr` into the tags; `by`: the prefetcher that fetched it, from 1 on, or 0. The victim.
    pub fn fill(&mut self, addr: PhysAddr, ready: Tick, dirty: bool, by: u8) -> Option<Victim> {
        let (i, victim) = self.tags.insert(addr, ready, dirty);
        if let Some(pf) = &mut self.prefetching {
            pf.filled(i, by);
        }
        victim
    }

    /// Books `size` bytes on the data port from `edge` on; when they start.
    #[inline]
    pub fn through_data_port(&mut self, edge: Tick, size: u32) -> Tick {
        if self.p.bandwidth == 0 {
            return edge;
        }
        let start = edge.max(self.data_free);
        self.data_free = start + u64::from(size) * self.clock.period / u64::from(self.p.bandwidth);
        start
    }

    /// Whether hits may be refused at `now` or later for what has been asked by now.
    pub fn may_block(&self, now: Tick) -> bool {
        self.blocked_until.max(self.flushing_until).max(self.writes_full.1) > now
    }

    /// Ticks until the data port is free.
    pub fn port_free(&self, now: Tick) -> u64 {
        self.data_free.0.saturating_sub(now.0)
    }

    /// The data port is free so many ticks later, if it is busy at `now`.
    pub fn port_is_free_later(&mut self, now: Tick, ticks: u64) {
        if self.data_free > now {
            self.data_free += ticks;
        }
    }

    /// The first instant from `at` on at which a cache below the first level accepts a request: while it is blocked, its
    /// requesters wait and retry a tick after it has become free.
    #[inline]
    pub fn wait_until_free(&self, at: Tick) -> Tick {
        let at = at.max(self.flushing_until);
        if self.mshrs.has_room() && self.writes.has_room() {
            return at;
        }
        self.look_until_free(at)
    }

    #[inline(never)]
    fn look_until_free(&self, mut at: Tick) -> Tick {
        loop {
            let until = self.mshrs.full_until(at).or(self.mshrs.targets_full_until(at)).or(self.writes.full_until(at));
            match until {
                Some(t) if t >= at => at = t + 1,
                _ => return at,
            }
        }
    }

    /// The cache is being flushed: it takes no request before `until`.
    pub fn flushes_until(&mut self, until: Tick) {
        self.flushing_until = until;
        self.blocked_until = self.blocked_until.max(until);
    }

    /// After an MSHR or a target was taken at `now`: is the cache blocked from here on?
    #[inline]
    pub fn note_mshrs(&mut self, now: Tick) {
        if !self.mshrs.has_room() {
            self.note_full_mshrs(now);
        }
    }

    #[inline(never)]
    fn note_full_mshrs(&mut self, now: Tick) {
        let full = self.mshrs.full_until(now).map(|t| (t, Blocked::Mshrs));
        let targets = self.mshrs.targets_full_until(now).map(|t| (t, Blocked::Targets));
        for (until, cause) in full.into_iter().chain(targets) {
            if until > self.blocked_until {
                self.stats.blocked(cause, (until - now.max(self.blocked_until)).div_ceil(self.clock.period));
                self.blocked_until = until;
            }
        }
    }

    /// A write was buffered from `from` until `until`: is the buffer full then?
    pub fn buffer_write(&mut self, line: LineAddr, from: Tick, until: Tick, now: Tick) {
        self.writes.push(line, from, until, now);
        if let Some(t) = self.writes.full_until(from) {
            self.stats.blocked(Blocked::WriteBuffers, (t - from).div_ceil(self.clock.period));
            let old = self.writes_full;
            let first = if from <= old.1 { from.min(old.0) } else { from };
            self.writes_full = (first, t.max(old.1));
        }
    }

    pub fn reset_stats(&mut self) {
        self.stats = CacheStats::default();
        self.prefetching.iter_mut().for_each(|p| p.reset_stats());
    }

    pub fn collect(&self, sink: &mut StatSink, who: &[String]) {
        self.stats.collect(sink, who);
        sink.scope("tags", |s| {
            let d = "number of lines that are valid";
            s.count("tagsInUse", self.tags.valid_lines() as u64, breakeven_base::Unit::Count, d);
        });
    }

    pub fn describe(&self, now: Tick) -> String {
        let mut s = format!("{}; {}", self.mshrs.describe(now), self.writes.describe(now));
        if let Some(pf) = &self.prefetching {
            s.push_str(&format!("; {}", pf.describe()));
        }
        if let Some(t) = self.blocked(now) {
            s.push_str(&format!("; blocked until {t}"));
        }
        s
    }

    /// `in_order`: accesses come in order of time only, as the core's to a first level. Walkers and higher levels book ahead
    /// (the next step of a walk, a write-back), which may overlap with a later call for an earlier instant.
    pub fn audit(&self, now: Tick, in_order: bool) -> Result<(), String> {
        self.tags.audit()?;
        self.prefetching.as_ref().map_or(Ok(()), |p| p.audit())?;
        if in_order {
            self.mshrs.audit(now)?;
        }
        Ok(())
    }
}
