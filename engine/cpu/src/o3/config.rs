//! The parameters of the out-of-order core, under gem5's names (`BaseO3CPU`, `FUPool`, `FUDesc`, `OpDesc`) and with
//! gem5 24.0's defaults. What gem5 does not have is marked *ours* and by default changes nothing.

use breakeven_base::units::Clock;
use breakeven_base::{ConfigError, OpClass};

use super::fu_pool::{default_fu_pool, FuDesc, IqInsertionPolicy, IqUnit};
use super::lsq::config::LsqConfig;
use super::quirks::Gem5Quirks;
use super::units::Units;
use crate::misaligned::{check_costs, MisalignedCosts};

/// How the rename map is brought back after a misprediction (*ours*).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RenameRecovery {
    /// gem5: the ROB is walked back `squashWidth` micro-ops a cycle, and nothing commits or is dispatched meanwhile.
    #[default]
    Walk,
    /// A checkpoint a branch: recovered at once.
    Checkpoint,
}

/// gem5 `BaseO3CPU` and what it refers to, apart from the branch predictor. What becomes of
/// gem5's other parameters: docs/gem5-parameters.md.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(non_snake_case)]
pub struct O3Config {
    /// The object's path (`system.cpu`): where its statistics go.
    pub path: String,
    pub clock: Clock,
    // Delays in cycles.
    pub decodeToFetchDelay: u32,
    pub commitToFetchDelay: u32,
    pub renameToDecodeDelay: u32,
    pub commitToDecodeDelay: u32,
    pub fetchToDecodeDelay: u32,
    pub iewToRenameDelay: u32,
    pub commitToRenameDelay: u32,
    pub decodeToRenameDelay: u32,
    pub commitToIEWDelay: u32,
    pub renameToIEWDelay: u32,
    pub issueToExecuteDelay: u32,
    pub iewToCommitDelay: u32,
    pub renameToROBDelay: u32,
    /// Cycles from the commit of a faulting instruction to the squash.
    pub trapLatency: u32,
    // Widths in micro-ops a cycle.
    pub fetchWidth: u32,
    pub decodeWidth: u32,
    pub renameWidth: u32,
    pub dispatchWidth: u32,
    pub issueWidth: u32,
    pub wbWidth: u32,
    pub commitWidth: u32,
    pub squashWidth: u32,
    /// Bytes fetched at a time; a power of two up to the cache line.
    pub fetchBufferSize: u32,
    /// Micro-ops between fetch and decode.
    pub fetchQueueSize: u32,
    pub numROBEntries: u32,
    pub numIQEntries: u32,
    pub numPhysIntRegs: u32,
    pub numPhysFloatRegs: u32,
    /// Condition codes; an instruction set without them takes none.
    pub numPhysCCRegs: u32,
    pub LQEntries: u32,
    pub SQEntries: u32,
    /// Loads that may enter the data cache in a cycle.
    pub cacheLoadPorts: u32,
    /// Stores that may enter the data cache in a cycle.
    pub cacheStorePorts: u32,
    /// *Ours*: branches that may issue in a cycle; 0: as many as find a functional unit.
    pub branchIssueWidth: u32,
    /// log2 bytes of the granule by which violations are found.
    pub LSQDepCheckShift: u32,
    pub LFSTSize: u32,
    pub SSITSize: u32,
    /// Stores between two clearings of the store sets.
    pub store_set_clear_period: u64,
    /// Stores become visible in order.
    pub needsTSO: bool,
    pub fuPool: Vec<FuDesc>,
    /// gem5 25.1: issue queues with units of their own; empty: one of `numIQEntries` entries with `fuPool`.
    pub instQueues: Vec<IqUnit>,
    pub iqInsertionPolicy: IqInsertionPolicy,
    /// *Ours*: a load gives its entry of the issue queue back when it issues; gem5's keeps it until it writes back.
    pub loadsLeaveAtIssue: bool,
    pub misaligned: MisalignedCosts,
    /// Of vector accesses; `None`: as scalar ones.
    pub vector_misaligned: Option<MisalignedCosts>,
    /// The load-store queue's own parameters (*ours*).
    pub lsq: LsqConfig,
    /// *Ours*: `UopFlags::MICRO_FUSED` micro-ops share the slot and the ROB entry of the one before them; with `instQueues`,
    /// the entry of a queue that can execute both, too.
    pub microFusion: bool,
    /// *Ours*: `FUSE_HEAD` and a following `FUSE_TAIL` become one micro-op.
    pub macroFusion: bool,
    /// *Ours*: `ELIMINATED` micro-ops are done when renamed.
    pub moveElimination: bool,
    /// *Ours*: bytes of a loop that fetch can replay without going to the instruction cache; 0: no loop buffer. See
    /// [`O3Config::queue_behind_decoders`].
    pub loopBufferSize: u32,
    /// gem5 25.1: the predictor runs ahead of fetch (`fetch::targets`), by at most `numFTQEntries` cycles. See
    /// [`O3Config::queue_behind_decoders`].
    pub decoupledFrontEnd: bool,
    pub numFTQEntries: u32,
    /// gem5 25.1: targets that a decoupled front end makes and fetches in a cycle.
    pub maxTakenPredPerCycle: u32,
    /// *Ours*: extra cycles before the target of a predicted-taken call, return or indirect jump.
    pub callReturnDelay: u32,
    /// *Ours*: behind an instruction with `UopFlags::SERIALIZE_AFTER` nothing is fetched until it has retired.
    pub serializingStopsFetch: bool,
    /// *Ours*: cycles, beyond `commitToRenameDelay`, from a retirement to the renaming of a reader of flags that waits for it
    /// (`UopFlags::FLAG_STALL`).
    pub flagStallDelay: u32,
    /// *Ours*.
    pub renameRecovery: RenameRecovery,
    /// log2 bytes by which the instruction set's shortest instructions lie apart: store sets are indexed from this bit on
    /// without `gem5StoreSetIndex`.
    pub instShift: u32,
    /// *Ours*: gem5's own artefacts.
    pub quirks: Gem5Quirks,
}

