//! The units' counts together: each of them, those of a stalled unit's retries.

use super::Pipeline;
use crate::o3::commit::CommitStats;
use crate::o3::decode::DecodeStats;
use crate::o3::dispatch::DispatchStats;
use crate::o3::execute::ExecuteStats;
use crate::o3::fetch::FetchStats;
use crate::o3::issue::IssueStats;
use crate::o3::rename::{FullEvents, RenameCycles, RenameStats};

/// The counts that go on while a stalled unit retries.
#[derive(Clone, Copy, Debug)]
pub struct StageCounts {
    fetch: FetchStats,
    decode: DecodeStats,
    rename: RenameStats,
    dispatch: DispatchStats,
}

macro_rules! count_again {
    ($stats:expr, $before:expr, $times:expr, $($field:ident),*) => {
        $($stats.$field += ($stats.$field - $before.$field) * $times;)*
    };
}

impl Pipeline {
    pub(in crate::o3) fn stage_counts(&self) -> StageCounts {
        StageCounts {
            fetch: self.fetch.stats,
            decode: self.decode.stats,
            rename: self.rename.stats,
            dispatch: self.dispatch.stats,
        }
    }

    /// Every count of the pipeline, in one order.
    pub(super) fn each_count(&mut self, each: &mut impl FnMut(&mut u64)) {
        let CommitStats { insts, ops, by_class, branches, mispredicts, squashed, non_spec_stalls, traps } =
            &mut self.commit.stats;
        let commit = [insts, ops, branches, mispredicts, squashed, non_spec_stalls, traps];
        commit.into_iter().chain(by_class).for_each(&mut *each);
        let DecodeStats {
            decoded,
            resolved,
            mispredicted,
            run_cycles,
            blocked_cycles,
            unblock_cycles,
            squash_cycles,
            idle_cycles,
        } = &mut self.decode.stats;
        [decoded, resolved, mispredicted, run_cycles, blocked_cycles, unblock_cycles, squash_cycles, idle_cycles]
            .into_iter()
            .for_each(&mut *each);
        let DispatchStats {
            dispatched,
            loads,
            stores,
            non_spec,
            iq_full,
            lsq_full,
            block_cycles,
            unblock_cycles,
            squash_cycles,
        } = &mut self.dispatch.stats;
        [dispatched, loads, stores, non_spec, iq_full, lsq_full, block_cycles, unblock_cycles, squash_cycles]
            .into_iter()
            .for_each(&mut *each);
        let ExecuteStats { executed, written, predicted_taken_wrong, predicted_not_taken_wrong, violations } =
            &mut self.execute.stats;
        [executed, written, predicted_taken_wrong, predicted_not_taken_wrong, violations]
            .into_iter()
            .for_each(&mut *each);
        let IssueStats { issued, fu_busy } = &mut self.issue.stats;
        [issued, fu_busy].into_iter().for_each(&mut *each);
        let FetchStats {
            insts,
            branches,
            predicted_taken,
            cache_lines,
            cycles,
            squash_cycles,
            icache_stall_cycles,
            tlb_cycles,
        } = &mut self.fetch.stats;
        [insts, branches, predicted_taken, cache_lines, cycles, squash_cycles, icache_stall_cycles, tlb_cycles]
            .into_iter()
            .for_each(&mut *each);
        self.rename_counts(each);
        self.account.for_each_count(each);
        self.lsq.for_each_count(each);
    }

    fn rename_counts(&mut self, each: &mut impl FnMut(&mut u64)) {
        let RenameStats { renamed, operands, serializing, temp_serializing, cycles, full, undone } =
            &mut self.rename.stats;
        let RenameCycles { run, idle, block, unblock, squash, serialize } = cycles;
        [run, idle, block, unblock, squash, serialize].into_iter().for_each(&mut *each);
        let FullEvents { rob, iq, lq, sq, regs } = full;
        [rob, iq, lq, sq, regs].into_iter().for_each(&mut *each);
        [renamed, operands, serializing, temp_serializing, undone].into_iter().for_each(each);
    }

    /// Counts on where `from` has come to, with its store sets.
    #[cfg(test)]
    pub(in crate::o3) fn take_counts(&mut self, from: &Pipeline) {
        self.commit.stats = from.commit.stats.clone();
        self.decode.stats = from.decode.stats;
        self.dispatch.stats = from.dispatch.stats;
        self.execute.stats = from.execute.stats;
        self.issue.stats = from.issue.stats;
        self.fetch.stats = from.fetch.stats;
        self.rename.stats = from.rename.stats;
        self.account = from.account;
        self.lsq.take_counts(&from.lsq);
    }

    /// So many cycles in which nothing moves while fetch could go on but for full queues: gem5's core ticks in them
    /// (`Fetch::updateFetchStatus`), and each stage counts what it does. In others it sleeps, and none counts.
    pub(in crate::o3) fn count_still(&mut self, cycles: u64) {
        self.fetch.count_still(cycles);
        self.decode.count_still(cycles);
        self.rename.count_still(cycles, &self.io);
        self.dispatch.count_still(cycles, &self.issue);
    }

    /// As many cycles again as the one since `before`.
    pub(in crate::o3) fn count_again(&mut self, before: &StageCounts, cycles: u64) {
        let (s, b) = (&mut self.fetch.stats, &before.fetch);
        count_again!(s, b, cycles, cycles, squash_cycles, icache_stall_cycles, tlb_cycles);
        let (s, b) = (&mut self.decode.stats, &before.decode);
        count_again!(s, b, cycles, run_cycles, blocked_cycles, unblock_cycles, squash_cycles, idle_cycles);
        let (s, b) = (&mut self.rename.stats, &before.rename);
        count_again!(s.cycles, b.cycles, cycles, run, idle, block, unblock, squash, serialize);
        count_again!(s.full, b.full, cycles, rob, iq, lq, sq, regs);
        let (s, b) = (&mut self.dispatch.stats, &before.dispatch);
        count_again!(s, b, cycles, iq_full, lsq_full, block_cycles, unblock_cycles, squash_cycles);
    }
}
