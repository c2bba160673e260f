//! What holds of every predictor, whatever branches come: speculation leaves no trace, and commits come one by one or
//! together.

use proptest::collection::vec;
use proptest::prelude::*;

use super::super::*;
use super::*;

const PC: u64 = 0x8000_1000;

/// A branch: its kind, its place among few (they alias), where it goes.
#[derive(Clone, Copy, Debug)]
struct Branch {
    kind: BranchKind,
    pc: u64,
    taken: bool,
    target: u64,
}

fn branch(kinds: &'static [BranchKind]) -> impl Strategy<Value = Branch> {
    (proptest::sample::select(kinds), 0..48u64, any::<bool>(), 0..16u64).prop_map(|(kind, at, taken, to)| Branch {
        kind,
        pc: PC + 2 * at,
        taken: taken || kind != BranchKind::Cond,
        target: PC + 0x100 * to,
    })
}

const ALL: [BranchKind; 6] = [
    BranchKind::Cond,
    BranchKind::Jump,
    BranchKind::Indirect,
    BranchKind::Call,
    BranchKind::IndirectCall,
    BranchKind::Return,
];
/// Those that leave the return stack alone: what lies above its top, or was lost when it wrapped, is not restored.
const STACKLESS: [BranchKind; 3] = [BranchKind::Cond, BranchKind::Jump, BranchKind::Indirect];

/// One of each kind, with tables so small that branches meet in them.
fn units() -> impl Strategy<Value = BranchPredictor> {
    let mut tage = TageParams::default();
    tage.log_tag_table_sizes.iter_mut().for_each(|log| *log = 5);
    tage.log_ratio_bi_modal_hyst_entries = 2;
    let mut ltage = LtageParams::default();
    ltage.tage.log_tag_table_sizes.iter_mut().for_each(|log| *log = 5);
    ltage.tage.log_ratio_bi_modal_hyst_entries = 2;
    ltage.loop_predictor.log_size_loop_pred = 3;
    let mut speculative = ltage.clone();
    speculative.loop_predictor.use_speculation = true;
    let directions = vec![
        DirectionParams::Local(LocalParams { local_predictor_size: 32, ..LocalParams::default() }),
        DirectionParams::Tournament(TournamentParams {
            local_predictor_size: 32,
            local_history_table_size: 16,
            global_predictor_size: 64,
            choice_predictor_size: 64,
            ..TournamentParams::default()
        }),
        DirectionParams::BiMode(BiModeParams {
            global_predictor_size: 64,
            choice_predictor_size: 64,
            ..BiModeParams::default()
        }),
        DirectionParams::Gshare(GshareParams { history_bits: 6, ..GshareParams::default() }),
        DirectionParams::PathHistory(PathHistoryParams {
            history_lengths: vec![1, 3, 90],
            tagged_table_size: 16,
            base_predictor_size: 16,
        }),
        DirectionParams::Tage(tage),
        DirectionParams::Ltage(ltage),
        DirectionParams::Ltage(speculative),
    ];
    (proptest::sample::select(directions), any::<bool>()).prop_map(|(direction, requires_btb_hit)| {
        let shared = SharedParams { requires_btb_hit, ..SharedParams::default() };
        let btb = BtbParams { num_entries: 16, ..BtbParams::default() };
        let indirect = Some(IndirectParams { indirect_sets: 4, ..IndirectParams::default() });
        let p = BranchPredictorParams { direction, shared, btb, indirect, ..BranchPredictorParams::default() };
        BranchPredictor::new(&p, "bp").expect("valid")
    })
}

/// All that predictions depend on but the return stack, whose lost entries are no matter of these properties.
fn state(bp: &BranchPredictor) -> String {
    let mut bp = bp.clone();
    bp.reset_stats();
    bp.ras = None;
    format!("{bp:?}")
}

/// Predicts `branches`, numbered from `seq` + 1 on; the last number.
fn fetch(bp: &mut BranchPredictor, mut seq: u64, branches: &[Branch]) -> u64 {
    for b in branches {
        seq += 1;
        bp.predict(seq, b.pc, 4, b.kind);
    }
    seq
}

