//! The core's statistics under gem5's names.

use breakeven_base::{OpClass, StatSink, Unit};

use super::commit::CommitStats;
use super::decode::DecodeStats;
use super::dispatch::DispatchStats;
use super::execute::ExecuteStats;
use super::fetch::FetchStats;
use super::issue::IssueStats;
use super::rename::RenameStats;
use super::O3;
use crate::account::Account;

/// The totals at the last reset of the statistics; the totals themselves go on.
#[derive(Clone, Debug, Default)]
pub(super) struct Base {
    cycles: u64,
    commit: CommitStats,
    decode: DecodeStats,
    dispatch: DispatchStats,
    execute: ExecuteStats,
    issue: IssueStats,
    fetch: FetchStats,
    rename: RenameStats,
    account: Account,
}

impl O3 {
    /// Forgets the statistics; state and totals stay.
    pub fn reset_stats(&mut self) {
        self.base = Base {
            cycles: self.cycles(),
            commit: self.pipe.commit.stats.clone(),
            decode: self.pipe.decode.stats,
            dispatch: self.pipe.dispatch.stats,
            execute: self.pipe.execute.stats,
            issue: self.pipe.issue.stats,
            fetch: self.pipe.fetch.stats,
            rename: self.pipe.rename.stats,
            account: self.pipe.account,
        };
        self.predictor.reset_stats();
        self.pipe.lsq.reset_stats();
    }

    /// Visits every statistic of the core, its queues and its predictor, below the core's path.
    pub fn collect(&self, sink: &mut StatSink) {
        sink.scope(&self.path_name, |s| {
            self.collect_core(s);
            self.collect_front(s);
            self.collect_back(s);
            self.pipe.account.collect(s, &self.base.account);
            s.scope("lsq0", |s| self.pipe.lsq.collect(s));
            s.scope("branchPred", |s| self.predictor.stats(s));
        });
    }

    #[allow(clippy::cast_precision_loss)] // counters stay far below 2^53
    fn collect_core(&self, s: &mut StatSink) {
        let (now, then) = (&self.pipe.commit.stats, &self.base.commit);
        let cycles = self.cycles() - self.base.cycles;
        let (insts, ops) = (now.insts - then.insts, now.ops - then.ops);
        s.count("numCycles", cycles, Unit::Cycle, "Number of cpu cycles simulated");
        s.real("cpi", cycles as f64 / insts as f64, Unit::CPI, "CPI: cycles per instruction");
        s.real("ipc", insts as f64 / cycles as f64, Unit::IPC, "IPC: instructions per cycle");
        s.count("commitStats0.numInsts", insts, Unit::Count, "Number of instructions committed");
        s.count("commitStats0.numOps", ops, Unit::Count, "Number of micro-ops committed");
        s.real("commitStats0.cpi", cycles as f64 / insts as f64, Unit::CPI, "CPI: cycles per instruction");
        s.real("commitStats0.ipc", insts as f64 / cycles as f64, Unit::IPC, "IPC: instructions per cycle");
        let class = |c: OpClass| now.by_class[c as usize] - then.by_class[c as usize];
        let loads = class(OpClass::MemRead) + class(OpClass::FloatMemRead);
        let stores = class(OpClass::MemWrite) + class(OpClass::FloatMemWrite);
        s.count("commitStats0.numMemRefs", loads + stores, Unit::Count, "Number of memory references committed");
        s.count("commitStats0.numLoadInsts", loads, Unit::Count, "Number of load micro-ops committed");
        s.count("commitStats0.numStoreInsts", stores, Unit::Count, "Number of store micro-ops committed");
        for c in OpClass::ALL {
            let name = format!("commitStats0.committedInstType::{}", c.name());
            s.count(&name, class(*c), Unit::Count, "Micro-ops committed of this class");
        }
        s.count("commitStats0.committedInstType::total", ops, Unit::Count, "Micro-ops committed of any class");
        counts(
            s,
            &[
                ("commit.commitSquashedInsts", now.squashed - then.squashed, "Number of squashed micro-ops in the ROB"),
                (
                    "commit.commitNonSpecStalls",
                    now.non_spec_stalls - then.non_spec_stalls,
                    "Number of micro-ops that were told to execute when they were the oldest",
                ),
                (
                    "commit.branchMispredicts",
                    now.mispredicts - then.mispredicts,
                    "Number of branches that commit squashed for",
                ),
                ("commit.branches", now.branches - then.branches, "Number of branches committed"),
                ("commit.traps", now.traps - then.traps, "Number of traps taken"),
            ],
        );
    }

