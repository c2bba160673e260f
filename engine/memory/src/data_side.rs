//! The data side in a loop's steady state: whether all accesses of a round hit at once, and what they change together.
//!
//! A hit in the first-level cache is answered after the same time whenever it is made. It changes the order in which lines of a
//! set were used, the line's dirty bit and counts; of two uses of a line only the later one's place in that order stays. So hits
//! that follow each other are the same as one use of each line, in the order of their last accesses. TLB hits likewise.

use std::ops::Range;

use breakeven_base::Tick;

use crate::cache::Cache;
use crate::config::Link;
use crate::packet::Cmd;
use crate::request::{Port, Side};
use crate::system::MemorySystem;
use crate::tlb::Page;
use crate::uses::{DataUses, HitCounts};

impl MemorySystem {
    fn first_data_cache(&self) -> Option<&Cache> {
        match self.net.ports[Port::Data as usize] {
            Link::Cache(i) => self.net.caches.get(i),
            _ => None,
        }
    }

    /// Whether hits of the data side may be counted together. `may_wait`: some are of requests that may
    /// ([`Request::may_wait`](crate::Request)).
    #[must_use]
    pub fn counts_data_hits(&self, may_wait: bool) -> bool {
        let is_plain = self.plain_cache(Port::Data).is_some();
        (is_plain || !may_wait) && self.first_data_cache().is_some_and(Cache::answers_hits_alike)
    }

    /// Whether all of `uses`, made at any time of `during`, hit at once, and none is in a range that passes the caches.
    pub fn all_hit(&mut self, uses: &DataUses, during: &Range<Tick>) -> bool {
        let tlb = self.translation.first_level(Side::Data).0;
        uses.pages.iter().all(|page| tlb.has(Page::new(page.vaddr, page.shift, page.asid)))
            && uses.lines.iter().all(|line| self.net.is_cached(line.addr))
            && self.first_data_cache().is_some_and(|cache| cache.all_hit(&uses.lines, during))
    }

    /// Makes `uses`, which all hit ([`MemorySystem::all_hit`]).
    pub fn use_all(&mut self, uses: &DataUses) {
        self.translation.use_pages(Side::Data, uses);
        let Link::Cache(i) = self.net.ports[Port::Data as usize] else { return };
        let Some(cache) = self.net.caches.get_mut(i) else { return };
        for line in &uses.lines {
            cache.use_line(line);
        }
        let HitCounts { accesses: [reads, writes], ticks: [read_ticks, write_ticks], .. } = uses.counts;
        cache.stats.add_hits(Cmd::ReadReq, Port::Data as u8, reads, read_ticks);
        cache.stats.add_hits(Cmd::WriteReq, Port::Data as u8, writes, write_ticks);
    }
}
