//! Everything out of every cache: x86's wbinvd.

use breakeven_base::Tick;

use crate::config::Link;
use crate::{MemorySystem, Port};

impl MemorySystem {
    /// From `now` on the caches write their dirty lines back, the first level before the next, and drop all lines. Each line that
    /// is there takes `line_cycles` of the core's, a dirty one at least as long as the level below takes it. Until then the
    /// first levels take no access.
    pub fn flush_caches(&mut self, now: Tick, line_cycles: u8) {
        let mut at = self.flush_write_combining(now).0;
        self.now = self.now.max(now.0);
        let each = u64::from(line_cycles) * self.cfg.core_clock.period();
        let mut order: Vec<usize> = (0..self.caches.len()).collect();
        order.sort_by_key(|&ci| std::cmp::Reverse(self.levels_from(Link::Cache(ci as u16))));
        for ci in order {
            let lines: Vec<u64> = self.caches[ci].tags.lines().collect();
            for line in lines {
                at += each;
                let Some(i) = self.caches[ci].tags.find(line) else { continue };
                if self.caches[ci].tags.dirty(i) {
                    at = self.caches[ci].wait_until_free(at);
                    self.cache_evicts_line(ci, line, at, at, Port::Data as u8);
                } else {
                    self.caches[ci].tags.invalidate(i);
                }
            }
        }
        for link in self.ports {
            if let Link::Cache(ci) = link {
                self.caches[usize::from(ci)].close_until(at);
            }
        }
    }
}
