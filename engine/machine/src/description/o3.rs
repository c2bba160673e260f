//! The out-of-order core of a description. Bounds are `O3Config::check`'s.

use super::cores::Costs;
use breakeven_base::units::Clock;
use breakeven_base::OpClass;
use breakeven_cpu::o3::lsq::{LsqConfig, PartialForward};
use breakeven_cpu::o3::{FuDesc, Gem5Quirks, IqInsertionPolicy, IqUnit, O3Config, OpDesc, RenameRecovery};
use serde_json::json;

use super::reader::Obj;

const ANY: std::ops::RangeInclusive<u32> = 0..=u32::MAX;

/// gem5's `BaseO3CPU`.
pub(super) fn o3(cpu: Obj, costs: Costs) -> O3Config {
    cpu.only("numRobs", &json!(1), "one hardware thread, one reorder buffer");
    cpu.only("smtNumFetchingThreads", &json!(1), "one hardware thread");
    unmodelled(cpu);
    let n = |name| cpu.u32(name, ANY);
    let flag = |name| cpu.bool_or(name, false);
    let usual = O3Config::default();
    let queues: Vec<IqUnit> = cpu.refs("instQueues").into_iter().map(queue).collect();
    // With queues of their own units these two are not looked at.
    let (entries, units) =
        if queues.is_empty() { (n("numIQEntries"), pool(cpu)) } else { (usual.numIQEntries, usual.fuPool) };
    O3Config {
        path: cpu.path().to_owned(),
        clock: Clock::new(cpu.clock_period()),
        decodeToFetchDelay: n("decodeToFetchDelay"),
        commitToFetchDelay: n("commitToFetchDelay"),
        renameToDecodeDelay: n("renameToDecodeDelay"),
        commitToDecodeDelay: n("commitToDecodeDelay"),
        fetchToDecodeDelay: n("fetchToDecodeDelay"),
        iewToRenameDelay: n("iewToRenameDelay"),
        commitToRenameDelay: n("commitToRenameDelay"),
        decodeToRenameDelay: n("decodeToRenameDelay"),
        commitToIEWDelay: n("commitToIEWDelay"),
        renameToIEWDelay: n("renameToIEWDelay"),
        issueToExecuteDelay: n("issueToExecuteDelay"),
        iewToCommitDelay: n("iewToCommitDelay"),
        renameToROBDelay: n("renameToROBDelay"),
        trapLatency: n("trapLatency"),
        fetchWidth: n("fetchWidth"),
        decodeWidth: n("decodeWidth"),
        renameWidth: n("renameWidth"),
        dispatchWidth: n("dispatchWidth"),
        issueWidth: n("issueWidth"),
        wbWidth: n("wbWidth"),
        commitWidth: n("commitWidth"),
        squashWidth: n("squashWidth"),
        fetchBufferSize: n("fetchBufferSize"),
        fetchQueueSize: n("fetchQueueSize"),
        numROBEntries: n("numROBEntries"),
        numIQEntries: entries,
        numPhysIntRegs: n("numPhysIntRegs"),
        numPhysFloatRegs: n("numPhysFloatRegs"),
        numPhysCCRegs: if super::is_x86(cpu) { n("numPhysCCRegs") } else { usual.numPhysCCRegs },
        LQEntries: n("LQEntries"),
        SQEntries: n("SQEntries"),
        cacheLoadPorts: n("cacheLoadPorts"),
        cacheStorePorts: n("cacheStorePorts"),
        LSQDepCheckShift: n("LSQDepCheckShift"),
        LFSTSize: n("LFSTSize"),
        SSITSize: n("SSITSize"),
        store_set_clear_period: cpu.int("store_set_clear_period", 0..=u64::MAX),
        needsTSO: cpu.bool("needsTSO") | super::total_store_ordering(cpu),
        fuPool: units,
        instQueues: queues,
        iqInsertionPolicy: [IqInsertionPolicy::FirstMatch, IqInsertionPolicy::LeastLoaded]
            [cpu.choice_or("iqInsertionPolicy", 0, &["FirstMatch", "LeastLoaded"])],
        loadsLeaveAtIssue: flag("loadsLeaveAtIssue"),
        misaligned: costs.0,
        vector_misaligned: costs.1,
        lsq: lsq(cpu),
        microFusion: flag("microFusion"),
        macroFusion: flag("macroFusion"),
        moveElimination: flag("moveElimination"),
        loopBufferSize: cpu.u32_or("loopBufferSize", 0, ANY),
        decoupledFrontEnd: flag("decoupledFrontEnd"),
        numFTQEntries: cpu.u32_or("numFTQEntries", 8, ANY),
        maxTakenPredPerCycle: cpu.u32_or("maxTakenPredPerCycle", 1, ANY),
        branchIssueWidth: cpu.u32_or("branchIssueWidth", 0, ANY),
        callReturnDelay: cpu.u32_or("callReturnDelay", 0, ANY),
        serializingStopsFetch: flag("serializingStopsFetch"),
        flagStallDelay: super::x86::flag_stall(cpu),
        renameRecovery: [RenameRecovery::Walk, RenameRecovery::Checkpoint]
            [cpu.choice_or("renameRecovery", 0, &["walk", "checkpoint"])],
        instShift: u32::from(!super::is_x86(cpu)),
        quirks: quirks(cpu),
    }
}

