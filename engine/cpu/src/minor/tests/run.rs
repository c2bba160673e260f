//! A run: pauses, interrupts, limits, deadlocks, statistics.

use super::*;

#[test]
fn a_time_dependent_instruction_executes_at_commit_and_fetch_goes_on_behind_it() {
    let timed = |serial: bool| {
        let mut inst = Inst::nop().short().flags(if serial { UopFlags::SERIALIZE_AFTER } else { UopFlags::empty() });
        inst.timed = true;
        let mut r = machine(MinorConfig::default(), 200, {
            let mut p = padded(vec![load(5, DATA), inst]);
            p.push(mark());
            MockFe::new(p)
        });
        assert_eq!(r.go(ALL), Stop::Effect(DUMP));
        assert_eq!(r.core.insts(), 8 + 2 + 4 + 1);
        r.fe.times[0]
    };
    assert!(timed(true) > 200, "the load has committed");
    assert_eq!(timed(true), timed(false));
}

#[test]
fn a_pause_leaves_the_pipeline_empty_and_execution_goes_on() {
    let mut stop = Inst::nop();
    stop.pause = true;
    let mut p = padded(vec![stop, load(5, DATA)]);
    p.push(mark());
    let mut r = machine(MinorConfig::default(), 2, MockFe::new(p));
    assert_eq!(r.go(ALL), Stop::Paused);
    assert_eq!(r.core.insts(), 8);
    assert!(r.core.drained());
    let mut snapshot = Run { core: r.core.clone(), fe: r.fe.clone(), bus: MockBus::new(), mem: r.mem.clone() };
    assert_eq!(r.go(ALL), Stop::Effect(DUMP));
    assert_eq!(snapshot.go(ALL), Stop::Effect(DUMP));
    assert_eq!((r.core.insts(), r.core.cycles()), (8 + 2 + 4 + 1, snapshot.core.cycles()));
}

/// Branches that were predicted are on their way to fetch when the run pauses: the redirect behind them is not lost.
#[test]
fn a_run_goes_on_after_a_pause_though_time_has_passed() {
    let mut stop = Inst::nop();
    stop.pause = true;
    let passes = [[true; 11].as_slice(), &[false]].concat();
    let p = vec![
        Inst::branch(BranchKind::Jump, 1, &[]),
        Inst::branch(BranchKind::Jump, 2, &[]),
        stop,
        Inst::branch(BranchKind::Cond, 0, &passes),
        mark(),
    ];
    for delay in 1..=crate::minor::config::MAX_DELAY {
        let cfg = MinorConfig { executeBranchDelay: delay, ..MinorConfig::default() };
        let mut r = machine(cfg, 2, MockFe::new(p.clone()));
        r.fe.paused = true;
        assert_eq!(r.go(Budget { max_insts: 40, ..ALL }), Stop::MaxInsts);
        r.fe.paused = false;
        assert_eq!(r.go(ALL), Stop::Paused);
        r.core.resume(r.core.cycles() + 100);
        assert_eq!(r.go(ALL), Stop::Effect(DUMP), "{delay}");
    }
}

#[test]
fn an_interrupt_flushes_and_counts_no_instruction() {
    let mut fe = MockFe::new({
        let mut p = vec![Inst::nop(); 40];
        p.push(mark());
        p
    });
    fe.interruptible = true;
    let mut r = machine(MinorConfig::default(), 2, fe);
    r.bus.irq_at = Tick(12 * PERIOD);
    assert_eq!(r.go(ALL), Stop::Effect(DUMP));
    assert_eq!((r.core.insts(), r.fe.times.len()), (41, 1));
}

#[test]
fn limits_hold_and_the_run_goes_on_from_there() {
    let mut p = vec![Inst::nop().short(); 100];
    p.push(mark());
    let mut r = machine(MinorConfig::default(), 2, MockFe::new(p.clone()));
    assert_eq!(r.go(Budget { max_insts: 50, ..ALL }), Stop::MaxInsts);
    assert!((50..52).contains(&r.core.insts()));
    let at = r.core.cycles() + 3;
    assert_eq!(r.go(Budget { max_cycles: at, ..ALL }), Stop::MaxCycles);
    assert_eq!(r.core.cycles(), at);
    assert_eq!(r.go(ALL), Stop::Effect(DUMP));
    p.pop();
    assert_eq!(r.core.cycles(), cycles(p), "stopping costs no cycle");
}

