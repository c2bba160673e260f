//! Cores of a description.

use breakeven_base::units::Clock;
use breakeven_base::OpClass;
use breakeven_cpu::bpred::BranchPredictorParams;
use breakeven_cpu::minor::config::{FuConfig, FuTiming, MinorConfig};
use breakeven_cpu::minor::MinorQuirks;
use breakeven_cpu::misaligned::MisalignedCosts;
use breakeven_cpu::o3::O3Config;
use breakeven_cpu::simple::SimpleConfig;
use breakeven_riscv::MisalignedPolicy;
use serde_json::Value;

use super::reader::Obj;

const ANY: std::ops::RangeInclusive<u32> = 0..=u32::MAX;

/// Minor's parameters; their bounds are `MinorConfig::check`'s.
pub(super) fn minor(cpu: Obj, costs: Costs) -> MinorConfig {
    let n = |name| cpu.u32(name, ANY);
    MinorConfig {
        path: cpu.path().to_owned(),
        clock: Clock::new(cpu.clock_period()),
        fetch1FetchLimit: n("fetch1FetchLimit"),
        fetch1LineSnapWidth: n("fetch1LineSnapWidth"),
        fetch1LineWidth: n("fetch1LineWidth"),
        fetch1ToFetch2ForwardDelay: n("fetch1ToFetch2ForwardDelay"),
        fetch1ToFetch2BackwardDelay: n("fetch1ToFetch2BackwardDelay"),
        fetch2InputBufferSize: n("fetch2InputBufferSize"),
        fetch2ToDecodeForwardDelay: n("fetch2ToDecodeForwardDelay"),
        fetch2CycleInput: cpu.bool("fetch2CycleInput"),
        decodeInputBufferSize: n("decodeInputBufferSize"),
        decodeToExecuteForwardDelay: n("decodeToExecuteForwardDelay"),
        decodeInputWidth: n("decodeInputWidth"),
        decodeCycleInput: cpu.bool("decodeCycleInput"),
        executeInputWidth: n("executeInputWidth"),
        executeCycleInput: cpu.bool("executeCycleInput"),
        executeIssueLimit: n("executeIssueLimit"),
        executeMemoryIssueLimit: n("executeMemoryIssueLimit"),
        executeCommitLimit: n("executeCommitLimit"),
        executeMemoryCommitLimit: n("executeMemoryCommitLimit"),
        executeInputBufferSize: n("executeInputBufferSize"),
        executeMemoryWidth: n("executeMemoryWidth"),
        executeMaxAccessesInMemory: n("executeMaxAccessesInMemory"),
        executeLSQMaxStoreBufferStoresPerCycle: n("executeLSQMaxStoreBufferStoresPerCycle"),
        executeLSQRequestsQueueSize: n("executeLSQRequestsQueueSize"),
        executeLSQTransfersQueueSize: n("executeLSQTransfersQueueSize"),
        executeLSQStoreBufferSize: n("executeLSQStoreBufferSize"),
        executeBranchDelay: n("executeBranchDelay"),
        executeAllowEarlyMemoryIssue: cpu.bool("executeAllowEarlyMemoryIssue"),
        enableIdling: cpu.bool_or("enableIdling", true),
        predictsBranches: !super::x86::unpredicted(cpu),
        executeFuncUnits: cpu
            .a_ref("executeFuncUnits")
            .map(|p| p.refs("funcUnits"))
            .unwrap_or_default()
            .into_iter()
            .map(unit)
            .collect(),
        misaligned: costs.0,
        vector_misaligned: costs.1,
        quirks: quirks(cpu),
    }
}

/// gem5's own artefacts.
fn quirks(cpu: Obj) -> MinorQuirks {
    let usual = MinorQuirks::default();
    MinorQuirks {
        gem5LastUnitEndsIssue: cpu.bool_or("gem5LastUnitEndsIssue", usual.gem5LastUnitEndsIssue),
        gem5BundleBubbles: cpu.bool_or("gem5BundleBubbles", usual.gem5BundleBubbles),
        gem5SplitTranslation: cpu.bool_or("gem5SplitTranslation", usual.gem5SplitTranslation),
        gem5HeadHoldsEarlyIssue: cpu.bool_or("gem5HeadHoldsEarlyIssue", usual.gem5HeadHoldsEarlyIssue),
    }
}

fn unit(fu: Obj) -> FuConfig {
    FuConfig {
        opClasses: classes(fu),
        opLat: fu.u32("opLat", ANY),
        issueLat: fu.u32("issueLat", ANY),
        cantForwardFromFUIndices: fu.ints("cantForwardFromFUIndices", 0..=31).into_iter().map(|i| i as u32).collect(),
        timings: fu.refs("timings").into_iter().map(timing).collect(),
    }
}

