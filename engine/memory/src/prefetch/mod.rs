//! Hardware prefetchers: training, the prefetch queue, and when prefetches are sent.
//!
//! After gem5's `BasePrefetcher`, `QueuedPrefetcher` and `MultiPrefetcher` (`src/mem/cache/prefetch`): a cache shows each
//! demand access to its prefetchers; the candidate lines are queued, ready `latency` cycles later. The cache sends them one
//! after the other while it is not blocked and fewer than `mshrs - 1 - demand_mshr_reserve` registers are in use, several
//! prefetchers in turn. A line that is there, on its way or being written back when its turn comes is dropped.
//!
//! The memory computes latencies and has no events, so what is queued is sent *lazily*: before anything else happens at an
//! instant, all that was due by then is sent with the instant at which it was due, earliest first. A cache below the first
//! level does the same when a demand arrives. `next_due` bounds from below when a cache has something to send; a system without
//! prefetchers compares one number on its slow path and nothing on the hit path.

mod queue;
mod sequential;
mod stats;
mod stream;
mod stride;

use breakeven_base::{PhysAddr, StatSink, Tick};

use crate::config::{PrefetcherConfig, PrefetcherKind};
use crate::line::LineAddr;
use crate::packet::Pkt;
use crate::util::EdgeClock;
use educe::Educe;
use queue::{Entry, Queue};
use sequential::NextLine;
use stats::PrefetchStats;
use stream::Stream;
use stride::{Stride, StrideParams};

/// Nothing is due.
pub(crate) const NEVER: Tick = Tick::MAX;

/// An access that trains prefetchers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Access {
    /// As the core asked, also below the first level.
    pub addr: PhysAddr,
    /// 0: none (a page-table walk).
    pub pc: u64,
    pub requestor: u8,
}

enum Kind {
    Stride(Stride),
    Tagged { degree: u32 },
    NextLine(NextLine),
    AdjacentLine { pair_bytes: u64 },
    Stream(Stream),
}

impl Clone for Kind {
    fn clone(&self) -> Self {
        match self {
            Kind::Stride(s) => Kind::Stride(s.clone()),
            Kind::Tagged { degree } => Kind::Tagged { degree: *degree },
            Kind::NextLine(n) => Kind::NextLine(*n),
            Kind::AdjacentLine { pair_bytes } => Kind::AdjacentLine { pair_bytes: *pair_bytes },
            Kind::Stream(s) => Kind::Stream(s.clone()),
        }
    }
    fn clone_from(&mut self, from: &Self) {
        match (self, from) {
            (Kind::Stride(a), Kind::Stride(b)) => a.clone_from(b),
            (Kind::Stream(a), Kind::Stream(b)) => a.clone_from(b),
            (a, b) => *a = b.clone(),
        }
    }
}

impl Kind {
    fn new(kind: &PrefetcherKind) -> Self {
        match *kind {
            PrefetcherKind::Stride {
                confidence_counter_bits,
                initial_confidence,
                confidence_threshold,
                use_requestor_id,
                degree,
                distance,
                table_assoc,
                table_entries,
                table_replacement,
            } => Kind::Stride(Stride::new(&StrideParams {
                confidence_counter_bits,
                initial_confidence,
                confidence_threshold,
                use_requestor_id,
                degree,
                distance,
                table_assoc,
                table_entries,
                table_replacement,
            })),
            PrefetcherKind::Tagged { degree } => Kind::Tagged { degree },
            PrefetcherKind::NextLine { degree } => Kind::NextLine(NextLine::new(degree)),
            PrefetcherKind::AdjacentLine { pair_bytes } => Kind::AdjacentLine { pair_bytes: u64::from(pair_bytes) },
            PrefetcherKind::Stream { trackers, train, degree, distance } => {
                Kind::Stream(Stream::new(trackers, train, degree, distance))
            }
        }
    }

    /// Further hits on the line of the last access teach it nothing.
    fn by_line(&self) -> bool {
        !matches!(self, Kind::Stride(_))
    }
}