/// Executes `branches` of the right path with `depth` of them in flight; behind each mispredicted one `wrong` is fetched before
/// that is known. Numbers are `step` apart. The predictions.
fn run(bp: &mut BranchPredictor, branches: &[Branch], wrong: &[Branch], depth: usize, step: u64) -> Vec<Prediction> {
    let mut all = Vec::new();
    for (i, b) in (1u64..).zip(branches) {
        let p = bp.predict(i * step, b.pc, 4, b.kind);
        let next = if b.taken { b.target } else { b.pc + 4 };
        if p.target != next || p.taken != b.taken {
            fetch(bp, i * step, wrong);
            bp.correct(i * step, next, b.taken, true);
        }
        bp.update(i.saturating_sub(depth as u64) * step);
        all.push(p);
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn a_squash_undoes_what_was_predicted(
        mut bp in units(),
        before in vec(branch(&ALL), 0..120),
        depth in 0..12usize,
        path in vec(branch(&ALL), 1..40),
    ) {
        run(&mut bp, &before, &[], depth, 1);
        let (seq, was, in_flight) = (before.len() as u64, state(&bp), bp.in_flight());
        fetch(&mut bp, seq, &path);
        prop_assert_eq!(bp.in_flight(), in_flight + path.len());
        bp.squash(seq);
        prop_assert_eq!(bp.in_flight(), in_flight);
        prop_assert_eq!(state(&bp), was);
    }

    #[test]
    fn a_wrong_path_leaves_no_trace(
        mut bp in units(),
        branches in vec(branch(&STACKLESS), 1..120),
        // A few, or more than the histories have room for at first.
        wrong in prop_oneof![vec(branch(&STACKLESS), 1..8), vec(branch(&STACKLESS), 300)],
        depth in 0..12usize,
    ) {
        let mut clairvoyant = bp.clone();
        // Numbered alike.
        let step = wrong.len() as u64 + 1;
        let right = run(&mut clairvoyant, &branches, &[], depth, step);
        prop_assert_eq!(run(&mut bp, &branches, &wrong, depth, step), right);
        prop_assert_eq!(state(&bp), state(&clairvoyant));
    }

    #[test]
    fn a_right_prediction_that_is_corrected_stays_what_it_was(
        mut bp in units(),
        before in vec(branch(&ALL), 0..120),
        depth in 0..12usize,
        b in branch(&[BranchKind::Cond]),
    ) {
        run(&mut bp, &before, &[], depth, 1);
        let seq = before.len() as u64 + 1;
        let p = bp.predict(seq, b.pc, 4, b.kind);
        let mut corrected = bp.clone();
        corrected.correct(seq, p.target, p.taken, true);
        // Only that it was set right is noted.
        let left = |bp: &BranchPredictor| state(bp).replace("mispredicted: true", "mispredicted: false");
        prop_assert_eq!(left(&corrected), left(&bp));
    }

    #[test]
    fn squashes_and_commits_come_in_steps_or_at_once(
        mut bp in units(),
        before in vec(branch(&ALL), 1..80),
        depth in 1..24usize,
        path in vec(branch(&ALL), 2..30),
        cut in 0..30usize,
    ) {
        run(&mut bp, &before, &[], depth, 1);
        let seq = before.len() as u64;
        let last = fetch(&mut bp, seq, &path);
        let mut at_once = bp.clone();
        at_once.squash(seq);
        bp.squash(last - (cut % path.len()) as u64);
        bp.squash(seq);
        prop_assert_eq!(state(&bp), state(&at_once));
        at_once.update(seq);
        (1..=seq).for_each(|n| bp.update(n));
        prop_assert_eq!(state(&bp), state(&at_once));
        prop_assert_eq!(bp.in_flight(), 0);
        // What has committed has: a second time nothing is left to learn from.
        bp.update(seq);
        prop_assert_eq!(state(&bp), state(&at_once));
    }

    #[test]
    fn rounds_of_a_loop_that_change_nothing_are_counted_without_being_predicted(
        mut bp in units(),
        body in vec(branch(&ALL), 1..7),
        wrong in vec(branch(&STACKLESS), 0..3),
        depth in 0..12u64,
        before in 0..90u64,
        times in 0..9u64,
    ) {
        // Numbers of a round, with those of a wrong path behind each of its branches.
        let step = wrong.len() as u64 + 1;
        let seqs = body.len() as u64 * step;
        let round = |bp: &mut BranchPredictor, n: u64| {
            for (i, b) in (1..).zip(&body) {
                let seq = n * seqs + i * step;
                let p = bp.predict(seq, b.pc, 4, b.kind);
                let next = if b.taken { b.target } else { b.pc + 4 };
                if p.target != next || p.taken != b.taken {
                    fetch(bp, seq, &wrong);
                    bp.correct(seq, next, b.taken, true);
                }
                bp.update(seq.saturating_sub(depth * step));
            }
        };
        (0..before).for_each(|n| round(&mut bp, n));
        let mut earlier = bp.clone();
        round(&mut bp, before);
        if bp.repeats(&earlier, seqs) {
            prop_assert!(bp.has_steady_state());
            let mut live = bp.clone();
            (1..=times).for_each(|n| round(&mut live, before + n));
            bp.repeat(&mut earlier, times, seqs);
            prop_assert!(bp.repeats(&live, 0));
            let counts = |bp: &BranchPredictor| format!("{:?} {:?} {:?}", bp.counts, bp.btb, bp.ras);
            prop_assert_eq!(counts(&bp), counts(&live));
        } else {
            // One conditional branch has filled every history and counter by then.
            let settles = body.len() == 1 && body[0].kind == BranchKind::Cond;
            prop_assert!(!bp.has_steady_state() || before < 60 || !settles);
        }
    }
}
