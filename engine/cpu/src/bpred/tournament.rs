//! gem5's `TournamentBP` (the Alpha 21264's shape): a local predictor (history per branch, counters per history), a
//! global one indexed by the global history, and a choice table, also indexed by it.
//! Fact source: gem5 `src/cpu/pred/tournament.cc`: neither global table hashes the address; unconditional branches
//! enter the global history and train the global counters; the local table is indexed by `pc >> instShiftAmt`.

use super::counters::{low_bits, table_size, CounterTable};
use super::direction::DirectionRecord;
use super::TournamentParams;
use breakeven_base::ConfigError;
use educe::Educe;

#[derive(Debug, PartialEq, Eq, Educe)]
#[educe(Clone)]
pub struct TournamentBp {
    local_history: Vec<u32>,
    local_index_mask: u64,
    local_history_mask: u64,
    local: CounterTable,
    global: CounterTable,
    choice: CounterTable,
    history: u64,
    history_mask: u64,
    shift: u32,
}

impl TournamentBp {
    /// # Errors
    /// Table sizes must be powers of two, counter widths 1 to 8 bits.
    pub fn new(p: &TournamentParams, shift: u32, path: &str) -> Result<Self, ConfigError> {
        let local =
            CounterTable::new(path, "localPredictorSize", p.local_predictor_size, "localCtrBits", p.local_ctr_bits)?;
        let global = CounterTable::new(
            path,
            "globalPredictorSize",
            p.global_predictor_size,
            "globalCtrBits",
            p.global_ctr_bits,
        )?;
        let choice = CounterTable::new(
            path,
            "choicePredictorSize",
            p.choice_predictor_size,
            "choiceCtrBits",
            p.choice_ctr_bits,
        )?;
        let histories = table_size(path, "localHistoryTableSize", p.local_history_table_size)?;
        Ok(TournamentBp {
            local_history: vec![0; histories],
            local_index_mask: histories as u64 - 1,
            local_history_mask: low_bits(local.index_bits()),
            history: 0,
            history_mask: low_bits(global.index_bits().max(choice.index_bits())),
            local,
            global,
            choice,
            shift,
        })
    }

    pub(super) fn history(&self) -> u64 {
        self.history
    }

    #[inline]
    fn slot(&self, pc: u64) -> usize {
        ((pc >> self.shift) & self.local_index_mask) as usize
    }

    #[inline]
    pub(super) fn lookup(&self, pc: u64) -> DirectionRecord {
        let local = u64::from(self.local_history[self.slot(pc)]);
        let local_taken = self.local.taken(local);
        let global_taken = self.global.taken(self.history);
        let chosen = self.choice.taken(self.history);
        let predicted = if chosen { global_taken } else { local_taken };
        DirectionRecord { global: self.history, local, uncond: false, local_taken, global_taken, chosen, predicted }
    }

    #[inline]
    pub(super) fn push_history(&mut self, pc: u64, taken: bool, r: &DirectionRecord) {
        self.history = ((self.history << 1) | u64::from(taken)) & self.history_mask;
        if !r.uncond {
            let slot = self.slot(pc);
            let h = &mut self.local_history[slot];
            *h = (((u64::from(*h) << 1) | u64::from(taken)) & self.local_history_mask) as u32;
        }
    }

    #[inline]
    pub(super) fn restore(&mut self, pc: u64, r: &DirectionRecord) {
        self.history = r.global;
        if !r.uncond {
            let slot = self.slot(pc);
            self.local_history[slot] = r.local as u32;
        }
    }

    #[inline]
    pub(super) fn train(&mut self, _pc: u64, taken: bool, r: &DirectionRecord) {
        if !r.uncond && r.local_taken != r.global_taken {
            self.choice.train(r.global, r.global_taken == taken);
        }
        self.global.train(r.global, taken);
        if !r.uncond {
            self.local.train(r.local, taken);
        }
    }
}