/// The parameters of `BasePrefetcher` and `QueuedPrefetcher`.
#[derive(Clone, Copy, Debug)]
struct Params {
    on_miss: bool,
    on_read: bool,
    on_write: bool,
    on_data: bool,
    on_inst: bool,
    on_access: bool,
    on_pf_hit: bool,
    squash: bool,
    filter: bool,
    snoop: bool,
    tag_prefetch: bool,
    line_bytes: u64,
    page_bytes: u64,
    latency: u64,
    throttle: u64,
}

/// One prefetcher.
#[derive(Educe)]
#[educe(Clone)]
struct Unit {
    kind: Kind,
    p: Params,
    queue: Queue,
    /// Addresses in the lines that the last access asks it to prefetch; empty between accesses.
    candidates: Vec<PhysAddr>,
    stats: PrefetchStats,
    /// Counted since the start, also across resets of the statistics: throttling uses these.
    issued: u64,
    useful: u64,
}
/// How an access found its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// In the tags, at this index.
    Hit(usize),
    /// On its way; at this index in the tags, if it is kept.
    Joined(Option<usize>),
    Miss,
}

/// Where a line is that need not be fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    Mshr,
    Cache,
    WriteBuffer,
}

impl Unit {
    fn new(c: &PrefetcherConfig, clock: EdgeClock, line_bytes: u32) -> Self {
        Unit {
            kind: Kind::new(&c.kind),
            p: Params {
                on_miss: c.on_miss,
                on_read: c.on_read,
                on_write: c.on_write,
                on_data: c.on_data,
                on_inst: c.on_inst,
                on_access: c.prefetch_on_access,
                on_pf_hit: c.prefetch_on_pf_hit,
                squash: c.queue_squash,
                filter: c.queue_filter,
                snoop: c.cache_snoop,
                tag_prefetch: c.tag_prefetch,
                line_bytes: u64::from(line_bytes),
                page_bytes: c.page_bytes,
                latency: clock.cycles(c.latency),
                throttle: u64::from(c.throttle_control_percentage),
            },
            queue: Queue::new(c.queue_size),
            candidates: Vec::new(),
            stats: PrefetchStats::default(),
            issued: 0,
            useful: 0,
        }
    }

    /// gem5 `observeAccess`; `first_use`: of a line that this prefetcher fetched.
    fn observes(&self, pkt: &Pkt, miss: bool, first_use: bool) -> bool {
        let p = &self.p;
        if !miss && p.on_pf_hit {
            return first_use;
        }
        if !miss && (p.on_miss || !p.on_access) {
            return false;
        }
        if pkt.is_fetch() {
            return p.on_inst;
        }
        p.on_data && if pkt.cmd.is_read() { p.on_read } else { p.on_write }
    }

    /// How many of `total` candidates may be queued.
    fn permitted(&self, total: usize) -> usize {
        if self.issued == 0 || self.p.throttle == 0 {
            return total;
        }
        let n = total as u64;
        let sure = (n - n * self.p.throttle / 100).max(1);
        (sure + n.saturating_sub(sure) * self.useful / self.issued) as usize
    }

    /// Trains on an access at `at` and queues the candidates; `there`: lines that need not be fetched.
    fn train_on(&mut self, a: &Access, at: Tick, mut there: impl FnMut(LineAddr) -> bool) {
        let (p, line) = (self.p, LineAddr::of(a.addr, self.p.line_bytes));
        if p.squash {
            self.stats.removed_demand += self.queue.remove(line) as u64;
        }
        let candidates = &mut self.candidates;
        match &mut self.kind {
            Kind::Stride(s) => s.candidates(a, p.line_bytes, candidates),
            Kind::Tagged { degree } => sequential::next_lines(line, *degree, p.line_bytes, candidates),
            Kind::NextLine(n) => n.candidates(line, p.line_bytes, candidates),
            Kind::AdjacentLine { pair_bytes } => {
                sequential::adjacent_lines(line, *pair_bytes, p.line_bytes, candidates);
            }
            Kind::Stream(s) => s.candidates(line, p.line_bytes, p.page_bytes, candidates),
        }
        let mut left = self.permitted(self.candidates.len());
        for i in 0..self.candidates.len() {
            let want = LineAddr::of(self.candidates[i], p.line_bytes);
            if want.addr().align_down(p.page_bytes) != a.addr.align_down(p.page_bytes) {
                self.stats.span_page += 1;
                continue;
            }
            self.stats.identified += 1;
            self.insert(want, a.pc, at + p.latency, &mut there);
            left -= 1;
            if left == 0 {
                break;
            }
        }
        self.candidates.clear();
    }

