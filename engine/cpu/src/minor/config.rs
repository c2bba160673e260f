//! The parameters of the Minor core, under gem5's names (`BaseMinorCPU`, `MinorFUPool`, `MinorFU`, `MinorFUTiming`) and
//! with gem5 24.0's defaults.

use breakeven_base::units::Clock;
use breakeven_base::{ConfigError, OpClass};

use super::quirks::MinorQuirks;
use crate::misaligned::{check_costs, MisalignedCosts};

/// gem5 `MinorFUTiming`. gem5's `mask`/`match` select by machine-code bits, which micro-ops do not have: a description
/// must leave them 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(non_snake_case)]
pub struct FuTiming {
    /// Empty: every class.
    pub opClasses: Vec<OpClass>,
    /// Cycles before its due time at which each source may still be taken; the last entry holds for the rest.
    pub srcRegsRelativeLats: Vec<u32>,
    /// Cycles for which the instruction is held back at commit.
    pub extraCommitLat: u32,
    /// Cycles that a dependent assumes on top of `opLat` (the cache's, for loads).
    pub extraAssumedLat: u32,
    /// Such instructions are never issued here.
    pub suppress: bool,
}

/// gem5 `MinorFU`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(non_snake_case)]
pub struct FuConfig {
    /// Empty: every class.
    pub opClasses: Vec<OpClass>,
    /// Depth of the pipeline in cycles.
    pub opLat: u32,
    /// Cycles between two issues.
    pub issueLat: u32,
    /// Units (by index) whose results cannot be forwarded to this one.
    pub cantForwardFromFUIndices: Vec<u32>,
    /// The first that matches counts.
    pub timings: Vec<FuTiming>,
}

/// Whether a list of classes, which is empty for all, has this one.
pub(super) fn has(list: &[OpClass], class: OpClass) -> bool {
    list.is_empty() || list.contains(&class)
}

impl FuConfig {
    /// Its timing keeps instructions of a class from it.
    fn suppresses(&self, class: OpClass) -> bool {
        self.timings.iter().find(|t| has(&t.opClasses, class)).is_some_and(|t| t.suppress)
    }
}

/// gem5 `BaseMinorCPU` and what it refers to, apart from the branch predictor.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(non_snake_case)]
pub struct MinorConfig {
    /// The object's path (`system.cpu`): where its statistics go.
    pub path: String,
    pub clock: Clock,
    pub fetch1FetchLimit: u32,
    /// Bytes, 0: the cache line.
    pub fetch1LineSnapWidth: u32,
    /// Bytes, 0: the cache line.
    pub fetch1LineWidth: u32,
    pub fetch1ToFetch2ForwardDelay: u32,
    /// 0: fetch1, which is evaluated after fetch2, hears of a prediction in the cycle in which it is made.
    pub fetch1ToFetch2BackwardDelay: u32,
    pub fetch2InputBufferSize: u32,
    pub fetch2ToDecodeForwardDelay: u32,
    pub fetch2CycleInput: bool,
    pub decodeInputBufferSize: u32,
    pub decodeToExecuteForwardDelay: u32,
    pub decodeInputWidth: u32,
    pub decodeCycleInput: bool,
    pub executeInputWidth: u32,
    pub executeCycleInput: bool,
    pub executeIssueLimit: u32,
    pub executeMemoryIssueLimit: u32,
    pub executeCommitLimit: u32,
    pub executeMemoryCommitLimit: u32,
    pub executeInputBufferSize: u32,
    /// Bytes the memory port carries at once, 0: the cache line.
    pub executeMemoryWidth: u32,
    pub executeMaxAccessesInMemory: u32,
    pub executeLSQMaxStoreBufferStoresPerCycle: u32,
    pub executeLSQRequestsQueueSize: u32,
    pub executeLSQTransfersQueueSize: u32,
    pub executeLSQStoreBufferSize: u32,
    pub executeBranchDelay: u32,
    pub executeAllowEarlyMemoryIssue: bool,
    /// The clock stops when nothing moves and starts at the edge after an arrival: a response to an idle core is seen a cycle
    /// late. Off: the clock always runs.
    pub enableIdling: bool,
    /// *Ours*: without it every branch is taken for one that goes straight on, as gem5 does for what its decoder does not
    /// call control flow (x86).
    pub predictsBranches: bool,
    pub executeFuncUnits: Vec<FuConfig>,
    pub misaligned: MisalignedCosts,
    /// Of vector accesses; `None`: as scalar ones.
    pub vector_misaligned: Option<MisalignedCosts>,
    /// *Ours.*
    pub quirks: MinorQuirks,
}

