//! The memory side of one core: the ports' interface, the fast path of hits, and the slow path of everything else.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use breakeven_base::{ConfigError, MemKind, StatSink, Tick, WalkPath};
use educe::Educe;

use crate::config::{Link, MemorySystemConfig};
use crate::network::Network;
use crate::packet::{Cmd, Pkt};
use crate::prefetch::Access;
use crate::request::{MissResponse, MshrId, Port, Request, Response, Side, TlbResult};
use crate::tlb::Page;
use crate::translation::Translation;
use crate::validate;
use crate::write_combining::WriteCombining;

/// The memory side of one core. Cloning it clones every tag, queue and statistic; `clone_from` reuses the buffers.
#[derive(Educe)]
#[educe(Clone)]
pub struct MemorySystem {
    cfg: Arc<MemorySystemConfig>,
    pub(crate) net: Network,
    pub(crate) translation: Translation,
    pub(crate) write_combining: Option<WriteCombining>,
    /// Command of each kind of access that may take the fast path. An atomic one drains write-combining buffers first.
    fast_path_commands: [Option<Cmd>; KINDS],
    /// Of each port the cache whose hits take the fast path.
    fast_paths: [FastPath; 4],
    /// Instruction fetches that did not take the fast path.
    pub(crate) slow_fetches: u64,
}

/// The cache at a port.
#[derive(Clone, Copy, Debug)]
struct FastPath {
    cache: Option<u16>,
    /// Tags only: no uncacheable ranges, no prefetchers.
    is_plain: bool,
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
    /// # Errors
    /// Everything in the description that cannot be built, one error each.
    pub fn new(cfg: MemorySystemConfig) -> Result<Self, Vec<ConfigError>> {
        let errors = validate::validate(&cfg);
        if !errors.is_empty() {
            return Err(errors);
        }
        let net = Network::new(&cfg);
        let fast_paths = net.ports.map(|link| match link {
            Link::Cache(i) => FastPath {
                cache: Some(i),
                is_plain: cfg.uncacheable.is_empty() && cfg.caches[usize::from(i)].prefetchers.is_empty(),
            },
            _ => FastPath { cache: None, is_plain: false },
        });
        Ok(MemorySystem {
            net,
            translation: Translation::new(&cfg),
            fast_path_commands: fast_path_commands(cfg.write_combining.is_some()),
            fast_paths,
            write_combining: cfg.write_combining.as_ref().map(|w| WriteCombining::new(w, cfg.core_clock.period())),
            cfg: Arc::new(cfg),
            slow_fetches: 0,
        })
    }

    /// From here on this is a snapshot: it must not be used any more, only copied. A copy knows what it has changed, and
    /// `clone_from` the snapshot undoes only that.
    pub fn freeze(&mut self) {
        static SNAPSHOTS: AtomicU64 = AtomicU64::new(0);
        let id = SNAPSHOTS.fetch_add(1, Ordering::Relaxed) + 1;
        self.net.caches.iter_mut().for_each(|c| c.tags.freeze(id));
    }

    #[inline]
    #[must_use]
    pub fn line_bytes(&self) -> u32 {
        self.net.line_bytes
    }

    /// Caches between a port and the memory: an answer of this level (or above) comes from the memory.
    #[must_use]
    pub fn cache_levels(&self, port: Port) -> u8 {
        self.net.levels_from(self.net.ports[port as usize])
    }

    /// The command with which a hit takes the fast path.
    #[inline]
    fn fast_path_command(&self, kind: MemKind) -> Option<Cmd> {
        self.fast_path_commands.get(kind as usize).copied().flatten()
    }

    /// The cache at `port`, if it has neither prefetchers nor uncacheable ranges.
    pub(crate) fn plain_cache(&self, port: Port) -> Option<u16> {
        let path = self.fast_paths[port as usize];
        path.cache.filter(|_| path.is_plain)
    }

    /// The cache at the data port.
    #[inline]
    fn data_cache(&self) -> Option<u16> {
        match self.net.ports[Port::Data as usize] {
            Link::Cache(i) => Some(i),
            _ => None,
        }
    }

