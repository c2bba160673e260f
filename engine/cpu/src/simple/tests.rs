//! Cycle counts of scripted programs, hand-computed: instruction memory answers in 2 cycles, data memory in 5.

use breakeven_base::bus::ExitCause;
use breakeven_base::{BranchKind, FrontEnd, StatSink, SysEffect, Tick};
use breakeven_memory::config::{MemorySystemConfig, WriteCombiningConfig};
use breakeven_memory::MemorySystem;

use super::*;
use crate::testing::{self, memory_config, Inst, MockBus, MockFe, Run, BASE, PERIOD};
use crate::{Budget, CoreCtx, Stop};

const FETCH: u64 = 2;
const DATA: u64 = 5;
const ALL: Budget = Budget::new(1_000_000, 1_000_000);

fn memory() -> MemorySystem {
    testing::memory(memories())
}

fn memories() -> MemorySystemConfig {
    memory_config(FETCH, DATA, 1)
}

fn exit() -> Inst {
    Inst::effect(SysEffect::Exit { cause: ExitCause::M5Exit, code: 3 })
}

const EXITED: Stop = Stop::Effect(SysEffect::Exit { cause: ExitCause::M5Exit, code: 3 });

fn machine(cfg: SimpleConfig, fe: MockFe) -> Run<TimingSimple> {
    Run::on(memories(), TimingSimple::new(cfg).expect("valid"), fe)
}

/// Cycles of `program` and an exit on a fresh core, less those of the exit.
fn cycles_with(config: SimpleConfig, mut program: Vec<Inst>) -> u64 {
    program.push(exit());
    let mut r = machine(config, MockFe::new(program));
    assert_eq!(r.go(ALL), EXITED);
    r.core.cycles() - FETCH
}

fn cycles(program: Vec<Inst>) -> u64 {
    cycles_with(SimpleConfig::default(), program)
}

#[test]
fn an_instruction_costs_its_fetches() {
    assert_eq!(cycles(vec![Inst::nop(); 10]), 10 * FETCH);
    // Two short ones lie in one word, and each fetches it.
    assert_eq!(cycles(vec![Inst::nop().short(), Inst::nop().short()]), 2 * FETCH);
    // A long one that lies in two words takes two, timed ones (the exit) too.
    assert_eq!(cycles(vec![Inst::nop().short(), Inst::nop()]), FETCH + 2 * FETCH + FETCH);
}

#[test]
fn accesses_come_after_the_fetch_one_at_a_time() {
    let load = |a| Inst::load(5, 10, BASE + 0x1000 + a, 8);
    assert_eq!(cycles(vec![load(0), load(8), Inst::store(5, 10, BASE + 0x1000, 8)]), 3 * (FETCH + DATA));
    // A line crossing is two packets at once; their responses are taken in consecutive cycles.
    assert_eq!(cycles(vec![load(60)]), FETCH + DATA + 1);
    assert_eq!(cycles(vec![load(3)]), FETCH + DATA, "misaligned inside a line is free");
}

#[test]
fn a_fence_waits_for_what_write_combining_buffers_hold() {
    let program = || {
        let store = Inst::store(5, 10, BASE + 0x1000, 8).flags(UopFlags::NON_TEMPORAL);
        vec![store, Inst::nop(), Inst::nop().flags(UopFlags::WRITE_BARRIER), exit()]
    };
    let mut run = machine(SimpleConfig::default(), MockFe::new(program()));
    run.go(ALL);
    assert_eq!(run.core.cycles() - FETCH, FETCH + DATA + 2 * FETCH, "no buffers: the hint means nothing");
    let mut config = memories();
    config.write_combining = Some(WriteCombiningConfig::new("wc"));
    let mut run = machine(SimpleConfig::default(), MockFe::new(program()));
    run.mem = testing::memory(config);
    run.go(ALL);
    assert_eq!(run.core.cycles() - FETCH, (FETCH + 1) + FETCH + (FETCH + DATA));
}

#[test]
fn misaligned_costs_come_on_top() {
    let misaligned = MisalignedCosts {
        granule: 8,
        granule_cross_load: 3,
        line_cross_store: 7,
        split_slots: 20,
        ..Default::default()
    };
    let config = || SimpleConfig { misaligned, ..Default::default() };
    let aligned = Inst::load(5, 10, BASE + 0x1000, 8);
    let load = Inst::load(5, 10, BASE + 0x1001, 8);
    let store = Inst::store(5, 10, BASE + 0x103c, 8);
    assert_eq!(cycles_with(config(), vec![load.clone()]), FETCH + DATA + 3);
    assert_eq!(cycles_with(config(), vec![store]), FETCH + DATA + 1 + 7);
    // The split occupies the port for 20 cycles after its own: the next access waits for it.
    assert_eq!(cycles_with(config(), vec![load, aligned]), FETCH + 1 + 20 + DATA);
    let emulate =
        MisalignedCosts { emulate: true, emulate_cycles: 100, emulate_cycles_per_byte: 10, ..Default::default() };
    let config = SimpleConfig { misaligned: emulate, ..Default::default() };
    assert_eq!(cycles_with(config, vec![Inst::load(5, 10, BASE + 0x1001, 4)]), FETCH + 140 + DATA);
}