/// Latches are rings of this many cycles at most.
pub const MAX_DELAY: u32 = 15;
/// Widths and limits above this are not a machine.
pub const MAX_WIDTH: u32 = 8;
/// Queues above this are not an in-order core's.
pub const MAX_QUEUE: u32 = 64;
/// Deepest functional unit.
pub const MAX_LATENCY: u32 = 255;
/// Most functional units (they are a bit set).
pub const MAX_UNITS: usize = 32;

impl Default for MinorConfig {
    fn default() -> Self {
        MinorConfig {
            path: "system.cpu".to_owned(),
            clock: Clock::new(500),
            fetch1FetchLimit: 1,
            fetch1LineSnapWidth: 0,
            fetch1LineWidth: 0,
            fetch1ToFetch2ForwardDelay: 1,
            fetch1ToFetch2BackwardDelay: 1,
            fetch2InputBufferSize: 2,
            fetch2ToDecodeForwardDelay: 1,
            fetch2CycleInput: true,
            decodeInputBufferSize: 3,
            decodeToExecuteForwardDelay: 1,
            decodeInputWidth: 2,
            decodeCycleInput: true,
            executeInputWidth: 2,
            executeCycleInput: true,
            executeIssueLimit: 2,
            executeMemoryIssueLimit: 1,
            executeCommitLimit: 2,
            executeMemoryCommitLimit: 1,
            executeInputBufferSize: 7,
            executeMemoryWidth: 0,
            executeMaxAccessesInMemory: 2,
            executeLSQMaxStoreBufferStoresPerCycle: 2,
            executeLSQRequestsQueueSize: 1,
            executeLSQTransfersQueueSize: 2,
            executeLSQStoreBufferSize: 5,
            executeBranchDelay: 1,
            executeAllowEarlyMemoryIssue: true,
            enableIdling: true,
            predictsBranches: true,
            executeFuncUnits: default_fu_pool(),
            misaligned: MisalignedCosts::default(),
            vector_misaligned: None,
            quirks: MinorQuirks::default(),
        }
    }
}

/// gem5's `MinorDefaultFUPool`: two integer units, multiplier, divider, float/SIMD, predicates, memory, the rest.
#[must_use]
pub fn default_fu_pool() -> Vec<FuConfig> {
    use OpClass as C;
    let timing = |relative: u32, assumed: u32| {
        vec![FuTiming { srcRegsRelativeLats: vec![relative], extraAssumedLat: assumed, ..FuTiming::default() }]
    };
    let unit = |classes: &[OpClass], lat: u32, issue: u32, timings: Vec<FuTiming>| FuConfig {
        opClasses: classes.to_vec(),
        opLat: lat,
        issueLat: issue,
        cantForwardFromFUIndices: Vec::new(),
        timings,
    };
    let between = |first: OpClass, last: OpClass| -> Vec<OpClass> {
        OpClass::ALL.iter().copied().filter(|c| (first as u8..=last as u8).contains(&(*c as u8))).collect()
    };
    let mut float_simd = between(C::FloatAdd, C::SimdShaSigma3);
    float_simd.extend([C::Matrix, C::MatrixMov, C::MatrixOP, C::SimdExt, C::SimdFloatExt, C::SimdConfig]);
    let mut memory = between(C::MemRead, C::FloatMemWrite);
    memory.extend(between(C::SimdUnitStrideLoad, C::SimdUnitStrideFaultOnlyFirstLoad));
    vec![
        unit(&[C::IntAlu], 3, 1, timing(2, 0)),
        unit(&[C::IntAlu], 3, 1, timing(2, 0)),
        unit(&[C::IntMult], 3, 1, timing(0, 0)),
        unit(&[C::IntDiv], 9, 9, Vec::new()),
        unit(&float_simd, 6, 1, timing(2, 0)),
        unit(&[C::SimdPredAlu], 3, 1, timing(2, 0)),
        unit(&memory, 1, 1, timing(1, 2)),
        unit(&[C::IprAccess, C::InstPrefetch], 1, 1, Vec::new()),
    ]
}

