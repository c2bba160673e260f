//! The timing side of memory: caches, TLBs, walkers, buses, DRAM. Knows addresses and instants, no data and no pipeline.
//!
//! *Latency-computing*: an access is resolved when it is made. Each component on its way answers with the instant at
//! which it will have served it, reserves what it occupies until then (MSHR, port, bank, bus), and updates its tags.
//! The core calls in non-decreasing time order per port; nothing here ever calls back.

mod cache;
pub mod config;
mod dram;
mod layer;
mod packet;
mod prefetch;
mod request;
mod simple_mem;
mod tlb;
mod util;
mod validate;
mod walk;
mod write_combining;
mod xbar;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use breakeven_base::{ConfigError, MemKind, StatSink, Tick};

pub use config::MemorySystemConfig;
use config::{AddrRange, CacheConfig, Link, MemoryConfig};

pub use cache::pending::MissResponse;
pub use request::{MshrId, Port, Request, Response, Side, TlbResult};

use cache::pending::PendingMisses;
use cache::Cache;
use dram::MemCtrl;
use educe::Educe;
use packet::{Cmd, Pkt, Reply};
use prefetch::Access;
use simple_mem::SimpleMemory;
use tlb::{Page, TlbArray, TlbStats};
use walk::Walker;
use write_combining::WriteCombining;
use xbar::XBar;

enum Memory {
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

/// The memory side of one core. Cloning it clones every tag, queue and statistic; `clone_from` reuses the buffers.
#[derive(Educe)]
#[educe(Clone)]
pub struct MemorySystem {
    cfg: Arc<MemorySystemConfig>,
    /// Of the four [`Port`]s.
    ports: [Link; 4],
    line_bytes: u32,
    caches: Vec<Cache>,
    xbars: Vec<XBar>,
    memories: Vec<Memory>,
    /// Instruction, data.
    tlbs: [TlbArray; 2],
    l2_tlb: Option<TlbArray>,
    l2_tlb_latency: u64,
    /// Instruction, data.
    walkers: [Walker; 2],
    tlb_stats: [TlbStats; 2],
    uncacheable: Vec<AddrRange>,
    /// Command of each kind of access that may take the fast path. An atomic one drains write-combining buffers first.
    fast_path_commands: [Option<Cmd>; KINDS],
    /// The cache at each port whose hits take the fast path: tags only, no uncacheable ranges, no prefetchers.
    fast_path_caches: [Option<u16>; 4],
    write_combining: Option<WriteCombining>,
    /// Load and store misses of the data cache whose MSHR has not been sent.
    pending: PendingMisses,
    /// Nothing in any prefetcher's queue is due before this instant.
    next_prefetch: u64,
    /// The core's access, or the prefetch being sent, on which prefetchers train.
    asked: Access,
    /// The latest instant of an access; no earlier one will come (up to a cycle between ports).
    now: u64,
}
/// Kinds of access, with room for more.
const KINDS: usize = 16;

/// See the field of [`MemorySystem`].
fn fast_path_commands(write_combining: bool) -> [Option<Cmd>; KINDS] {
    let mut commands = [None; KINDS];
    for kind in [MemKind::Load, MemKind::Fetch, MemKind::Walk] {
        commands[kind as usize] = Some(Cmd::ReadReq);
    }
    commands[MemKind::Store as usize] = Some(Cmd::WriteReq);
    commands[MemKind::Atomic as usize] = (!write_combining).then_some(Cmd::SwapReq);
    commands
}

impl MemorySystem {
    /// The command with which a hit takes the fast path.
    #[inline]
    fn fast_path_command(&self, kind: MemKind) -> Option<Cmd> {
        self.fast_path_commands.get(kind as usize).copied().flatten()
    }

    /// In an uncacheable range.
    fn is_uncached(&self, paddr: u64) -> bool {
        self.uncacheable.iter().any(|r| r.contains(paddr))
            || self.write_combining.as_ref().is_some_and(|w| w.owns(paddr))
    }

