//! gem5 `StridePrefetcher`: a table of instructions with the stride between their accesses and how often it repeated.
//!
//! As gem5's `stride.cc` describes it, oddities included: the prefetches follow the stride just seen, not the one in the
//! table, once the entry's confidence is at the threshold; strides below a line count as a line. The set of an instruction
//! is `(pc >> 1 ^ pc >> 1 + log2(sets))` modulo the sets, its tag the whole PC; each requestor has its own table.

use super::Access;
use crate::cache::replacement::Replacement;
use crate::config::Replacement as Policy;
use crate::packet::REQUESTORS;
use breakeven_base::PhysAddr;
use educe::Educe;

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    /// 0: no instruction.
    pc: u64,
    last: PhysAddr,
    stride: i64,
    confidence: u32,
}

/// The instructions of one requestor; without entries until it has been seen.
#[derive(Educe)]
#[educe(Clone)]
struct Table {
    entries: Vec<Entry>,
    replacement: Replacement,
}
#[derive(Educe)]
#[educe(Clone)]
pub(crate) struct Stride {
    max_confidence: u32,
    initial_confidence: u32,
    /// Percent of the maximum.
    threshold: u32,
    per_requestor: bool,
    degree: u32,
    distance: u32,
    sets: usize,
    ways: usize,
    tables: Vec<Table>,
}
/// gem5's parameters; see [`crate::config::PrefetcherKind::Stride`].
pub(crate) struct StrideParams {
    pub confidence_counter_bits: u32,
    pub initial_confidence: u32,
    pub confidence_threshold: u32,
    pub use_requestor_id: bool,
    pub degree: u32,
    pub distance: u32,
    pub table_assoc: u32,
    pub table_entries: u32,
    pub table_replacement: Policy,
}

impl Stride {
    pub fn new(p: &StrideParams) -> Self {
        let ways = p.table_assoc.max(1) as usize;
        let sets = (p.table_entries as usize / ways).max(1);
        let table = || Table { entries: Vec::new(), replacement: Replacement::new(p.table_replacement, sets, ways) };
        Stride {
            max_confidence: (1 << p.confidence_counter_bits.min(31)) - 1,
            initial_confidence: p.initial_confidence,
            threshold: p.confidence_threshold,
            per_requestor: p.use_requestor_id,
            degree: p.degree,
            distance: p.distance,
            sets,
            ways,
            tables: (0..if p.use_requestor_id { REQUESTORS } else { 1 }).map(|_| table()).collect(),
        }
    }

    fn set(&self, pc: u64) -> usize {
        let a = pc >> 1;
        ((a ^ a >> self.sets.trailing_zeros()) & (self.sets as u64 - 1)) as usize
    }

