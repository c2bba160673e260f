//! Memory-dependence prediction by store sets (Chrysos and Emer, ISCA 1998), as gem5 implements it: a load that once read
//! too early is from then on held back until the last store of its set has executed.
//! Fact source: gem5 24.0 `src/cpu/o3/store_set.cc`.
//!
//! - SSIT (`SSITSize` entries, indexed by the word address of the instruction): which set an instruction belongs to.
//! - LFST (`LFSTSize` entries, one a set): the last store of the set that was dispatched and has not issued.
//! - Every `store_set_clear_period` dispatched stores both are emptied.

use educe::Educe;

/// Instruction addresses are indexed from this bit on; gem5's, also where instructions are shorter than four bytes.
const OFFSET_BITS: u32 = 2;
/// No set; no store.
const NONE: u32 = u32::MAX;

#[derive(Debug, Educe)]
#[educe(Clone)]
pub struct StoreSets {
    pub ssit: Box<[u32]>,
    /// Sequence number of the last store; 0: none.
    pub lfst: Box<[u64]>,
    pub clear_period: u64,
    /// Dispatched since they were cleared.
    pub stores: u64,
    /// How often the sets have changed.
    pub changes: u64,
}

impl StoreSets {
    /// Sizes are powers of two (checked with the configuration).
    pub fn new(ssit: usize, lfst: usize, clear_period: u64) -> Self {
        StoreSets {
            ssit: vec![NONE; ssit.max(1)].into_boxed_slice(),
            lfst: vec![0; lfst.max(1)].into_boxed_slice(),
            clear_period,
            stores: 0,
            changes: 0,
        }
    }

    #[inline]
    #[allow(clippy::cast_possible_truncation)] // masked
    fn index(&self, pc: u64) -> usize {
        (pc >> OFFSET_BITS) as usize & (self.ssit.len() - 1)
    }

    #[inline]
    fn set_of(&self, pc: u64) -> Option<usize> {
        let set = self.ssit[self.index(pc)];
        (set != NONE).then_some(set as usize)
    }

    /// The store that the instruction at `pc` has to wait for; 0: none.
    #[inline]
    pub fn producer(&self, pc: u64) -> u64 {
        self.set_of(pc).map_or(0, |set| self.lfst[set])
    }

    /// A store is dispatched.
    #[inline]
    pub fn store_dispatched(&mut self, pc: u64, seq: u64) {
        self.stores += 1;
        if self.stores > self.clear_period {
            self.stores = 0;
            self.clear();
        }
        if let Some(set) = self.set_of(pc) {
            self.lfst[set] = seq;
        }
    }

    /// A store executes or is squashed (one that has issued counts for no more: `Depend::dispatch`): nothing that is dispatched from now on waits for it.
    #[inline]
    pub fn store_gone(&mut self, pc: u64, seq: u64) {
        if let Some(set) = self.set_of(pc) {
            if self.lfst[set] == seq {
                self.lfst[set] = 0;
            }
        }
    }

    /// A load read before an older store to the same place had executed: from now on they are of one set.
    #[cold]
    #[allow(clippy::cast_possible_truncation)] // below the number of sets
    pub fn violation(&mut self, store_pc: u64, load_pc: u64) {
        let (load, store) = (self.index(load_pc), self.index(store_pc));
        let set = match (self.ssit[load], self.ssit[store]) {
            (NONE, NONE) => ((load_pc ^ (load_pc >> 10)) % self.lfst.len() as u64) as u32,
            (set, NONE) | (NONE, set) => set,
            // Of two sets the one with the lower number wins; only the loser's instruction moves.
            (a, b) => a.min(b),
        };
        self.changes += 1;
        self.ssit[load] = set;
        self.ssit[store] = set;
    }

    /// The stores that are some set's last.
    pub fn last_stores(&self) -> impl Iterator<Item = u64> + '_ {
        self.lfst.iter().copied().filter(|seq| *seq != 0)
    }

    fn clear(&mut self) {
        self.changes += 1;
        self.ssit.fill(NONE);
        self.lfst.fill(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_waits_for_the_last_store_of_its_set() {
        let mut s = StoreSets::new(64, 64, 1000);
        s.store_dispatched(0x100, 1);
        assert_eq!(s.producer(0x200), 0);
        s.violation(0x100, 0x200);
        s.store_dispatched(0x100, 5);
        s.store_dispatched(0x100, 9);
        assert_eq!(s.producer(0x200), 9);
        // An older store of the set that executes changes nothing.
        s.store_gone(0x100, 5);
        assert_eq!(s.producer(0x200), 9);
        s.store_gone(0x100, 9);
        assert_eq!(s.producer(0x200), 0);
    }

    #[test]
    fn the_lower_set_wins() {
        let mut s = StoreSets::new(64, 64, 1000);
        s.violation(0x10, 0x04);
        s.violation(0x20, 0x08);
        assert_eq!((s.set_of(0x04), s.set_of(0x08)), (Some(4), Some(8)));
        s.violation(0x10, 0x08);
        assert_eq!((s.set_of(0x10), s.set_of(0x08), s.set_of(0x20)), (Some(4), Some(4), Some(8)));
    }

    #[test]
    fn sets_are_forgotten_after_the_clear_period() {
        let mut s = StoreSets::new(64, 64, 2);
        s.violation(0x10, 0x20);
        s.store_dispatched(0x10, 1);
        s.store_dispatched(0x10, 2);
        assert_eq!(s.producer(0x20), 2);
        s.store_dispatched(0x10, 3);
        assert_eq!(s.producer(0x20), 0);
    }
}