impl MinorConfig {
    /// All that cannot be built, one error each.
    ///
    /// # Errors
    /// A parameter out of its range; the message names it and the range.
    pub fn check(&self, line_bytes: u32) -> Result<(), Vec<ConfigError>> {
        let mut errors = Vec::new();
        let mut range = |name: &str, value: u32, low: u32, high: u32| {
            if !(low..=high).contains(&value) {
                errors.push(ConfigError::new(
                    format!("{}.{name}", self.path),
                    format!("is {value}; must be {low} to {high}"),
                ));
            }
        };
        range("fetch1FetchLimit", self.fetch1FetchLimit, 1, MAX_WIDTH);
        range("fetch1ToFetch2ForwardDelay", self.fetch1ToFetch2ForwardDelay, 1, MAX_DELAY);
        range("fetch1ToFetch2BackwardDelay", self.fetch1ToFetch2BackwardDelay, 0, MAX_DELAY);
        range("fetch2InputBufferSize", self.fetch2InputBufferSize, 1, MAX_QUEUE);
        range("fetch2ToDecodeForwardDelay", self.fetch2ToDecodeForwardDelay, 1, MAX_DELAY);
        range("decodeInputBufferSize", self.decodeInputBufferSize, 1, MAX_QUEUE);
        range("decodeToExecuteForwardDelay", self.decodeToExecuteForwardDelay, 1, MAX_DELAY);
        range("decodeInputWidth", self.decodeInputWidth, 1, MAX_WIDTH);
        range("executeInputWidth", self.executeInputWidth, 1, MAX_WIDTH);
        range("executeIssueLimit", self.executeIssueLimit, 1, MAX_WIDTH);
        range("executeMemoryIssueLimit", self.executeMemoryIssueLimit, 1, MAX_WIDTH);
        range("executeCommitLimit", self.executeCommitLimit, 1, MAX_WIDTH);
        range("executeMemoryCommitLimit", self.executeMemoryCommitLimit, 1, self.executeCommitLimit.max(1));
        range("executeInputBufferSize", self.executeInputBufferSize, 1, MAX_QUEUE);
        range("executeMaxAccessesInMemory", self.executeMaxAccessesInMemory, 1, MAX_QUEUE);
        range("executeLSQMaxStoreBufferStoresPerCycle", self.executeLSQMaxStoreBufferStoresPerCycle, 1, MAX_WIDTH);
        range("executeLSQRequestsQueueSize", self.executeLSQRequestsQueueSize, 1, MAX_QUEUE);
        range("executeLSQTransfersQueueSize", self.executeLSQTransfersQueueSize, 1, MAX_QUEUE);
        range("executeLSQStoreBufferSize", self.executeLSQStoreBufferSize, 1, MAX_QUEUE);
        range("executeBranchDelay", self.executeBranchDelay, 1, MAX_DELAY);
        self.check_widths(line_bytes, &mut errors);
        self.check_units(&mut errors);
        errors.extend(check_costs(&self.path, &self.misaligned, self.vector_misaligned.as_ref()));
        if errors.is_empty() {
            Ok(())
        } else {
            Err(errors)
        }
    }

