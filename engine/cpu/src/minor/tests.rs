//! Exact cycle differences between two tiny programs that differ in one thing. Instruction memory answers in 2 cycles,
//! data memory in 2, the second page-table level costs what the data memory does; nothing else delays.

mod quirks;
mod random;
mod run;

use std::cell::Cell;

use breakeven_base::{
    BranchKind, Cycle, FrontEnd, MemKind, MemRef, OpClass, PhysAddr, StatSink, SysEffect, Tick, UopFlags,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};

use super::*;
use crate::misaligned::MisalignedCosts;
use crate::testing::{memory_config, Inst, MockBus, MockFe, Run, BASE, PERIOD};

const ALL: Budget = Budget::new(1_000_000, 1_000_000);
/// A line-aligned address.
const DATA: u64 = BASE + 0x1_0000;

/// `core` on data memory of so many cycles.
fn machine(cfg: MinorConfig, data_cycles: u64, fe: MockFe) -> Run<Minor> {
    let core = Minor::new(cfg, Some(&BranchPredictorParams::default()), 64).unwrap_or_else(|e| panic!("{e:?}"));
    Run::on(memory_config(2, data_cycles, 4), core, fe)
}

const DUMP: SysEffect = SysEffect::DumpStats;

/// An effect that commits like any instruction: the end of what is measured.
fn mark() -> Inst {
    let mut inst = Inst::effect(DUMP);
    inst.timed = false;
    inst
}

fn cycles_with(cfg: MinorConfig, data_cycles: u64, mut program: Vec<Inst>) -> u64 {
    program.push(mark());
    let mut r = machine(cfg, data_cycles, MockFe::new(program));
    assert_eq!(r.go(ALL), Stop::Effect(DUMP));
    r.core.cycles()
}

fn cycles(program: Vec<Inst>) -> u64 {
    cycles_with(MinorConfig::default(), 2, program)
}

/// Between nops, so that fetch is ahead and what comes after is not the measure.
fn padded(middle: Vec<Inst>) -> Vec<Inst> {
    let mut p = vec![Inst::nop().short(); 8];
    p.extend(middle);
    p.extend(vec![Inst::nop().short(); 4]);
    p
}

fn add(dst: u8, src: u8) -> Inst {
    Inst::op(OpClass::IntAlu, dst, &[src]).short()
}

fn load(dst: u8, addr: u64) -> Inst {
    Inst::load(dst, 0, addr, 8).short()
}

fn store(addr: u64) -> Inst {
    Inst::store(0, 0, addr, 8).short()
}

#[test]
fn independent_instructions_issue_in_pairs_dependent_ones_one_by_one() {
    let chain = |n: usize, src| cycles(padded((0..n).map(|_| add(5, src)).collect()));
    assert_eq!(chain(16, 0) - chain(8, 0), 4);
    assert_eq!(chain(16, 5) - chain(8, 5), 8);
}

#[test]
fn single_issue_halves_the_rate() {
    let at = |n: usize| {
        let single = MinorConfig { executeIssueLimit: 1, ..MinorConfig::default() };
        cycles_with(single, 2, padded((0..n).map(|_| add(5, 0)).collect()))
    };
    assert_eq!(at(16) - at(8), 8);
}

#[test]
fn a_multiplication_cannot_be_forwarded_early() {
    let mul = || Inst::op(OpClass::IntMult, 5, &[5]).short();
    // An addition's result can be taken after 1 cycle, a multiplication's after 3.
    let chain = |op: fn() -> Inst| padded((0..6).map(|_| op()).collect());
    assert_eq!(cycles(padded((0..6).map(|_| mul()).collect())) - cycles(chain(|| add(5, 5))), 5 * 2);
}

#[test]
fn a_micro_op_of_its_own_latency_is_that_far_from_its_dependents() {
    // The integer unit takes its sources two cycles after issue: an addition's own latency is 1, not the unit's depth of 3.
    let chain = |n: usize, latency: u8| {
        let mut slow = add(5, 5);
        slow.uops[0].0.latency = latency;
        cycles(padded(vec![slow; n]))
    };
    for (latency, distance) in [(0, 1), (1, 1), (2, 2), (4, 4), (9, 9)] {
        assert_eq!(chain(48, latency) - chain(32, latency), 16 * distance, "{latency}");
    }
}

