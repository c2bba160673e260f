//! Micro-ops that take no slot of their own: eliminated moves, compare and branch as one, the first decoder.

use super::*;

#[test]
fn eliminated_moves_take_no_time() {
    let moves: Vec<Inst> = (0..20).map(|_| add(1, 1).flags(UopFlags::ELIMINATED)).collect();
    let program = with(chain(OpClass::IntAlu, 20), with(moves, chain(OpClass::IntAlu, 20)));
    let on = O3Config { moveElimination: true, ..O3Config::default() };
    assert_eq!(cycles(program.clone()) - cycles_with(on, program), 20);
}

#[test]
fn a_fused_branch_needs_no_issue_slot() {
    // 32 pairs of compare and branch (not taken, predicted so) become ready together behind the chain, on six units:
    // 64 micro-ops take 11 cycles to issue, 32 take 6; and a branch of its own waits a cycle for its compare.
    let mut program = chain(OpClass::IntDiv, 4);
    for _ in 0..32 {
        let mut compare = add(2, 1).flags(UopFlags::FUSE_HEAD);
        compare.len = 4;
        let mut branch = Inst::branch(BranchKind::Cond, 0, &[false]).flags(UopFlags::FUSE_TAIL);
        branch.uops[0].0.src[0] = breakeven_base::Reg(2);
        program.extend([compare, branch]);
    }
    let on = O3Config { macroFusion: true, numIQEntries: 128, ..O3Config::default() };
    let off = O3Config { numIQEntries: 128, ..O3Config::default() };
    let (fused, plain) = (cycles_with(on, program.clone()), cycles_with(off, program));
    assert_eq!(plain - fused, 6);
}

#[test]
fn a_fused_branch_is_fetched_with_its_head_in_the_last_slot() {
    let body = |adds: u8, compare: UopFlags, branch: UopFlags| {
        let mut body: Vec<Inst> = (0..adds).map(|i| add(2 + i, 20)).collect();
        body.push(add(14, 20).flags(compare));
        body.push(Inst::branch(BranchKind::Cond, 0, &[&[true; 59][..], &[false]].concat()).flags(branch));
        body.push(mark());
        body
    };
    let cycles = |adds, width, fused: bool| {
        let cfg = O3Config { macroFusion: fused, decoupledFrontEnd: true, fetchWidth: width, ..O3Config::default() };
        let (head, tail) =
            if fused { (UopFlags::FUSE_HEAD, UopFlags::FUSE_TAIL) } else { (UopFlags::empty(), UopFlags::empty()) };
        let mut r = machine(cfg, 2, MockFe::new(body(adds, head, tail)));
        assert_eq!(r.go(ALL), Stop::Effect(DUMP));
        r.core.cycles()
    };
    // Three additions, a compare and a branch fill four slots when the last two are fused, and begin a fifth when not.
    assert_eq!(cycles(3, 4, true), cycles(3, 5, false));
    assert!(cycles(3, 4, false) > cycles(3, 4, true) + 50);
}

#[test]
fn a_fused_branch_that_comes_after_its_head_was_executed_is_resolved() {
    // The issue queue is full of a slow chain, so that a head is dispatched in the last place and executed while its branch
    // waits in front of dispatch; the loop's last branch is mispredicted.
    let mut compare = add(12, 1).flags(UopFlags::FUSE_HEAD);
    compare.len = 4;
    let mut branch =
        Inst::branch(BranchKind::Cond, 0, &[&[true; 40][..], &[false]].concat()).flags(UopFlags::FUSE_TAIL);
    branch.uops[0].0.src[0] = breakeven_base::Reg(12);
    for queue in 4..12 {
        let body: Vec<Inst> = chain(OpClass::IntMult, 7);
        let mut program = with(body, vec![compare.clone(), branch.clone()]);
        program.push(mark());
        let on = O3Config { macroFusion: true, numIQEntries: queue, ..O3Config::default() };
        let mut r = machine(on, 2, MockFe::new(program));
        assert_eq!(r.go(ALL), Stop::Effect(DUMP), "{queue} entries");
    }
}

#[test]
fn the_first_decoder_takes_one_instruction_a_cycle() {
    for fuses in [false, true] {
        let cycles = |n, flags| {
            let program = (0..n).map(|i| add(2 + (i % 8), 20).flags(flags)).collect();
            cycles_with(O3Config { microFusion: fuses, ..O3Config::default() }, program)
        };
        assert_eq!(cycles(128, UopFlags::FIRST_DECODER) - cycles(64, UopFlags::FIRST_DECODER), 64);
        assert!(cycles(128, UopFlags::empty()) - cycles(64, UopFlags::empty()) < 32);
    }
}