impl Default for O3Config {
    fn default() -> Self {
        O3Config {
            path: "system.cpu".to_owned(),
            clock: Clock::new(500),
            decodeToFetchDelay: 1,
            commitToFetchDelay: 1,
            renameToDecodeDelay: 1,
            commitToDecodeDelay: 1,
            fetchToDecodeDelay: 1,
            iewToRenameDelay: 1,
            commitToRenameDelay: 1,
            decodeToRenameDelay: 1,
            commitToIEWDelay: 1,
            renameToIEWDelay: 2,
            issueToExecuteDelay: 1,
            iewToCommitDelay: 1,
            renameToROBDelay: 1,
            trapLatency: 13,
            fetchWidth: 8,
            decodeWidth: 8,
            renameWidth: 8,
            dispatchWidth: 8,
            issueWidth: 8,
            wbWidth: 8,
            commitWidth: 8,
            squashWidth: 8,
            fetchBufferSize: 64,
            fetchQueueSize: 32,
            numROBEntries: 192,
            numIQEntries: 64,
            numPhysIntRegs: 256,
            numPhysFloatRegs: 256,
            numPhysCCRegs: 256,
            LQEntries: 32,
            SQEntries: 32,
            cacheLoadPorts: 200,
            cacheStorePorts: 200,
            branchIssueWidth: 0,
            LSQDepCheckShift: 4,
            LFSTSize: 1024,
            SSITSize: 1024,
            store_set_clear_period: 250_000,
            needsTSO: false,
            fuPool: default_fu_pool(),
            instQueues: Vec::new(),
            iqInsertionPolicy: IqInsertionPolicy::FirstMatch,
            loadsLeaveAtIssue: false,
            misaligned: MisalignedCosts::default(),
            vector_misaligned: None,
            lsq: LsqConfig::default(),
            microFusion: false,
            macroFusion: false,
            moveElimination: false,
            loopBufferSize: 0,
            decoupledFrontEnd: false,
            numFTQEntries: 8,
            maxTakenPredPerCycle: 1,
            callReturnDelay: 0,
            serializingStopsFetch: false,
            flagStallDelay: 0,
            renameRecovery: RenameRecovery::Walk,
            instShift: 1,
            quirks: Gem5Quirks::default(),
        }
    }
}

