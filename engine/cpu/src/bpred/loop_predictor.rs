//! gem5's `LoopPredictor`, the L in L-TAGE: counts the iterations of loops and predicts their exit once the same count has
//! been seen `2^loopTableConfidenceBits - 1` times. A global counter decides whether its prediction overrides TAGE's.
//! Fact source: gem5 24.0 `src/cpu/pred/loop_predictor.cc` (after Seznec, "A 256 Kbits L-TAGE branch predictor", 2007).
//!
//! Without `useSpeculation` (gem5's default) iterations are counted when they commit: with several iterations of a short
//! loop in flight the exit is predicted too late, and the global counter turns the predictor off.

use super::counters::low_bits;
use super::lfsr::Lfsr;
use super::LoopPredictorParams;
use breakeven_base::{ConfigError, StatSink, Unit};
use educe::Educe;

/// One loop branch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Entry {
    /// Iterations of the last complete run; 0: not known yet.
    num_iter: u16,
    current_iter: u16,
    current_iter_spec: u16,
    tag: u16,
    confidence: u8,
    age: u8,
    /// The direction that stays in the loop; read with `useDirectionBit`.
    dir: bool,
}

/// What one prediction leaves behind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LoopRecord {
    /// First entry of the set.
    index: u32,
    index_b: u32,
    tag: u16,
    /// Speculative iteration before the branch.
    iter_spec: u16,
    /// The way that hit.
    hit: Option<u8>,
    /// The hit entry is confident.
    valid: bool,
    predicted: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    correct: u64,
    wrong: u64,
}

#[derive(Debug, Educe)]
#[educe(Clone)]
pub(super) struct LoopPredictor {
    p: LoopPredictorParams,
    table: Vec<Entry>,
    set_mask: u64,
    tag_mask: u64,
    iter_mask: u16,
    confident: u8,
    shift: u32,
    /// Not negative: its predictions are used.
    use_counter: i32,
    counts: Counts,
}

impl LoopPredictor {
    /// # Errors
    /// Widths that the table's fields cannot hold, a table above 2^20 entries.
    pub(super) fn new(p: &LoopPredictorParams, shift: u32, path: &str) -> Result<Self, ConfigError> {
        let bound = |name: &str, v: u32, lo: u32, hi: u32| super::check_range(path, name, v, lo, hi);
        bound("logSizeLoopPred", p.log_size_loop_pred, 0, 20)?;
        bound("logLoopTableAssoc", p.log_loop_table_assoc, 0, p.log_size_loop_pred.min(7))?;
        bound("withLoopBits", p.with_loop_bits, 1, 30)?;
        bound("loopTableAgeBits", p.loop_table_age_bits, 1, 8)?;
        bound("loopTableConfidenceBits", p.loop_table_confidence_bits, 1, 8)?;
        bound("loopTableTagBits", p.loop_table_tag_bits, 1, 16)?;
        bound("loopTableIterBits", p.loop_table_iter_bits, 1, 16)?;
        bound("initialLoopIter", p.initial_loop_iter, 0, low_bits(p.loop_table_iter_bits) as u32)?;
        bound("initialLoopAge", p.initial_loop_age, 0, low_bits(p.loop_table_age_bits) as u32)?;
        Ok(LoopPredictor {
            table: vec![Entry::default(); 1 << p.log_size_loop_pred],
            set_mask: low_bits(p.log_size_loop_pred - p.log_loop_table_assoc),
            tag_mask: low_bits(p.loop_table_tag_bits),
            iter_mask: low_bits(p.loop_table_iter_bits) as u16,
            confident: low_bits(p.loop_table_confidence_bits) as u8,
            shift,
            use_counter: -1,
            counts: Counts::default(),
            p: p.clone(),
        })
    }

    fn slot(&self, r: &LoopRecord, way: u8) -> usize {
        let way = u32::from(way);
        let mut index = r.index;
        if self.p.use_hashing {
            index ^= r.index_b.checked_shr(way).unwrap_or(0) << self.p.log_loop_table_assoc;
        }
        (index + way) as usize & (self.table.len() - 1)
    }

    /// The entry that hit.
    fn entry(&mut self, r: &LoopRecord) -> Option<&mut Entry> {
        let i = self.slot(r, r.hit?);
        Some(&mut self.table[i])
    }

    /// The entry for `pc` and what it says with (`speculative`) or without the iterations in flight.
    fn read(&self, pc: u64, speculative: bool) -> LoopRecord {
        let mut set = pc >> self.shift;
        let sets = self.p.log_size_loop_pred - self.p.log_loop_table_assoc;
        let mut r = LoopRecord::default();
        if self.p.use_hashing {
            set ^= pc;
            r.index_b = ((pc >> sets) & self.set_mask) as u32;
            r.tag = (((pc >> sets) ^ (pc >> (sets + self.p.loop_table_tag_bits))) & self.tag_mask) as u16;
        } else {
            r.tag = ((pc >> (self.shift + sets)) & self.tag_mask) as u16;
        }
        r.index = ((set & self.set_mask) as u32) << self.p.log_loop_table_assoc;
        for way in 0..1_u8 << self.p.log_loop_table_assoc {
            let e = &self.table[self.slot(&r, way)];
            if e.tag == r.tag {
                r.hit = Some(way);
                r.valid = e.confidence == self.confident;
                r.iter_spec = e.current_iter_spec;
                let iter = if speculative { e.current_iter_spec } else { e.current_iter };
                let stays = !self.p.use_direction_bit || e.dir;
                r.predicted = stays ^ (u32::from(iter) + 1 == u32::from(e.num_iter));
                break;
            }
        }
        r
    }

