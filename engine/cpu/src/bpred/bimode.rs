//! gem5's `BiModeBP`: a choice table by address picks one of two counter tables (for branches that are mostly taken,
//! mostly not taken), both indexed by address xor global history.
//! Fact source: gem5 `src/cpu/pred/bi_mode.cc`; after Lee, Chen and Mudge, "The Bi-Mode Branch Predictor" (1997).

use super::counters::{low_bits, CounterTable};
use super::direction::DirectionRecord;
use super::BiModeParams;
use breakeven_base::ConfigError;
use educe::Educe;

#[derive(Debug, PartialEq, Eq, Educe)]
#[educe(Clone)]
pub struct BiModeBp {
    choice: CounterTable,
    taken: CounterTable,
    not_taken: CounterTable,
    history: u64,
    history_mask: u64,
    shift: u32,
}

impl BiModeBp {
    /// # Errors
    /// Table sizes must be powers of two, counter widths 1 to 8 bits.
    pub fn new(p: &BiModeParams, shift: u32, path: &str) -> Result<Self, ConfigError> {
        let choice = CounterTable::new(
            path,
            "choicePredictorSize",
            p.choice_predictor_size,
            "choiceCtrBits",
            p.choice_ctr_bits,
        )?;
        let taken = CounterTable::new(
            path,
            "globalPredictorSize",
            p.global_predictor_size,
            "globalCtrBits",
            p.global_ctr_bits,
        )?;
        let history_mask = low_bits(taken.index_bits());
        Ok(BiModeBp { choice, not_taken: taken.clone(), taken, history: 0, history_mask, shift })
    }

    pub(super) fn history(&self) -> u64 {
        self.history
    }

    #[inline]
    pub(super) fn lookup(&self, pc: u64) -> DirectionRecord {
        let pc = pc >> self.shift;
        let chosen = self.choice.taken(pc);
        let table = if chosen { &self.taken } else { &self.not_taken };
        let predicted = table.taken(pc ^ self.history);
        DirectionRecord { global: self.history, chosen, predicted, ..DirectionRecord::default() }
    }

    #[inline]
    pub(super) fn push_history(&mut self, _pc: u64, taken: bool, _r: &DirectionRecord) {
        self.history = ((self.history << 1) | u64::from(taken)) & self.history_mask;
    }

    #[inline]
    pub(super) fn restore(&mut self, _pc: u64, r: &DirectionRecord) {
        self.history = r.global;
    }

    #[inline]
    pub(super) fn train(&mut self, pc: u64, taken: bool, r: &DirectionRecord) {
        let pc = pc >> self.shift;
        let table = if r.chosen { &mut self.taken } else { &mut self.not_taken };
        table.train(pc ^ r.global, taken);
        // The choice keeps a branch's bias when the chosen table was right against that bias.
        if r.predicted != taken || r.predicted == r.chosen {
            self.choice.train(pc, taken);
        }
    }
}
