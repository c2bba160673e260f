//! Branch predictors of a description.

use breakeven_cpu::bpred::{
    BiModeParams, BranchPredictorParams, BtbParams, DirectionParams, GshareParams, IndirectParams, LocalParams,
    RasParams, SharedParams, TournamentParams,
};
use serde_json::json;

use super::reader::Obj;

/// Larger tables are nobody's predictor.
const TABLE: u32 = 1 << 22;
const BITS: u32 = 64;

/// `branchPred` of a core; `None`: null (or wrong, and noted).
pub(super) fn predictor(cpu: Obj) -> Option<BranchPredictorParams> {
    let o = cpu.opt_ref("branchPred")?;
    let size = |name| o.u32(name, 1..=TABLE);
    let bits = |name| o.u32(name, 1..=8);
    let direction = match o.class() {
        "LocalBP" => DirectionParams::Local(LocalParams {
            local_predictor_size: size("localPredictorSize"),
            local_ctr_bits: bits("localCtrBits"),
        }),
        "TournamentBP" => DirectionParams::Tournament(TournamentParams {
            local_predictor_size: size("localPredictorSize"),
            local_ctr_bits: bits("localCtrBits"),
            local_history_table_size: size("localHistoryTableSize"),
            global_predictor_size: size("globalPredictorSize"),
            global_ctr_bits: bits("globalCtrBits"),
            choice_predictor_size: size("choicePredictorSize"),
            choice_ctr_bits: bits("choiceCtrBits"),
        }),
        "BiModeBP" => DirectionParams::BiMode(BiModeParams {
            global_predictor_size: size("globalPredictorSize"),
            global_ctr_bits: bits("globalCtrBits"),
            choice_predictor_size: size("choicePredictorSize"),
            choice_ctr_bits: bits("choiceCtrBits"),
        }),
        "GshareBP" => DirectionParams::Gshare(GshareParams {
            global_predictor_size: size("globalPredictorSize"),
            global_ctr_bits: bits("globalCtrBits"),
            history_bits: o.u32("historyBits", 0..=BITS),
        }),
        _ => {
            o.expect_class("branch predictor", &["LocalBP", "TournamentBP", "BiModeBP", "GshareBP"]);
            return None;
        }
    };
    Some(BranchPredictorParams {
        shared: SharedParams {
            inst_shift_amt: o.u32("instShiftAmt", 0..=16),
            requires_btb_hit: o.bool("requiresBTBHit"),
        },
        direction,
        btb: btb(o),
        ras: o.opt_ref("ras").map(|r| RasParams { num_entries: r.u32("numEntries", 1..=4096) }),
        indirect: o.opt_ref("indirectBranchPred").and_then(indirect),
    })
}

fn btb(predictor: Obj) -> BtbParams {
    match predictor.a_ref("btb").filter(|b| b.expect_class("branch target buffer", &["SimpleBTB"])) {
        Some(b) => BtbParams {
            num_entries: b.u32("numEntries", 1..=TABLE),
            tag_bits: b.u32("tagBits", 1..=BITS),
            inst_shift_amt: b.u32("instShiftAmt", 0..=16),
        },
        None => BtbParams::default(),
    }
}

fn indirect(o: Obj) -> Option<IndirectParams> {
    o.expect_class("indirect predictor", &["SimpleIndirectPredictor"]).then(|| IndirectParams {
        indirect_hash_ghr: o.bool("indirectHashGHR"),
        indirect_hash_targets: o.bool("indirectHashTargets"),
        indirect_sets: o.u32("indirectSets", 1..=1 << 16),
        indirect_ways: o.u32("indirectWays", 1..=64),
        indirect_tag_size: o.u32("indirectTagSize", 1..=BITS),
        indirect_path_length: o.u32("indirectPathLength", 0..=64),
        indirect_ghr_bits: o.u32("indirectGHRBits", 0..=BITS),
        speculative_path_length: o.u32("speculativePathLength", 0..=1 << 16),
        inst_shift_amt: o.u32("instShiftAmt", 0..=16),
    })
}

/// The parameters that every core has and of which only one value is modelled.
pub(super) fn common(cpu: Obj) {
    cpu.only("numThreads", &json!(1), "one hardware thread");
    cpu.only("switched_out", &json!(false), "there is nothing to switch to");
    cpu.only("checker", &serde_json::Value::Null, "there is no checker core");
}
