//! Address translation: the first-level TLBs of both sides, the second level that they share, and the walkers.

use breakeven_base::{StatSink, Tick, WalkPath};
use educe::Educe;

use crate::config::{MemorySystemConfig, TlbConfig};
use crate::network::Network;
use crate::packet::{Cmd, Pkt};
use crate::prefetch::Access;
use crate::request::{Port, Side, TlbResult};
use crate::tlb::{Page, TlbArray, TlbStats};
use crate::uses::DataUses;
use crate::walk::Walker;

/// What a walker reads at a time.
const PTE_BYTES: u32 = 8;

/// Of arrays the instruction side is first.
#[derive(Educe)]
#[educe(Clone)]
pub(crate) struct Translation {
    tlbs: [TlbArray; 2],
    l2_tlb: Option<TlbArray>,
    l2_latency: u64,
    walkers: [Walker; 2],
    stats: [TlbStats; 2],
}

impl Translation {
    pub fn new(cfg: &MemorySystemConfig) -> Self {
        let tlb = |t: &TlbConfig| TlbArray::new(t.size, t.assoc);
        Translation {
            tlbs: [tlb(&cfg.itb), tlb(&cfg.dtb)],
            l2_tlb: cfg.l2_tlb.as_ref().map(|t| TlbArray::new(t.size, t.assoc)),
            l2_latency: cfg.l2_tlb.as_ref().map_or(0, |t| u64::from(t.latency) * cfg.core_clock.period()),
            walkers: [Walker::new(&cfg.walkers[0]), Walker::new(&cfg.walkers[1])],
            stats: [TlbStats::default(); 2],
        }
    }

    #[inline]
    pub fn look_up(&mut self, side: Side, now: Tick, page: Page, is_store: bool) -> TlbResult {
        if self.tlbs[side as usize].hits_last_entry(page) {
            self.stats[side as usize].first_level(is_store, true);
            return TlbResult::Hit { at: now };
        }
        self.look_up_second_level(side, now, page, is_store)
    }

    #[inline(never)]
    fn look_up_second_level(&mut self, side: Side, now: Tick, page: Page, is_store: bool) -> TlbResult {
        let hit = self.tlbs[side as usize].lookup(page);
        self.stats[side as usize].first_level(is_store, hit);
        if hit {
            return TlbResult::Hit { at: now };
        }
        let Some(l2) = &mut self.l2_tlb else { return TlbResult::Miss { at: now } };
        let at = now + self.l2_latency;
        let hit = l2.lookup(page);
        self.stats[side as usize].second_level(hit);
        if !hit {
            return TlbResult::Miss { at };
        }
        self.tlbs[side as usize].insert(page);
        TlbResult::Hit { at }
    }

    /// The first level of a side, and its counts.
    pub fn first_level(&self, side: Side) -> (&TlbArray, &TlbStats) {
        (&self.tlbs[side as usize], &self.stats[side as usize])
    }

    /// First-level hits of reads and of writes.
    pub fn first_level_hits(&mut self, side: Side) -> &mut [u64; 2] {
        self.stats[side as usize].first_level_hits()
    }

    /// Looks the pages of `uses` up, which are in the first level; counts as often as they say.
    pub fn use_pages(&mut self, side: Side, uses: &DataUses) {
        for page in &uses.pages {
            self.tlbs[side as usize].lookup(Page::new(page.vaddr, page.shift, page.asid));
        }
        for (hits, more) in self.first_level_hits(side).iter_mut().zip(uses.counts.pages) {
            *hits += more;
        }
    }

    /// Reads the entries of `path` that no cache of upper levels has, one after another,
    /// through the side's walker port; the instant at which the translation is known.
    pub fn walk(&mut self, net: &mut Network, side: Side, now: Tick, path: &WalkPath) -> Tick {
        let port = match side {
            Side::Inst => Port::InstWalk,
            Side::Data => Port::DataWalk,
        };
        let (link, source) = (net.ports[port as usize], net.source_of(port));
        let ptes = path.ptes.get(..usize::from(path.n)).unwrap_or(&path.ptes);
        let skipped = ptes.split_last().map_or(0, |(_, upper)| self.walkers[side as usize].skip(upper));
        let mut at = now;
        for &pte in ptes.iter().skip(skipped) {
            let pkt = Pkt::new(Cmd::ReadReq, pte, PTE_BYTES, port as u8);
            net.trigger = Access { addr: pte, pc: 0, requestor: port as u8 };
            at = net.send(link, source, pkt, at).at;
        }
        self.stats[side as usize].walk(at - now);
        at
    }

    /// Fills the TLBs of `side`.
    pub fn insert(&mut self, side: Side, page: Page) {
        self.tlbs[side as usize].insert(page);
        if let Some(l2) = &mut self.l2_tlb {
            l2.insert(page);
        }
    }

    /// Forgets all entries, or those of one page; of upper levels all.
    pub fn flush(&mut self, vaddr: Option<u64>) {
        for t in self.tlbs.iter_mut().chain(&mut self.l2_tlb) {
            t.flush(vaddr);
        }
        self.walkers.iter_mut().for_each(Walker::flush);
    }

    pub fn reset_stats(&mut self) {
        self.stats = Default::default();
        self.walkers.iter_mut().for_each(Walker::reset_stats);
    }

    pub fn collect(&self, sink: &mut StatSink, cfg: &MemorySystemConfig) {
        let sides = [&cfg.itb.path, &cfg.dtb.path].into_iter().zip(&self.stats).zip(&self.walkers);
        for ((path, stats), walker) in sides {
            sink.scope(path, |s| {
                stats.collect(s, self.l2_tlb.is_some());
                walker.collect(s);
            });
        }
    }

    pub fn audit(&self) -> Result<(), String> {
        self.tlbs.iter().chain(&self.l2_tlb).try_for_each(TlbArray::audit)?;
        self.walkers.iter().try_for_each(Walker::audit)
    }
}
