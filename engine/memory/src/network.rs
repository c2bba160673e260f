//! What lies behind the core's ports: caches, crossbars and memories, and how a packet gets from one to the next.

use breakeven_base::{PhysAddr, StatSink, Tick};
use educe::Educe;

use crate::cache::Cache;
use crate::config::{AddrRange, CacheConfig, Link, MemoryConfig, MemorySystemConfig};
use crate::dram::MemCtrl;
use crate::layer::Slot;
use crate::line::LineAddr;
use crate::packet::{Cmd, Pkt, Reply};
use crate::prefetch::{Access, NEVER};
use crate::request::Port;
use crate::simple_mem::SimpleMemory;
use crate::xbar::XBar;

/// Components of one kind. One that handles a packet is taken out meanwhile: it sends on through the others.
#[derive(Educe)]
#[educe(Clone)]
pub(crate) struct Components<T: Clone>(Vec<Option<Box<T>>>);

impl<T: Clone> Components<T> {
    fn new(all: impl Iterator<Item = T>) -> Self {
        Components(all.map(|part| Some(Box::new(part))).collect())
    }
    #[inline]
    pub fn get(&self, i: u16) -> Option<&T> {
        self.0.get(usize::from(i))?.as_deref()
    }
    #[inline]
    pub fn get_mut(&mut self, i: u16) -> Option<&mut T> {
        self.0.get_mut(usize::from(i))?.as_deref_mut()
    }
    #[inline]
    pub fn take(&mut self, i: u16) -> Option<Box<T>> {
        self.0.get_mut(usize::from(i))?.take()
    }
    #[inline]
    pub fn put(&mut self, i: u16, part: Box<T>) {
        if let Some(place) = self.0.get_mut(usize::from(i)) {
            *place = Some(part);
        }
    }
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter().filter_map(Option::as_deref)
    }
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.0.iter_mut().filter_map(Option::as_deref_mut)
    }
    pub fn len(&self) -> usize {
        self.0.len()
    }
}

pub(crate) enum Memory {
    Simple(SimpleMemory),
    Dram(Box<MemCtrl>),
}

impl Clone for Memory {
    fn clone(&self) -> Self {
        match self {
            Memory::Simple(m) => Memory::Simple(m.clone()),
            Memory::Dram(m) => Memory::Dram(m.clone()),
        }
    }
    fn clone_from(&mut self, from: &Self) {
        match (self, from) {
            (Memory::Simple(a), Memory::Simple(b)) => a.clone_from(b),
            (Memory::Dram(a), Memory::Dram(b)) => a.as_mut().clone_from(b),
            (a, b) => *a = b.clone(),
        }
    }
}

impl Memory {
    fn request(&mut self, pkt: &Pkt, at: Tick, floor: Tick) -> Reply {
        match self {
            Memory::Simple(m) => m.request(pkt, at, floor),
            Memory::Dram(m) => m.request(pkt, at),
        }
    }

    fn reset_stats(&mut self) {
        match self {
            Memory::Simple(m) => m.reset_stats(),
            Memory::Dram(m) => m.reset_stats(),
        }
    }
}

#[derive(Educe)]
#[educe(Clone)]
pub(crate) struct Network {
    /// Of the core's four [`Port`]s.
    pub ports: [Link; 4],
    pub caches: Components<Cache>,
    pub xbars: Components<XBar>,
    pub memories: Vec<Memory>,
    pub line_bytes: u32,
    /// Ranges that pass the caches: uncacheable and write-combining ones.
    uncached: Vec<AddrRange>,
    /// What lies between two of them, about the last cached access.
    cached: AddrRange,
    /// Nothing in any prefetcher's queue is due before this instant.
    pub next_prefetch: Tick,
    /// The core's access, or the prefetch being sent, on which prefetchers train.
    pub trigger: Access,
    /// The latest instant of an access; no earlier one will come (up to a cycle between ports).
    pub now: Tick,
    /// Only what the caches hold is kept: memories answer at once, crossbars are never busy, prefetchers see nothing.
    pub untimed: bool,
}

