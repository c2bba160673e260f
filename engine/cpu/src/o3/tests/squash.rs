//! A squash from the branch that asks for it to the units that answer it.

use breakeven_base::{BranchKind, Cycle};

use super::super::seq::Seq;
use super::super::wires::{InFront, Wires};
use super::*;

/// Behind a chain of multiplications a branch on its result, then a division on it. The branch falls through, or goes over one
/// instruction to the division, which nobody predicts.
fn program(taken: bool) -> Vec<Inst> {
    let mut branch = Inst::branch(BranchKind::Cond, if taken { 22 } else { 21 }, &[taken]);
    branch.uops[0].0.src[0] = breakeven_base::Reg(1);
    let skipped = if taken { vec![Inst::nop()] } else { vec![] };
    [chain(OpClass::IntMult, 20), vec![branch], skipped, vec![Inst::op(OpClass::IntDiv, 2, &[1])]].concat()
}

#[test]
fn each_delay_on_a_squashs_way_adds_to_the_misprediction() {
    let penalty = |cfg: O3Config| cycles_with(cfg.clone(), program(true)) - cycles_with(cfg, program(false));
    // Executed at E, the branch reaches commit at E+1, its squash all units at E+2; the target is fetched at E+3.
    assert_eq!(penalty(O3Config::default()), 8);
    assert_eq!(penalty(O3Config { commitToFetchDelay: 3, ..O3Config::default() }), 10);
    // The units hear of it together: the longest of the four delays counts.
    assert_eq!(penalty(O3Config { commitToDecodeDelay: 2, ..O3Config::default() }), 9);
    assert_eq!(penalty(O3Config { commitToRenameDelay: 3, commitToIEWDelay: 2, ..O3Config::default() }), 10);
}

#[test]
fn a_mispredictions_refill_is_charged_to_it() {
    // The branch depends on one addition, so that nothing older hides the refill: all cycles that it costs are its own.
    let program = |taken: bool| {
        let mut branch = Inst::branch(BranchKind::Cond, if taken { 3 } else { 2 }, &[taken]);
        branch.uops[0].0.src[0] = breakeven_base::Reg(1);
        let skipped = if taken { vec![Inst::nop()] } else { vec![] };
        [chain(OpClass::IntAlu, 1), vec![branch], skipped, chain(OpClass::IntAlu, 20), vec![mark()]].concat()
    };
    for decode_to_rename in [1, 6] {
        let charges = |taken| {
            let cfg = O3Config { decodeToRenameDelay: decode_to_rename, ..O3Config::default() };
            let width = f64::from(cfg.commitWidth);
            let mut r = machine(cfg, 2, MockFe::new(program(taken)));
            assert_eq!(r.go(ALL), Stop::Effect(DUMP));
            (r.core.cycles(), r.stat("system.cpu.account::badSpeculation") / width)
        };
        let ((mispredicted, charged), (predicted, none)) = (charges(true), charges(false));
        let lost = (mispredicted - predicted) as f64;
        assert_eq!(none, 0.0);
        assert!((charged - lost).abs() < 2.0, "{charged} of the {lost} cycles that the misprediction costs");
    }
}

#[test]
fn the_walks_end_is_seen_however_late_its_last_report_arrives() {
    // The branch is the oldest by then and nothing else moves: only dispatch, which goes on when it hears nothing of a walk.
    let cycles = |to_iew, to_rename| {
        let cfg = |to_fetch| O3Config {
            squashWidth: 1,
            commitToFetchDelay: to_fetch,
            commitToIEWDelay: to_iew,
            commitToRenameDelay: to_rename,
            ..O3Config::default()
        };
        cycles_with(cfg(6), program(true))
    };
    assert_eq!([(2, 1), (1, 2), (3, 3)].map(|(iew, rename)| cycles(iew, rename)), [cycles(1, 1); 3]);
}

#[test]
fn a_cycle_after_commit_every_unit_has_dropped_what_is_younger() {
    let mut r = machine(O3Config::default(), 2, MockFe::new(with(program(true), vec![mark()])));
    let mut cycle = 0;
    while r.core.pipe.commit.stats.mispredicts == 0 {
        cycle += 1;
        assert_eq!(r.go(Budget { max_cycles: cycle, ..ALL }), Stop::MaxCycles);
    }
    let branch = Seq(21);
    assert!(r.core.pipe.io.ring.tail() > branch + 1, "the wrong path is in flight");
    assert_eq!(r.go(Budget { max_cycles: cycle + 1, ..ALL }), Stop::MaxCycles);
    let pipe = &r.core.pipe;
    assert_eq!(pipe.cycle, Cycle(cycle + 2));
    let ends = [pipe.io.ring.tail(), pipe.decode.end(), pipe.rename.end(), pipe.dispatch.end(), pipe.commit.rob_end()];
    assert_eq!(ends, [branch + 1; 5]);
}

#[test]
fn what_is_on_its_way_between_units_is_cut_at_the_squash() {
    let mut wires = Wires::new();
    let now = Cycle(10);
    for (ahead, [decode, rename, iew, rob]) in [(1, [4, 3, 2, 0]), (2, [4, 0, 2, 5])] {
        let wire = wires.at(now + ahead);
        (wire.decode.arrived, wire.rename.arrived) = (decode, rename);
        (wire.iew.arrived, wire.commit.arrived) = (iew, rob);
    }
    let dropped = wires.clear_front(now, InFront { fetched: 5, decoded: 0, renamed: 1, to_rob: 9 });
    assert_eq!(dropped.iter().collect::<Vec<_>>(), [(now + 1, 1), (now + 2, 2)], "of those on their way to dispatch");
    let left = [1, 2].map(|ahead| {
        let wire = wires.at(now + ahead);
        [wire.decode.arrived, wire.rename.arrived, wire.iew.arrived, wire.commit.arrived]
    });
    assert_eq!(left, [[4, 0, 1, 0], [1, 0, 0, 5]]);
}
