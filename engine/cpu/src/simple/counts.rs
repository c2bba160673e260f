//! What the simple cores count, under gem5's names.

use breakeven_base::{BranchKind, OpClass, StatSink, Step, Unit, UopFlags};

/// Totals since reset, and since the statistics' reset.
#[derive(Clone, Debug)]
pub(super) struct Counts {
    pub insts: u64,
    pub cycles: u64,
    insts_at_reset: u64,
    cycles_at_reset: u64,
    ops: u64,
    loads: u64,
    stores: u64,
    branches: u64,
    taken: u64,
    calls_returns: u64,
    pub predicted_branches: u64,
    pub branch_mispred: u64,
    pub icache_stall: u64,
    pub dcache_stall: u64,
    by_class: [u64; OpClass::COUNT],
}

impl Counts {
    pub fn new() -> Self {
        Counts {
            insts: 0,
            cycles: 0,
            insts_at_reset: 0,
            cycles_at_reset: 0,
            ops: 0,
            loads: 0,
            stores: 0,
            branches: 0,
            taken: 0,
            calls_returns: 0,
            predicted_branches: 0,
            branch_mispred: 0,
            icache_stall: 0,
            dcache_stall: 0,
            by_class: [0; OpClass::COUNT],
        }
    }

    /// Forgets the statistics; the totals go on.
    pub fn reset(&mut self) {
        let (insts, cycles) = (self.insts, self.cycles);
        *self = Counts { insts, cycles, insts_at_reset: insts, cycles_at_reset: cycles, ..Counts::new() };
    }

    /// An executed step, whole or trapped.
    pub fn step(&mut self, step: &Step, completes: bool) {
        self.insts += u64::from(completes);
        for uop in &step.uops[..step.n as usize] {
            if uop.flags.any(UopFlags::TRAP) {
                continue;
            }
            self.ops += 1;
            self.loads += u64::from(uop.flags.any(UopFlags::LOAD));
            self.stores += u64::from(uop.flags.any(UopFlags::STORE));
            self.by_class[uop.class as usize] += 1;
        }
        if step.branch.kind != BranchKind::None {
            self.branches += 1;
            self.taken += u64::from(step.branch.taken);
            self.calls_returns +=
                u64::from(matches!(step.branch.kind, BranchKind::Call | BranchKind::IndirectCall | BranchKind::Return));
        }
    }

    /// Visits what both cores have.
    #[allow(clippy::cast_precision_loss)] // counters stay far below 2^53
    pub fn common(&self, s: &mut StatSink) {
        let (insts, cycles) = (self.insts - self.insts_at_reset, self.cycles - self.cycles_at_reset);
        s.count("numCycles", cycles, Unit::Cycle, "Number of cpu cycles simulated");
        s.real("cpi", cycles as f64 / insts as f64, Unit::CPI, "CPI: cycles per instruction");
        s.real("ipc", insts as f64 / cycles as f64, Unit::IPC, "IPC: instructions per cycle");
        s.count("commitStats0.numInsts", insts, Unit::Count, "Number of instructions committed");
    }

    /// Visits what only a core that sees each micro-op can tell.
    pub fn per_op(&self, s: &mut StatSink) {
        for (name, value, desc) in [
            ("commitStats0.numOps", self.ops, "Number of micro-ops committed"),
            ("commitStats0.numMemRefs", self.loads + self.stores, "Number of memory references committed"),
            ("commitStats0.numLoadInsts", self.loads, "Number of load micro-ops committed"),
            ("commitStats0.numStoreInsts", self.stores, "Number of store micro-ops committed"),
            ("executeStats0.numBranches", self.branches, "Number of branches executed"),
            ("exec_context.thread_0.numBranches", self.branches, "Number of branches fetched"),
            ("exec_context.thread_0.numTakenBranches", self.taken, "Number of branches taken"),
            ("exec_context.thread_0.numCallsReturns", self.calls_returns, "Number of calls and returns"),
            (
                "exec_context.thread_0.numPredictedBranches",
                self.predicted_branches,
                "Number of branches predicted as taken",
            ),
            ("exec_context.thread_0.numBranchMispred", self.branch_mispred, "Number of branch mispredictions"),
        ] {
            s.count(name, value, Unit::Count, desc);
        }
        s.count(
            "fetchStats0.icacheStallCycles",
            self.icache_stall,
            Unit::Cycle,
            "Cycles waiting for instruction fetches",
        );
        s.count("executeStats0.dcacheStallCycles", self.dcache_stall, Unit::Cycle, "Cycles waiting for data accesses");
        for class in OpClass::ALL {
            let name = format!("commitStats0.committedInstType::{}", class.name());
            s.count(&name, self.by_class[*class as usize], Unit::Count, "Micro-ops committed of this class");
        }
        let name = "commitStats0.committedInstType::total";
        s.count(name, self.ops, Unit::Count, "Micro-ops committed of any class");
    }
}
