use proptest::prelude::Rng;
use proptest::test_runner::{RngAlgorithm, TestRng};

use super::super::*;
use super::*;

const PC: u64 = 0x8000_1000;

/// A coin that falls the same in every run.
fn coin() -> impl FnMut() -> bool {
    let mut rng = TestRng::deterministic_rng(RngAlgorithm::default());
    move || rng.next_u32() & 1 == 1
}

fn unit(direction: DirectionParams) -> BranchPredictor {
    BranchPredictor::new(&BranchPredictorParams { direction, ..Default::default() }, "bp").expect("valid")
}

fn all() -> [(&'static str, BranchPredictor); 8] {
    let mut speculative = LtageParams::default();
    speculative.loop_predictor.use_speculation = true;
    [
        ("local", unit(DirectionParams::Local(LocalParams::default()))),
        ("tournament", unit(DirectionParams::Tournament(TournamentParams::default()))),
        ("bimode", unit(DirectionParams::BiMode(BiModeParams::default()))),
        ("gshare", unit(DirectionParams::Gshare(GshareParams::default()))),
        ("path history", unit(DirectionParams::PathHistory(PathHistoryParams::default()))),
        ("tage", unit(DirectionParams::Tage(TageParams::default()))),
        ("ltage", unit(DirectionParams::Ltage(LtageParams::default()))),
        ("ltage, speculative", unit(DirectionParams::Ltage(speculative))),
    ]
}

#[test]
fn predictions_that_nothing_commits_are_bounded() {
    for (name, mut bp) in all() {
        for seq in 0..2 * MOST_IN_FLIGHT as u64 {
            bp.predict(seq, PC, 4, BranchKind::Cond);
            assert!(bp.in_flight.len() <= MOST_IN_FLIGHT, "{name}");
        }
    }
}

/// Runs branches one at a time (predicted, resolved, committed) and counts the mispredictions.
struct Runner {
    bp: BranchPredictor,
    seq: u64,
}

impl Runner {
    fn new(bp: BranchPredictor) -> Self {
        Runner { bp, seq: 0 }
    }
    fn branch(&mut self, pc: u64, kind: BranchKind, taken: bool, target: u64) -> bool {
        self.seq += 1;
        let next = if taken { target } else { pc + 4 };
        let p = self.bp.predict(self.seq, pc, 4, kind);
        let wrong = p.target != next;
        if wrong {
            self.bp.correct(self.seq, next, taken, true);
        }
        self.bp.update(self.seq);
        wrong
    }
    fn cond(&mut self, pc: u64, taken: bool) -> bool {
        self.branch(pc, BranchKind::Cond, taken, pc - 0x100)
    }
    /// Of one branch; where it is not taken, a jump leads back to it.
    fn misses(&mut self, n: usize, mut outcome: impl FnMut(usize) -> bool) -> usize {
        (0..n)
            .filter(|i| {
                let taken = outcome(*i);
                let wrong = self.cond(PC, taken);
                if !taken {
                    self.branch(PC + 0x40, BranchKind::Jump, true, PC);
                }
                wrong
            })
            .count()
    }
}

#[test]
fn a_loop_costs_its_exit_until_the_history_covers_it() {
    // A loop of 6 iterations, 100 times over: the local counter misses each exit, histories learn it.
    for (name, bp) in all() {
        let mut r = Runner::new(bp);
        let warm = r.misses(600, |i| i % 6 != 5);
        let later = r.misses(600, |i| i % 6 != 5);
        match name {
            "local" => assert!(later == 100, "{name}: {later}"),
            _ => assert!(later == 0, "{name}: {later} after {warm}"),
        }
    }
    // Of 40 iterations: only the histories of TAGE and of the path reach; the others miss each exit, nothing else.
    for (name, bp) in all() {
        let mut r = Runner::new(bp);
        r.misses(4000, |i| i % 40 != 39);
        let later = r.misses(4000, |i| i % 40 != 39);
        let reaches = name.contains("tage") || name == "path history";
        let expected = if reaches { 0..=0 } else { 100..=110 };
        assert!(expected.contains(&later), "{name}: {later}");
    }
}

#[test]
fn a_loop_longer_than_any_history_is_the_loop_predictors() {
    for (name, bp) in all() {
        let mut r = Runner::new(bp);
        r.misses(30_000, |i| i % 1000 != 999);
        let later = r.misses(20_000, |i| i % 1000 != 999);
        assert_eq!(later, if name.contains("ltage") { 0 } else { 20 }, "{name}");
    }
}

#[test]
fn a_path_history_learns_a_call_that_is_repeated_at_once() {
    // Two loops of each count in a call, behind branches that differ from call to call for a while.
    for iterations in 1..=64 {
        let mut r = Runner::new(unit(DirectionParams::PathHistory(PathHistoryParams::default())));
        let mut coin = coin();
        for _ in 0..100 {
            r.cond(PC + 0x200, coin());
        }
        let mut call = || {
            let first = r.misses(iterations, |i| i + 1 < iterations);
            let jump = r.branch(PC + 0x80, BranchKind::Jump, true, PC);
            let second = r.misses(iterations + 3, |i| i < iterations + 2);
            first + usize::from(jump) + second
        };
        // Until the longest history holds nothing but calls, then once more.
        let calls = 194 / (2 * iterations + 4) + 8;
        let learning: usize = (0..calls).map(|_| call()).sum();
        let later: usize = (0..10).map(|_| call()).sum();
        assert_eq!(later, 0, "{iterations} iterations, {learning} before");
    }
}

#[test]
fn paths_of_rising_lengths_are_needed() {
    let errors = [vec![], vec![4, 4], vec![9, 3], vec![0, 3], vec![1; 9]].map(|history_lengths| {
        let p = PathHistoryParams { history_lengths, ..PathHistoryParams::default() };
        let p = BranchPredictorParams { direction: DirectionParams::PathHistory(p), ..Default::default() };
        BranchPredictor::new(&p, "bp").expect_err("refused").to_string()
    });
    assert!(errors.iter().all(|e| e.contains("bp.historyLengths")), "{errors:?}");
}

#[test]
fn a_loop_that_changes_its_count_is_unlearnt() {
    let mut r = Runner::new(unit(DirectionParams::Ltage(LtageParams::default())));
    r.misses(30_000, |i| i % 1000 != 999);
    r.misses(30_000, |i| i % 1500 != 1499);
    assert_eq!(r.misses(30_000, |i| i % 1500 != 1499), 0);
    assert_eq!(r.misses(2000, |i| i % 2000 != 1999), 2, "an exit that was not, a new one");
}

#[test]
fn long_patterns_are_tages() {
    // A repeat after more than the others' thirteen outcomes: a marker, 40 branches always taken, the marker again.
    let mut coin = coin();
    let mut missed = std::collections::BTreeMap::new();
    for (name, bp) in all() {
        let mut r = Runner::new(bp);
        let mut late = 0;
        for i in 0..4000 {
            let marker = coin();
            r.cond(PC, marker);
            for k in 1..=40 {
                r.cond(PC + k * 4, true);
            }
            late += usize::from(r.cond(PC + 400, marker) && i >= 2000);
        }
        missed.insert(name, late);
    }
    assert!(missed["tage"] < 100 && missed["ltage"] < 100, "{missed:?}");
    assert!(missed["bimode"] > 500 && missed["tournament"] > 500, "{missed:?}");
}

#[test]
fn alternation_is_learnt_by_every_history() {
    for (name, bp) in all() {
        let mut r = Runner::new(bp);
        r.misses(200, |i| i % 2 == 0);
        let later = r.misses(200, |i| i % 2 == 0);
        match name {
            // 2-bit counters swing between weakly taken and weakly not taken, or stay on one side.
            "local" => assert!(later >= 100, "{name}: {later}"),
            _ => assert_eq!(later, 0, "{name}"),
        }
    }
}

#[test]
fn a_correlated_branch_needs_global_history() {
    // The second branch goes where the first, pseudo-random, one went.
    for (name, bp) in all() {
        let mut r = Runner::new(bp);
        let mut coin = coin();
        let mut missed = [0, 0];
        for i in 0..4000 {
            let first = coin();
            r.cond(PC, first);
            missed[usize::from(i >= 2000)] += usize::from(r.cond(PC + 64, first));
        }
        match name {
            "local" => assert!(missed[1] > 600, "{name}: {missed:?}"),
            "tournament" => assert!(missed[1] < 500, "{name}: {missed:?}"),
            _ => assert!(missed[1] < 500, "{name}: {missed:?}"),
        }
    }
}

#[test]
fn a_taken_branch_needs_the_btb_and_loses_it_to_an_alias() {
    let mut r = Runner::new(unit(DirectionParams::default()));
    assert!(r.branch(PC, BranchKind::Jump, true, 0x9000), "first sight: no target");
    assert!(!r.branch(PC, BranchKind::Jump, true, 0x9000));
    // Same index, other tag.
    let alias = PC + (4096 << 2);
    assert!(r.branch(alias, BranchKind::Jump, true, 0xa000));
    assert!(r.branch(PC, BranchKind::Jump, true, 0x9000));
    // Beyond the tag: taken for the same branch, with its target.
    let mut r = Runner::new(unit(DirectionParams::default()));
    r.branch(PC, BranchKind::Jump, true, 0x9000);
    let p = r.bp.predict(100, PC + (1 << (2 + 12 + 16)), 4, BranchKind::Jump);
    assert_eq!((p.taken, p.target, p.provider), (true, 0x9000, TargetProvider::Btb));
    assert_eq!(r.bp.counts.btb.mispredicted, 1);
}

#[test]
fn the_return_stack_wraps_and_keeps_the_youngest() {
    let mut r = Runner::new(unit(DirectionParams::default()));
    let call = |d: u64| PC + d * 0x40;
    for d in 0..20 {
        r.branch(call(d), BranchKind::Call, true, call(d + 1));
    }
    // All returns come from one place, so the BTB cannot help.
    let wrong: Vec<u64> = (0..20).rev().filter(|&d| r.branch(0x5000, BranchKind::Return, true, call(d) + 4)).collect();
    assert_eq!(wrong, [3, 2, 1, 0], "16 entries hold the 16 youngest");
    assert_eq!(r.bp.counts.target_provider[TargetProvider::Ras as usize], 20);
    let mut s = StatSink::new();
    r.bp.stats(&mut s);
    let get = |n: &str| s.stats.iter().find(|x| x.name == n).map(|x| x.value);
    assert_eq!((get("RASUsed"), get("RASIncorrect"), get("ras.correct")), (Some(20.0), Some(4.0), Some(16.0)));
    assert_eq!(get("lookups_0::total"), Some(40.0));
}

#[test]
fn an_empty_return_stack_leaves_the_return_to_the_btb() {
    let mut r = Runner::new(unit(DirectionParams::default()));
    assert!(r.branch(PC, BranchKind::Return, true, 0x9000));
    let p = r.bp.predict(50, PC, 4, BranchKind::Return);
    assert_eq!((p.target, p.provider), (0x9000, TargetProvider::Btb));
}

#[test]
fn indirect_targets_follow_the_path() {
    // Targets in a cycle of three: the last targets tell the next one; a BTB alone is always wrong.
    let run = |indirect: Option<IndirectParams>| {
        let p = BranchPredictorParams { indirect, ..Default::default() };
        let mut r = Runner::new(BranchPredictor::new(&p, "bp").expect("valid"));
        let mut go =
            |n: u64| (0..n).filter(|i| r.branch(PC, BranchKind::Indirect, true, 0x9000 + (i % 3) * 0x40)).count();
        (go(90), go(90))
    };
    let (first, later) = run(Some(IndirectParams::default()));
    assert!(first < 30 && later == 0, "{first} {later}");
    assert_eq!(run(None).1, 90);
}

#[test]
fn without_a_btb_hit_a_decoupled_front_end_sees_no_branch() {
    let shared = SharedParams { requires_btb_hit: true, ..Default::default() };
    let p = BranchPredictorParams { shared, ..Default::default() };
    let mut bp = BranchPredictor::new(&p, "bp").expect("valid");
    assert!(!bp.predict(1, PC, 4, BranchKind::Call).taken);
    bp.correct(1, 0x9100, true, true);
    bp.update(1);
    // The correction pushed the return address.
    bp.predict(2, 0x9100, 2, BranchKind::Return);
    bp.correct(2, PC + 4, true, true);
    bp.update(2);
    assert!(bp.predict(3, PC, 4, BranchKind::Call).taken);
    let p = bp.predict(4, 0x9100, 2, BranchKind::Return);
    assert_eq!((p.target, p.provider), (PC + 4, TargetProvider::Ras));
}

#[test]
fn a_squash_restores_what_returns_took_and_not_what_calls_overwrote() {
    use BranchKind::{Call, Return};
    let call = |d: u64| PC + d * 0x40;
    let wrong = |path: &[BranchKind]| -> Vec<u64> {
        let mut r = Runner::new(unit(DirectionParams::default()));
        for d in 0..16 {
            r.branch(call(d), Call, true, call(d + 1));
        }
        for (i, kind) in path.iter().enumerate() {
            r.bp.predict(1000 + i as u64, 0x6000, 4, *kind);
        }
        r.bp.squash(999);
        (0..16).rev().filter(|&d| r.branch(0x5000, Return, true, call(d) + 4)).collect()
    };
    assert_eq!(wrong(&[Return, Return, Call, Call]), []);
    // The stack is full: a call takes the oldest entry, as in gem5 for good.
    assert_eq!(wrong(&[Call]), [0]);
}

#[test]
fn a_correction_shifts_the_true_outcome_into_the_history() {
    // (TAGE's: the test beside `History`.)
    for (name, mut bp) in all().into_iter().skip(1).take(3) {
        let before = bp.direction.unconditional().global;
        bp.predict(1, PC, 4, BranchKind::Cond);
        bp.predict(2, PC + 8, 4, BranchKind::Cond);
        bp.predict(3, PC + 12, 4, BranchKind::Cond);
        bp.correct(1, PC - 64, true, true);
        assert_eq!(bp.direction.unconditional().global, (before << 1) | 1, "{name}");
        assert_eq!(bp.in_flight(), 1);
        bp.update(1);
        assert_eq!(bp.in_flight(), 0);
        bp.correct(7, PC, true, true); // nothing in flight: counted, nothing to set right
        assert_eq!(bp.cond_incorrect(), 2, "{name}");
    }
}

#[test]
fn parameters_that_cannot_be_built_are_named() {
    let path = |p: BranchPredictorParams| BranchPredictor::new(&p, "system.cpu.branchPred").expect_err("bad").path;
    let ok = BranchPredictorParams::default;
    let local = LocalParams { local_predictor_size: 2048, local_ctr_bits: 3 };
    assert_eq!(
        path(BranchPredictorParams { direction: DirectionParams::Local(local), ..ok() }),
        "system.cpu.branchPred.localPredictorSize"
    );
    let btb = BtbParams { num_entries: 100, ..Default::default() };
    assert_eq!(path(BranchPredictorParams { btb, ..ok() }), "system.cpu.branchPred.btb.numEntries");
    let ras = Some(RasParams { num_entries: 0 });
    assert_eq!(path(BranchPredictorParams { ras, ..ok() }), "system.cpu.branchPred.ras.numEntries");
    let indirect = Some(IndirectParams { indirect_ways: 0, ..Default::default() });
    assert_eq!(
        path(BranchPredictorParams { indirect, ..ok() }),
        "system.cpu.branchPred.indirectBranchPred.indirectWays"
    );
    let g = GshareParams { history_bits: 64, ..Default::default() };
    assert_eq!(
        path(BranchPredictorParams { direction: DirectionParams::Gshare(g), ..ok() }),
        "system.cpu.branchPred.historyBits"
    );
    let tage = |change: fn(&mut TageParams)| {
        let mut t = TageParams::default();
        change(&mut t);
        path(BranchPredictorParams { direction: DirectionParams::Tage(t), ..ok() })
    };
    for (name, change) in [
        ("nHistoryTables", (|t| t.n_history_tables = 0) as fn(&mut TageParams)),
        ("nHistoryTables", |t| t.n_history_tables = u32::MAX),
        ("logTagTableSizes", |t| t.n_history_tables = 8),
        ("tagTableTagWidths", |t| t.tag_table_tag_widths = Vec::new()),
        ("logTagTableSizes[3]", |t| t.log_tag_table_sizes[3] = 40),
        ("logTagTableSizes", |t| t.log_tag_table_sizes = vec![24; 8]),
        ("tagTableTagWidths[0]", |t| t.tag_table_tag_widths[0] = 1),
        ("tagTableTagWidths[2]", |t| t.tag_table_tag_widths[2] = 17),
        ("maxHist", |t| t.max_hist = 4),
        ("maxHist", |t| t.max_hist = u32::MAX),
        ("histBufferSize", |t| t.hist_buffer_size = 260),
        ("tagTableCounterBits", |t| t.tag_table_counter_bits = 0),
        ("logRatioBiModalHystEntries", |t| t.log_ratio_bi_modal_hyst_entries = 14),
        ("noSkip", |t| t.no_skip = vec![true]),
    ] {
        assert_eq!(tage(change), format!("system.cpu.branchPred.tage.{name}"));
    }
    let mut l = LtageParams::default();
    l.loop_predictor.initial_loop_age = 256;
    assert_eq!(
        path(BranchPredictorParams { direction: DirectionParams::Ltage(l), ..ok() }),
        "system.cpu.branchPred.loop_predictor.initialLoopAge"
    );
}
