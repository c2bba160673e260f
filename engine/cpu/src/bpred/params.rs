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

/// `PathHistoryBP` (ours).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathHistoryParams {
    /// Of each tagged table, in taken branches; rising.
    pub history_lengths: Vec<u32>,
    /// Entries of each tagged table, and counters by address alone.
    pub tagged_table_size: u32,
    pub base_predictor_size: u32,
}

/// gem5 `TAGEBase`, the part of `TAGE` and `LTAGE` that predicts from global history. Table 0 is the untagged bimodal one.
/// Not here: `speculativeHistUpdate` (always), `numUseAltOnNa` (the base class reads the first counter only).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TageParams {
    /// Tagged tables, 1 to 32; the vectors have one element more.
    pub n_history_tables: u32,
    /// History lengths of the first and the last tagged table, in branches; geometric in between.
    pub min_hist: u32,
    pub max_hist: u32,
    pub log_tag_table_sizes: Vec<u32>,
    /// Bits of tag; the first is 0.
    pub tag_table_tag_widths: Vec<u32>,
    pub tag_table_counter_bits: u32,
    /// 1 or 2 bits of usefulness.
    pub tag_table_u_bits: u32,
    /// Bimodal entries that share a hysteresis bit.
    pub log_ratio_bi_modal_hyst_entries: u32,
    /// Usefulness is halved every 2^this conditional branches.
    pub log_u_reset_period: u32,
    pub initial_t_counter_value: i64,
    pub path_hist_bits: u32,
    pub use_alt_on_na_bits: u32,
    /// Entries allocated at most after a misprediction.
    pub max_num_alloc: u32,
    /// Which tables take part; empty: all.
    pub no_skip: Vec<bool>,
    /// Accepted for gem5's sake: the buffer here is as long as it has to be.
    pub hist_buffer_size: u32,
    pub inst_shift_amt: u32,
}

/// gem5 `LoopPredictor`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)] // gem5's switches
pub struct LoopPredictorParams {
    pub log_size_loop_pred: u32,
    pub with_loop_bits: u32,
    pub loop_table_age_bits: u32,
    pub loop_table_confidence_bits: u32,
    pub loop_table_tag_bits: u32,
    pub loop_table_iter_bits: u32,
    pub log_loop_table_assoc: u32,
    pub use_direction_bit: bool,
    /// Count iterations when they are predicted, not when they commit.
    pub use_speculation: bool,
    pub use_hashing: bool,
    pub restrict_allocation: bool,
    pub initial_loop_iter: u32,
    pub initial_loop_age: u32,
    pub optional_age_reset: bool,
}

/// gem5 `LTAGE`: `tage` (by default `LTAGE_TAGE`) and `loop_predictor`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LtageParams {
    pub tage: TageParams,
    pub loop_predictor: LoopPredictorParams,
}

/// gem5 `SimpleBTB`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BtbParams {
    pub num_entries: u32,
    /// Ours; gem5's is direct-mapped (1).
    pub associativity: u32,
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
    PathHistory(PathHistoryParams),
    Tage(TageParams),
    Ltage(LtageParams),
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

impl Default for PathHistoryParams {
    fn default() -> Self {
        PathHistoryParams {
            history_lengths: vec![4, 12, 34, 66, 194],
            tagged_table_size: 2048,
            base_predictor_size: 8192,
        }
    }
}

impl Default for TageParams {
    fn default() -> Self {
        TageParams {
            n_history_tables: 7,
            min_hist: 5,
            max_hist: 130,
            log_tag_table_sizes: vec![13, 9, 9, 9, 9, 9, 9, 9],
            tag_table_tag_widths: vec![0, 9, 9, 10, 10, 11, 11, 12],
            tag_table_counter_bits: 3,
            tag_table_u_bits: 2,
            log_ratio_bi_modal_hyst_entries: 2,
            log_u_reset_period: 18,
            initial_t_counter_value: 1 << 17,
            path_hist_bits: 16,
            use_alt_on_na_bits: 4,
            max_num_alloc: 1,
            no_skip: Vec::new(),
            hist_buffer_size: 2 << 20,
            inst_shift_amt: 2,
        }
    }
}

impl TageParams {
    /// gem5's `LTAGE_TAGE`.
    #[must_use]
    pub fn ltage() -> Self {
        TageParams {
            n_history_tables: 12,
            min_hist: 4,
            max_hist: 640,
            log_tag_table_sizes: vec![14, 10, 10, 11, 11, 11, 11, 10, 10, 10, 10, 9, 9],
            tag_table_tag_widths: vec![0, 7, 7, 8, 8, 9, 10, 11, 12, 12, 13, 14, 15],
            log_u_reset_period: 19,
            ..TageParams::default()
        }
    }
}

impl Default for LoopPredictorParams {
    fn default() -> Self {
        LoopPredictorParams {
            log_size_loop_pred: 8,
            with_loop_bits: 7,
            loop_table_age_bits: 8,
            loop_table_confidence_bits: 2,
            loop_table_tag_bits: 14,
            loop_table_iter_bits: 14,
            log_loop_table_assoc: 2,
            use_direction_bit: false,
            use_speculation: false,
            use_hashing: false,
            restrict_allocation: false,
            initial_loop_iter: 1,
            initial_loop_age: 255,
            optional_age_reset: true,
        }
    }
}

impl Default for LtageParams {
    fn default() -> Self {
        LtageParams { tage: TageParams::ltage(), loop_predictor: LoopPredictorParams::default() }
    }
}

impl Default for BtbParams {
    fn default() -> Self {
        BtbParams { num_entries: 4096, associativity: 1, tag_bits: 16, inst_shift_amt: 2 }
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

/// Checks the parameter `name` of the object at `path`.
///
/// # Errors
/// When `v` is outside `lo..=hi`.
pub(super) fn check_range(path: &str, name: &str, v: u32, lo: u32, hi: u32) -> Result<(), ConfigError> {
    if (lo..=hi).contains(&v) {
        Ok(())
    } else {
        Err(ConfigError::new(format!("{path}.{name}"), format!("{v}: must be {lo} to {hi}")))
    }
}

pub(super) fn check_shift(path: &str, shift: u32) -> Result<(), ConfigError> {
    check_range(path, "instShiftAmt", shift, 0, 16)
}