/// A run that may stop at any cycle leaves none out; one that may not counts the same.

#[test]
fn a_class_without_a_unit_is_a_deadlock_that_names_it() {
    let p = padded(vec![Inst::op(OpClass::SimdUnitStrideSegmentedLoad, 5, &[])]);
    let mut r = machine(MinorConfig::default(), 2, MockFe::new(p));
    let Stop::Deadlock(text) = r.go(Budget { max_cycles: 10_000_000, ..ALL }) else { panic!("it cannot go on") };
    assert!(text.contains("no response due"), "{text}");
    assert!(text.contains("SimdUnitStrideSegmentedLoad, no functional unit executes it"), "{text}");
    for part in ["fetch1:", "fetch2:", "decode:", "execute:", "lsq:"] {
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }
}

#[test]
fn a_tlb_miss_costs_its_walk_once() {
    let apart = |page_shift| {
        let mut middle = vec![load(5, DATA).paged(page_shift)];
        middle.extend(vec![add(5, 5); 40]);
        middle.push(load(5, DATA).paged(page_shift));
        padded(middle)
    };
    let at = |p| cycles_with(MinorConfig::default(), 20, p);
    assert_eq!(at(apart(12)) - at(apart(0)), 20, "one page-table entry for two loads");
}

#[test]
fn statistics_start_anew_but_totals_go_on() {
    let mut p = vec![Inst::nop(); 20];
    p.push(mark());
    p.extend(vec![Inst::nop(); 10]);
    p.push(mark());
    let mut r = machine(MinorConfig::default(), 2, MockFe::new(p));
    r.go(ALL);
    let before = r.core.cycles();
    r.core.reset_stats();
    assert_eq!(r.go(ALL), Stop::Effect(DUMP));
    assert_eq!(r.stat("system.cpu.commitStats0.numInsts"), 11.0);
    #[allow(clippy::cast_precision_loss)]
    let region = (r.core.cycles() - before) as f64;
    assert_eq!(r.stat("system.cpu.numCycles"), region);
    assert_eq!(r.core.insts(), 32);
}

#[test]
fn the_rest_of_the_cycle_counts_before_statistics_do() {
    // As x86's pseudo-op: nothing waits for it.
    let passing = || {
        let mut inst = Inst::op(OpClass::IntAlu, 0, &[]).short().flags(UopFlags::EFFECT);
        inst.effect = DUMP;
        inst
    };
    let counted = |tail: Vec<Inst>| {
        let mut p = vec![Inst::nop().short(); 8];
        p.extend(tail);
        p.extend(vec![add(5, 0); 4]);
        let mut r = machine(MinorConfig::default(), 2, MockFe::new(p));
        assert_eq!(r.go(ALL), Stop::Effect(DUMP));
        (r.core.insts() - 8, r)
    };
    assert_eq!(counted(vec![passing(), add(5, 0)]).0, 2, "the second slot of its cycle");
    assert_eq!(counted(vec![add(5, 0), passing(), add(5, 0)]).0, 2, "its cycle is full");
    let (first, mut r) = counted(vec![passing(), passing()]);
    assert_eq!(first, 1, "one event a cycle");
    assert_eq!(r.go(ALL), Stop::Effect(DUMP));
}

#[test]
fn a_core_without_a_predictor_is_refused_with_all_other_faults() {
    let cfg = MinorConfig { executeIssueLimit: 0, ..MinorConfig::default() };
    let errors = Minor::new(cfg, None, 64).expect_err("cannot be built");
    let text = errors.iter().map(ToString::to_string).collect::<String>();
    assert!(text.contains("branchPred") && text.contains("executeIssueLimit"), "{text}");
}

#[test]
fn a_guest_that_only_traps_is_a_deadlock() {
    let mut r = machine(
        MinorConfig::default(),
        2,
        MockFe::new(vec![Inst::branch(BranchKind::Jump, 0, &[]).flags(UopFlags::TRAP)]),
    );
    let endless = Budget::new(u64::MAX, u64::MAX);
    assert!(matches!(r.go(endless), Stop::Deadlock(text) if text.contains("the front end stands at 0x80000000")));
    assert_eq!(r.core.insts(), 0);
}
