//! Parameters of the branch predictors, gem5's names in Rust's spelling, gem5 24.0's defaults.

use breakeven_base::ConfigError;

/// gem5 `LocalBP`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalParams {
    pub local_predictor_size: u32,
    pub local_ctr_bits: u32,
}

/// gem5 `TournamentBP`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TournamentParams {
    pub local_predictor_size: u32,
    pub local_ctr_bits: u32,
    pub local_history_table_size: u32,
    pub global_predictor_size: u32,
    pub global_ctr_bits: u32,
    pub choice_predictor_size: u32,
    pub choice_ctr_bits: u32,
}

/// gem5 `BiModeBP`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BiModeParams {
    pub global_predictor_size: u32,
    pub global_ctr_bits: u32,
    pub choice_predictor_size: u32,
    pub choice_ctr_bits: u32,
}

/// `GshareBP` (ours).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GshareParams {
    pub global_predictor_size: u32,
    pub global_ctr_bits: u32,
    pub history_bits: u32,
}

/// gem5 `SimpleBTB`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BtbParams {
    pub num_entries: u32,
    pub tag_bits: u32,
    pub inst_shift_amt: u32,
}

/// gem5 `ReturnAddrStack`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RasParams {
    pub num_entries: u32,
}

/// gem5 `SimpleIndirectPredictor`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndirectParams {
    pub indirect_hash_ghr: bool,
    pub indirect_hash_targets: bool,
    pub indirect_sets: u32,
    pub indirect_ways: u32,
    pub indirect_tag_size: u32,
    pub indirect_path_length: u32,
    pub indirect_ghr_bits: u32,
    /// Accepted for gem5's sake: the path here holds no more than a prediction reads, and is restored exactly.
    pub speculative_path_length: u32,
    pub inst_shift_amt: u32,
}

/// Which direction predictor, with its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DirectionParams {
    Local(LocalParams),
    Tournament(TournamentParams),
    BiMode(BiModeParams),
    Gshare(GshareParams),
}

/// gem5 `BranchPredictor`: what every kind has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedParams {
    pub inst_shift_amt: u32,
    /// Without a BTB hit neither the return stack nor the indirect predictor is asked (a decoupled front end).
    pub requires_btb_hit: bool,
}

/// A whole branch prediction unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchPredictorParams {
    pub shared: SharedParams,
    pub direction: DirectionParams,
    pub btb: BtbParams,
    /// `None`: returns are predicted by the BTB.
    pub ras: Option<RasParams>,
    /// `None`: indirect branches are predicted by the BTB.
    pub indirect: Option<IndirectParams>,
}

impl Default for LocalParams {
    fn default() -> Self {
        LocalParams { local_predictor_size: 2048, local_ctr_bits: 2 }
    }
}

impl Default for TournamentParams {
    fn default() -> Self {
        TournamentParams {
            local_predictor_size: 2048,
            local_ctr_bits: 2,
            local_history_table_size: 2048,
            global_predictor_size: 8192,
            global_ctr_bits: 2,
            choice_predictor_size: 8192,
            choice_ctr_bits: 2,
        }
    }
}

impl Default for BiModeParams {
    fn default() -> Self {
        BiModeParams {
            global_predictor_size: 8192,
            global_ctr_bits: 2,
            choice_predictor_size: 8192,
            choice_ctr_bits: 2,
        }
    }
}

impl Default for GshareParams {
    fn default() -> Self {
        GshareParams { global_predictor_size: 8192, global_ctr_bits: 2, history_bits: 13 }
    }
}

impl Default for BtbParams {
    fn default() -> Self {
        BtbParams { num_entries: 4096, tag_bits: 16, inst_shift_amt: 2 }
    }
}

impl Default for RasParams {
    fn default() -> Self {
        RasParams { num_entries: 16 }
    }
}

impl Default for IndirectParams {
    fn default() -> Self {
        IndirectParams {
            indirect_hash_ghr: true,
            indirect_hash_targets: true,
            indirect_sets: 256,
            indirect_ways: 2,
            indirect_tag_size: 16,
            indirect_path_length: 3,
            indirect_ghr_bits: 13,
            speculative_path_length: 256,
            inst_shift_amt: 2,
        }
    }
}

impl Default for DirectionParams {
    /// Minor's and O3's default in gem5.
    fn default() -> Self {
        DirectionParams::Tournament(TournamentParams::default())
    }
}

impl Default for SharedParams {
    fn default() -> Self {
        SharedParams { inst_shift_amt: 2, requires_btb_hit: false }
    }
}

impl Default for BranchPredictorParams {
    fn default() -> Self {
        BranchPredictorParams {
            shared: SharedParams::default(),
            direction: DirectionParams::default(),
            btb: BtbParams::default(),
            ras: Some(RasParams::default()),
            indirect: Some(IndirectParams::default()),
        }
    }
}

pub(super) fn check_shift(path: &str, shift: u32) -> Result<(), ConfigError> {
    if shift > 16 {
        return Err(ConfigError::new(format!("{path}.instShiftAmt"), format!("{shift}: at most 16")));
    }
    Ok(())
}