    fn insert(&mut self, line: LineAddr, pc: u64, ready: Tick, there: &mut impl FnMut(LineAddr) -> bool) {
        if self.p.filter && self.queue.holds(line) {
            self.stats.buffer_hit += 1;
        } else if self.p.snoop && there(line) {
            self.stats.in_cache += 1;
        } else if self.queue.push(Entry { line, ready, pc }) {
            self.stats.removed_full += 1;
        }
    }
}

/// Which hits prefetchers look at, besides first uses of prefetched lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hits {
    None,
    /// On another line than the last access.
    OtherLines,
    All,
}

/// The prefetchers of one cache.
#[derive(Educe)]
#[educe(Clone)]
pub(crate) struct Prefetching {
    units: Vec<Unit>,
    /// For each line of the tags: which prefetcher fetched it (from 1 on) if it has not been used since, else 0.
    /// A line that was invalidated leaves its mark until the place is filled again.
    fetched_by: Vec<u8>,
    /// Nothing is sent before this instant.
    pub next_due: Tick,
    /// The level below took the last one then.
    pub sent: Tick,
    /// Registers in use from which on nothing is sent.
    pub registers: usize,
    /// The prefetcher that sent last (round robin).
    turn: usize,
    hits: Hits,
    /// The line of the last access that was looked at.
    last_line: LineAddr,
    line_bytes: u64,
}
impl Prefetching {
    /// `None` without prefetchers. `lines`: of the cache; `registers`: MSHRs that prefetches may use.
    pub fn new(
        configs: &[PrefetcherConfig],
        clock: EdgeClock,
        line_bytes: u32,
        lines: usize,
        registers: u32,
    ) -> Option<Box<Self>> {
        if configs.is_empty() {
            return None;
        }
        let units: Vec<Unit> = configs.iter().map(|c| Unit::new(c, clock, line_bytes)).collect();
        let mut at_hits = units.iter().filter(|u| u.p.on_access && !u.p.on_pf_hit && !u.p.on_miss).peekable();
        let hits = match (at_hits.peek().is_some(), at_hits.all(|u| u.kind.by_line())) {
            (false, _) => Hits::None,
            (true, true) => Hits::OtherLines,
            (true, false) => Hits::All,
        };
        Some(Box::new(Prefetching {
            units,
            fetched_by: vec![0; lines],
            next_due: NEVER,
            sent: Tick::ZERO,
            registers: registers as usize,
            turn: 0,
            hits,
            last_line: LineAddr::NONE,
            line_bytes: u64::from(line_bytes),
        }))
    }

    fn line(&self, addr: PhysAddr) -> LineAddr {
        LineAddr::of(addr, self.line_bytes)
    }

    /// Whether no prefetcher observes hits, but first uses of what one has fetched.
    pub fn ignores_hits(&self) -> bool {
        self.hits == Hits::None
    }

    /// Whether no prefetcher observes a hit on `addr`, at `index` of the tags.
    #[inline]
    pub fn ignores_hit(&self, index: usize, addr: PhysAddr) -> bool {
        self.fetched_by[index] == 0
            && match self.hits {
                Hits::None => true,
                Hits::OtherLines => self.line(addr) == self.last_line,
                Hits::All => false,
            }
    }

    /// A line was put at `index`; `by`: the prefetcher that fetched it, from 1 on, or 0.
    pub fn filled(&mut self, index: usize, by: u8) {
        let old = std::mem::replace(&mut self.fetched_by[index], by);
        if let Some(u) = self.issuer(old) {
            u.stats.unused += 1;
        }
    }

