//! `GshareBP` (ours; gem5 24.0 has none): one counter table indexed by address xor global history.
//! After McFarling, "Combining Branch Predictors" (1993): only conditional branches enter the history.

use super::counters::{low_bits, CounterTable};
use super::direction::DirectionRecord;
use super::GshareParams;
use breakeven_base::ConfigError;
use educe::Educe;

#[derive(Debug, PartialEq, Eq, Educe)]
#[educe(Clone)]
pub struct GshareBp {
    counters: CounterTable,
    history: u64,
    history_mask: u64,
    shift: u32,
}

impl GshareBp {
    /// # Errors
    /// `globalPredictorSize` must be a power of two, `globalCtrBits` 1 to 8, `historyBits` at most 63.
    pub fn new(p: &GshareParams, shift: u32, path: &str) -> Result<Self, ConfigError> {
        let counters = CounterTable::new(
            path,
            "globalPredictorSize",
            p.global_predictor_size,
            "globalCtrBits",
            p.global_ctr_bits,
        )?;
        if p.history_bits > 63 {
            return Err(ConfigError::new(
                format!("{path}.historyBits"),
                format!("{} bits of history: at most 63", p.history_bits),
            ));
        }
        Ok(GshareBp { counters, history: 0, history_mask: low_bits(p.history_bits), shift })
    }

    pub(super) fn history(&self) -> u64 {
        self.history
    }

    #[inline]
    pub(super) fn lookup(&self, pc: u64) -> DirectionRecord {
        let predicted = self.counters.taken((pc >> self.shift) ^ self.history);
        DirectionRecord { global: self.history, predicted, ..DirectionRecord::default() }
    }

    #[inline]
    pub(super) fn push_history(&mut self, _pc: u64, taken: bool, r: &DirectionRecord) {
        if !r.uncond {
            self.history = ((self.history << 1) | u64::from(taken)) & self.history_mask;
        }
    }

    #[inline]
    pub(super) fn restore(&mut self, _pc: u64, r: &DirectionRecord) {
        self.history = r.global;
    }

    #[inline]
    pub(super) fn train(&mut self, pc: u64, taken: bool, r: &DirectionRecord) {
        if !r.uncond {
            self.counters.train((pc >> self.shift) ^ r.global, taken);
        }
    }
}
