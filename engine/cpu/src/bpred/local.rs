//! gem5's `LocalBP`: one saturating counter per branch address, no history.
//! Fact source: gem5 `src/cpu/pred/2bit_local.cc` (there are size/bits counters; unconditional branches train them too).

use super::counters::{table_size, CounterTable};
use super::direction::DirectionRecord;
use super::LocalParams;
use breakeven_base::ConfigError;
use educe::Educe;

#[derive(Debug, PartialEq, Eq, Educe)]
#[educe(Clone)]
pub struct LocalBp {
    counters: CounterTable,
    shift: u32,
}

impl LocalBp {
    /// # Errors
    /// `localPredictorSize` and `localPredictorSize / localCtrBits` must be powers of two.
    pub fn new(p: &LocalParams, shift: u32, path: &str) -> Result<Self, ConfigError> {
        table_size(path, "localPredictorSize", p.local_predictor_size)?;
        let sets = p.local_predictor_size / p.local_ctr_bits.max(1);
        let counters =
            CounterTable::new(path, "localPredictorSize", sets, "localCtrBits", p.local_ctr_bits).map_err(|e| {
                if e.path.ends_with("localPredictorSize") {
                    ConfigError::new(e.path, "localPredictorSize / localCtrBits must be a power of two, at least 1")
                } else {
                    e
                }
            })?;
        Ok(LocalBp { counters, shift })
    }

    #[allow(clippy::unused_self)] // one of the four predictors' common methods
    pub(super) fn history(&self) -> u64 {
        0
    }

    #[inline]
    pub(super) fn lookup(&self, pc: u64) -> DirectionRecord {
        DirectionRecord { predicted: self.counters.taken(pc >> self.shift), ..DirectionRecord::default() }
    }

    #[allow(clippy::unused_self)]
    pub(super) fn push_history(&mut self, _pc: u64, _taken: bool, _r: &DirectionRecord) {}

    #[allow(clippy::unused_self)]
    pub(super) fn restore(&mut self, _pc: u64, _r: &DirectionRecord) {}

    #[inline]
    pub(super) fn train(&mut self, pc: u64, taken: bool, _r: &DirectionRecord) {
        self.counters.train(pc >> self.shift, taken);
    }
}