#[test]
fn an_address_from_a_load_waits_for_it() {
    let chase = |base| (0..4).map(|_| Inst::load(5, base, DATA, 8).short()).collect::<Vec<_>>();
    let slow = |p| cycles_with(MinorConfig::default(), 20, padded(p));
    // Each waits for the one before: its 20 cycles, one to wake the idle core, less what two in memory hide.
    assert!(slow(chase(5)) > slow(chase(6)) + 20, "{} {}", slow(chase(5)), slow(chase(6)));
}

#[test]
fn memory_latency_shows_once_and_an_idle_core_wakes_a_cycle_late() {
    let at = |latency| cycles_with(MinorConfig::default(), latency, padded(vec![load(5, DATA)]));
    assert_eq!(at(50) - at(40), 10);
    // A clock that never stops sees a response in its own cycle: here the first line and the data.
    let awake = MinorConfig { enableIdling: false, ..MinorConfig::default() };
    assert_eq!(cycles_with(awake, 50, padded(vec![load(5, DATA)])), at(50) - 2);
}

#[test]
fn a_line_crossing_takes_a_second_access() {
    let at = |n: usize, addr| cycles(padded((0..n).map(|_| load(5, addr)).collect()));
    assert_eq!(at(16, DATA + 48) - at(8, DATA + 48), 8);
    assert_eq!(at(16, DATA + 60) - at(8, DATA + 60), 16);
}

#[test]
fn a_store_across_lines_commits_a_cycle_later_unless_its_costs_are_described() {
    // With nothing older it enters the LSQ when it is the oldest.
    let committed = |misaligned, addr| {
        let mut r = machine(MinorConfig { misaligned, ..MinorConfig::default() }, 2, MockFe::new(vec![store(addr)]));
        assert_eq!(r.go(Budget { max_insts: 1, ..ALL }), Stop::MaxInsts);
        r.core.cycles()
    };
    let gem5 = MisalignedCosts::default();
    assert_eq!(committed(gem5, DATA + 60) - committed(gem5, DATA + 48), 1);
    let described = MisalignedCosts { page_cross_store: 9, ..gem5 };
    assert_eq!(committed(described, DATA + 60), committed(described, DATA + 48));
}

#[test]
fn a_reference_that_enters_the_lsq_does_not_send_the_one_in_front_of_it() {
    // Of one transfer at a time, the next leaves the requests queue in the cycle after the last one's commit, whether or
    // not another reference enters in that commit's cycle (gem5 `tryToSendToTransfers`: not at the front).
    let per_load = |requests| {
        let at = |n: usize| {
            let cfg = MinorConfig {
                executeLSQRequestsQueueSize: requests,
                executeLSQTransfersQueueSize: 1,
                executeMaxAccessesInMemory: 4,
                ..MinorConfig::default()
            };
            cycles_with(cfg, 4, padded((0..n).map(|_| load(5, DATA)).collect()))
        };
        (at(40) - at(24)) as f64 / 16.0
    };
    // Its 4 cycles, one to wake the idle core, one to send.
    assert_eq!([2, 3].map(per_load), [6.0; 2]);
    // In a queue of one it enters when there is none in front of it.
    assert_eq!(per_load(1), 5.0);
}

#[test]
fn misaligned_costs_come_on_top() {
    let with = |granule_cross_load, line_cross_load, addr| {
        let misaligned =
            MisalignedCosts { granule: 8, granule_cross_load, line_cross_load, ..MisalignedCosts::default() };
        cycles_with(MinorConfig { misaligned, ..MinorConfig::default() }, 2, padded(vec![load(5, addr)]))
    };
    assert_eq!(with(5, 90, DATA + 4) - with(0, 0, DATA + 4), 5);
    assert_eq!(with(5, 90, DATA + 60) - with(5, 9, DATA + 60), 81);
    assert_eq!(with(5, 90, DATA), with(0, 0, DATA));
}