    pub fn candidates(&mut self, a: &Access, line_bytes: u64, out: &mut Vec<PhysAddr>) {
        if a.pc == 0 {
            return;
        }
        let (set, ways) = (self.set(a.pc), self.ways);
        let n = if self.per_requestor { usize::from(a.requestor).min(self.tables.len() - 1) } else { 0 };
        let table = &mut self.tables[n];
        if table.entries.is_empty() {
            table.entries = vec![Entry::default(); self.sets * ways];
        }
        let entries = &mut table.entries[set * ways..][..ways];
        let Some(way) = entries.iter().position(|e| e.pc == a.pc) else {
            let free = entries.iter().position(|e| e.pc == 0);
            let way = table.replacement.place(set, free);
            entries[way] = Entry { pc: a.pc, last: a.addr, stride: 0, confidence: self.initial_confidence };
            table.replacement.fill(set, way);
            return;
        };
        table.replacement.touch(set, way);
        let e = &mut entries[way];
        let stride = a.addr.0.wrapping_sub(e.last.0) as i64;
        let trusted =
            |confidence: u32| u64::from(confidence) * 100 >= u64::from(self.threshold) * u64::from(self.max_confidence);
        if stride == e.stride && stride != 0 {
            e.confidence = (e.confidence + 1).min(self.max_confidence);
        } else {
            e.confidence = e.confidence.saturating_sub(1);
            if !trusted(e.confidence) {
                e.stride = stride;
            }
        }
        e.last = a.addr;
        if !trusted(e.confidence) {
            return;
        }
        let line = line_bytes as i64;
        let step = if stride.unsigned_abs() >= line_bytes {
            stride
        } else if stride < 0 {
            -line
        } else {
            line
        };
        let mut next = a.addr.wrapping_add(step.wrapping_mul(i64::from(self.distance)) as u64);
        for _ in 0..self.degree {
            next = next.wrapping_add(step as u64);
            out.push(next);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params() -> StrideParams {
        StrideParams {
            confidence_counter_bits: 3,
            initial_confidence: 4,
            confidence_threshold: 50,
            use_requestor_id: true,
            degree: 2,
            distance: 0,
            table_assoc: 4,
            table_entries: 64,
            table_replacement: Policy::Lru,
        }
    }

    fn feed(s: &mut Stride, pc: u64, requestor: u8, addrs: &[u64]) -> Vec<Vec<u64>> {
        addrs
            .iter()
            .map(|&addr| {
                let mut out = Vec::new();
                s.candidates(&Access { addr: PhysAddr(addr), pc, requestor }, 64, &mut out);
                out.iter().map(|a| a.0).collect()
            })
            .collect()
    }

    #[test]
    fn a_stride_is_trusted_from_its_first_repetition() {
        let mut s = Stride::new(&params());
        let seen = feed(&mut s, 0x100, 1, &[0x1000, 0x1100, 0x1200, 0x1300]);
        // New; 4 - 1 = 3 of 7 is below half; the stride repeats: 4 of 7.
        assert_eq!(seen, [vec![], vec![], vec![0x1300, 0x1400], vec![0x1400, 0x1500]]);
    }

    #[test]
    fn small_strides_are_a_line_and_descending_ones_go_down() {
        let mut s = Stride::new(&params());
        let seen = feed(&mut s, 0x100, 1, &[0x1040, 0x1038, 0x1030]);
        assert_eq!(seen[2], [0x1030 - 64, 0x1030 - 128]);
    }

    #[test]
    fn distance_skips_strides() {
        let mut s = Stride::new(&StrideParams { distance: 3, ..params() });
        let seen = feed(&mut s, 0x100, 1, &[0x1000, 0x1100, 0x1200]);
        assert_eq!(seen[2], [0x1600, 0x1700]);
    }

    #[test]
    fn one_stray_access_does_not_shake_a_confident_entry() {
        let mut s = Stride::new(&params());
        feed(&mut s, 0x100, 1, &[0x1000, 0x1100, 0x1200, 0x1300, 0x1400]);
        // Confidence 6 falls to 5; gem5 prefetches along the stray stride, but keeps the old one.
        assert_eq!(feed(&mut s, 0x100, 1, &[0x9000]), [[0x9000 + 0x7c00, 0x9000 + 2 * 0x7c00]]);
        assert_eq!(feed(&mut s, 0x100, 1, &[0x9100]), [[0x9200, 0x9300]]);
    }

    #[test]
    fn instructions_and_requestors_are_told_apart() {
        let mut s = Stride::new(&params());
        feed(&mut s, 0x100, 1, &[0x1000, 0x1100]);
        assert_eq!(feed(&mut s, 0x104, 1, &[0x1200]), [[0; 0]]);
        assert_eq!(feed(&mut s, 0x100, 0, &[0x1200]), [[0; 0]]);
        assert_eq!(feed(&mut s, 0x100, 1, &[0x1200]), [[0x1300, 0x1400]]);
        assert_eq!(feed(&mut s, 0, 1, &[0x1000, 0x1100, 0x1200])[2], [0; 0], "no PC");
        let mut one = Stride::new(&StrideParams { use_requestor_id: false, ..params() });
        feed(&mut one, 0x100, 1, &[0x1000, 0x1100]);
        assert_eq!(feed(&mut one, 0x100, 0, &[0x1200]), [[0x1300, 0x1400]]);
    }

    #[test]
    fn a_full_set_gives_an_instruction_up() {
        let mut s = Stride::new(&StrideParams { table_entries: 2, table_assoc: 2, ..params() });
        feed(&mut s, 2, 1, &[0x1000, 0x1100]);
        feed(&mut s, 4, 1, &[0x5000]);
        feed(&mut s, 6, 1, &[0x6000]); // in the place of 2
        assert_eq!(feed(&mut s, 2, 1, &[0x1200]), [[0; 0]]);
    }
}