impl Network {
    pub fn new(cfg: &MemorySystemConfig) -> Self {
        // Each cache, port of the core and crossbar may be a requester on each crossbar: they are numbered in this order.
        let (ports, caches) = ([cfg.inst, cfg.data, cfg.inst_walk, cfg.data_walk], cfg.caches.len());
        let requesters = caches + ports.len() + cfg.xbars.len();
        let snooped = |xi: usize| {
            let on_it = |c: &CacheConfig| c.mem_side == Link::XBar(xi as u16);
            (0..caches as u16).filter(|&i| on_it(&cfg.caches[usize::from(i)])).collect()
        };
        let cache =
            |(i, c): (usize, &CacheConfig)| Cache::new(c, cfg.line_bytes, i, ports.contains(&Link::Cache(i as u16)));
        let xbars = cfg.xbars.iter().enumerate();
        let memory = |m: &MemoryConfig| match m {
            MemoryConfig::Simple(s) => Memory::Simple(SimpleMemory::new(s)),
            MemoryConfig::Dram(d) => Memory::Dram(Box::new(MemCtrl::new(d))),
        };
        let combined = cfg.write_combining.iter().flat_map(|w| &w.ranges);
        Network {
            ports,
            caches: Components::new(cfg.caches.iter().enumerate().map(cache)),
            xbars: Components::new(xbars.map(|(i, x)| XBar::new(x, requesters, snooped(i), caches + ports.len() + i))),
            memories: cfg.memories.iter().map(memory).collect(),
            line_bytes: cfg.line_bytes,
            uncached: cfg.uncacheable.iter().chain(combined).copied().collect(),
            cached: AddrRange { start: 0, end: 0 },
            next_prefetch: NEVER,
            trigger: Access::default(),
            now: Tick::ZERO,
            untimed: false,
        }
    }

    /// A port's number among the requesters of crossbars.
    pub fn source_of(&self, port: Port) -> usize {
        self.caches.len() + port as usize
    }

    /// In a range that passes the caches.
    pub fn is_uncached(&self, paddr: PhysAddr) -> bool {
        self.uncached.iter().any(|r| r.contains(paddr))
    }

    /// In none of them.
    #[inline(always)]
    pub fn is_cached(&mut self, paddr: PhysAddr) -> bool {
        self.cached.contains(paddr) || self.look_for_cached(paddr)
    }

    #[inline(never)]
    fn look_for_cached(&mut self, paddr: PhysAddr) -> bool {
        if self.is_uncached(paddr) {
            return false;
        }
        let before = self.uncached.iter().map(|r| r.end).filter(|end| *end <= paddr.0);
        let behind = self.uncached.iter().map(|r| r.start).filter(|start| *start > paddr.0);
        self.cached = AddrRange { start: before.max().unwrap_or(0), end: behind.min().unwrap_or(u64::MAX) };
        true
    }

    /// Hands `pkt` to the component behind `link`. `source`: who sends, for the crossbars' response layers.
    pub fn send(&mut self, link: Link, source: usize, pkt: Pkt, at: Tick) -> Reply {
        // Also of a component that is handling a packet: `validate` refuses a network with a loop.
        let nothing_there = Reply { at: at + pkt.header, accepted: at, ..Reply::default() };
        match link {
            Link::None => nothing_there,
            Link::Cache(i) => {
                let Some(mut cache) = self.caches.take(i) else { return nothing_there };
                let reply = cache.request(self, pkt, at);
                self.caches.put(i, cache);
                reply
            }
            Link::XBar(i) => {
                let Some(mut xbar) = self.xbars.take(i) else { return nothing_there };
                let reply = xbar.request(self, source, pkt, at);
                self.xbars.put(i, xbar);
                reply
            }
            // Evictions of clean lines and maintenance end at the memory.
            // The same reply where memories answer at once.
            Link::Memory(_) if self.untimed || pkt.cmd == Cmd::CleanEvict || pkt.cmd.is_maintenance() => nothing_there,
            Link::Memory(i) => self.memories[usize::from(i)].request(&pkt, at, self.now),
        }
    }

