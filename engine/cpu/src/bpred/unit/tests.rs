use super::super::*;
use super::*;

const PC: u64 = 0x8000_1000;

fn unit(direction: DirectionParams) -> BranchPredictor {
    BranchPredictor::new(&BranchPredictorParams { direction, ..Default::default() }, "bp").expect("valid")
}

fn all() -> [(&'static str, BranchPredictor); 4] {
    [
        ("local", unit(DirectionParams::Local(LocalParams::default()))),
        ("tournament", unit(DirectionParams::Tournament(TournamentParams::default()))),
        ("bimode", unit(DirectionParams::BiMode(BiModeParams::default()))),
        ("gshare", unit(DirectionParams::Gshare(GshareParams::default()))),
    ]
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
    fn misses(&mut self, n: usize, mut outcome: impl FnMut(usize) -> bool) -> usize {
        (0..n).filter(|i| self.cond(PC, outcome(*i))).count()
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
    // Of 40 iterations: no history here reaches, each exit is missed, nothing else.
    for (name, bp) in all() {
        let mut r = Runner::new(bp);
        r.misses(4000, |i| i % 40 != 39);
        let later = r.misses(4000, |i| i % 40 != 39);
        assert!((100..=110).contains(&later), "{name}: {later}");
    }
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
        let mut x = 0x1234_5678_u32;
        let mut missed = [0, 0];
        for i in 0..4000 {
            x ^= x << 13;
            x ^= x >> 17;
            x ^= x << 5;
            let first = x & 1 == 1;
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
    assert_eq!(r.bp.counts.btb_mispredicted, 1);
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

/// Everything that predictions depend on, without the counters of events.
fn state(bp: &BranchPredictor) -> String {
    let mut bp = bp.clone();
    bp.reset_stats();
    format!("{bp:?}")
}

#[test]
fn a_squash_restores_every_history_exactly() {
    let kinds = [
        BranchKind::Cond,
        BranchKind::Call,
        BranchKind::Return,
        BranchKind::Indirect,
        BranchKind::Return,
        BranchKind::Cond,
        BranchKind::IndirectCall,
        BranchKind::Jump,
    ];
    for (name, bp) in all() {
        let mut r = Runner::new(bp);
        let mut x = 1_u64;
        let mut next = || {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            x >> 33
        };
        for _ in 0..500 {
            let (kind, pc) = (kinds[next() as usize % kinds.len()], PC + (next() % 64) * 2);
            let taken = kind != BranchKind::Cond || next() % 3 == 0;
            r.branch(pc, kind, taken, PC + (next() % 64) * 2);
        }
        // An older branch stays in flight, forty wrong-path ones come and go.
        r.bp.predict(1000, PC, 4, BranchKind::Cond);
        let before = state(&r.bp);
        for i in 0..40 {
            r.bp.predict(1001 + i, PC + (next() % 64) * 2, 4, kinds[next() as usize % kinds.len()]);
        }
        assert_ne!(before, state(&r.bp), "{name}");
        r.bp.squash(1000);
        assert_eq!(before, state(&r.bp), "{name}");
        assert_eq!(r.bp.in_flight(), 1);
        // A wrong prediction set right leaves what a right prediction would have left.
        let p = r.bp.predict(1002, PC + 2, 4, BranchKind::Cond);
        let mut right = r.bp.clone();
        right.correct(1002, p.target, p.taken, true);
        assert_eq!(state(&right).replace("mispredicted: true", "mispredicted: false"), state(&r.bp), "{name}");
    }
}

#[test]
fn a_correction_shifts_the_true_outcome_into_the_history() {
    for (name, mut bp) in all().into_iter().skip(1) {
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
}
