//! Memory-dependence prediction by store sets (Chrysos and Emer, ISCA 1998), as gem5 implements it: a load that once read
//! too early is from then on held back until the last store of its set has executed.
//! Fact source: gem5 24.0 `src/cpu/o3/store_set.cc`.
//!
//! - SSIT (`SSITSize` entries, indexed by the address of the instruction): which set an instruction belongs to.
//! - LFST (`LFSTSize` entries, one a set): the last store of the set that was dispatched and has not issued.
//! - Every `store_set_clear_period` dispatched stores both are emptied.

use educe::Educe;

use super::super::seq::Seq;

/// gem5 indexes instruction addresses from this bit on, also where instructions are shorter than four bytes
/// (`gem5StoreSetIndex`).
pub const OFFSET_BITS: u32 = 2;
/// No set; no store.
const NONE: u32 = u32::MAX;

#[derive(Debug, Educe)]
#[educe(Clone)]
pub struct StoreSets {
    pub ssit: Box<[u32]>,
    /// Sequence number of the last store; 0: none.
    pub lfst: Box<[Seq]>,
    /// Sets that have one.
    pub named: u32,
    /// Instruction addresses are indexed from this bit on.
    pub offset_bits: u32,
    pub clear_period: u64,
    /// Dispatched since they were cleared.
    pub stores: u64,
    /// How often the sets have changed.
    pub changes: u64,
}

impl StoreSets {
    /// Sizes are powers of two (checked with the configuration).
    pub fn new(ssit: usize, lfst: usize, clear_period: u64, offset_bits: u32) -> Self {
        StoreSets {
            ssit: vec![NONE; ssit.max(1)].into_boxed_slice(),
            lfst: vec![Seq::NONE; lfst.max(1)].into_boxed_slice(),
            named: 0,
            offset_bits,
            clear_period,
            stores: 0,
            changes: 0,
        }
    }

    #[inline]
    #[allow(clippy::cast_possible_truncation)] // masked
    fn index(&self, pc: u64) -> usize {
        (pc >> self.offset_bits) as usize & (self.ssit.len() - 1)
    }

    #[inline]
    fn set_of(&self, pc: u64) -> Option<usize> {
        let set = self.ssit[self.index(pc)];
        (set != NONE).then_some(set as usize)
    }

    /// The store that the instruction at `pc` has to wait for; 0: none.
    #[inline]
    pub fn producer(&self, pc: u64) -> Seq {
        self.set_of(pc).map_or(Seq::NONE, |set| self.lfst[set])
    }

    /// A store is dispatched.
    #[inline]
    pub fn store_dispatched(&mut self, pc: u64, seq: Seq) {
        self.stores += 1;
        if self.stores > self.clear_period {
            self.stores = 0;
            self.clear();
        }
        if let Some(set) = self.set_of(pc) {
            let before = std::mem::replace(&mut self.lfst[set], seq);
            self.named += u32::from(!before.is_some());
        }
    }

    /// A store executes or is squashed (one that has issued counts for no more: `Depend::dispatch`): nothing that is dispatched from now on waits for it.
    #[inline]
    pub fn store_gone(&mut self, pc: u64, seq: Seq) {
        if let Some(set) = self.set_of(pc) {
            if self.lfst[set] == seq {
                self.lfst[set] = Seq::NONE;
                self.named -= 1;
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
    pub fn last_stores(&self) -> impl Iterator<Item = Seq> + '_ {
        let sets = if self.named > 0 { &*self.lfst } else { &[] };
        sets.iter().copied().filter(|seq| seq.is_some())
    }

    fn clear(&mut self) {
        self.changes += 1;
        self.ssit.fill(NONE);
        self.lfst.fill(Seq::NONE);
        self.named = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_waits_for_the_last_store_of_its_set() {
        let mut s = StoreSets::new(64, 64, 1000, OFFSET_BITS);
        s.store_dispatched(0x100, Seq(1));
        assert_eq!(s.producer(0x200), Seq::NONE);
        s.violation(0x100, 0x200);
        s.store_dispatched(0x100, Seq(5));
        s.store_dispatched(0x100, Seq(9));
        assert_eq!(s.producer(0x200), Seq(9));
        // An older store of the set that executes changes nothing.
        s.store_gone(0x100, Seq(5));
        assert_eq!(s.producer(0x200), Seq(9));
        s.store_gone(0x100, Seq(9));
        assert_eq!(s.producer(0x200), Seq::NONE);
    }

    #[test]
    fn the_lower_set_wins() {
        let mut s = StoreSets::new(64, 64, 1000, OFFSET_BITS);
        s.violation(0x10, 0x04);
        s.violation(0x20, 0x08);
        assert_eq!((s.set_of(0x04), s.set_of(0x08)), (Some(4), Some(8)));
        s.violation(0x10, 0x08);
        assert_eq!((s.set_of(0x10), s.set_of(0x08), s.set_of(0x20)), (Some(4), Some(4), Some(8)));
    }

    #[test]
    fn neighbours_within_four_bytes_share_a_set_as_in_gem5_only() {
        for (offset_bits, neighbour) in [(OFFSET_BITS, Seq(1)), (1, Seq::NONE)] {
            let mut s = StoreSets::new(64, 64, 1000, offset_bits);
            s.violation(0x100, 0x200);
            s.store_dispatched(0x100, Seq(1));
            assert_eq!((s.producer(0x200), s.producer(0x202)), (Seq(1), neighbour));
        }
    }

    #[test]
    fn sets_are_forgotten_after_the_clear_period() {
        let mut s = StoreSets::new(64, 64, 2, OFFSET_BITS);
        s.violation(0x10, 0x20);
        s.store_dispatched(0x10, Seq(1));
        s.store_dispatched(0x10, Seq(2));
        assert_eq!(s.producer(0x20), Seq(2));
        s.store_dispatched(0x10, Seq(3));
        assert_eq!(s.producer(0x20), Seq::NONE);
    }
}
