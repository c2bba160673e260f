//! gem5's `SimpleBTB`: a table from branch address to target, with partial tags.
//! Fact source: gem5 24.0 `src/cpu/pred/simple_btb.cc`: index `(pc >> instShiftAmt) mod numEntries`, tag the next `tagBits` bits.
//! gem5's is direct-mapped; with our `associativity` the index is that of a set, whose ways are kept in order of use.

use std::sync::atomic::{AtomicU64, Ordering};

use super::counters::{low_bits, table_size};
use super::BtbParams;
use breakeven_base::{ConfigError, StatSink, Unit};
use educe::Educe;

/// The next kept copy's number.
static COPIES: AtomicU64 = AtomicU64::new(1);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    /// `u64::MAX`: empty (a tag has at most 63 bits).
    tag: u64,
    target: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    lookups: u64,
    misses: u64,
    updates: u64,
    mispredict: u64,
}

/// Sets whose writes are followed, at most: a loop's state is kept and compared without looking at the whole table.
const FOLLOWED: usize = 64;

/// The sets written since the table was last kept ([`SimpleBtb::keep`]).
#[derive(Debug, Default)]
struct Writes {
    /// The number of the kept copy; 0: they are not followed.
    copy: u64,
    sets: Vec<u32>,
}

impl Clone for Writes {
    /// Of a clone nothing is kept.
    fn clone(&self) -> Self {
        Writes::default()
    }
}

impl Writes {
    /// The set whose first entry is `first` is written.
    #[inline]
    fn note(&mut self, first: usize) {
        if self.copy != 0 && !self.sets.contains(&(first as u32)) {
            if self.sets.len() == FOLLOWED {
                self.copy = 0;
            }
            self.sets.push(first as u32);
        }
    }
}

#[derive(Debug, Educe)]
#[educe(Clone, PartialEq)]
pub struct SimpleBtb {
    /// Set by set; within a set the way used last stands first.
    entries: Vec<Entry>,
    ways: usize,
    index_mask: u64,
    tag_mask: u64,
    index_shift: u32,
    tag_shift: u32,
    #[educe(PartialEq(ignore))]
    writes: Writes,
    #[educe(PartialEq(ignore))]
    counts: Counts,
}

impl SimpleBtb {
    /// # Errors
    /// `associativity` must divide `numEntries` into a power of two, `tagBits` be at most 63, `instShiftAmt` at most 16.
    pub fn new(p: &BtbParams, path: &str) -> Result<Self, ConfigError> {
        let ways = p.associativity;
        if ways == 0 || p.num_entries % ways != 0 {
            let why = format!("{ways} ways do not divide {} entries", p.num_entries);
            return Err(ConfigError::new(format!("{path}.associativity"), why));
        }
        let sets = table_size(path, "numEntries", p.num_entries / ways)?;
        if p.tag_bits > 63 {
            return Err(ConfigError::new(format!("{path}.tagBits"), format!("{} bits: at most 63", p.tag_bits)));
        }
        super::check_shift(path, p.inst_shift_amt)?;
        Ok(SimpleBtb {
            entries: vec![Entry { tag: u64::MAX, target: 0 }; p.num_entries as usize],
            ways: ways as usize,
            index_mask: sets as u64 - 1,
            tag_mask: low_bits(p.tag_bits),
            index_shift: p.inst_shift_amt,
            tag_shift: p.inst_shift_amt + sets.trailing_zeros(),
            writes: Writes::default(),
            counts: Counts::default(),
        })
    }

    /// The first entry of the set of `pc`, and its tag.
    #[inline]
    fn slot(&self, pc: u64) -> (usize, u64) {
        let set = ((pc >> self.index_shift) & self.index_mask) as usize;
        (set * self.ways, (pc >> self.tag_shift) & self.tag_mask)
    }

    /// Puts the way of `tag` first in its set, or else the one used longest ago.
    fn use_way(&mut self, first: usize, tag: u64) {
        self.writes.note(first);
        let set = &mut self.entries[first..first + self.ways];
        let way = set.iter().position(|e| e.tag == tag).unwrap_or(self.ways - 1);
        set[..=way].rotate_right(1);
    }

    /// The target stored for `pc`.
    #[inline]
    pub fn lookup(&mut self, pc: u64) -> Option<u64> {
        let (i, tag) = self.slot(pc);
        self.counts.lookups += 1;
        if self.entries[i].tag != tag && self.entries[i + 1..i + self.ways].iter().any(|e| e.tag == tag) {
            self.use_way(i, tag);
        }
        let e = self.entries[i];
        if e.tag == tag {
            Some(e.target)
        } else {
            self.counts.misses += 1;
            None
        }
    }