#[test]
fn an_emulated_access_stops_the_core_for_its_cycles() {
    for inst in [load(5, DATA + 1), store(DATA + 1)] {
        let with = |emulate_cycles, per_byte| {
            let misaligned = MisalignedCosts {
                emulate: true,
                emulate_cycles,
                emulate_cycles_per_byte: per_byte,
                ..MisalignedCosts::default()
            };
            cycles_with(MinorConfig { misaligned, ..MinorConfig::default() }, 2, padded(vec![inst.clone()]))
        };
        assert_eq!(with(1000, 10) - with(1000, 0), 80);
        assert_eq!(with(1000, 0) - with(100, 0), 900);
        // It is not issued early and the core falls idle before it.
        assert!((98..=104).contains(&(with(100, 0) - with(0, 0))), "{} {}", with(100, 0), with(0, 0));
    }
}

#[test]
fn split_slots_keep_others_out_of_the_memory_pipeline() {
    let two = |split_slots| {
        let misaligned = MisalignedCosts { split_slots, ..MisalignedCosts::default() };
        let p = padded(vec![load(5, DATA + 60), load(6, DATA + 128)]);
        cycles_with(MinorConfig { misaligned, ..MinorConfig::default() }, 2, p)
    };
    assert_eq!(two(60) - two(6), 54);
    assert!((6..=7).contains(&(two(6) - two(0))));
}

#[test]
fn a_load_takes_its_value_from_the_store_buffer_when_one_store_has_all_of_it() {
    let after_store = |addr, size| {
        let mut r = machine(MinorConfig::default(), 30, {
            let mut p = padded(vec![store(DATA), Inst::load(5, 0, addr, size).short()]);
            p.push(mark());
            MockFe::new(p)
        });
        r.go(ALL);
        (r.core.cycles(), r.stat("system.cpu.lsq.forwLoads"))
    };
    let (forwarded, n) = after_store(DATA, 8);
    assert_eq!(n, 1.0);
    let (elsewhere, n) = after_store(DATA + 64, 8);
    assert_eq!(n, 0.0);
    let (partial, n) = after_store(DATA + 4, 8);
    assert_eq!(n, 0.0);
    // From memory: the 30 cycles show. Half of it in the buffer: the store must be out first, then the load's own.
    assert!(forwarded + 25 < elsewhere, "{forwarded} {elsewhere}");
    assert!(elsewhere + 25 < partial, "{elsewhere} {partial}");
}

#[test]
fn a_full_store_buffer_stalls_commit() {
    let stores = |n: u64| padded((0..n).map(|i| store(DATA + 64 * i)).collect());
    let at = |n| cycles_with(MinorConfig::default(), 100, stores(n));
    // Five slots, two accesses in memory at once: the first stores cost their issue slot, later ones wait for slots.
    assert!(at(5) - at(4) < 5, "{}", at(5) - at(4));
    assert!(at(12) > at(5) + 200, "{} {}", at(12), at(5));
    let roomy = MinorConfig { executeLSQStoreBufferSize: 16, ..MinorConfig::default() };
    assert!(cycles_with(roomy, 100, stores(12)) < at(5) + 20);
}