    /// Asked about a conditional branch for which TAGE says `tage`: the record and the final prediction.
    pub(super) fn predict(&self, pc: u64, tage: bool) -> (LoopRecord, bool) {
        let r = self.read(pc, self.p.use_speculation);
        let used = self.use_counter >= 0 && r.valid;
        (r, if used { r.predicted } else { tage })
    }

    /// Counts an iteration in flight.
    pub(super) fn push(&mut self, taken: bool, r: &LoopRecord) {
        if !self.p.use_speculation {
            return;
        }
        let mask = self.iter_mask;
        let directed = self.p.use_direction_bit;
        if let Some(e) = self.entry(r) {
            let stays = !directed || e.dir;
            e.current_iter_spec = if taken == stays { e.current_iter_spec.wrapping_add(1) & mask } else { 0 };
        }
    }

    /// Forgets the iteration in flight and all younger ones.
    pub(super) fn restore(&mut self, r: &LoopRecord) {
        if !self.p.use_speculation {
            return;
        }
        let spec = r.iter_spec;
        if let Some(e) = self.entry(r) {
            e.current_iter_spec = spec;
        }
    }

    /// The branch commits; `tage` is what TAGE said, `predicted` what the two together said.
    pub(super) fn train(
        &mut self,
        pc: u64,
        taken: bool,
        (tage, predicted): (bool, bool),
        r: &LoopRecord,
        random: &mut Lfsr,
    ) {
        if taken == r.predicted {
            self.counts.correct += 1;
        } else {
            self.counts.wrong += 1;
        }
        // What it would have said without the iterations in flight: that is what the entry learns from.
        let r = if self.p.use_speculation { self.read(pc, false) } else { *r };
        if r.valid && predicted != r.predicted {
            let top = 1_i32 << (self.p.with_loop_bits - 1);
            self.use_counter = if r.predicted == taken {
                (self.use_counter + 1).min(top - 1)
            } else {
                (self.use_counter - 1).max(-top)
            };
        }
        let (way, chance) = (random.next(), random.next());
        if r.hit.is_some() {
            self.learn(taken, tage, &r);
        } else if if self.p.use_direction_bit { predicted != taken } else { taken } {
            self.allocate(taken, &r, way, chance);
        }
    }

    fn learn(&mut self, taken: bool, tage: bool, r: &LoopRecord) {
        let (directed, age_reset, mask) = (self.p.use_direction_bit, self.p.optional_age_reset, self.iter_mask);
        let (confident, oldest) = (self.confident, low_bits(self.p.loop_table_age_bits) as u8);
        let Some(e) = self.entry(r) else { return };
        if r.valid {
            if taken != r.predicted {
                (e.num_iter, e.age, e.confidence, e.current_iter) = (0, 0, 0, 0);
                return;
            }
            if r.predicted != tage {
                e.age = e.age.saturating_add(1).min(oldest);
            }
        }
        e.current_iter = e.current_iter.wrapping_add(1) & mask;
        if e.current_iter > e.num_iter {
            e.confidence = 0;
            if e.num_iter != 0 {
                e.num_iter = 0;
                if age_reset {
                    e.age = 0;
                }
            }
        }
        let stays = !directed || e.dir;
        if taken == stays {
            return;
        }
        // The loop is left.
        if e.current_iter == e.num_iter {
            e.confidence = e.confidence.saturating_add(1).min(confident);
            if e.num_iter < 3 {
                // Loops of one or two iterations are left to TAGE.
                e.dir = taken;
                (e.num_iter, e.age, e.confidence) = (0, 0, 0);
            }
        } else if e.num_iter == 0 {
            e.confidence = 0;
            e.num_iter = e.current_iter;
        } else {
            // Not as many as last time.
            (e.num_iter, e.confidence) = (0, 0);
            if age_reset {
                e.age = 0;
            }
        }
        e.current_iter = 0;
    }

    fn allocate(&mut self, taken: bool, r: &LoopRecord, way: u32, chance: u32) {
        if self.p.restrict_allocation && chance & 3 != 0 {
            return;
        }
        let ways = 1_u32 << self.p.log_loop_table_assoc;
        for i in 0..ways {
            let slot = self.slot(r, (way.wrapping_add(i) & (ways - 1)) as u8);
            let e = &mut self.table[slot];
            if e.age == 0 {
                *e = Entry {
                    tag: r.tag,
                    dir: !taken,
                    age: self.p.initial_loop_age as u8,
                    current_iter: self.p.initial_loop_iter as u16,
                    current_iter_spec: e.current_iter_spec,
                    ..Entry::default()
                };
                break;
            }
            e.age -= 1;
            if self.p.restrict_allocation {
                break;
            }
        }
    }

    pub(super) fn stats(&self, s: &mut StatSink) {
        let c = &self.counts;
        s.count("correct", c.correct, Unit::Count, "Number of times the loop predictor's word was right, used or not");
        s.count("wrong", c.wrong, Unit::Count, "Number of times the loop predictor's word was wrong, used or not");
    }

    pub(super) fn reset_stats(&mut self) {
        self.counts = Counts::default();
    }
}