#[test]
fn a_tlb_miss_walks_before_the_access() {
    let load = |a| Inst::load(5, 10, BASE + a, 8).paged(12);
    // One entry: the page stays until another is used.
    assert_eq!(cycles(vec![load(0x1000), load(0x1008)]), 2 * (FETCH + DATA) + DATA);
    assert_eq!(cycles(vec![load(0x1000), load(0x2000), load(0x1000)]), 3 * (FETCH + DATA) + 3 * DATA);
    // A page crossing looks both pages up.
    assert_eq!(cycles(vec![load(0x1ffc)]), FETCH + 2 * DATA + DATA + 1);
    // Flushed by an instruction: walked again.
    let flush = Inst::effect(SysEffect::TlbFlush { vaddr: None });
    assert_eq!(cycles(vec![load(0x1000), flush, load(0x1000)]), 3 * FETCH + 2 * DATA + 2 * DATA);
    let mut fe = MockFe::new(vec![Inst::nop(), Inst::nop(), exit()]);
    fe.fetch_page = 12;
    let mut r = machine(SimpleConfig::default(), fe);
    assert_eq!(r.go(ALL), EXITED);
    assert_eq!(r.core.cycles(), 3 * FETCH + DATA);
}

#[test]
fn time_is_read_after_the_fetch() {
    let timed = || Inst::effect(SysEffect::None);
    let mut r = machine(SimpleConfig::default(), MockFe::new(vec![timed(), Inst::nop(), timed(), exit()]));
    assert_eq!(r.go(ALL), EXITED);
    assert_eq!(r.fe.times, [FETCH, 3 * FETCH, 4 * FETCH]);
}

#[test]
fn limits_pause_and_effects_stop_and_can_be_resumed() {
    let mut program = vec![Inst::nop(); 20];
    program[7].pause = true;
    program.push(Inst::effect(SysEffect::WorkBegin { id: 4 }));
    program.push(exit());
    let mut r = machine(SimpleConfig::default(), MockFe::new(program));
    assert_eq!(r.go(Budget { max_insts: 5, ..ALL }), Stop::MaxInsts);
    assert_eq!((r.core.insts(), r.fe.executed), (5, 5));
    assert_eq!(r.go(ALL), Stop::Paused);
    assert_eq!((r.core.insts(), r.fe.pc()), (7, r.fe.pc_of(7)));
    let limit = r.core.cycles() + 3 * FETCH;
    assert_eq!(r.go(Budget { max_cycles: limit, ..ALL }), Stop::MaxCycles);
    assert_eq!((r.core.cycles(), r.core.insts()), (limit, 10));
    assert_eq!(r.go(ALL), Stop::Effect(SysEffect::WorkBegin { id: 4 }));
    assert_eq!(r.core.insts(), 21);
    assert_eq!(r.go(ALL), EXITED);
    // Off the script: the front end gives up, and so must the core, with a word on why.
    assert!(matches!(r.go(ALL), Stop::Deadlock(why) if why.contains("pc 0x80000058")));
}

#[test]
fn branches_are_predicted_and_counted_but_cost_nothing() {
    let taken = [vec![true; 9], vec![false]].concat();
    let program = || vec![Inst::nop(), Inst::branch(BranchKind::Cond, 0, &taken)];
    let plain = cycles(program());
    let config = SimpleConfig { branch_pred: Some(BranchPredictorParams::default()), ..Default::default() };
    let mut list = program();
    list.push(exit());
    let mut r = machine(config, MockFe::new(list));
    assert_eq!(r.go(ALL), EXITED);
    assert_eq!((plain, r.core.cycles()), (20 * FETCH, 21 * FETCH));
    let mut s = StatSink::new();
    r.core.collect(&mut s);
    let get = |n: &str| s.stats.iter().find(|x| x.name == format!("system.cpu.{n}")).map(|x| x.value);
    assert_eq!(get("commitStats0.numInsts"), Some(21.0));
    assert_eq!(get("numCycles"), Some(42.0));
    assert_eq!(get("branchPred.condPredicted"), Some(10.0));
    assert_eq!(get("exec_context.thread_0.numTakenBranches"), Some(9.0));
    assert!(get("exec_context.thread_0.numBranchMispred") >= Some(2.0));
    r.core.reset_stats();
    let mut s = StatSink::new();
    r.core.collect(&mut s);
    assert!(s.stats.iter().all(|x| x.value == 0.0 || x.value.is_nan()), "{:?}", s.stats);
    assert_eq!(r.core.insts(), 21, "totals go on");
}

