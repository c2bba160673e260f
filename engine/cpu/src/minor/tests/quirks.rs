//! What each of gem5's own artefacts costs, in cycles.

use super::*;

const NONE: MinorQuirks = MinorQuirks {
    gem5LastUnitEndsIssue: false,
    gem5BundleBubbles: false,
    gem5SplitTranslation: false,
    gem5HeadHoldsEarlyIssue: false,
};

/// Cycles of a further `insts` with these artefacts and without any, per round of them.
fn per_round(base: &MinorConfig, quirks: MinorQuirks, data_cycles: u64, insts: &[Inst]) -> [f64; 2] {
    [quirks, NONE].map(|quirks| {
        let cfg = MinorConfig { quirks, ..base.clone() };
        let at = |rounds| {
            cycles_with(cfg.clone(), data_cycles, padded((0..rounds).flat_map(|_| insts.iter().cloned()).collect()))
        };
        (at(64) - at(32)) as f64 / 32.0
    })
}

#[test]
fn the_last_unit_ends_a_cycle_s_issue() {
    let last = Inst::op(OpClass::IprAccess, 6, &[]).short();
    let insts = [add(5, 0), add(7, 0), last];
    let quirks = MinorQuirks { gem5LastUnitEndsIssue: true, ..NONE };
    assert_eq!(per_round(&MinorConfig::default(), quirks, 2, &insts), [2.5, 2.0]);
}

#[test]
fn a_bubble_keeps_a_narrow_bundle_for_another_cycle() {
    // 32 instructions a line, from one line a cycle: ten bundles of three and one of two, which uses up a cycle's issue.
    let narrow = MinorConfig {
        decodeInputWidth: 3,
        executeInputWidth: 3,
        fetch2CycleInput: false,
        decodeCycleInput: false,
        executeCycleInput: false,
        executeIssueLimit: 2,
        ..MinorConfig::default()
    };
    let quirks = MinorQuirks { gem5BundleBubbles: true, ..NONE };
    let line: Vec<Inst> = (0..32).map(|_| add(5, 0)).collect();
    let [with, without] = per_round(&narrow, quirks, 2, &line);
    assert_eq!([with, without], [22.0, 21.0]);
}

#[test]
fn a_split_reference_keeps_the_core_awake_a_cycle_longer() {
    // Two fragments of a load are under way. The first answer comes three cycles after it was sent: two of them idle, and an
    // idle core would see it a cycle late (gem5 24.0: 38,480 cycles for 12,800 loads).
    let narrow = MinorConfig { executeMemoryWidth: 8, ..MinorConfig::default() };
    let quirks = MinorQuirks { gem5SplitTranslation: true, ..NONE };
    assert_eq!(per_round(&narrow, quirks, 3, &[load(5, DATA + 4)]), [3.0, 4.0]);
    // Where its costs are described, they are what it costs.
    let described = MisalignedCosts { page_cross_load: 9, ..MisalignedCosts::default() };
    let described = MinorConfig { misaligned: described, ..narrow };
    assert_eq!(per_round(&described, quirks, 3, &[load(5, DATA + 4)]), [4.0; 2]);
}

#[test]
fn no_reference_enters_the_lsq_while_the_oldest_waits_there() {
    let roomy = MinorConfig {
        executeLSQRequestsQueueSize: 4,
        executeLSQTransfersQueueSize: 8,
        executeMaxAccessesInMemory: 8,
        ..MinorConfig::default()
    };
    let quirks = MinorQuirks { gem5HeadHoldsEarlyIssue: true, ..NONE };
    let [with, without] = per_round(&roomy, quirks, 40, &[load(5, DATA)]);
    // Two under way, or as many as the memory takes.
    assert_eq!([with, without], [20.5, 5.25]);
}