    /// From now on accesses are timed, or (for functional execution) only what the caches and TLBs hold is kept: memories
    /// answer at once, crossbars are never busy, prefetchers see nothing.
    pub fn time(&mut self, on: bool) {
        self.net.untimed = !on;
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

    /// A hit on the fast path of `port`; beside prefetchers only where none looks at it or is to send.
    #[inline(always)]
    fn fast_hit(&mut self, port: Port, now: Tick, req: &Request, cmd: Cmd) -> Option<Response> {
        let path = self.fast_paths[port as usize];
        if !path.is_plain && !self.net.is_cached(req.paddr) {
            return None;
        }
        let cache = self.net.caches.get_mut(path.cache?)?;
        let at = cache.fast_hit(cmd, port as u8, now, req.paddr, u32::from(req.size))?;
        Some(Response::Done { at, level: 0 })
    }

    /// An access that is answered at once.
    #[inline]
    fn access_at_once(&mut self, port: Port, now: Tick, req: &Request) -> Response {
        // A prefetch for fetching goes where fetches go.
        let port = if req.kind == MemKind::PrefetchFetch { Port::Inst } else { port };
        if let (Some(cmd), false) = (self.fast_path_command(req.kind), req.uncacheable | req.non_temporal) {
            if let Some(hit) = self.fast_hit(port, now, req, cmd) {
                return hit;
            }
        }
        self.slow_fetches += u64::from(port == Port::Inst);
        self.access_slow_path(port, now, req)
    }

    /// An access through the data port that stays pending if it misses ([`crate::cache::wait`]).
    #[inline(always)] // one caller
    fn access_or_wait(&mut self, now: Tick, req: &Request) -> Response {
        let cmd = match req.kind {
            _ if req.uncacheable || req.non_temporal => None,
            MemKind::Load => Some(Cmd::ReadReq),
            MemKind::Store => Some(Cmd::WriteReq),
            _ => None,
        };
        if self.fast_paths[Port::Data as usize].is_plain {
            if let Some(hit) = cmd.and_then(|cmd| self.fast_hit(Port::Data, now, req, cmd)) {
                return hit;
            }
        }
        self.wait_slow_path(now, req, cmd)
    }

    #[inline(never)]
    fn wait_slow_path(&mut self, now: Tick, req: &Request, cmd: Option<Cmd>) -> Response {
        let Some(i) = self.data_cache() else { return self.access_at_once(Port::Data, now, req) };
        if self.net.next_prefetch <= now {
            self.issue_pending(now);
            self.net.now = self.net.now.max(now);
            self.net.run_prefetches(now);
        }
        self.net.now = self.net.now.max(now);
        let may_allocate = self.write_combining.is_none() && !self.net.is_uncached(req.paddr);
        let answer = self.net.caches.take(i).and_then(|mut cache| {
            if cache.mshrs.may_send(now) {
                cache.issue_pending_mshrs(&mut self.net, now, None);
            }
            let answer = cache.wait(&mut self.net, now, req, cmd, may_allocate);
            self.net.caches.put(i, cache);
            answer
        });
        answer.unwrap_or_else(|| self.access_at_once(Port::Data, now, req))
    }

    #[inline(never)]
    fn access_slow_path(&mut self, port: Port, now: Tick, req: &Request) -> Response {
        let link = self.net.ports[port as usize];
        let uncached = req.uncacheable || self.net.is_uncached(req.paddr);
        self.issue_pending(now);
        if self.net.next_prefetch <= now {
            self.net.run_prefetches(now);
        }
        self.net.now = self.net.now.max(now);
        self.net.trigger = Access { addr: req.paddr, pc: req.pc, requestor: port as u8 };
        if let Some(combining) = &mut self.write_combining {
            if let Some(response) = combining.combine(&mut self.net, now, req, uncached) {
                return response;
            }
        }
        if let Link::Cache(i) = link {
            // gem5 asks again a tick after the cache is free, that is at the core's next edge.
            let retry = self.net.caches.get(i).map_or(now, |c| c.wait_until_free(now));
            if retry > now {
                return Response::Blocked { retry };
            }
        }
        let Some(pkt) = self.packet(port, req, uncached) else { return Response::Done { at: now, level: 0 } };
        let r = self.net.send(link, self.net.source_of(port), pkt, now);
        Response::Done { at: r.at, level: r.level }
    }

    /// What goes down for `req`; `None`: nothing (a hint for an uncached address).
    #[inline(always)] // one caller
    fn packet(&self, port: Port, req: &Request, uncached: bool) -> Option<Pkt> {
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
            return None;
        }
        let whole_line = cmd == Cmd::WriteLineReq || cmd.is_maintenance();
        let bypass =
            cmd.is_prefetch() && req.non_temporal && self.write_combining.as_ref().is_some_and(|w| w.nta_first_level);
        let line_bytes = self.net.line_bytes;
        let (addr, size) = if whole_line {
            (req.paddr.align_down(u64::from(line_bytes)), line_bytes)
        } else {
            (req.paddr, u32::from(req.size))
        };
        Some(Pkt { uncached, bypass, ..Pkt::new(cmd, addr, size, port as u8) })
    }

