//! gem5's `SimpleIndirectPredictor`: a set-associative table of targets, indexed by address xor global direction history
//! xor the last targets of indirect branches.
//! Fact source: gem5 24.0 `src/cpu/pred/simple_indirect.cc`. A new target replaces an empty way first, then one chosen by
//! a fixed pseudo-random sequence (gem5: libc's `rand()`).

use super::counters::{low_bits, table_size};
use super::lfsr::Lfsr;
use super::IndirectParams;
use breakeven_base::{ConfigError, StatSink, Unit};
use educe::Educe;

/// State just before one branch, kept until it commits or is squashed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndirectRecord {
    ghr: u64,
    /// The path entry that the branch's own one overwrote; meaningful when `indirect`.
    over: u64,
    /// An indirect branch or call, not a return: it is part of the path.
    indirect: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Way {
    /// `u64::MAX`: empty.
    tag: u64,
    target: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    lookups: u64,
    hits: u64,
    misses: u64,
    target_records: u64,
    indirect_records: u64,
}

#[derive(Debug, Educe)]
#[educe(Clone)]
pub struct SimpleIndirectPredictor {
    ways: Vec<Way>,
    assoc: usize,
    set_mask: u64,
    tag_mask: u64,
    shift: u32,
    hash_ghr: bool,
    hash_targets: bool,
    hash_shift: u32,
    ghr: u64,
    ghr_mask: u64,
    /// The last `path.len()` targets, a ring; the youngest at `path_at`.
    path: Vec<u64>,
    path_at: usize,
    random: Lfsr,
    counts: Counts,
}

impl SimpleIndirectPredictor {
    /// # Errors
    /// `indirectSets` must be a power of two; ways, path length, history and tag bits have bounds that the error names.
    pub fn new(p: &IndirectParams, path: &str) -> Result<Self, ConfigError> {
        let sets = table_size(path, "indirectSets", p.indirect_sets)?;
        let bound = |name: &str, v: u32, lo: u32, hi: u32| super::check_range(path, name, v, lo, hi);
        bound("indirectWays", p.indirect_ways, 1, 64)?;
        bound("indirectPathLength", p.indirect_path_length, 1, 64)?;
        bound("indirectGHRBits", p.indirect_ghr_bits, 0, 32)?;
        bound("indirectTagSize", p.indirect_tag_size, 1, 63)?;
        bound("indirectSets", p.indirect_sets, 1, 1 << 20)?;
        super::check_shift(path, p.inst_shift_amt)?;
        Ok(SimpleIndirectPredictor {
            ways: vec![Way { tag: u64::MAX, target: 0 }; sets * p.indirect_ways as usize],
            assoc: p.indirect_ways as usize,
            set_mask: sets as u64 - 1,
            tag_mask: low_bits(p.indirect_tag_size),
            shift: p.inst_shift_amt,
            hash_ghr: p.indirect_hash_ghr,
            hash_targets: p.indirect_hash_targets,
            hash_shift: p.indirect_sets.trailing_zeros() / p.indirect_path_length,
            ghr: 0,
            ghr_mask: low_bits(p.indirect_ghr_bits),
            path: vec![0; p.indirect_path_length as usize],
            path_at: 0,
            random: Lfsr::new(0x2545_f491),
            counts: Counts::default(),
        })
    }

    /// First way of the set that `pc` selects under the current histories.
    #[inline]
    fn set(&self, pc: u64) -> usize {
        let mut hash = pc >> self.shift;
        if self.hash_ghr {
            hash ^= self.ghr;
        }
        if self.hash_targets {
            let n = self.path.len();
            let mut at = self.path_at;
            for p in 0..n as u32 {
                hash ^= self.path[at].checked_shr(self.shift + p * self.hash_shift).unwrap_or(0);
                at = if at == 0 { n - 1 } else { at - 1 };
            }
        }
        (hash & self.set_mask) as usize * self.assoc
    }