    fn collect_front(&self, s: &mut StatSink) {
        let (f, g) = (&self.pipe.fetch.stats, &self.base.fetch);
        let (d, e) = (&self.pipe.decode.stats, &self.base.decode);
        let (r, q) = (&self.pipe.rename.stats, &self.base.rename);
        counts(
            s,
            &[
                ("fetchStats0.numInsts", f.insts - g.insts, "Number of instructions fetched"),
                ("fetchStats0.numBranches", f.branches - g.branches, "Number of branches fetched"),
                ("fetchStats0.icacheStallCycles", f.icache_stall_cycles - g.icache_stall_cycles, "ICache stall cycles"),
                (
                    "fetch.predictedBranches",
                    f.predicted_taken - g.predicted_taken,
                    "Number of branches that fetch has predicted taken",
                ),
                (
                    "fetch.cycles",
                    f.cycles - g.cycles,
                    "Number of cycles fetch has run and was not squashing or blocked",
                ),
                ("fetch.squashCycles", f.squash_cycles - g.squash_cycles, "Number of cycles fetch has spent squashing"),
                ("fetch.tlbCycles", f.tlb_cycles - g.tlb_cycles, "Number of cycles fetch has waited for translation"),
                ("fetch.cacheLines", f.cache_lines - g.cache_lines, "Number of cache lines fetched"),
                ("decode.runCycles", d.run_cycles - e.run_cycles, "Number of cycles decode is running"),
                ("decode.idleCycles", d.idle_cycles - e.idle_cycles, "Number of cycles decode is idle"),
                ("decode.blockedCycles", d.blocked_cycles - e.blocked_cycles, "Number of cycles decode is blocked"),
                ("decode.unblockCycles", d.unblock_cycles - e.unblock_cycles, "Number of cycles decode is unblocking"),
                ("decode.squashCycles", d.squash_cycles - e.squash_cycles, "Number of cycles decode is squashing"),
                ("decode.decodedInsts", d.decoded - e.decoded, "Number of micro-ops handled by decode"),
                ("decode.branchResolved", d.resolved - e.resolved, "Number of branches whose target decode knew"),
                ("decode.branchMispred", d.mispredicted - e.mispredicted, "Number of branches that decode set right"),
                ("rename.renamedInsts", r.renamed - q.renamed, "Number of micro-ops processed by rename"),
                ("rename.renamedOperands", r.operands - q.operands, "Number of destination operands renamed"),
                ("rename.runCycles", r.cycles.run - q.cycles.run, "Number of cycles rename is running"),
                ("rename.idleCycles", r.cycles.idle - q.cycles.idle, "Number of cycles rename is idle"),
                ("rename.blockCycles", r.cycles.block - q.cycles.block, "Number of cycles rename is blocking"),
                ("rename.unblockCycles", r.cycles.unblock - q.cycles.unblock, "Number of cycles rename is unblocking"),
                ("rename.squashCycles", r.cycles.squash - q.cycles.squash, "Number of cycles rename is squashing"),
                (
                    "rename.serializeStallCycles",
                    r.cycles.serialize - q.cycles.serialize,
                    "Number of cycles rename waits for a serializing instruction",
                ),
                ("rename.serializing", r.serializing - q.serializing, "Number of serializing instructions renamed"),
                (
                    "rename.tempSerializing",
                    r.temp_serializing - q.temp_serializing,
                    "Number of instructions that waited for a serializing one",
                ),
                ("rename.ROBFullEvents", r.full.rob - q.full.rob, "Number of times rename blocked due to ROB full"),
                ("rename.IQFullEvents", r.full.iq - q.full.iq, "Number of times rename blocked due to IQ full"),
                ("rename.LQFullEvents", r.full.lq - q.full.lq, "Number of times rename blocked due to LQ full"),
                ("rename.SQFullEvents", r.full.sq - q.full.sq, "Number of times rename blocked due to SQ full"),
                (
                    "rename.fullRegistersEvents",
                    r.full.regs - q.full.regs,
                    "Number of times there were no free registers",
                ),
                ("rename.undoneMaps", r.undone - q.undone, "Number of renamings undone by squashes"),
            ],
        );
    }

