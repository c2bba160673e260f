//! The parameters as the cycle loop reads them: cycles and counts in the widths it computes with.

use super::config::{O3Config, RenameRecovery};
use super::quirks::Gem5Quirks;

/// Cycles from one stage to another.
#[derive(Clone, Debug)]
pub struct Delays {
    pub decode_to_fetch: u64,
    pub fetch_to_decode: u64,
    pub decode_to_rename: u64,
    pub rename_to_decode: u64,
    pub rename_to_iew: u64,
    pub rename_to_rob: u64,
    pub iew_to_rename: u64,
    pub iew_to_commit: u64,
    pub issue_to_execute: u64,
    pub commit_to_fetch: u64,
    pub commit_to_rename: u64,
    /// When rename goes on with what waits for retirement.
    pub retired_to_rename: u64,
    pub commit_to_iew: u64,
    /// A squash reaches all stages together.
    pub squash: u64,
    /// From a trap at the ROB's head to its squash.
    pub trap: u64,
}

/// Slots a cycle of each stage.
#[derive(Clone, Debug)]
pub struct Widths {
    pub fetch: u32,
    /// Fetch targets.
    pub targets: u32,
    pub decode: u32,
    pub rename: u32,
    pub dispatch: u32,
    pub issue: u32,
    pub wb: usize,
    pub commit: u32,
    pub squash: u32,
}

/// The configuration as the cycle loop reads it.
#[derive(Clone, Debug)]
pub struct Rules {
    pub delays: Delays,
    pub widths: Widths,
    pub fetch_buffer: u32,
    pub fetch_queue: u32,
    pub loop_buffer: u32,
    /// Slots between the fetch queue and rename where there is a queue behind the decoders; 0: there is none.
    pub decode_queue: u32,
    /// `branchIssueWidth` counts branches.
    pub counts_branches: bool,
    pub call_return_delay: u32,
    pub serializing_stops_fetch: bool,
    pub micro_fusion: bool,
    pub macro_fusion: bool,
    /// A micro-op may travel without a slot of its own.
    pub fuses: bool,
    pub move_elimination: bool,
    pub recovery: RenameRecovery,
    pub quirks: Gem5Quirks,
}

impl Delays {
    fn new(c: &O3Config) -> Self {
        let squash = c.commitToFetchDelay.max(c.commitToDecodeDelay).max(c.commitToRenameDelay).max(c.commitToIEWDelay);
        Delays {
            decode_to_fetch: c.decodeToFetchDelay.into(),
            fetch_to_decode: c.fetchToDecodeDelay.into(),
            decode_to_rename: c.decodeToRenameDelay.into(),
            rename_to_decode: c.renameToDecodeDelay.into(),
            rename_to_iew: c.renameToIEWDelay.into(),
            rename_to_rob: c.renameToROBDelay.into(),
            iew_to_rename: c.iewToRenameDelay.into(),
            iew_to_commit: c.iewToCommitDelay.into(),
            issue_to_execute: c.issueToExecuteDelay.into(),
            commit_to_fetch: c.commitToFetchDelay.into(),
            commit_to_rename: c.commitToRenameDelay.into(),
            retired_to_rename: (c.commitToRenameDelay + c.flagStallDelay).into(),
            commit_to_iew: c.commitToIEWDelay.into(),
            squash: squash.into(),
            trap: c.trapLatency.into(),
        }
    }

    /// From dispatch until rename knows of the ROB entry, too.
    ///
    /// A micro-op is in the ROB so many cycles before it is dispatched, or more. With gem5's delays the ROB's report of it is the
    /// earlier one; where it is the later one, gem5 counts the entry in neither for some cycles and overfills the ROB
    /// (`Rename::calcFreeROBEntries`).
    #[inline]
    pub fn entry_to_rename(&self) -> u64 {
        let entered = self.rename_to_iew - self.rename_to_rob; // not below 0 (config.rs)
        self.iew_to_rename.max(self.commit_to_rename.saturating_sub(entered))
    }
}

impl Rules {
    pub fn new(c: &O3Config) -> Self {
        // A full queue holds what is in the stages before it where it is.
        let in_stages = c.decodeWidth * (c.fetchToDecodeDelay + c.decodeToRenameDelay);
        Rules {
            delays: Delays::new(c),
            widths: Widths {
                fetch: c.fetchWidth,
                targets: if c.decoupledFrontEnd { c.maxTakenPredPerCycle } else { 1 },
                decode: c.decodeWidth,
                rename: c.renameWidth,
                dispatch: c.dispatchWidth,
                issue: c.issueWidth,
                wb: c.wbWidth as usize,
                commit: c.commitWidth,
                squash: c.squashWidth,
            },
            fetch_buffer: c.fetchBufferSize,
            fetch_queue: c.fetchQueueSize,
            loop_buffer: c.loopBufferSize,
            decode_queue: if c.queue_behind_decoders() { c.fetchQueueSize + in_stages } else { 0 },
            counts_branches: c.branchIssueWidth > 0,
            call_return_delay: c.callReturnDelay,
            serializing_stops_fetch: c.serializingStopsFetch,
            micro_fusion: c.microFusion,
            macro_fusion: c.macroFusion,
            fuses: c.microFusion || c.macroFusion,
            move_elimination: c.moveElimination,
            recovery: c.renameRecovery,
            quirks: c.quirks,
        }
    }
}
