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