/// Parameters of gem5's without effect here: nothing but gem5's default is accepted.
fn unmodelled(cpu: Obj) {
    let wire = "no stage sends anything over this wire, in gem5 either";
    for name in ["renameToFetchDelay", "iewToFetchDelay", "iewToDecodeDelay"] {
        cpu.only(name, &json!(1), wire);
    }
    cpu.only("fetchTrapLatency", &json!(1), "a fetch fault is found by the fetch itself");
    cpu.only("LSQCheckLoads", &json!(true), "no other agent writes memory between two loads");
    let registers = "only integer and floating-point/SIMD registers are counted";
    cpu.only("numPhysVecRegs", &json!(256), registers);
    cpu.only("numPhysVecPredRegs", &json!(32), registers);
    cpu.only("numPhysMatRegs", &json!(2), registers);
    if !super::is_x86(cpu) {
        cpu.only("numPhysCCRegs", &json!(0), "RISC-V has no condition codes");
    }
}

/// The load-store queue's parameters that gem5 does not have.
fn lsq(cpu: Obj) -> LsqConfig {
    let gem5s = LsqConfig::default();
    LsqConfig {
        forwardLatency: cpu.u32_or("forwardLatency", gem5s.forwardLatency, ANY),
        partialForwardPolicy: [PartialForward::WaitForStore, PartialForward::Penalty]
            [cpu.choice_or("partialForwardPolicy", 0, &["wait_for_store", "penalty"])],
        forwardFailPenalty: cpu.u32_or("forwardFailPenalty", gem5s.forwardFailPenalty, ANY),
        tsoStoresInFlight: cpu.u32_or("tsoStoresInFlight", gem5s.tsoStoresInFlight, ANY),
        aliasCheckBits: cpu.u32_or("aliasCheckBits", gem5s.aliasCheckBits, ANY),
        aliasPenalty: cpu.u32_or("aliasPenalty", gem5s.aliasPenalty, ANY),
        fenceLatency: cpu.u32_or("fenceLatency", gem5s.fenceLatency, ANY),
        fenceAfterStores: cpu.u32_or("fenceAfterStores", gem5s.fenceAfterStores, ANY),
        storesLeaveOnMiss: cpu.bool_or("storesLeaveOnMiss", gem5s.storesLeaveOnMiss),
    }
}

/// gem5's own artefacts.
fn quirks(cpu: Obj) -> Gem5Quirks {
    let usual = Gem5Quirks::default();
    Gem5Quirks {
        serialResponses: cpu.bool_or("serialResponses", usual.serialResponses),
        gem5StoresJoinMisses: cpu.bool_or("gem5StoresJoinMisses", usual.gem5StoresJoinMisses),
        // gem5's x86 program counter knows its instruction's length.
        gem5CompressedBranches: cpu.bool_or("gem5CompressedBranches", usual.gem5CompressedBranches)
            && !super::is_x86(cpu),
        gem5CreditReturns: cpu.bool_or("gem5CreditReturns", usual.gem5CreditReturns),
        gem5PseudoOps: cpu.bool_or("gem5PseudoOps", usual.gem5PseudoOps),
        gem5PortRetries: cpu.bool_or("gem5PortRetries", usual.gem5PortRetries),
        gem5ReplaysTogether: cpu.bool_or("gem5ReplaysTogether", usual.gem5ReplaysTogether),
        gem5Retranslation: cpu.bool_or("gem5Retranslation", usual.gem5Retranslation),
        gem5RenameUnblocks: cpu.bool_or("gem5RenameUnblocks", usual.gem5RenameUnblocks),
        gem5RefusedStoreFirst: cpu.bool_or("gem5RefusedStoreFirst", usual.gem5RefusedStoreFirst),
        gem5StoreSetIndex: cpu.bool_or("gem5StoreSetIndex", usual.gem5StoreSetIndex),
        gem5RenameBlocksIdle: cpu.bool_or("gem5RenameBlocksIdle", usual.gem5RenameBlocksIdle),
        gem5SkidBufferFirst: cpu.bool_or("gem5SkidBufferFirst", usual.gem5SkidBufferFirst),
        gem5SquashedRobEntries: cpu.bool_or("gem5SquashedRobEntries", usual.gem5SquashedRobEntries),
        gem5SquashedCredits: cpu.bool_or("gem5SquashedCredits", usual.gem5SquashedCredits),
        gem5NonSpeculativeDrains: cpu.bool_or("gem5NonSpeculativeDrains", usual.gem5NonSpeculativeDrains),
        gem5TrapsDrain: cpu.bool_or("gem5TrapsDrain", usual.gem5TrapsDrain),
        gem5RobEmptyDrains: cpu.bool_or("gem5RobEmptyDrains", usual.gem5RobEmptyDrains),
    }
}

fn queue(of: Obj) -> IqUnit {
    IqUnit { numEntries: of.u32("numEntries", ANY), fuPool: pool(of) }
}

/// The units of a core, or of one of its issue queues.
fn pool(of: Obj) -> Vec<FuDesc> {
    of.a_ref("fuPool").map(|pool| pool.refs("FUList")).unwrap_or_default().into_iter().map(unit).collect()
}

fn unit(fu: Obj) -> FuDesc {
    FuDesc { opList: fu.refs("opList").into_iter().map(operation).collect(), count: fu.u32("count", 0..=1024) }
}

fn operation(op: Obj) -> OpDesc {
    let names: Vec<&str> = OpClass::ALL.iter().map(|c| c.name()).collect();
    OpDesc {
        opClass: OpClass::ALL[op.choice_or("opClass", 0, &names)],
        opLat: op.u32("opLat", ANY),
        pipelined: op.bool("pipelined"),
    }
}
