//! When fetch pauses.

use super::*;

/// Cycles of 60 turns of `body`, a loop.
fn turns(cfg: O3Config, mut body: Vec<Inst>) -> u64 {
    body.push(Inst::branch(BranchKind::Cond, 0, &[&[true; 59][..], &[false]].concat()));
    body.push(mark());
    let mut r = machine(cfg, 2, MockFe::new(body));
    assert_eq!(r.go(ALL), Stop::Effect(DUMP));
    r.core.cycles()
}

#[test]
fn the_target_of_a_call_or_return_may_come_late() {
    let lost = |kind| {
        let cycles = |delay| {
            let body = vec![Inst::branch(kind, 2, &[true; 60]), Inst::nop()];
            turns(O3Config { callReturnDelay: delay, ..O3Config::default() }, body)
        };
        cycles(3) - cycles(0)
    };
    // Until the target is known the branch is not predicted taken.
    let call = lost(BranchKind::Call);
    assert!((55 * 3..=60 * 3).contains(&call), "{call}");
    assert_eq!((lost(BranchKind::Jump), lost(BranchKind::Cond)), (0, 0));
}

#[test]
fn nothing_is_fetched_behind_a_serializing_instruction_until_it_has_retired() {
    let cycles = |stops, jumps: usize| {
        let serializing = UopFlags::SERIALIZE_BEFORE | UopFlags::SERIALIZE_AFTER;
        let mut body = chain(OpClass::IntDiv, 2);
        body.push(Inst::op(OpClass::IntAlu, 5, &[1]).flags(serializing));
        let first = body.len();
        body.extend(
            (0..jumps).flat_map(|i| [Inst::branch(BranchKind::Jump, first + 2 * i + 2, &[true; 60]), Inst::nop()]),
        );
        turns(O3Config { serializingStopsFetch: stops, ..O3Config::default() }, body)
    };
    // Jumps, one a cycle, are fetched while the instruction waits, or afterwards.
    let more = |stops| cycles(stops, 12) - cycles(stops, 4);
    let (ahead, afterwards) = (more(false), more(true));
    assert!(ahead < 60 * 2 && (56 * 8..=70 * 8).contains(&(afterwards - ahead)), "{ahead} {afterwards}");
}

#[test]
fn a_decoupled_front_end_hides_what_the_instruction_cache_takes() {
    let more = |decoupled, block| {
        let cycles = |blocks: usize| {
            let cfg =
                O3Config { decoupledFrontEnd: decoupled, fetchBufferSize: block, fetchWidth: 4, ..O3Config::default() };
            turns(cfg, (0..blocks * 16).map(|i| add(2 + (i % 8) as u8, 20)).collect())
        };
        cycles(9) - cycles(5)
    };
    // Four instructions a cycle, of blocks that hold 16 or 8 of them.
    assert_eq!([more(true, 64), more(true, 32)], [60 * 4 * 4; 2]);
    assert_eq!([more(false, 64), more(false, 32)], [60 * 4 * (4 + 1), 60 * 4 * 2 * (2 + 1)]);
}

#[test]
fn late_targets_are_hidden_behind_long_ones_in_a_decoupled_front_end() {
    let cycles = |delay, length: usize| {
        let mut body = vec![Inst::branch(BranchKind::Call, 2, &[true; 60]), Inst::nop()];
        body.extend((0..length).map(|i| add(2 + (i % 8) as u8, 20)));
        turns(O3Config { decoupledFrontEnd: true, callReturnDelay: delay, ..O3Config::default() }, body)
    };
    let lost = |length| cycles(3, length) - cycles(0, length);
    assert!(lost(0) >= 55 * 3, "{}", lost(0));
    assert!(lost(15) < lost(0), "{} {}", lost(15), lost(0));
}

#[test]
fn two_targets_a_cycle_are_fetched_while_each_fits_into_half_of_the_width() {
    // Jumps over an instruction, with so many additions before each.
    let turn = |targets, width, jumps: usize, additions: usize| {
        let mut body = Vec::new();
        for _ in 0..jumps {
            body.extend((0..additions).map(|i| add(2 + (i % 8) as u8, 20)));
            body.push(Inst::branch(BranchKind::Jump, body.len() + 2, &[true; 60]));
            body.push(Inst::nop());
        }
        let base = O3Config { decodeWidth: 8, renameWidth: 8, dispatchWidth: 8, ..O3Config::default() };
        let cfg = O3Config { decoupledFrontEnd: true, maxTakenPredPerCycle: targets, fetchWidth: width, ..base };
        turns(cfg, body)
    };
    // Cycles a turn of six more targets; the first turn misses the cache.
    let more =
        |targets, width, additions| (turn(targets, width, 10, additions) - turn(targets, width, 4, additions)) / 60;
    assert_eq!([more(1, 6, 0), more(2, 6, 0), more(3, 6, 0)], [6, 3, 2]);
    // Three instructions: half of six, and all of four that come in twos.
    assert_eq!([more(2, 6, 2), more(2, 4, 2)], [3, 6]);
}

#[test]
fn so_many_branches_issue_in_a_cycle_fused_ones_too() {
    for fused in [false, true] {
        let cycles = |width| {
            let mut program = chain(OpClass::IntDiv, 4);
            for _ in 0..32 {
                let mut compare = add(2, 1).flags(if fused { UopFlags::FUSE_HEAD } else { UopFlags::empty() });
                compare.len = 4;
                let mut branch = Inst::branch(BranchKind::Cond, 0, &[false]).flags(UopFlags::FUSE_TAIL);
                branch.uops[0].0.src[0] = breakeven_base::Reg(2);
                program.extend([compare, branch]);
            }
            let cfg =
                O3Config { macroFusion: fused, branchIssueWidth: width, numIQEntries: 128, ..O3Config::default() };
            cycles_with(cfg, program)
        };
        assert!(cycles(1) - cycles(0) > 20, "{fused}: {} {}", cycles(1), cycles(0));
        assert_eq!(cycles(6), cycles(0));
    }
}