    fn check_widths(&self, line_bytes: u32, errors: &mut Vec<ConfigError>) {
        for (name, value, least) in [
            ("fetch1LineSnapWidth", self.fetch1LineSnapWidth, 4),
            ("fetch1LineWidth", self.fetch1LineWidth, 4),
            ("executeMemoryWidth", self.executeMemoryWidth, 8),
        ] {
            if value != 0 && !(value.is_power_of_two() && (least..=line_bytes).contains(&value)) {
                let what = format!(
                    "is {value}; must be 0 (the cache line) or a power of two from {least} to {line_bytes} bytes"
                );
                errors.push(ConfigError::new(format!("{}.{name}", self.path), what));
            }
        }
        let or_line = |v: u32| if v == 0 { line_bytes } else { v };
        if or_line(self.fetch1LineWidth) != or_line(self.fetch1LineSnapWidth) {
            let what = "must equal fetch1LineSnapWidth: a fetched line starts at a multiple of its width".to_owned();
            errors.push(ConfigError::new(format!("{}.fetch1LineWidth", self.path), what));
        }
    }

    fn check_units(&self, errors: &mut Vec<ConfigError>) {
        let path = format!("{}.executeFuncUnits", self.path);
        if self.executeFuncUnits.is_empty() || self.executeFuncUnits.len() > MAX_UNITS {
            let what = format!("has {} functional units; must have 1 to {MAX_UNITS}", self.executeFuncUnits.len());
            errors.push(ConfigError::new(path.clone(), what));
        }
        for (i, fu) in self.executeFuncUnits.iter().enumerate() {
            for (name, value, low) in [("opLat", fu.opLat, 1), ("issueLat", fu.issueLat, 0)] {
                if !(low..=MAX_LATENCY).contains(&value) {
                    let what = format!("is {value}; must be {low} to {MAX_LATENCY} cycles");
                    errors.push(ConfigError::new(format!("{path}.funcUnits{i}.{name}"), what));
                }
            }
        }
        for class in [OpClass::IntAlu, OpClass::MemRead, OpClass::MemWrite] {
            if !self.executeFuncUnits.iter().any(|fu| has(&fu.opClasses, class)) {
                let what = format!("no unit executes {}; add a MinorFU with it", class.name());
                errors.push(ConfigError::new(path.clone(), what));
            }
        }
        for &class in OpClass::ALL {
            let able = || self.executeFuncUnits.iter().filter(|fu| has(&fu.opClasses, class));
            if able().next().is_some() && able().all(|fu| fu.suppresses(class)) {
                let what = format!("every unit that executes {} has a timing that suppresses it", class.name());
                errors.push(ConfigError::new(path.clone(), what));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_gem5s_and_can_be_built() {
        let c = MinorConfig::default();
        assert_eq!(c.check(64), Ok(()));
        assert_eq!(c.executeFuncUnits.len(), 8);
        assert!(c.executeFuncUnits[4].opClasses.contains(&OpClass::FloatMultAcc));
        assert!(!c.executeFuncUnits[4].opClasses.contains(&OpClass::SimdPredAlu));
        assert!(c.executeFuncUnits[6].opClasses.contains(&OpClass::FloatMemWrite));
    }

    #[test]
    fn a_class_that_all_its_units_suppress_is_refused() {
        let mut c = MinorConfig::default();
        let suppress = FuTiming { opClasses: vec![OpClass::IntAlu], suppress: true, ..FuTiming::default() };
        c.executeFuncUnits[0].timings.insert(0, suppress.clone());
        assert_eq!(c.check(64), Ok(()), "another unit executes it");
        c.executeFuncUnits[1].timings.insert(0, suppress);
        let errors = c.check(64).expect_err("it would wait for ever");
        assert!(errors[0].to_string().contains("every unit that executes IntAlu"), "{errors:?}");
    }

    #[test]
    fn every_fault_is_reported_with_its_name() {
        let c = MinorConfig {
            executeIssueLimit: 0,
            fetch2InputBufferSize: 1000,
            executeMemoryWidth: 12,
            executeFuncUnits: vec![],
            ..MinorConfig::default()
        };
        let errors = c.check(64).expect_err("nothing of this can be built");
        let text = errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
        for name in ["executeIssueLimit", "fetch2InputBufferSize", "executeMemoryWidth", "executeFuncUnits"] {
            assert!(text.contains(name), "{name} is missing in:\n{text}");
        }
    }
}