    #[inline]
    fn tag(&self, pc: u64) -> u64 {
        (pc >> self.shift) & self.tag_mask
    }

    /// The target predicted for the indirect branch at `pc`.
    #[inline]
    pub fn lookup(&mut self, pc: u64) -> Option<u64> {
        let (set, tag) = (self.set(pc), self.tag(pc));
        self.counts.lookups += 1;
        let hit = self.ways[set..set + self.assoc].iter().find(|w| w.tag == tag).map(|w| w.target);
        if hit.is_some() {
            self.counts.hits += 1;
        } else {
            self.counts.misses += 1;
        }
        hit
    }

    /// Speculative update after a prediction: every branch enters the direction history, `indirect` ones the path.
    #[inline]
    pub fn record(&mut self, indirect: bool, taken: bool, target: u64) -> IndirectRecord {
        let mut r = IndirectRecord { ghr: self.ghr, over: 0, indirect };
        if indirect {
            self.path_at = if self.path_at + 1 == self.path.len() { 0 } else { self.path_at + 1 };
            r.over = std::mem::replace(&mut self.path[self.path_at], target);
            self.counts.indirect_records += 1;
        }
        self.ghr = ((self.ghr << 1) | u64::from(taken)) & self.ghr_mask;
        r
    }

    /// Undoes the youngest [`SimpleIndirectPredictor::record`] that has not been undone.
    #[inline]
    pub fn squash(&mut self, r: &IndirectRecord) {
        self.ghr = r.ghr;
        if r.indirect {
            self.path[self.path_at] = r.over;
            self.path_at = if self.path_at == 0 { self.path.len() - 1 } else { self.path_at - 1 };
        }
    }

    /// The branch of `r`, now the youngest, was mispredicted: histories are set right and an indirect target is learnt.
    pub fn correct(&mut self, pc: u64, r: &IndirectRecord, taken: bool, target: u64) -> IndirectRecord {
        self.squash(r);
        if r.indirect && taken {
            self.learn(pc, target);
        }
        self.record(r.indirect, taken, target)
    }

    fn learn(&mut self, pc: u64, target: u64) {
        let (set, tag) = (self.set(pc), self.tag(pc));
        self.counts.target_records += 1;
        let victim = self.random.next() as usize % self.assoc;
        let ways = &mut self.ways[set..set + self.assoc];
        let way = ways.iter().position(|w| w.tag == tag).or_else(|| ways.iter().position(|w| w.tag == u64::MAX));
        ways[way.unwrap_or(victim)] = Way { tag, target };
    }

    /// Whether it predicts as `other` does: where the ring of targets begins does not matter.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        let from_youngest = |p: &Self, age: usize| p.path[(p.path_at + p.path.len() - age) % p.path.len()];
        self.ways == other.ways
            && (self.ghr, self.random) == (other.ghr, other.random)
            && (0..self.path.len()).all(|age| from_youngest(self, age) == from_youngest(other, age))
    }

    pub fn stats(&self, s: &mut StatSink) {
        let c = &self.counts;
        s.count("lookups", c.lookups, Unit::Count, "Number of lookups");
        s.count("hits", c.hits, Unit::Count, "Number of hits of a tag");
        s.count("misses", c.misses, Unit::Count, "Number of misses");
        s.count("targetRecords", c.target_records, Unit::Count, "Number of targets recorded in the cache");
        s.count("indirectRecords", c.indirect_records, Unit::Count, "Number of indirect branches recorded in the path");
    }

    pub fn for_each_count(&mut self, each: &mut impl FnMut(&mut u64)) {
        let Counts { lookups, hits, misses, target_records, indirect_records } = &mut self.counts;
        [lookups, hits, misses, target_records, indirect_records].into_iter().for_each(each);
    }

    pub fn reset_stats(&mut self) {
        self.counts = Counts::default();
    }
}
