//! Branch predictors of a description.

use breakeven_cpu::bpred::{
    BiModeParams, BranchPredictorParams, BtbParams, DirectionParams, GshareParams, IndirectParams, LocalParams,
    LoopPredictorParams, LtageParams, PathHistoryParams, RasParams, SharedParams, TageParams, TournamentParams,
};
use serde_json::json;

use super::reader::Obj;

/// The largest table.
const TABLE: u32 = 1 << 22;
const BITS: u32 = 64;

const PREDICTORS: &[&str] = &["LocalBP", "TournamentBP", "BiModeBP", "GshareBP", "PathHistoryBP", "TAGE", "LTAGE"];

/// `branchPred` of a core; `None`: null (or wrong, and noted).
pub(super) fn predictor(cpu: Obj) -> Option<BranchPredictorParams> {
    let o = cpu.opt_ref("branchPred")?;
    Some(BranchPredictorParams {
        direction: direction(o)?,
        shared: SharedParams {
            inst_shift_amt: o.u32("instShiftAmt", 0..=16),
            requires_btb_hit: o.bool("requiresBTBHit"),
        },
        btb: btb(o),
        ras: o.opt_ref("ras").map(|r| RasParams { num_entries: r.u32("numEntries", 1..=4096) }),
        indirect: o.opt_ref("indirectBranchPred").and_then(indirect),
    })
}

fn direction(o: Obj) -> Option<DirectionParams> {
    let size = |name| o.u32(name, 1..=TABLE);
    let bits = |name| o.u32(name, 1..=8);
    Some(match o.class() {
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
        "PathHistoryBP" => DirectionParams::PathHistory(PathHistoryParams {
            history_lengths: o.ints("historyLengths", 1..=TABLE.into()).into_iter().map(|v| v as u32).collect(),
            tagged_table_size: size("taggedTableSize"),
            base_predictor_size: size("basePredictorSize"),
        }),
        "TAGE" => DirectionParams::Tage(tage(o.a_ref("tage")?)?),
        "LTAGE" => DirectionParams::Ltage(LtageParams {
            tage: tage(o.a_ref("tage")?)?,
            loop_predictor: loop_predictor(o.a_ref("loop_predictor")?)?,
        }),
        _ => {
            o.expect_class("branch predictor", PREDICTORS);
            return None;
        }
    })
}

/// The bounds that matter are `TageParams::check`'s; those here keep sums from overflowing.
fn tage(o: Obj) -> Option<TageParams> {
    if !o.expect_class("TAGE table set", &["TAGEBase", "LTAGE_TAGE"]) {
        return None;
    }
    o.only("speculativeHistUpdate", &json!(true), "the history always holds the predicted branches");
    let n = |name| o.u32(name, 0..=TABLE);
    let each = |name: &str| o.ints(name, 0..=BITS.into()).into_iter().map(|v| v as u32).collect();
    Some(TageParams {
        n_history_tables: n("nHistoryTables"),
        min_hist: n("minHist"),
        max_hist: n("maxHist"),
        log_tag_table_sizes: each("logTagTableSizes"),
        tag_table_tag_widths: each("tagTableTagWidths"),
        tag_table_counter_bits: n("tagTableCounterBits"),
        tag_table_u_bits: n("tagTableUBits"),
        log_ratio_bi_modal_hyst_entries: n("logRatioBiModalHystEntries"),
        log_u_reset_period: n("logUResetPeriod"),
        initial_t_counter_value: o.int("initialTCounterValue", 0..=1 << 62) as i64,
        path_hist_bits: n("pathHistBits"),
        use_alt_on_na_bits: n("useAltOnNaBits"),
        max_num_alloc: n("maxNumAlloc"),
        no_skip: o.bools("noSkip"),
        hist_buffer_size: o.u32("histBufferSize", 0..=u32::MAX),
        inst_shift_amt: n("instShiftAmt"),
    })
}

fn loop_predictor(o: Obj) -> Option<LoopPredictorParams> {
    if !o.expect_class("loop predictor", &["LoopPredictor"]) {
        return None;
    }
    let n = |name| o.u32(name, 0..=TABLE);
    Some(LoopPredictorParams {
        log_size_loop_pred: n("logSizeLoopPred"),
        with_loop_bits: n("withLoopBits"),
        loop_table_age_bits: n("loopTableAgeBits"),
        loop_table_confidence_bits: n("loopTableConfidenceBits"),
        loop_table_tag_bits: n("loopTableTagBits"),
        loop_table_iter_bits: n("loopTableIterBits"),
        log_loop_table_assoc: n("logLoopTableAssoc"),
        use_direction_bit: o.bool("useDirectionBit"),
        use_speculation: o.bool("useSpeculation"),
        use_hashing: o.bool("useHashing"),
        restrict_allocation: o.bool("restrictAllocation"),
        initial_loop_iter: n("initialLoopIter"),
        initial_loop_age: n("initialLoopAge"),
        optional_age_reset: o.bool("optionalAgeReset"),
    })
}

fn btb(predictor: Obj) -> BtbParams {
    match predictor.a_ref("btb").filter(|b| b.expect_class("branch target buffer", &["SimpleBTB"])) {
        Some(b) => BtbParams {
            num_entries: b.u32("numEntries", 1..=TABLE),
            associativity: b.u32_or("associativity", 1, 1..=64),
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
