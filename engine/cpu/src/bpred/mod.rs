//! Branch prediction, as gem5 24.0's `BPredUnit` does it: a direction predictor, a BTB, a return stack and an indirect
//! predictor, asked when a branch is fetched.
//!
//! ```text
//! fetch      predict(seq, pc, len, kind)             histories are updated speculatively
//! execute    correct(seq, target, taken, ..)         mispredicted: younger branches are undone, this one is set right
//! flush      squash(seq)                             everything younger than `seq` is undone, without a misprediction
//! commit     update(seq)                             everything up to `seq` trains the tables
//! ```
//!
//! The unit keeps a small record per branch in flight, in fetch order; a core carries nothing but the sequence number,
//! any rising number that is unique among the branches in flight. Any number of branches may be in flight.

mod bimode;
mod btb;
mod counters;
mod direction;
mod gshare;
mod history;
mod indirect;
mod lfsr;
mod local;
mod loop_predictor;
mod params;
mod path_history;
mod ras;
mod tage;
mod tournament;
mod unit;

pub use params::{
    BiModeParams, BranchPredictorParams, BtbParams, DirectionParams, GshareParams, IndirectParams, LocalParams,
    LoopPredictorParams, LtageParams, PathHistoryParams, RasParams, SharedParams, TageParams, TournamentParams,
};
pub use unit::{BranchPredictor, Prediction, TargetProvider};

use params::{check_range, check_shift};