    /// Takes the layer of the crossbar behind `link` that `pkt`, which arrives at `at`, goes through.
    pub fn book(&mut self, link: Link, pkt: &Pkt, at: Tick) -> Slot {
        let now = self.now;
        match link {
            Link::XBar(i) => self.xbars.get_mut(i).map_or(Slot::at(at), |x| x.book(pkt, at, now)),
            _ => Slot::at(at),
        }
    }

    /// As [`Network::send`], in the slot that has been booked.
    pub fn send_booked(&mut self, link: Link, source: usize, pkt: Pkt, slot: Slot) -> Reply {
        let Link::XBar(i) = link else { return self.send(link, source, pkt, slot.start) };
        let Some(mut xbar) = self.xbars.take(i) else { return Reply::default() };
        let reply = xbar.forward(self, source, pkt, slot);
        self.xbars.put(i, xbar);
        reply
    }

    /// The first instant from `at` on at which the component behind `link` accepts a request.
    pub fn free_from(&self, link: Link, addr: PhysAddr, at: Tick) -> Tick {
        let link = match link {
            Link::XBar(i) => self.xbars.get(i).map_or(Link::None, |x| x.route(addr).1),
            direct => direct,
        };
        match link {
            Link::Cache(i) => self.caches.get(i).map_or(at, |c| c.wait_until_free(at)),
            _ => at,
        }
    }

    /// A slot at `start` on the crossbar behind `link`.
    pub fn slot_at(&self, link: Link, start: Tick) -> Slot {
        match link {
            Link::XBar(i) => self.xbars.get(i).map_or(Slot::at(start), |x| x.slot_at(start)),
            _ => Slot::at(start),
        }
    }

    /// Caches from `link` down to the memory.
    pub fn levels_from(&self, mut link: Link) -> u8 {
        let mut levels = 0;
        // A description with a cycle of caches and buses is refused; each hop leads further down.
        loop {
            link = match link {
                Link::Cache(i) => {
                    levels += 1;
                    self.caches.get(i).map_or(Link::None, |c| c.p.mem_side)
                }
                Link::XBar(i) => self.xbars.get(i).map_or(Link::None, XBar::default_route),
                Link::None | Link::Memory(_) => return levels,
            };
        }
    }

    /// Evicts the line of `addr` from cache `i`; whether it was there.
    pub fn evict_line(&mut self, i: u16, addr: PhysAddr, at: Tick, out: Tick, requestor: u8) -> bool {
        let Some(mut cache) = self.caches.take(i) else { return false };
        let was_there = cache.evict_line(self, addr, at, out, requestor);
        self.caches.put(i, cache);
        was_there
    }

    /// Sends the prefetches that are due by `now` in all caches, earliest first.
    #[cold]
    pub fn run_prefetches(&mut self, now: Tick) {
        loop {
            let due = self.caches.iter().map(Cache::next_prefetch).zip(0u16..).min();
            let Some((at, i)) = due else { return };
            self.next_prefetch = at;
            if at > now {
                return;
            }
            let Some(mut cache) = self.caches.take(i) else { return };
            cache.send_prefetch(self, now);
            self.caches.put(i, cache);
        }
    }

    /// From `at` on the caches write their dirty lines back, the first level before the next, and drop all lines; each line
    /// that is there takes `each` ticks, a dirty one at least as long as the level below takes it. When that is done; until
    /// then the first levels take no access.
    pub fn flush_caches(&mut self, mut at: Tick, each: u64) -> Tick {
        let mut order: Vec<u16> = (0..self.caches.len() as u16).collect();
        order.sort_by_key(|&i| std::cmp::Reverse(self.levels_from(Link::Cache(i))));
        for i in order {
            let Some(mut cache) = self.caches.take(i) else { continue };
            at = cache.flush(self, at, each);
            self.caches.put(i, cache);
        }
        self.caches.iter_mut().filter(|c| c.p.first_level).for_each(|c| c.flushes_until(at));
        at
    }