#[test]
fn an_atomic_core_takes_a_cycle_an_instruction() {
    for (width, cycles) in [(1, 101), (4, 25)] {
        let mut program = vec![Inst::nop(); 100];
        program[40] = Inst::effect(SysEffect::FetchFlush);
        program[60].pause = true;
        program.push(exit());
        let mut core = AtomicSimple::new(SimpleConfig { width, ..Default::default() }).expect("valid");
        let (mut fe, mut bus, mut mem) = (MockFe::new(program), MockBus::new(), memory());
        let mut ctx = CoreCtx { fe: &mut fe, bus: &mut bus, mem: &mut mem };
        assert_eq!(core.run(&mut ctx, Budget { max_insts: 10, ..ALL }), Stop::MaxInsts);
        assert_eq!(core.insts(), 10);
        assert_eq!(core.run(&mut ctx, Budget { max_cycles: 12, ..ALL }), Stop::MaxCycles);
        assert_eq!(core.cycles(), 12);
        assert_eq!(core.run(&mut ctx, ALL), Stop::Paused);
        assert_eq!(core.insts(), 60);
        assert_eq!(core.run(&mut ctx, ALL), EXITED);
        assert_eq!((core.insts(), core.cycles()), (101, cycles));
    }
}

#[test]
fn interrupts_come_at_their_instant_on_both_cores() {
    let mut program = vec![Inst::nop(); 100];
    program.push(exit());
    let mut bus = MockBus::new();
    bus.irq_at = Tick(30 * PERIOD);
    let mut fe = MockFe::new(program.clone());
    fe.interruptible = true;
    let mut core = AtomicSimple::new(SimpleConfig::default()).expect("valid");
    let mut mem = memory();
    assert_eq!(core.run(&mut CoreCtx { fe: &mut fe, bus: &mut bus, mem: &mut mem }, ALL), EXITED);
    assert_eq!(fe.times[0], 30);
    assert_eq!((core.insts(), core.cycles()), (101, 102), "taking it is a cycle, not an instruction");

    let mut fe = MockFe::new(program);
    fe.interruptible = true;
    let mut r = machine(SimpleConfig::default(), fe);
    r.bus.irq_at = Tick(30 * PERIOD);
    assert_eq!(r.go(ALL), EXITED);
    assert_eq!(r.fe.times[0], 30);
    assert_eq!(r.core.insts(), 101);
}

#[test]
fn a_handler_that_faults_forever_is_a_deadlock() {
    use breakeven_base::UopFlags;
    let program = || vec![Inst::branch(BranchKind::Jump, 0, &[]).flags(UopFlags::TRAP)];
    let endless = Budget::new(u64::MAX, u64::MAX);
    let mut r = machine(SimpleConfig::default(), MockFe::new(program()));
    assert!(matches!(r.go(endless), Stop::Deadlock(why) if why.contains("traps in a row; the last at pc 0x80000000")));
    let mut core = AtomicSimple::new(SimpleConfig::default()).expect("valid");
    // Its fast path must leave traps to `step`, as every front end's does.
    let mut list = program();
    list[0].timed = true;
    let (mut fe, mut bus, mut mem) = (MockFe::new(list.clone()), MockBus::new(), memory());
    let stop = core.run(&mut CoreCtx { fe: &mut fe, bus: &mut bus, mem: &mut mem }, endless);
    assert!(matches!(stop, Stop::Deadlock(_)));
    assert_eq!(core.insts(), 0);
    // A guest that traps often but gets on is none.
    list.insert(0, Inst::nop());
    let mut fe = MockFe::new(list);
    let stop =
        core.run(&mut CoreCtx { fe: &mut fe, bus: &mut bus, mem: &mut mem }, Budget { max_insts: 1 << 21, ..endless });
    assert_eq!(stop, Stop::MaxInsts);
}

#[test]
fn traps_amid_an_instruction_that_never_ends_are_a_deadlock_too() {
    use breakeven_base::{Step, Uop, UopFlags};
    let step = |len, flags| {
        let mut step = Step { len, n: 1, ..Step::default() };
        step.uops[0] = Uop { flags, ..Uop::default() };
        step
    };
    // A handler that begins with a repeated instruction: a part of it, then what traps, then the handler again.
    let (part, trap, whole) = (step(2, UopFlags::FIRST), step(0, UopFlags::TRAP), step(2, UopFlags::LAST));
    let ends = |steps: &[&Step]| {
        let mut progress = super::Progress::default();
        (0..=super::MAX_TRAPS).any(|_| steps.iter().any(|step| progress.after(step, super::completes(step)).is_some()))
    };
    assert!(ends(&[&part, &trap]));
    assert!(!ends(&[&part, &trap, &whole]), "a handler that gets on");
    assert!(!ends(&[&part]), "a long instruction is no trap");
}

#[test]
fn parameters_that_cannot_be_built_are_named() {
    let misaligned = MisalignedCosts { granule: 12, ..Default::default() };
    let errors = TimingSimple::new(SimpleConfig { width: 0, misaligned, ..Default::default() }).expect_err("two");
    let paths: Vec<&str> = errors.iter().map(|e| e.path.as_str()).collect();
    assert_eq!(paths, ["system.cpu.width", "system.cpu.misaligned.granule"]);
    assert!(AtomicSimple::new(SimpleConfig { fetch_bytes: 3, ..Default::default() }).is_err());
}