    /// # Errors
    /// Everything in the description that cannot be built, one error each.
    pub fn new(cfg: MemorySystemConfig) -> Result<Self, Vec<ConfigError>> {
        let errors = validate::validate(&cfg);
        if !errors.is_empty() {
            return Err(errors);
        }
        // Each cache, port of the core and crossbar may be a requester on each crossbar.
        let requesters = cfg.caches.len() + 4 + cfg.xbars.len();
        let snooped = |xi: usize| {
            let on_it = |c: &CacheConfig| c.mem_side == Link::XBar(xi as u16);
            (0..cfg.caches.len() as u16).filter(|&i| on_it(&cfg.caches[usize::from(i)])).collect()
        };
        let xbars = cfg.xbars.iter().enumerate().map(|(i, x)| XBar::new(x, requesters, snooped(i))).collect();
        let memory = |m: &MemoryConfig| match m {
            MemoryConfig::Simple(s) => Memory::Simple(SimpleMemory::new(s)),
            MemoryConfig::Dram(d) => Memory::Dram(Box::new(MemCtrl::new(d))),
        };
        let fast_path_caches = [cfg.inst, cfg.data, cfg.inst_walk, cfg.data_walk].map(|link| match link {
            Link::Cache(i) if cfg.uncacheable.is_empty() && cfg.caches[usize::from(i)].prefetchers.is_empty() => {
                Some(i)
            }
            _ => None,
        });
        let tlb = |t: &config::TlbConfig| TlbArray::new(t.size, t.assoc);
        Ok(MemorySystem {
            ports: [cfg.inst, cfg.data, cfg.inst_walk, cfg.data_walk],
            line_bytes: cfg.line_bytes,
            caches: cfg.caches.iter().map(|c| Cache::new(c, cfg.line_bytes)).collect(),
            xbars,
            memories: cfg.memories.iter().map(memory).collect(),
            tlbs: [tlb(&cfg.itb), tlb(&cfg.dtb)],
            l2_tlb: cfg.l2_tlb.as_ref().map(|t| TlbArray::new(t.size, t.assoc)),
            l2_tlb_latency: cfg.l2_tlb.as_ref().map_or(0, |t| u64::from(t.latency) * cfg.core_clock.period()),
            walkers: [Walker::new(&cfg.walkers[0]), Walker::new(&cfg.walkers[1])],
            tlb_stats: [TlbStats::default(); 2],
            uncacheable: cfg.uncacheable.clone(),
            fast_path_commands: fast_path_commands(cfg.write_combining.is_some()),
            fast_path_caches,
            write_combining: cfg.write_combining.as_ref().map(|w| WriteCombining::new(w, cfg.core_clock.period())),
            pending: PendingMisses::new(),
            next_prefetch: prefetch::NEVER,
            asked: Access::default(),
            now: 0,
            cfg: Arc::new(cfg),
        })
    }

    /// From here on this is a snapshot: it must not be used any more, only copied. A copy knows what it has changed, and
    /// `clone_from` the snapshot undoes only that.
    pub fn freeze(&mut self) {
        static SNAPSHOTS: AtomicU64 = AtomicU64::new(0);
        let id = SNAPSHOTS.fetch_add(1, Ordering::Relaxed) + 1;
        for c in &mut self.caches {
            c.tags.freeze(id);
        }
    }

    #[inline]
    #[must_use]
    pub fn line_bytes(&self) -> u32 {
        self.line_bytes
    }

    /// Caches between a port and the memory: an answer of this level (or above) comes from the memory.
    #[must_use]
    pub fn cache_levels(&self, port: Port) -> u8 {
        self.levels_from(self.ports[port as usize])
    }

    fn levels_from(&self, mut link: Link) -> u8 {
        let mut levels = 0;
        // A description with a cycle of caches and buses is refused; each hop leads further down.
        loop {
            link = match link {
                Link::Cache(i) => {
                    levels += 1;
                    self.cfg.caches[usize::from(i)].mem_side
                }
                Link::XBar(i) => {
                    let below = self.cfg.xbars[usize::from(i)].routes.iter().find(|r| r.range.is_none());
                    below.map_or(Link::None, |r| r.to)
                }
                Link::None | Link::Memory(_) => return levels,
            };
        }
    }