    /// fence.i: what cache `data` holds modified is dropped from cache `inst`.
    pub fn drop_modified(&mut self, inst: u16, data: u16) {
        let lines: Vec<LineAddr> = self.caches.get(data).map_or(Vec::new(), |c| c.tags.dirty_lines().collect());
        let Some(inst) = self.caches.get_mut(inst) else { return };
        for line in lines {
            if let Some(n) = inst.tags.find(line.addr()) {
                inst.tags.invalidate(n);
            }
        }
    }

    pub fn reset_stats(&mut self) {
        self.caches.iter_mut().for_each(Cache::reset_stats);
        self.xbars.iter_mut().for_each(XBar::reset_stats);
        self.memories.iter_mut().for_each(Memory::reset_stats);
    }

    /// Statistics under the components' own paths.
    pub fn collect(&self, sink: &mut StatSink, cfg: &MemorySystemConfig) {
        let mut who = cfg.requestors.to_vec();
        who.extend(["writebacks", "prefetchers"].map(str::to_owned));
        for (cfg, c) in cfg.caches.iter().zip(self.caches.iter()) {
            sink.scope(&cfg.path, |s| c.collect(s, &who));
            if let Some(pf) = &c.prefetching {
                pf.collect(sink, &cfg.prefetchers);
            }
        }
        for (cfg, x) in cfg.xbars.iter().zip(self.xbars.iter()) {
            sink.scope(&cfg.path, |s| x.collect(s));
        }
    }

    pub fn collect_memories(&self, sink: &mut StatSink, cfg: &MemorySystemConfig) {
        for (cfg, m) in cfg.memories.iter().zip(&self.memories) {
            match (cfg, m) {
                (MemoryConfig::Dram(cfg), Memory::Dram(m)) => {
                    sink.scope(&cfg.path, |s| m.collect(s));
                    sink.scope(&cfg.dram.path, |s| m.collect_dram(s));
                }
                (MemoryConfig::Simple(cfg), Memory::Simple(m)) => sink.scope(&cfg.path, |s| m.collect(s)),
                _ => {}
            }
        }
    }

    /// What every queue holds: caches and crossbars, then memories.
    pub fn describe(&self, cfg: &MemorySystemConfig, now: Tick) -> [Vec<String>; 2] {
        let caches = cfg.caches.iter().zip(self.caches.iter()).map(|(c, x)| format!("{}: {}", c.path, x.describe(now)));
        let xbars = cfg.xbars.iter().zip(self.xbars.iter()).map(|(c, x)| format!("{}: {}", c.path, x.describe(now)));
        let memories = cfg.memories.iter().zip(&self.memories).map(|(c, m)| match m {
            Memory::Simple(m) => format!("{}: {}", c.path(), m.describe(now)),
            Memory::Dram(m) => format!("{}: {}", c.path(), m.describe()),
        });
        [caches.chain(xbars).collect(), memories.collect()]
    }

    pub fn audit(&self, cfg: &MemorySystemConfig) -> Result<(), String> {
        for (i, (c, cache)) in cfg.caches.iter().zip(self.caches.iter()).enumerate() {
            let link = Link::Cache(i as u16);
            let [inst, data, inst_walk, data_walk] = self.ports;
            let in_order = [inst, data].contains(&link) && ![inst_walk, data_walk].contains(&link);
            cache.audit(self.now, in_order).map_err(|e| format!("{}: {e}", c.path))?;
        }
        for (c, m) in cfg.memories.iter().zip(&self.memories) {
            if let Memory::Dram(m) = m {
                m.audit().map_err(|e| format!("{}: {e}", c.path()))?;
            }
        }
        Ok(())
    }
}