#[test]
fn a_mispredicted_branch_costs_the_way_back_to_fetch() {
    // The branch is not taken and predicted so, or taken (to what follows two instructions on) and not predicted.
    let branch = |taken| {
        let mut p = vec![Inst::nop().short(); 8];
        p.push(Inst::branch(BranchKind::Cond, 9, &[taken]).short());
        p.extend(vec![Inst::nop().short(); 8]);
        // Target: the next but one instruction.
        if let Some(b) = p.get_mut(8) {
            b.target = 11;
        }
        p.push(mark());
        let mut r = machine(MinorConfig::default(), 2, MockFe::new(p));
        assert_eq!(r.go(ALL), Stop::Effect(DUMP));
        (r.core.cycles(), r.stat("system.cpu.branchPred.condIncorrect"), r.stat("system.cpu.discardedOps"))
    };
    let (straight, none, _) = branch(false);
    let (taken, one, discarded) = branch(true);
    assert_eq!((none, one), (0.0, 1.0));
    assert!(discarded > 0.0, "the wrong path was issued");
    let slow = MinorConfig { executeBranchDelay: 4, ..MinorConfig::default() };
    let mut r = machine(slow, 2, {
        let mut p = vec![Inst::nop().short(); 8];
        p.push(Inst::branch(BranchKind::Cond, 11, &[true]).short());
        p.extend(vec![Inst::nop().short(); 8]);
        p.push(mark());
        MockFe::new(p)
    });
    r.go(ALL);
    // Three cycles longer, and by then the core has fallen idle: it wakes a cycle after the line has come.
    assert_eq!(r.core.cycles() - taken, 4);
    assert!(taken > straight);
}

#[test]
fn without_backward_delay_a_predicted_branch_redirects_fetch_in_its_cycle() {
    let turns = |delay, n: usize| {
        let mut p = padded(vec![]);
        let mut taken = vec![true; n];
        taken.push(false);
        p.push(Inst::branch(BranchKind::Cond, 8, &taken).short());
        p.push(mark());
        // A line under way that the branch made void does not hold the new one up.
        let cfg = MinorConfig {
            fetch1ToFetch2BackwardDelay: delay,
            fetch1FetchLimit: 4,
            fetch2InputBufferSize: 8,
            ..MinorConfig::default()
        };
        let mut r = machine(cfg, 2, MockFe::new(p));
        assert_eq!(r.go(ALL), Stop::Effect(DUMP));
        r.core.cycles()
    };
    let turn = |delay| (turns(delay, 48) - turns(delay, 40)) as f64 / 8.0;
    assert_eq!(turn(1) - turn(0), 1.0, "{} {}", turn(1), turn(0));
    assert_eq!(turn(2) - turn(1), 1.0);
}

#[test]
fn the_wrong_path_accesses_memory_but_changes_nothing() {
    let mut p = vec![Inst::load(6, 0, DATA, 8), Inst::branch(BranchKind::Cond, 8, &[true])];
    p.extend(vec![Inst::load(5, 0, DATA + 64, 8); 6]);
    p.extend(vec![Inst::nop(); 3]);
    p.push(mark());
    let mut r = machine(MinorConfig::default(), 2, MockFe::new(p));
    assert_eq!(r.go(ALL), Stop::Effect(DUMP));
    assert_eq!(r.core.insts(), 2 + 3 + 1);
    assert_eq!(r.fe.depth(), 0);
    assert!(r.stat("system.cpu.discardedOps") >= 1.0);
    assert!(r.stat("system.cpu.fetch2.loadInstructions") > 1.0);
}

#[test]
fn a_full_barrier_holds_younger_references_until_older_stores_are_out() {
    let program = |flags| {
        let fence = Inst::op(OpClass::No_OpClass, 0, &[]).short().flags(flags);
        cycles_with(MinorConfig::default(), 60, padded(vec![store(DATA), fence, load(5, DATA + 64)]))
    };
    let full = program(UopFlags::READ_BARRIER | UopFlags::WRITE_BARRIER);
    assert!(full > program(UopFlags::empty()) + 40, "{full} {}", program(UopFlags::empty()));
    assert_eq!(program(UopFlags::READ_BARRIER), program(UopFlags::empty()), "references already go in order");
}

#[test]
fn atomics_wait_until_they_are_the_oldest() {
    let mut amo = Inst::op(OpClass::MemRead, 5, &[]).short().flags(UopFlags::LOAD | UopFlags::STORE | UopFlags::ATOMIC);
    amo.uops[0].1 = MemRef {
        vaddr: DATA + 64,
        paddr: PhysAddr(DATA + 64),
        size: 8,
        kind: MemKind::Atomic,
        valid: true,
        ..MemRef::default()
    };
    let plain = load(5, DATA + 64);
    let at = |second: Inst| cycles_with(MinorConfig::default(), 40, padded(vec![load(6, DATA), second]));
    assert!(at(amo) >= at(plain) + 38, "the second cannot overlap with the first");
}