    fn issuer(&mut self, mark: u8) -> Option<&mut Unit> {
        self.units.get_mut(usize::from(mark).checked_sub(1)?)
    }

    /// Shows an access at `at` to the prefetchers.
    pub fn observe(&mut self, pkt: &Pkt, a: &Access, at: Tick, found: Found, mut there: impl FnMut(LineAddr) -> bool) {
        let mark = match found {
            Found::Hit(i) | Found::Joined(Some(i)) => std::mem::take(&mut self.fetched_by[i]),
            _ => 0,
        };
        if pkt.cmd.is_prefetch() {
            return;
        }
        let hit = matches!(found, Found::Hit(_));
        self.last_line = self.line(a.addr);
        if let Some(u) = self.issuer(mark) {
            if hit {
                u.stats.useful += 1;
                u.useful += 1;
            } else {
                u.stats.demand_joined += 1;
            }
        }
        for (n, u) in self.units.iter_mut().enumerate() {
            u.stats.demand_mshr_misses += u64::from(found == Found::Miss);
            if u.observes(pkt, !hit, hit && usize::from(mark) == n + 1) {
                u.train_on(a, at, &mut there);
            }
            if let (NEVER, Some(e)) = (self.next_due, u.queue.head()) {
                self.next_due = e.ready;
            }
        }
    }

    /// The next prefetcher in round-robin order, and from when on it may send; `None`: nothing is queued.
    pub fn next(&self) -> Option<(usize, Tick)> {
        let ready = self.units.iter().filter_map(|u| u.queue.head()).map(|e| e.ready).min()?.max(self.sent);
        let n = self.units.len();
        let mut turns = (1..=n).map(|i| (self.turn + i) % n);
        let who = turns.find(|&u| self.units[u].queue.head().is_some_and(|e| e.ready <= ready))?;
        Some((who, ready))
    }

    /// Takes the line of prefetcher `turn`, and the PC that lower levels are told. `there`: where the line is already.
    pub fn pop(&mut self, turn: usize, there: impl FnOnce(LineAddr) -> Option<Presence>) -> Option<(LineAddr, u64)> {
        let u = self.units.get_mut(turn)?;
        let e = u.queue.pop()?;
        self.turn = turn;
        u.stats.issued += 1;
        u.issued += 1;
        match there(e.line) {
            Some(Presence::Mshr) => u.stats.hit_in_mshr += 1,
            Some(Presence::Cache) => u.stats.hit_in_cache += 1,
            Some(Presence::WriteBuffer) => u.stats.hit_in_wb += 1,
            None => return Some((e.line, if u.p.tag_prefetch { e.pc } else { 0 })),
        }
        None
    }

    pub fn reset_stats(&mut self) {
        self.units.iter_mut().for_each(|u| u.stats = PrefetchStats::default());
    }

    pub fn collect(&self, sink: &mut StatSink, configs: &[PrefetcherConfig]) {
        for (c, u) in configs.iter().zip(&self.units) {
            sink.scope(&c.path, |s| u.stats.collect(s));
        }
    }

    pub fn describe(&self) -> String {
        format!("{} prefetches queued", self.units.iter().map(|u| u.queue.len()).sum::<usize>())
    }

    pub fn audit(&self) -> Result<(), String> {
        if let Some(mark) = self.fetched_by.iter().find(|&&m| usize::from(m) > self.units.len()) {
            return Err(format!("a line is marked as fetched by prefetcher {mark} of {}", self.units.len()));
        }
        for u in &self.units {
            u.queue.audit(u.p.filter)?;
            if u.queue.head().is_some_and(|e| e.ready < self.next_due && self.next_due == NEVER) {
                return Err("a prefetch is queued that nothing will send".to_owned());
            }
            if u.useful > u.issued {
                return Err(format!("{} useful prefetches of {} issued", u.useful, u.issued));
            }
        }
        Ok(())
    }
}
