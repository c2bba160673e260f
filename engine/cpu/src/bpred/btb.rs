//! gem5's `SimpleBTB`: a direct-mapped table from branch address to target, with partial tags.
//! Fact source: gem5 24.0 `src/cpu/pred/simple_btb.cc`: index `(pc >> instShiftAmt) mod numEntries`, tag the next `tagBits` bits.

use super::counters::{low_bits, table_size};
use super::BtbParams;
use breakeven_base::{clone_by_field, ConfigError, StatSink, Unit};

#[derive(Clone, Copy, Debug)]
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

#[derive(Debug)]
pub struct SimpleBtb {
    entries: Vec<Entry>,
    index_mask: u64,
    tag_mask: u64,
    index_shift: u32,
    tag_shift: u32,
    counts: Counts,
}

clone_by_field!(SimpleBtb { entries, index_mask, tag_mask, index_shift, tag_shift, counts });

impl SimpleBtb {
    /// # Errors
    /// `numEntries` must be a power of two, `tagBits` at most 63, `instShiftAmt` at most 16.
    pub fn new(p: &BtbParams, path: &str) -> Result<Self, ConfigError> {
        let entries = table_size(path, "numEntries", p.num_entries)?;
        if p.tag_bits > 63 {
            return Err(ConfigError::new(format!("{path}.tagBits"), format!("{} bits: at most 63", p.tag_bits)));
        }
        super::check_shift(path, p.inst_shift_amt)?;
        Ok(SimpleBtb {
            entries: vec![Entry { tag: u64::MAX, target: 0 }; entries],
            index_mask: entries as u64 - 1,
            tag_mask: low_bits(p.tag_bits),
            index_shift: p.inst_shift_amt,
            tag_shift: p.inst_shift_amt + p.num_entries.trailing_zeros(),
            counts: Counts::default(),
        })
    }

    #[inline]
    fn slot(&self, pc: u64) -> (usize, u64) {
        (((pc >> self.index_shift) & self.index_mask) as usize, (pc >> self.tag_shift) & self.tag_mask)
    }

    /// The target stored for `pc`.
    #[inline]
    pub fn lookup(&mut self, pc: u64) -> Option<u64> {
        let (i, tag) = self.slot(pc);
        let e = self.entries[i];
        self.counts.lookups += 1;
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
        self.entries[i] = Entry { tag, target };
        self.counts.updates += 1;
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

    pub fn reset_stats(&mut self) {
        self.counts = Counts::default();
    }
}