/// Instructions that wait for one another, for units and for memory.
fn waiting() -> impl Strategy<Value = Inst> {
    (0..6_u8, 1..7_u8, 1..7_u8, 0..64_u64).prop_map(|(what, dst, src, at)| match what {
        0 => Inst::op(OpClass::IntDiv, dst, &[src]).short(),
        1 => Inst::op(OpClass::FloatSqrt, dst, &[src]).short(),
        2 => load(dst, DATA + 8 * at),
        3 => store(DATA + 8 * at),
        _ => add(dst, src),
    })
}

#[test]
fn cycles_left_out_would_have_changed_nothing() {
    let all = |r: &Run<Minor>| {
        let mut sink = StatSink::new();
        r.core.collect(&mut sink);
        (r.core.cycles(), sink.stats.into_iter().map(|s| (s.name, s.value.to_string())).collect::<Vec<_>>())
    };
    let left_out = Cell::new(0);
    let config = ProptestConfig::with_cases(40);
    let rng = TestRng::deterministic_rng(RngAlgorithm::default());
    let programs = (vec(waiting(), 60), 1..41_u64);
    let run = TestRunner::new_with_rng(config, rng).run(&programs, |(mut program, data_cycles)| {
        program.push(mark());
        let mut whole = machine(MinorConfig::default(), data_cycles, MockFe::new(program.clone()));
        prop_assert_eq!(whole.go(ALL), Stop::Effect(DUMP));
        let mut by_one = machine(MinorConfig::default(), data_cycles, MockFe::new(program));
        while by_one.go(Budget { max_cycles: by_one.core.cycles() + 1, ..ALL }) == Stop::MaxCycles {
            let now = Cycle(by_one.core.cycles());
            left_out.set(
                left_out.get()
                    + u64::from(by_one.core.pipe.time.running && by_one.core.pipe.next_change(now) > now + 1),
            );
        }
        prop_assert_eq!(all(&whole), all(&by_one));
        Ok(())
    });
    run.unwrap_or_else(|e| panic!("{e}"));
    assert!(left_out.get() > 1000, "only {} cycles could have been left out", left_out.get());
}

#[test]
fn each_turn_of_a_loop_within_an_instruction_costs_a_misprediction() {
    let cfg = MinorConfig { predictsBranches: false, ..MinorConfig::default() };
    let run = |turns: usize| {
        let taken: Vec<bool> = (0..turns).map(|n| n + 1 < turns).collect();
        cycles_with(cfg.clone(), 2, vec![Inst::micro_loop(3, 0, &taken)])
    };
    let turn = run(11) - run(10);
    assert_eq!(turn, run(21) - run(20));
    // A way through the pipeline, not the four micro-ops.
    assert!(turn > 6, "a turn takes {turn} cycles");
}

#[test]
fn an_instruction_s_steps_are_extracted_together() {
    // Behind none and behind one instruction of its cycle, of which there are two.
    for before in [8, 9] {
        let mut p = vec![Inst::nop().short(); before];
        p.push(Inst { steps: 5, ..Inst::nop().short() });
        p.extend([Inst::nop(), mark()]);
        let mut r = machine(MinorConfig::default(), 2, MockFe::new(p));
        for max_cycles in 1.. {
            if r.go(Budget::new(1000, max_cycles)) != Stop::MaxCycles {
                break;
            }
            assert_eq!(r.fe.steps_done, 0, "cycle {max_cycles}, behind {before}");
        }
        assert!(r.core.cycles() < 100);
    }
}

#[test]
fn an_instruction_of_more_steps_than_there_is_room_for_passes_at_the_full_width() {
    let run = |steps: usize| cycles_with(MinorConfig::default(), 2, vec![Inst { steps, ..Inst::nop().short() }]);
    // Two micro-ops a cycle, in however many pieces they were extracted.
    assert_eq!(run(4000) - run(2000), 1000);
}