    /// One access of the core, the only way in. It must not cross a line; `now` never goes back on a port.
    #[inline]
    pub fn access(&mut self, port: Port, now: Tick, req: &Request) -> Response {
        if req.may_wait && port == Port::Data {
            self.access_or_wait(now, req)
        } else {
            self.access_at_once(port, now, req)
        }
    }

    /// An access that is answered at once.
    #[inline]
    fn access_at_once(&mut self, port: Port, now: Tick, req: &Request) -> Response {
        // A prefetch for fetching goes where fetches go.
        let port = if req.kind == MemKind::PrefetchFetch { Port::Inst } else { port };
        let special = req.uncacheable | req.non_temporal;
        if let (Some(ci), Some(cmd), false) =
            (self.fast_path_caches[port as usize], self.fast_path_command(req.kind), special)
        {
            let c = &mut self.caches[usize::from(ci)];
            if let Some(at) = c.fast_hit(cmd, port as u8, now.0, req.paddr, u32::from(req.size)) {
                return Response::Done { at: Tick(at), level: 0 };
            }
        }
        self.access_slow_path(port, now, req)
    }

    #[inline(never)]
    fn access_slow_path(&mut self, port: Port, now: Tick, req: &Request) -> Response {
        let link = self.ports[port as usize];
        let uncached = req.uncacheable || self.is_uncached(req.paddr);
        let special = uncached || req.non_temporal;
        if let (Link::Cache(ci), Some(cmd), false) = (link, self.fast_path_command(req.kind), special) {
            let c = &mut self.caches[usize::from(ci)];
            if c.prefetching.as_ref().is_some_and(|p| p.next_due > now.0) {
                if let Some(at) = c.hit_fast_path(cmd, port as u8, now.0, req.paddr, u32::from(req.size)) {
                    return Response::Done { at: Tick(at), level: 0 };
                }
            }
        }
        if self.pending.due(now.0) {
            self.send_pending(now);
        }
        if self.next_prefetch <= now.0 {
            self.run_prefetches(now.0);
        }
        self.now = self.now.max(now.0);
        self.asked = Access { addr: req.paddr, pc: req.pc, requestor: port as u8 };
        if self.write_combining.is_some() {
            if let Some(response) = self.combine(now.0, req, uncached) {
                return response;
            }
        }
        if let Link::Cache(ci) = link {
            // gem5 asks again a tick after the cache is free, that is at the core's next edge.
            let retry = self.caches[usize::from(ci)].wait_until_free(now.0);
            if retry > now.0 {
                return Response::Blocked { retry: Tick(retry) };
            }
        }
        let cmd = match req.kind {
            MemKind::Load | MemKind::Fetch | MemKind::Walk => Cmd::ReadReq,
            MemKind::Store => Cmd::WriteReq,
            MemKind::Atomic => Cmd::SwapReq,
            MemKind::PrefetchRead | MemKind::PrefetchFetch => Cmd::SoftPFReq,
            MemKind::PrefetchWrite => Cmd::SoftPFExReq,
            MemKind::CboClean => Cmd::CleanSharedReq,
            MemKind::CboFlush | MemKind::CboInval => Cmd::CleanInvalidReq,
            MemKind::CboZero | MemKind::StoreLine => Cmd::WriteLineReq,
        };
        if uncached && (cmd.is_prefetch() || cmd.is_maintenance()) {
            return Response::Done { at: now, level: 0 };
        }
        let whole_line = cmd == Cmd::WriteLineReq || cmd.is_maintenance();
        let bypass =
            cmd.is_prefetch() && req.non_temporal && self.write_combining.as_ref().is_some_and(|w| w.nta_first_level);
        let (addr, size) = if whole_line {
            (req.paddr & !u64::from(self.line_bytes - 1), self.line_bytes)
        } else {
            (req.paddr, u32::from(req.size))
        };
        let (requestor, header, payload) = (port as u8, 0, 0);
        let pkt = Pkt {
            cmd,
            addr,
            size,
            requestor,
            from_cache: false,
            uncached,
            header,
            payload,
            bypass,
            low_priority: false,
        };
        let r = self.send(link, self.caches.len() + port as usize, pkt, now.0);
        Response::Done { at: Tick(r.at), level: r.level }
    }