fn timing(t: Obj) -> FuTiming {
    let by_bits = "micro-ops have no machine-code bits; select by opClasses";
    t.only("mask", &Value::from(0), by_bits);
    t.only("match", &Value::from(0), by_bits);
    t.only("extraCommitLatExpr", &Value::Null, "there are no timing expressions; use extraCommitLat");
    FuTiming {
        opClasses: classes(t),
        srcRegsRelativeLats: t.ints("srcRegsRelativeLats", 0..=255).into_iter().map(|i| i as u32).collect(),
        extraCommitLat: t.u32("extraCommitLat", 0..=255),
        extraAssumedLat: t.u32("extraAssumedLat", 0..=255),
        suppress: t.bool("suppress"),
    }
}

/// The operation classes that `opClasses` (a `MinorOpClassSet`) lists.
fn classes(o: Obj) -> Vec<OpClass> {
    let Some(set) = o.opt_ref("opClasses") else { return Vec::new() };
    let names: Vec<&str> = OpClass::ALL.iter().map(|c| c.name()).collect();
    set.refs("opClasses").into_iter().map(|c| OpClass::ALL[c.choice_or("opClass", 0, &names)]).collect()
}

/// What misaligned accesses cost: scalar ones, and vector ones where these have costs of their own.
pub(super) type Costs = (MisalignedCosts, Option<MisalignedCosts>);

/// Who handles misaligned accesses of a kind, and what they cost.
#[derive(Clone, Debug)]
pub(super) struct Misaligned {
    pub policy: MisalignedPolicy,
    pub costs: MisalignedCosts,
}

/// What the `MisalignedAccess` of the core says; a core without one has gem5's rule.
pub(super) fn misaligned(cpu: Obj) -> Misaligned {
    misaligned_of(cpu, "misaligned").unwrap_or_else(|policy| Misaligned { policy, costs: MisalignedCosts::default() })
}

/// The same for vector accesses, where they have rules of their own.
pub(super) fn vector_misaligned(cpu: Obj) -> Option<Misaligned> {
    let own = misaligned_of(cpu, "vector_misaligned").ok();
    if own.is_some() && super::is_x86(cpu) {
        cpu.param_error(
            "vector_misaligned",
            "is about RISC-V's vector instructions; x86 has `misaligned` for all accesses",
        );
    }
    own
}

/// The error is the policy where there is no such object.
fn misaligned_of(cpu: Obj, name: &str) -> Result<Misaligned, MisalignedPolicy> {
    let checker = cpu
        .opt_ref("mmu")
        .and_then(|m| m.opt_ref("pma_checker"))
        .filter(|p| p.expect_class("PMA checker", &["PMAChecker"]));
    let hardware = checker.map(|p| p.ranges("misaligned")).unwrap_or_default();
    let pma = MisalignedPolicy::Pma(hardware.iter().map(|r| r.start..r.end).collect());
    let Some(m) = cpu.opt_ref(name) else { return Err(pma) };
    let policies = [pma, MisalignedPolicy::Hardware, MisalignedPolicy::Trap, MisalignedPolicy::Emulate];
    let policy = policies[m.choice_or("policy", 0, &["pma", "hardware", "trap", "emulate"])].clone();
    let n = |name| m.u32_or(name, 0, 0..=u32::MAX);
    if super::is_x86(cpu) && !matches!(policy, MisalignedPolicy::Pma(_) | MisalignedPolicy::Hardware) {
        m.param_error("policy", "is RISC-V's affair; x86 does misaligned accesses in hardware (\"hardware\")");
    }
    let costs = MisalignedCosts {
        granule: n("granule"),
        granule_cross_load: n("granule_cross_load"),
        granule_cross_store: n("granule_cross_store"),
        line_cross_load: n("line_cross_load"),
        line_cross_store: n("line_cross_store"),
        page_cross_load: n("page_cross_load"),
        page_cross_store: n("page_cross_store"),
        split_slots: n("split_slots"),
        split_store_slots: n("split_store_slots"),
        emulate: policy == MisalignedPolicy::Emulate,
        emulate_cycles: n("emulate_cycles"),
        emulate_cycles_per_byte: n("emulate_cycles_per_byte"),
    };
    Ok(Misaligned { policy, costs })
}

/// A simple core's parameters.
pub(super) fn simple(cpu: Obj, costs: Costs, branch_pred: Option<BranchPredictorParams>) -> SimpleConfig {
    let no_stalls = "the atomic core knows no memory latency; use a TimingSimpleCPU";
    cpu.only("simulate_data_stalls", &Value::from(false), no_stalls);
    cpu.only("simulate_inst_stalls", &Value::from(false), no_stalls);
    SimpleConfig {
        path: cpu.path().to_owned(),
        clock: Clock::new(cpu.clock_period()),
        width: cpu.u32_or("width", 1, ANY),
        branch_pred,
        misaligned: costs.0,
        vector_misaligned: costs.1,
        // What gem5's decoders take at a time: RISC-V words of 4 bytes, x86 of 8.
        fetch_bytes: if super::is_x86(cpu) { 8 } else { 4 },
    }
}

/// A core with what it is built from.
#[derive(Clone, Debug)]
pub enum CoreConfig {
    Atomic(SimpleConfig),
    Timing(SimpleConfig),
    Minor(Box<MinorConfig>, Option<BranchPredictorParams>),
    O3(Box<O3Config>, Option<BranchPredictorParams>),
}