    /// Sends the pending MSHRs that may be sent by `now`.
    #[inline]
    fn issue_pending(&mut self, now: Tick) {
        let Some(i) = self.data_cache() else { return };
        if self.net.caches.get(i).is_some_and(|c| c.mshrs.may_send(now)) {
            self.net.now = self.net.now.max(now);
            if let Some(mut cache) = self.net.caches.take(i) {
                cache.issue_pending_mshrs(&mut self.net, now, None);
                self.net.caches.put(i, cache);
            }
        }
    }

    /// Sends the pending MSHRs that may be sent by `now`. When the next may; `None`: none is pending.
    #[inline]
    pub fn send_pending(&mut self, now: Tick) -> Option<Tick> {
        self.issue_pending(now);
        self.net.caches.get(self.data_cache()?)?.mshrs.next_send()
    }

    /// Response times of the accesses that wait with an MSHR. `None`: it has not been sent by `now`.
    pub fn response_of(&mut self, now: Tick, id: MshrId) -> Option<MissResponse> {
        let i = self.data_cache()?;
        self.net.caches.get_mut(i)?.response_of(now, id)
    }

    /// Sends what the write-combining buffers hold; when the memory has answered all of it. For sfence, mfence, and what
    /// serialises; locked and uncached accesses do it themselves. `now` when there is nothing.
    pub fn flush_write_combining(&mut self, now: Tick) -> Tick {
        let Some(combining) = &mut self.write_combining else { return now };
        self.net.now = self.net.now.max(now);
        combining.flush(&mut self.net, now)
    }

    /// From `now` on the caches write their dirty lines back, the first level before the next, and drop all lines (x86's
    /// wbinvd). Each line that is there takes `line_cycles` of the core's, a dirty one at least as long as the level below
    /// takes it. Until then the first levels take no access.
    pub fn flush_caches(&mut self, now: Tick, line_cycles: u8) {
        let at = self.flush_write_combining(now);
        self.net.now = self.net.now.max(now);
        self.net.flush_caches(at, u64::from(line_cycles) * self.cfg.core_clock.period());
    }

    /// fence.i: what the data side holds modified is dropped from the instruction side.
    pub fn fetch_flush(&mut self) {
        let (inst, data) = (self.net.ports[Port::Inst as usize], self.net.ports[Port::Data as usize]);
        if let (Link::Cache(inst), Link::Cache(data)) = (inst, data) {
            if inst != data {
                self.net.drop_modified(inst, data);
            }
        }
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
        self.translation.look_up(side, now, Page::new(vaddr, page_shift, asid), is_store)
    }

    /// Reads the entries of `path` that no cache of upper levels has, one after another, and fills the TLBs; the instant at
    /// which the translation is known.
    pub fn tlb_walk(&mut self, side: Side, now: Tick, vaddr: u64, page_shift: u8, asid: u16, path: &WalkPath) -> Tick {
        if self.net.next_prefetch <= now {
            self.net.run_prefetches(now);
        }
        self.net.now = self.net.now.max(now);
        let at = self.translation.walk(&mut self.net, side, now, path);
        if page_shift != 0 {
            self.translation.insert(side, Page::new(vaddr, page_shift, asid));
        }
        at
    }

    /// Forgets all timing-TLB entries, or those of one page; of upper levels all.
    pub fn tlb_flush(&mut self, vaddr: Option<u64>) {
        self.translation.flush(vaddr);
    }

    pub fn reset_stats(&mut self) {
        self.net.reset_stats();
        self.write_combining.iter_mut().for_each(WriteCombining::reset_stats);
        self.translation.reset_stats();
    }

    /// Statistics under the components' own paths.
    pub fn collect(&self, sink: &mut StatSink) {
        self.net.collect(sink, &self.cfg);
        if let (Some(cfg), Some(w)) = (&self.cfg.write_combining, &self.write_combining) {
            sink.scope(&cfg.path, |s| w.collect(s));
        }
        self.net.collect_memories(sink, &self.cfg);
        self.translation.collect(sink, &self.cfg);
    }

    /// What every queue holds, one component a line, for the deadlock report.
    #[must_use]
    pub fn describe_queues(&self, now: Tick) -> String {
        let [mut lines, memories] = self.net.describe(&self.cfg, now);
        if let (Some(cfg), Some(w)) = (&self.cfg.write_combining, &self.write_combining) {
            lines.push(format!("{}: {}", cfg.path, w.describe(now)));
        }
        lines.extend(memories);
        lines.join("\n")
    }

    /// Invariants that must hold between any two calls; for tests.
    ///
    /// # Errors
    /// The first one that does not, with the component's path.
    pub fn audit(&self) -> Result<(), String> {
        self.net.audit(&self.cfg)?;
        self.write_combining.iter().try_for_each(WriteCombining::audit)?;
        self.translation.audit()
    }
}