    /// Hands `pkt` to the component behind `link`. `source`: who sends, for the crossbars' response layers.
    fn send(&mut self, link: Link, source: usize, pkt: Pkt, at: u64) -> Reply {
        match link {
            Link::None => Reply { at: at + pkt.header, accepted: at, ..Reply::default() },
            Link::Cache(i) => self.cache_request(usize::from(i), pkt, at),
            Link::XBar(i) => self.xbar_request(usize::from(i), source, pkt, at),
            Link::Memory(i) => match &mut self.memories[usize::from(i)] {
                // What only caches and buses care about ends here.
                _ if pkt.cmd == Cmd::CleanEvict || pkt.cmd.is_maintenance() => {
                    Reply { at: at + pkt.header, accepted: at, ..Reply::default() }
                }
                Memory::Simple(m) => m.request(&pkt, at, self.now),
                Memory::Dram(m) => m.request(&pkt, at),
            },
        }
    }

    fn source_of_cache(&self, ci: usize) -> usize {
        ci
    }

    fn source_of_xbar(&self, xi: usize) -> usize {
        self.caches.len() + 4 + xi
    }

    /// Looks a page up in the timing TLBs; `page_shift` 0 (translation off) always hits.
    #[inline]
    pub fn tlb_lookup(
        &mut self,
        side: Side,
        now: Tick,
        vaddr: u64,
        page_shift: u8,
        asid: u16,
        is_store: bool,
    ) -> TlbResult {
        if page_shift == 0 {
            return TlbResult::Hit { at: now };
        }
        let page = Page::new(vaddr, page_shift, asid);
        if self.tlbs[side as usize].hits_last_entry(page) {
            self.tlb_stats[side as usize].first_level(is_store, true);
            return TlbResult::Hit { at: now };
        }
        self.tlb_look_further(side, now, page, is_store)
    }

    #[inline(never)]
    fn tlb_look_further(&mut self, side: Side, now: Tick, page: Page, is_store: bool) -> TlbResult {
        let hit = self.tlbs[side as usize].lookup(page);
        self.tlb_stats[side as usize].first_level(is_store, hit);
        if hit {
            return TlbResult::Hit { at: now };
        }
        let Some(l2) = &mut self.l2_tlb else { return TlbResult::Miss { at: now } };
        let at = now + self.l2_tlb_latency;
        let hit = l2.lookup(page);
        self.tlb_stats[side as usize].second_level(hit);
        if !hit {
            return TlbResult::Miss { at };
        }
        self.tlbs[side as usize].insert(page);
        TlbResult::Hit { at }
    }

    /// fence.i: what the data side holds modified is dropped from the instruction side.
    pub fn fetch_flush(&mut self) {
        let (Link::Cache(i), Link::Cache(d)) = (self.ports[Port::Inst as usize], self.ports[Port::Data as usize])
        else {
            return;
        };
        if i == d {
            return;
        }
        let lines: Vec<u64> = self.caches[usize::from(d)].tags.dirty_lines().collect();
        let inst = &mut self.caches[usize::from(i)].tags;
        for line in lines {
            if let Some(n) = inst.find(line) {
                inst.invalidate(n);
            }
        }
    }

    pub fn reset_stats(&mut self) {
        for c in &mut self.caches {
            c.stats = Default::default();
            c.prefetching.iter_mut().for_each(|p| p.reset_stats());
        }
        self.xbars.iter_mut().for_each(XBar::reset_stats);
        self.write_combining.iter_mut().for_each(WriteCombining::reset_stats);
        for m in &mut self.memories {
            match m {
                Memory::Simple(m) => m.reset_stats(),
                Memory::Dram(m) => m.reset_stats(),
            }
        }
        self.tlb_stats = Default::default();
        self.walkers.iter_mut().for_each(Walker::reset_stats);
    }