/// Latches are rings of at most this many cycles.
pub const MAX_DELAY: u32 = 15;
/// Widths above this are not a machine.
pub const MAX_WIDTH: u32 = 16;
/// Entries of the ROB at most.
pub const MAX_ROB: u32 = 2048;
/// Entries of the issue queue, and of each half of the load-store queue, at most.
pub const MAX_QUEUE: u32 = 1024;
/// Physical registers of a class at most.
pub const MAX_REGS: u32 = 4096;
/// Slowest operation in cycles.
pub const MAX_LATENCY: u32 = 255;
/// What a trap may take in cycles: silicon's exceptions take hundreds, gem5's 13.
pub const MAX_TRAP_LATENCY: u32 = 10_000;
/// Most functional units (they are a bit set).
pub const MAX_UNITS: u32 = 64;
/// Sets of units that some class of operations has for itself.
pub const MAX_GROUPS: usize = 64;

impl O3Config {
    /// All that cannot be built, one error each.
    ///
    /// # Errors
    /// A parameter out of its range; the message names it and the range.
    pub fn check(&self, line_bytes: u32) -> Result<(), Vec<ConfigError>> {
        let mut errors = Vec::new();
        for (name, value, low, high) in self.ranges() {
            if !(low..=high).contains(&value) {
                let what = format!("is {value}; must be {low} to {high}");
                errors.push(ConfigError::new(format!("{}.{name}", self.path), what));
            }
        }
        if self.renameToROBDelay > self.renameToIEWDelay {
            let what =
                format!("is {}; must not exceed renameToIEWDelay: execution needs a ROB entry", self.renameToROBDelay);
            errors.push(ConfigError::new(format!("{}.renameToROBDelay", self.path), what));
        }
        let buffer = self.fetchBufferSize;
        if !buffer.is_power_of_two() || !(8..=line_bytes).contains(&buffer) {
            let what = format!("is {buffer}; must be a power of two from 8 to the cache line ({line_bytes} bytes)");
            errors.push(ConfigError::new(format!("{}.fetchBufferSize", self.path), what));
        }
        for (name, value) in [("LFSTSize", self.LFSTSize), ("SSITSize", self.SSITSize)] {
            if !value.is_power_of_two() || value > 1 << 20 {
                let what = format!("is {value}; must be a power of two up to {}", 1 << 20);
                errors.push(ConfigError::new(format!("{}.{name}", self.path), what));
            }
        }
        self.check_units(&mut errors);
        errors.extend(check_costs(&self.path, &self.misaligned, self.vector_misaligned.as_ref()));
        if let Err(more) = self.lsq.check(&self.path) {
            errors.extend(more);
        }
        if errors.is_empty() {
            Ok(())
        } else {
            Err(errors)
        }
    }

    /// The issue queues: entries of each, and its units.
    #[must_use]
    pub fn queues(&self) -> Vec<(u32, &[FuDesc])> {
        if self.instQueues.is_empty() {
            return vec![(self.numIQEntries, &self.fuPool)];
        }
        self.instQueues.iter().map(|q| (q.numEntries, &q.fuPool[..])).collect()
    }

    /// A queue of `fetchQueueSize` slots lies behind the decoders, which fetch and decode fill while rename is held: where
    /// there is a loop buffer or a decoupled front end.
    #[must_use]
    pub fn queue_behind_decoders(&self) -> bool {
        self.loopBufferSize > 0 || self.decoupledFrontEnd
    }