    /// Remembers where a taken branch goes; when that happens is the unit's rule (on a misprediction).
    #[inline]
    pub fn update(&mut self, pc: u64, target: u64) {
        let (i, tag) = self.slot(pc);
        if self.ways > 1 {
            self.use_way(i, tag);
        }
        let entry = Entry { tag, target };
        if self.entries[i] != entry {
            self.writes.note(i);
            self.entries[i] = entry;
        }
        self.counts.updates += 1;
    }

    /// Copies itself to `to`: no more than what has been written, if `to` is the copy that was made last.
    pub fn keep(&mut self, to: &mut SimpleBtb) {
        if self.writes.copy != 0 && self.writes.copy == to.writes.copy {
            for first in self.writes.sets.drain(..) {
                let set = first as usize..first as usize + self.ways;
                to.entries[set.clone()].copy_from_slice(&self.entries[set]);
            }
            to.counts = self.counts;
            return;
        }
        to.clone_from(self);
        self.writes.sets.clear();
        self.writes.copy = COPIES.fetch_add(1, Ordering::Relaxed);
        to.writes.copy = self.writes.copy;
    }

    /// Whether it holds what the kept copy `then` does.
    pub fn is(&self, then: &SimpleBtb) -> bool {
        if self.writes.copy == 0 || self.writes.copy != then.writes.copy {
            return self == then;
        }
        self.writes.sets.iter().all(|&first| {
            let set = first as usize..first as usize + self.ways;
            self.entries[set.clone()] == then.entries[set]
        })
    }

    /// Counts a misprediction for want of an entry.
    pub fn count_mispredict(&mut self) {
        self.counts.mispredict += 1;
    }

    pub fn stats(&self, s: &mut StatSink) {
        let c = &self.counts;
        s.count("lookups::total", c.lookups, Unit::Count, "Number of BTB lookups");
        s.count("misses::total", c.misses, Unit::Count, "Number of BTB misses");
        s.count("updates::total", c.updates, Unit::Count, "Number of BTB updates");
        s.count("mispredict::total", c.mispredict, Unit::Count, "Number of mispredictions for want of a BTB entry");
    }

    pub fn for_each_count(&mut self, each: &mut impl FnMut(&mut u64)) {
        let Counts { lookups, misses, updates, mispredict } = &mut self.counts;
        [lookups, misses, updates, mispredict].into_iter().for_each(each);
    }

    pub fn reset_stats(&mut self) {
        self.counts = Counts::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn btb(num_entries: u32, associativity: u32) -> SimpleBtb {
        let p = BtbParams { num_entries, associativity, inst_shift_amt: 0, ..BtbParams::default() };
        SimpleBtb::new(&p, "btb").unwrap()
    }

    #[test]
    fn a_set_holds_as_many_branches_as_it_has_ways_and_drops_the_one_used_longest_ago() {
        let mut direct = btb(64, 1);
        direct.update(0, 1);
        direct.update(64, 2);
        assert_eq!((direct.lookup(0), direct.lookup(64)), (None, Some(2)));
        let mut b = btb(12, 3); // four sets
        for pc in [0, 4, 8] {
            b.update(pc, pc + 1);
        }
        assert_eq!((b.lookup(4), b.lookup(0), b.lookup(8)), (Some(5), Some(1), Some(9)));
        b.update(12, 13);
        assert_eq!((b.lookup(4), b.lookup(0), b.lookup(8), b.lookup(12)), (None, Some(1), Some(9), Some(13)));
        b.update(8, 20);
        assert_eq!((b.lookup(8), b.lookup(0), b.lookup(12)), (Some(20), Some(1), Some(13)));
        assert_eq!(b.lookup(1), None);
    }

    proptest! {
        /// Whether it holds what was kept is told from the sets that were written; so is the next copy made.
        #[test]
        fn what_is_kept_and_compared_by_sets_is_the_whole_table(
            ways in 1u32..4,
            ops in vec((0u8..8, 0u64..400, 0u64..3), 1..400),
        ) {
            let mut b = btb(64 * ways, ways);
            let (mut kept, mut whole) = (b.clone(), b.clone());
            let snapshot = b.clone();
            for (op, pc, target) in ops {
                match op {
                    0 => {
                        b.keep(&mut kept);
                        whole = b.clone();
                    }
                    1 if target == 0 => b.clone_from(&snapshot),
                    1..=4 => b.update(pc, target),
                    _ => drop(b.lookup(pc)),
                }
                prop_assert_eq!(&kept, &whole);
                prop_assert_eq!(b.is(&kept), b == whole);
            }
        }
    }

    #[test]
    fn ways_must_divide_the_entries_into_a_power_of_two() {
        for (entries, ways, field) in [(12, 0, "associativity"), (12, 5, "associativity"), (12, 2, "numEntries")] {
            let p = BtbParams { num_entries: entries, associativity: ways, ..BtbParams::default() };
            assert!(SimpleBtb::new(&p, "btb").unwrap_err().to_string().contains(field), "{entries} {ways}");
        }
    }
}