    /// Statistics under the components' own paths.
    pub fn collect(&self, sink: &mut StatSink) {
        let mut who = self.cfg.requestors.to_vec();
        who.extend(["writebacks", "prefetchers"].map(str::to_owned));
        for (cfg, c) in self.cfg.caches.iter().zip(&self.caches) {
            sink.scope(&cfg.path, |s| c.collect(s, &who));
            if let Some(pf) = &c.prefetching {
                pf.collect(sink, &cfg.prefetchers);
            }
        }
        for (cfg, x) in self.cfg.xbars.iter().zip(&self.xbars) {
            sink.scope(&cfg.path, |s| x.collect(s));
        }
        if let (Some(cfg), Some(w)) = (&self.cfg.write_combining, &self.write_combining) {
            sink.scope(&cfg.path, |s| w.collect(s));
        }
        for (cfg, m) in self.cfg.memories.iter().zip(&self.memories) {
            match (cfg, m) {
                (MemoryConfig::Dram(cfg), Memory::Dram(m)) => {
                    sink.scope(&cfg.path, |s| m.collect(s));
                    sink.scope(&cfg.dram.path, |s| m.collect_dram(s));
                }
                (MemoryConfig::Simple(cfg), Memory::Simple(m)) => sink.scope(&cfg.path, |s| m.collect(s)),
                _ => {}
            }
        }
        let sides = [&self.cfg.itb.path, &self.cfg.dtb.path].into_iter().zip(&self.tlb_stats).zip(&self.walkers);
        for ((path, stats), walker) in sides {
            sink.scope(path, |s| {
                stats.collect(s, self.l2_tlb.is_some());
                walker.collect(s);
            });
        }
    }

    /// What every queue holds, one component a line, for the deadlock report.
    #[must_use]
    pub fn describe_queues(&self, now: Tick) -> String {
        let caches = self.cfg.caches.iter().zip(&self.caches).map(|(cfg, c)| (&cfg.path, c.describe(now.0)));
        let xbars = self.cfg.xbars.iter().zip(&self.xbars).map(|(cfg, x)| (&cfg.path, x.describe(now.0)));
        let memories = self.cfg.memories.iter().zip(&self.memories).map(|(cfg, m)| match m {
            Memory::Simple(m) => (cfg.path(), m.describe(now.0)),
            Memory::Dram(m) => (cfg.path(), m.describe()),
        });
        let combining = self.cfg.write_combining.iter().zip(&self.write_combining);
        let combining = combining.map(|(cfg, w)| (&cfg.path, w.describe(now.0)));
        let lines: Vec<String> =
            caches.chain(xbars).chain(combining).chain(memories).map(|(p, d)| format!("{p}: {d}")).collect();
        lines.join("\n")
    }

    /// Invariants that must hold between any two calls; for tests.
    ///
    /// # Errors
    /// The first one that does not, with the component's path.
    pub fn audit(&self) -> Result<(), String> {
        for (i, (cfg, c)) in self.cfg.caches.iter().zip(&self.caches).enumerate() {
            let link = Link::Cache(i as u16);
            let [inst, data, inst_walk, data_walk] = self.ports;
            let in_order = [inst, data].contains(&link) && ![inst_walk, data_walk].contains(&link);
            c.audit(self.now, in_order).map_err(|e| format!("{}: {e}", cfg.path))?;
        }
        for (cfg, m) in self.cfg.memories.iter().zip(&self.memories) {
            if let Memory::Dram(m) = m {
                m.audit().map_err(|e| format!("{}: {e}", cfg.path()))?;
            }
        }
        self.write_combining.iter().try_for_each(WriteCombining::audit)?;
        self.tlbs.iter().chain(&self.l2_tlb).try_for_each(TlbArray::audit)?;
        self.walkers.iter().try_for_each(Walker::audit)
    }
}
