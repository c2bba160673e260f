//! A wrong path that the front end only describes costs the pipeline what it costs when it is executed: not a cycle and not
//! a count is another. The reference program on x86-64, where no branch is predicted, and where all are.

mod common;

use breakeven_base::{Bus, FetchXlat, FrontEnd, Now, StatSink, Step, StepResult, SysEffect, WalkPath};
use breakeven_cpu::bpred::BranchPredictorParams;
use breakeven_cpu::minor::{Minor, MinorConfig};
use breakeven_cpu::{Budget, CoreCtx, Stop};
use breakeven_memory::MemorySystem;
use breakeven_x86::{X86Config, X86FrontEnd};
use common::{load_segments, reference_memory_at, Platform};

/// A front end that executes everything at once, and forks wherever it is sent.
#[derive(Clone)]
struct Eager(X86FrontEnd);

impl FrontEnd for Eager {
    const INST_SHIFT: u32 = X86FrontEnd::INST_SHIFT;
    fn pc(&self) -> u64 {
        self.0.pc()
    }
    fn step<B: Bus>(&mut self, bus: &mut B, now: Now, out: &mut Step) -> StepResult {
        self.0.step(bus, now, out)
    }
    fn run_fast<B: Bus>(&mut self, bus: &mut B, now: Now, max: u64) -> u64 {
        self.0.run_fast(bus, now, max)
    }
    fn fork(&mut self, wrong_pc: u64) -> u32 {
        self.0.fork(wrong_pc)
    }
    fn rollback(&mut self, depth: u32) {
        self.0.rollback(depth);
    }
    fn depth(&self) -> u32 {
        self.0.depth()
    }
    fn in_microcode(&self) -> bool {
        self.0.in_microcode()
    }
    fn fetch_translate<B: Bus>(&mut self, bus: &mut B, vaddr: u64) -> Option<FetchXlat> {
        self.0.fetch_translate(bus, vaddr)
    }
    fn walk_path<B: Bus>(&self, bus: &B, vaddr: u64) -> WalkPath {
        self.0.walk_path(bus, vaddr)
    }
    fn asid(&self) -> u16 {
        self.0.asid()
    }
}

/// Cycles and statistics after so many instructions.
fn run<F: FrontEnd>(mut fe: F, mut bus: Platform, cfg: &MinorConfig, insts: u64) -> (u64, Vec<(String, String)>) {
    let mut core = Minor::new(cfg.clone(), Some(&BranchPredictorParams::default()), 64).expect("builds");
    let mut mem = MemorySystem::new(reference_memory_at(0)).expect("the reference memory builds");
    let budget = Budget::new(insts, 1_000_000_000);
    loop {
        match core.run(&mut CoreCtx { fe: &mut fe, bus: &mut bus, mem: &mut mem }, budget) {
            Stop::MaxInsts => break,
            Stop::Effect(SysEffect::ResetStats | SysEffect::DumpStats) => {}
            other => panic!("{other:?} (pc {:#x})", fe.pc()),
        }
    }
    let mut sink = StatSink::new();
    core.collect(&mut sink);
    mem.collect(&mut sink);
    (core.cycles(), sink.stats.into_iter().map(|s| (s.name, s.value.to_string())).collect())
}

#[test]
fn a_described_wrong_path_costs_what_an_executed_one_costs() {
    for predicts in [false, true] {
        let cfg = MinorConfig { predictsBranches: predicts, ..MinorConfig::default() };
        let load = || {
            let (mut bus, entry) = load_segments("micro.x86.elf", 0);
            X86FrontEnd::boot(&mut bus);
            let config = X86Config { reset_pc: entry, ..X86Config::default() };
            (bus, X86FrontEnd::new(&config).expect("the default hart builds"))
        };
        let (bus, fe) = load();
        let described = run(fe, bus, &cfg, 1_200_000);
        let (bus, fe) = load();
        let executed = run(Eager(fe), bus, &cfg, 1_200_000);
        assert_eq!(described, executed, "with branch prediction {predicts}");
    }
}
