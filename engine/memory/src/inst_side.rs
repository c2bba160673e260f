//! The instruction side in a loop's steady state: first-level cache and TLB, whether they stand as at an earlier time, and what
//! further rounds would add.
//!
//! A loop that is there is fetched by hits alone. A hit changes the order in which lines were used, and counts; after a round
//! the order is as before it. What the data side does does not reach the first-level instruction cache, unless it writes the
//! lines that are fetched or has them modified: a bus invalidates copies only for writes and for what is written back.

use breakeven_base::{PhysAddr, Tick};

use crate::cache::tags::Tags;
use crate::cache::Cache;
use crate::config::Link;
use crate::line::LineAddr;
use crate::packet::Cmd;
use crate::request::{Port, Side};
use crate::system::MemorySystem;
use crate::tlb::TlbArray;

/// Lines of a loop, at most.
const LINES: usize = 64;

/// The instruction side at some time.
pub struct InstSide {
    at: Tick,
    tags: Tags,
    tlb: TlbArray,
    /// Hits in the cache, their ticks, hits in the TLB.
    counts: [u64; 3],
    /// Fetches that did not hit at once, look-ups that missed the TLB.
    others: [u64; 2],
    /// Ticks until the cache's data port is free.
    port_free: u64,
}

impl MemorySystem {
    /// The first-level instruction cache, if nothing else asks it.
    fn inst_cache(&self) -> Option<&Cache> {
        let i = self.plain_cache(Port::Inst)?;
        let others = self.net.ports.iter().skip(Port::Inst as usize + 1);
        let below = self.net.caches.iter().map(|c| &c.p.mem_side);
        let alone = others.chain(below).all(|link| *link != Link::Cache(i));
        self.net.caches.get(i).filter(|_| alone)
    }

    fn inst_counts(&self) -> Option<([u64; 3], [u64; 2])> {
        let (hits, ticks) = self.inst_cache()?.stats.hits(Cmd::ReadReq, Port::Inst as u8);
        let (tlb_hits, misses) = self.translation.first_level(Side::Inst).1.reads();
        Some(([hits, ticks, tlb_hits], [self.slow_fetches, misses]))
    }

    /// The instruction side as it is at `now`; `None`: it never stands as before.
    #[must_use]
    pub fn inst_side(&self, now: Tick) -> Option<InstSide> {
        let cache = self.inst_cache().filter(|cache| !cache.may_block(now))?;
        let (counts, others) = self.inst_counts()?;
        let tlb = self.translation.first_level(Side::Inst).0.clone();
        Some(InstSide { at: now, tags: cache.tags.clone(), tlb, counts, others, port_free: cache.port_free(now) })
    }

    /// Whether what is fetched of the lines `code` from `now` on is answered as it was from `earlier` on; so it is in each further round
    /// of the same length.
    #[must_use]
    pub fn inst_side_repeats(&self, earlier: &InstSide, now: Tick, code: &[PhysAddr]) -> bool {
        let (Some(cache), Some((_, others))) = (self.inst_cache(), self.inst_counts()) else { return false };
        if code.len() > LINES {
            return false;
        }
        let lines: Vec<LineAddr> = code.iter().map(|addr| LineAddr::of(*addr, self.net.line_bytes.into())).collect();
        let is_written = |cache: &Cache| {
            cache.mshrs.waits_for_any(&lines, now)
                || lines.iter().any(|line| cache.tags.find(line.addr()).is_some_and(|i| cache.tags.dirty(i)))
        };
        others == earlier.others
            && now.0.wrapping_sub(earlier.at.0) % cache.clock.period == 0
            && cache.port_free(now) == earlier.port_free
            && cache.tags.repeats(&earlier.tags)
            && self.translation.first_level(Side::Inst).0.repeats(&earlier.tlb)
            && self.write_combining.as_ref().is_none_or(|w| !w.gathers())
            && !self.net.caches.iter().any(is_written)
    }

    /// As if what was fetched since `earlier`, in a round that ended at `until`, had been fetched so `times` more. It must
    /// repeat `earlier` ([`MemorySystem::inst_side_repeats`]), and nothing has been fetched since.
    pub fn repeat_inst_side(&mut self, earlier: &InstSide, until: Tick, times: u64) {
        let Some(([hits, ticks, tlb_hits], _)) = self.inst_counts() else { return };
        let [hits, ticks, tlb_hits] =
            [hits - earlier.counts[0], ticks - earlier.counts[1], tlb_hits - earlier.counts[2]]
                .map(|grown| grown * times);
        self.translation.first_level_hits(Side::Inst)[0] += tlb_hits;
        let i = self.plain_cache(Port::Inst);
        let Some(cache) = i.and_then(|i| self.net.caches.get_mut(i)) else { return };
        cache.stats.add_hits(Cmd::ReadReq, Port::Inst as u8, hits, ticks);
        cache.port_is_free_later(until, (until.0 - earlier.at.0) * times);
    }
}