    /// Name, value, least and greatest of the plain numbers.
    #[rustfmt::skip] // a table
    fn ranges(&self) -> [(&'static str, u32, u32, u32); 38] {
        [
            ("decodeToFetchDelay", self.decodeToFetchDelay, 1, MAX_DELAY),
            ("commitToFetchDelay", self.commitToFetchDelay, 1, MAX_DELAY),
            ("renameToDecodeDelay", self.renameToDecodeDelay, 1, MAX_DELAY),
            ("commitToDecodeDelay", self.commitToDecodeDelay, 1, MAX_DELAY),
            ("fetchToDecodeDelay", self.fetchToDecodeDelay, 1, MAX_DELAY),
            ("iewToRenameDelay", self.iewToRenameDelay, 1, MAX_DELAY),
            ("commitToRenameDelay", self.commitToRenameDelay, 1, MAX_DELAY),
            ("decodeToRenameDelay", self.decodeToRenameDelay, 1, MAX_DELAY),
            ("commitToIEWDelay", self.commitToIEWDelay, 1, MAX_DELAY),
            ("renameToIEWDelay", self.renameToIEWDelay, 1, MAX_DELAY),
            ("issueToExecuteDelay", self.issueToExecuteDelay, 1, MAX_DELAY),
            ("iewToCommitDelay", self.iewToCommitDelay, 1, MAX_DELAY),
            ("renameToROBDelay", self.renameToROBDelay, 1, MAX_DELAY),
            ("flagStallDelay", self.flagStallDelay, 0, MAX_DELAY),
            ("trapLatency", self.trapLatency, 0, MAX_TRAP_LATENCY),
            ("fetchWidth", self.fetchWidth, 1, MAX_WIDTH),
            ("decodeWidth", self.decodeWidth, 1, MAX_WIDTH),
            ("renameWidth", self.renameWidth, 1, MAX_WIDTH),
            ("dispatchWidth", self.dispatchWidth, 1, MAX_WIDTH),
            ("issueWidth", self.issueWidth, 1, MAX_WIDTH),
            ("wbWidth", self.wbWidth, 1, MAX_WIDTH),
            ("commitWidth", self.commitWidth, 1, MAX_WIDTH),
            ("squashWidth", self.squashWidth, 1, MAX_ROB),
            ("fetchQueueSize", self.fetchQueueSize, 1, MAX_QUEUE),
            ("numROBEntries", self.numROBEntries, 1, MAX_ROB),
            ("numIQEntries", self.numIQEntries, 1, MAX_QUEUE),
            ("numPhysIntRegs", self.numPhysIntRegs, 40, MAX_REGS),
            ("numPhysFloatRegs", self.numPhysFloatRegs, 40, MAX_REGS),
            ("numPhysCCRegs", self.numPhysCCRegs, 40, MAX_REGS),
            ("numFTQEntries", self.numFTQEntries, 1, MAX_QUEUE),
            ("maxTakenPredPerCycle", self.maxTakenPredPerCycle, 1, MAX_WIDTH),
            ("branchIssueWidth", self.branchIssueWidth, 0, MAX_WIDTH),
            ("callReturnDelay", self.callReturnDelay, 0, 10_000),
            ("LQEntries", self.LQEntries, 1, MAX_QUEUE),
            ("SQEntries", self.SQEntries, 1, MAX_QUEUE),
            ("cacheLoadPorts", self.cacheLoadPorts, 1, 200),
            ("cacheStorePorts", self.cacheStorePorts, 1, 200),
            ("LSQDepCheckShift", self.LSQDepCheckShift, 0, 12),
        ]
    }

    fn check_units(&self, errors: &mut Vec<ConfigError>) {
        let pools: Vec<&[FuDesc]> = self.queues().into_iter().map(|q| q.1).collect();
        let several = !self.instQueues.is_empty();
        let path = |pool: usize| match several {
            true => format!("{}.instQueues{pool}.fuPool", self.path),
            false => format!("{}.fuPool", self.path),
        };
        let all = if several { format!("{}.instQueues", self.path) } else { path(0) };
        let units = pools.iter().copied().flatten().fold(0u32, |n, d| n.saturating_add(d.count));
        if !(1..=MAX_UNITS).contains(&units) {
            let what = format!("has {units} functional units; must have 1 to {MAX_UNITS}");
            errors.push(ConfigError::new(all.clone(), what));
        } else if pools.len() <= MAX_UNITS as usize {
            let groups = Units::new(&pools, self.branchIssueWidth).groups();
            if groups > MAX_GROUPS {
                let what = format!(
                    "has {groups} different sets of units that execute some class; must have at most {MAX_GROUPS}: give classes that go together the same units"
                );
                errors.push(ConfigError::new(all.clone(), what));
            }
        }
        for (pool, descs) in pools.iter().enumerate() {
            for (i, op) in descs.iter().enumerate().flat_map(|(i, desc)| desc.opList.iter().map(move |op| (i, op))) {
                if !(1..=MAX_LATENCY).contains(&op.opLat) {
                    let what = format!("opLat of {} is {}; must be 1 to {MAX_LATENCY}", op.opClass.name(), op.opLat);
                    errors.push(ConfigError::new(format!("{}.FUList{i}", path(pool)), what));
                }
            }
        }
        for class in [OpClass::IntAlu, OpClass::MemRead, OpClass::MemWrite] {
            let can = |d: &FuDesc| d.count > 0 && d.opList.iter().any(|o| o.opClass == class);
            if !pools.iter().copied().flatten().any(can) {
                let what = format!("no unit executes {}; add an FUDesc with it", class.name());
                errors.push(ConfigError::new(all.clone(), what));
            }
        }
        self.check_queues(errors);
    }

    fn check_queues(&self, errors: &mut Vec<ConfigError>) {
        for (i, queue) in self.instQueues.iter().enumerate() {
            if !(1..=MAX_QUEUE).contains(&queue.numEntries) {
                let what = format!("is {}; must be 1 to {MAX_QUEUE}", queue.numEntries);
                errors.push(ConfigError::new(format!("{}.instQueues{i}.numEntries", self.path), what));
            }
        }
        let entries = self.instQueues.iter().fold(0u32, |n, q| n.saturating_add(q.numEntries));
        if entries > MAX_QUEUE || self.instQueues.len() > MAX_UNITS as usize {
            let what = format!(
                "are {} queues with {entries} entries; must be at most {MAX_UNITS} with {MAX_QUEUE} together",
                self.instQueues.len()
            );
            errors.push(ConfigError::new(format!("{}.instQueues", self.path), what));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fu_pool::OpDesc;
    use super::*;

    #[test]
    fn the_default_is_gem5s_and_can_be_built() {
        let c = O3Config::default();
        assert_eq!(c.check(64), Ok(()));
        assert_eq!(c.fuPool.iter().map(|d| d.count).sum::<u32>(), 24);
        assert!(c.fuPool[6].opList.iter().any(|o| o.opClass == OpClass::SimdWholeRegisterStore));
        assert!(!c.fuPool[4].opList.iter().any(|o| o.opClass == OpClass::SimdPredAlu));
    }

    #[test]
    fn more_sets_of_units_than_a_word_has_bits_are_refused() {
        let op = |i: usize| OpDesc { opClass: OpClass::ALL[i], opLat: 1, pipelined: true };
        // Class i has unit i; those past the units have two of them: every class its own set.
        let pool = |classes: usize| {
            let desc = |unit: usize| FuDesc {
                opList: (1..=classes)
                    .filter(|i| i % 60 == unit || i / 60 == 1 && (i + 1) % 60 == unit)
                    .map(op)
                    .collect(),
                count: 1,
            };
            (0..60).map(desc).collect::<Vec<_>>()
        };
        let faults = |classes| O3Config { fuPool: pool(classes), ..O3Config::default() }.check(64).err();
        assert_eq!(faults(63), None);
        let errors = faults(70).expect("71 sets").iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
        assert!(errors.contains("71 different sets of units"), "{errors}");
    }

    #[test]
    fn queues_of_their_own_units_are_checked_in_place_of_the_one_pool() {
        let pool = |from: usize, to: usize| default_fu_pool()[from..to].to_vec();
        let queue = |entries, pool| IqUnit { numEntries: entries, fuPool: pool };
        let with = |queues| O3Config { fuPool: Vec::new(), instQueues: queues, ..O3Config::default() };
        assert_eq!(with(vec![queue(24, pool(0, 2)), queue(64, pool(2, 8))]).check(64), Ok(()));
        let mut wrong = vec![queue(0, pool(0, 2)), queue(1024, pool(2, 6))];
        wrong[1].fuPool[0].opList[0].opLat = 0;
        let errors = with(wrong).check(64).expect_err("nothing of this can be built");
        let text = errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
        for name in ["instQueues0.numEntries", "instQueues1.fuPool.FUList0", "no unit executes MemRead"] {
            assert!(text.contains(name), "{name} is missing in:\n{text}");
        }
        let errors = with(vec![queue(600, pool(0, 8)); 2]).check(64).expect_err("too many entries");
        assert!(errors[0].to_string().contains("2 queues with 1200 entries"), "{errors:?}");
    }

    #[test]
    fn every_fault_is_reported_with_its_name() {
        let mut c = O3Config {
            issueWidth: 0,
            numROBEntries: 1 << 20,
            fetchBufferSize: 12,
            callReturnDelay: 1 << 20,
            ..O3Config::default()
        };
        c.fuPool.remove(6);
        let errors = c.check(64).expect_err("nothing of this can be built");
        let text = errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
        for name in ["issueWidth", "numROBEntries", "fetchBufferSize", "callReturnDelay", "MemRead"] {
            assert!(text.contains(name), "{name} is missing in:\n{text}");
        }
    }
}
