//! Page-table walks: the entries of the path are read one after another through the walker's port. Entries above the last
//! may be remembered (ours; gem5's walkers for x86 and RISC-V read every level every time).
//!
//! The caches of upper levels are Intel's paging-structure caches (Software Developer's Manual 3, "Paging-Structure
//! Caches"): one a level, and a walk starts below the lowest that knows the address. Theirs are looked up by linear
//! address; here an entry is known by its own address, which is the same but where two tables share a lower one. An entry that
//! maps a page, or nothing, is not kept. Fully associative, least recently used; a look-up takes no time.
//! Whatever empties the TLBs empties them: the manual has INVLPG drop them whole, too.

use breakeven_base::{PhysAddr, StatSink, Unit};

use crate::config::WalkerConfig;
use crate::tlb::{Page, TlbArray};
use educe::Educe;

/// log2 of the bytes that a walker reads at a time.
const PTE_SHIFT: u8 = 3;

/// One side's walker.
#[derive(Educe)]
#[educe(Clone)]
pub(crate) struct Walker {
    /// Caches of upper entries, root first; a level may have none.
    levels: Vec<TlbArray>,
    skipped: u64,
}
fn entry(pte: PhysAddr) -> Page {
    Page::new(pte.0, PTE_SHIFT, 0)
}

impl Walker {
    pub fn new(c: &WalkerConfig) -> Self {
        Walker { levels: c.upper_entries.iter().map(|&n| TlbArray::new(n, 0)).collect(), skipped: 0 }
    }

    /// How many entries of `upper` (root first, without the last of the path) need not be read; all are known afterwards.
    pub fn skip(&mut self, upper: &[PhysAddr]) -> usize {
        let known = self.levels.iter_mut().zip(upper).rposition(|(level, &pte)| level.lookup(entry(pte)));
        let skipped = known.map_or(0, |lowest| lowest + 1);
        for (level, &pte) in self.levels.iter_mut().zip(upper).skip(skipped) {
            level.insert(entry(pte));
        }
        self.skipped += skipped as u64;
        skipped
    }

    pub fn flush(&mut self) {
        self.levels.iter_mut().for_each(|level| level.flush(None));
    }

    pub fn reset_stats(&mut self) {
        self.skipped = 0;
    }

    pub fn collect(&self, sink: &mut StatSink) {
        if !self.levels.is_empty() {
            sink.count("walker.entriesSkipped", self.skipped, Unit::Count, "upper entries that walks did not read");
        }
    }

    pub fn audit(&self) -> Result<(), String> {
        self.levels.iter().try_for_each(TlbArray::audit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walker(entries: &[u32]) -> Walker {
        Walker::new(&WalkerConfig { upper_entries: entries.to_vec() })
    }

    const ROOT: PhysAddr = PhysAddr(0x1000);
    const MIDDLE: PhysAddr = PhysAddr(0x2000);

    #[test]
    fn a_walk_starts_below_the_lowest_known_entry() {
        let mut c = walker(&[1, 2, 2]);
        assert_eq!(c.skip(&[ROOT, MIDDLE, PhysAddr(0x3000)]), 0);
        assert_eq!(c.skip(&[ROOT, MIDDLE, PhysAddr(0x3000)]), 3);
        assert_eq!(c.skip(&[ROOT, MIDDLE, PhysAddr(0x3008)]), 2);
        // A large page's path ends earlier: what maps it is not kept.
        assert_eq!(c.skip(&[ROOT, MIDDLE]), 2);
        assert_eq!(c.skip(&[ROOT, MIDDLE + 8]), 1);
        c.flush();
        assert_eq!(c.skip(&[ROOT, MIDDLE, PhysAddr(0x3000)]), 0);
        assert_eq!(c.audit(), Ok(()));
    }

    #[test]
    fn a_level_holds_what_it_has_entries_for() {
        let mut c = walker(&[0, 1, 2]);
        for pde in [0x3000, 0x3008, 0x3010].map(PhysAddr) {
            c.skip(&[ROOT, MIDDLE, pde]);
        }
        // The first of three has gone, its upper entry has not.
        assert_eq!(c.skip(&[ROOT, MIDDLE, PhysAddr(0x3000)]), 2);
        assert_eq!(c.skip(&[ROOT, MIDDLE + 8, PhysAddr(0x4000)]), 0);
    }

    #[test]
    fn without_caches_all_is_read() {
        let mut c = walker(&[]);
        assert_eq!((c.skip(&[ROOT, MIDDLE]), c.skip(&[ROOT, MIDDLE])), (0, 0));
    }
}