    fn collect_back(&self, s: &mut StatSink) {
        let (d, e) = (&self.pipe.dispatch.stats, &self.base.dispatch);
        let (x, y) = (&self.pipe.execute.stats, &self.base.execute);
        let (i, j) = (&self.pipe.issue.stats, &self.base.issue);
        let (now, then) = (&self.pipe.commit.stats, &self.base.commit);
        counts(
            s,
            &[
                ("iew.dispatchedInsts", d.dispatched - e.dispatched, "Number of micro-ops dispatched to the IQ"),
                ("iew.dispLoadInsts", d.loads - e.loads, "Number of load micro-ops dispatched"),
                ("iew.dispStoreInsts", d.stores - e.stores, "Number of store micro-ops dispatched"),
                ("iew.dispNonSpecInsts", d.non_spec - e.non_spec, "Number of non-speculative micro-ops dispatched"),
                ("iew.iqFullEvents", d.iq_full - e.iq_full, "Number of times the IQ was full and stalled dispatch"),
                ("iew.lsqFullEvents", d.lsq_full - e.lsq_full, "Number of times the LSQ was full and stalled dispatch"),
                ("iew.blockCycles", d.block_cycles - e.block_cycles, "Number of cycles dispatch is blocking"),
                ("iew.unblockCycles", d.unblock_cycles - e.unblock_cycles, "Number of cycles dispatch is unblocking"),
                ("iew.squashCycles", d.squash_cycles - e.squash_cycles, "Number of cycles dispatch is squashing"),
                (
                    "iew.predictedTakenIncorrect",
                    x.predicted_taken_wrong - y.predicted_taken_wrong,
                    "Number of branches that were predicted taken incorrectly",
                ),
                (
                    "iew.predictedNotTakenIncorrect",
                    x.predicted_not_taken_wrong - y.predicted_not_taken_wrong,
                    "Number of branches that were predicted not taken incorrectly",
                ),
                ("iew.memOrderViolationEvents", x.violations - y.violations, "Number of memory order violations"),
                ("iew.writebackCount", x.written - y.written, "Number of micro-ops written back"),
                ("rob.writes", d.dispatched - e.dispatched, "Number of micro-ops that entered the ROB"),
                (
                    "rob.reads",
                    now.ops - then.ops + now.squashed - then.squashed,
                    "Number of micro-ops that left the ROB, committed or squashed",
                ),
                ("instsIssued", i.issued - j.issued, "Number of micro-ops issued"),
                ("executeStats0.numInsts", x.executed - y.executed, "Number of micro-ops executed"),
                ("fuBusy", i.fu_busy - j.fu_busy, "Number of times a ready micro-op found its units taken"),
            ],
        );
    }
}

fn counts(s: &mut StatSink, list: &[(&str, u64, &'static str)]) {
    for (name, value, desc) in list {
        s.count(name, *value, Unit::Count, desc);
    }
}
