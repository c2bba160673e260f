//! Minor's statistics under gem5's names.

use breakeven_base::{OpClass, StatSink, Unit};

use super::execute::ExecuteStats;
use super::fetch2::Fetch2Stats;
use super::Minor;

/// The totals at the last reset of the statistics; the totals themselves go on.
#[derive(Clone, Debug, Default)]
pub(super) struct Base {
    cycles: u64,
    ticked: u64,
    lines: u64,
    forwarded: u64,
    execute: ExecuteStats,
    fetch2: Fetch2Stats,
}

impl Minor {
    /// Forgets the statistics; state and totals stay.
    pub fn reset_stats(&mut self) {
        self.base = Base {
            cycles: self.cycles(),
            ticked: self.pipe.time.ticked,
            lines: self.pipe.fetch1.lines,
            forwarded: self.pipe.execute.lsq.forwarded,
            execute: self.pipe.execute.stats.clone(),
            fetch2: self.pipe.fetch2.stats,
        };
        self.predictor.reset_stats();
        self.pipe.reset_account();
    }

    /// Visits every statistic of the core and its predictor, below the core's path.
    pub fn collect(&self, sink: &mut StatSink) {
        sink.scope(&self.path, |s| {
            self.collect_core(s);
            self.collect_stages(s);
            self.pipe.collect_account(s);
            s.scope("branchPred", |s| self.predictor.stats(s));
        });
    }

    #[allow(clippy::cast_precision_loss)] // counters stay far below 2^53
    fn collect_core(&self, s: &mut StatSink) {
        let (now, then) = (&self.pipe.execute.stats, &self.base.execute);
        let cycles = self.cycles() - self.base.cycles;
        let insts = now.insts - then.insts;
        let ops = now.ops - then.ops;
        s.count("numCycles", cycles, Unit::Cycle, "Number of cpu cycles simulated");
        s.real("cpi", cycles as f64 / insts as f64, Unit::CPI, "CPI: cycles per instruction");
        s.real("ipc", insts as f64 / cycles as f64, Unit::IPC, "IPC: instructions per cycle");
        let ticked = self.pipe.time.ticked - self.base.ticked;
        s.count("tickCycles", ticked, Unit::Cycle, "Number of cycles that the object actually ticked");
        s.count(
            "idleCycles",
            cycles.saturating_sub(ticked),
            Unit::Cycle,
            "Total number of cycles that the object has spent stopped",
        );
        s.count(
            "quiesceCycles",
            0,
            Unit::Cycle,
            "Total number of cycles that CPU has spent quiesced or waiting for an interrupt",
        );
        let discarded = now.discarded_ops - then.discarded_ops;
        s.count(
            "discardedOps",
            discarded,
            Unit::Count,
            "Number of ops (including micro ops) which were discarded before commit",
        );
        s.count("numFetchSuspends", 0, Unit::Count, "Number of times Execute suspended instruction fetching");
        s.count("commitStats0.numInsts", insts, Unit::Count, "Number of instructions committed");
        s.count("commitStats0.numOps", ops, Unit::Count, "Number of micro-ops committed");
        s.real("commitStats0.cpi", cycles as f64 / insts as f64, Unit::CPI, "CPI: cycles per instruction");
        s.real("commitStats0.ipc", insts as f64 / cycles as f64, Unit::IPC, "IPC: instructions per cycle");
        let loads = [OpClass::MemRead, OpClass::FloatMemRead];
        let stores = [OpClass::MemWrite, OpClass::FloatMemWrite];
        let sum = |classes: [OpClass; 2]| {
            classes.iter().map(|c| now.by_class[*c as usize] - then.by_class[*c as usize]).sum()
        };
        let (loads, stores): (u64, u64) = (sum(loads), sum(stores));
        s.count("commitStats0.numMemRefs", loads + stores, Unit::Count, "Number of memory references committed");
        s.count("commitStats0.numLoadInsts", loads, Unit::Count, "Number of load micro-ops committed");
        s.count("commitStats0.numStoreInsts", stores, Unit::Count, "Number of store micro-ops committed");
        for class in OpClass::ALL {
            let count = now.by_class[*class as usize] - then.by_class[*class as usize];
            let name = format!("commitStats0.committedInstType::{}", class.name());
            s.count(&name, count, Unit::Count, "Micro-ops committed of this class");
        }
        s.count("commitStats0.committedInstType::total", ops, Unit::Count, "Micro-ops committed of any class");
    }

    fn collect_stages(&self, s: &mut StatSink) {
        let (now, then) = (self.pipe.fetch2.stats.kinds(), self.base.fetch2.kinds());
        for (name, value, desc) in [
            ("fetch1.lines", self.pipe.fetch1.lines - self.base.lines, "Number of lines requested"),
            ("fetch2.intInstructions", now.int - then.int, "Number of integer instructions successfully decoded"),
            ("fetch2.fpInstructions", now.fp - then.fp, "Number of floating point instructions successfully decoded"),
            ("fetch2.vecInstructions", 0, "Number of SIMD instructions successfully decoded"),
            (
                "fetch2.loadInstructions",
                now.load - then.load,
                "Number of memory load instructions successfully decoded",
            ),
            (
                "fetch2.storeInstructions",
                now.store - then.store,
                "Number of memory store instructions successfully decoded",
            ),
            ("fetch2.amoInstructions", now.amo - then.amo, "Number of memory atomic instructions successfully decoded"),
            (
                "lsq.forwLoads",
                self.pipe.execute.lsq.forwarded - self.base.forwarded,
                "Number of loads that had data forwarded from stores",
            ),
        ] {
            s.count(name, value, Unit::Count, desc);
        }
    }
}
