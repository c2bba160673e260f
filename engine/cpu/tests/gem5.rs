//! Minor and O3 against gem5's on the 34 micro-kernels: prints the tables and holds the line reached.
//!
//! A DRAM refresh (every 7.8 us, 15,600 cycles) costs a load or store that meets it some 540 cycles. Which kernels it meets
//! depends on the phase, that is on every cycle since reset, measured or not; gem5's short kernels met none. So kernels
//! shorter than the interval between two refreshes are compared without refresh, all others with it.

mod common;

use breakeven_cpu::bpred::BranchPredictorParams;
use breakeven_cpu::minor::{Minor, MinorConfig};
use breakeven_cpu::o3::{Gem5Quirks, O3Config, O3};
use common::{gem5_rows, memory_without_refresh, reference_memory, run_reference, Reference, ReferenceCore, Region};

const REFRESH_INTERVAL: f64 = 15_600.0;

/// The kernels' statistics with the reference memory, and without refresh.
fn both<C: ReferenceCore>(core: impl Fn() -> C) -> [Vec<Region>; 2] {
    [reference_memory(), memory_without_refresh()].map(|memory| run_reference(&mut core(), memory))
}

/// Prints one kernel and returns the difference in percent.
fn compare(r: &Region, g: &Reference) -> f64 {
    let (ours, theirs) = (r.get("system.cpu.numCycles"), g.get("cycles"));
    let percent = (ours - theirs) / theirs * 100.0;
    let pair = |ours: &str, theirs: &str| format!("{}/{}", r.get(ours), g.get(theirs));
    println!(
        "{:12} {theirs:9} {ours:9} {percent:+7.2}  {:>15} {:>13} {:>13} {:>11}",
        g.kernel,
        pair("system.cpu.dcache.demandAccesses::total", "dcache_accesses"),
        pair("system.cpu.dcache.demandMisses::total", "dcache_misses"),
        pair("system.cpu.branchPred.condPredicted", "cond_predicted"),
        pair("system.cpu.branchPred.condIncorrect", "cond_incorrect"),
    );
    percent
}

/// Compares every kernel of gem5's `cpu`; `equal`: counts that are gem5's in all of them.
fn hold(cpu: &str, [with, without]: [Vec<Region>; 2], equal: &[(&str, &str)], median_at_most: f64, worst_at_most: f64) {
    let gem5 = gem5_rows(cpu);
    assert_eq!((with.len(), without.len()), (gem5.len(), gem5.len()));
    println!("kernel            gem5      ours       %  data accesses    data misses      branches  mispredicted (ours/gem5)");
    let mut differences = Vec::new();
    for ((with, without), g) in with.iter().zip(&without).zip(&gem5) {
        let region = if g.get("cycles") < REFRESH_INTERVAL { without } else { with };
        differences.push((compare(region, g).abs(), g.kernel.clone()));
        for (ours, theirs) in [("commitStats0.numInsts", "insts")].iter().chain(equal) {
            assert_eq!(region.get(&format!("system.cpu.{ours}")), g.get(theirs), "{cpu}, {}: {theirs}", g.kernel);
        }
    }
    differences.sort_by(|a, b| a.0.total_cmp(&b.0));
    let median = differences[differences.len() / 2].0;
    let (worst, kernel) = differences.last().expect("there are kernels");
    println!("{cpu}: median |difference| {median:.2} %, worst {worst:.2} % ({kernel})");
    assert!(median <= median_at_most, "{cpu}: median difference {median:.2} %");
    assert!(*worst <= worst_at_most, "{cpu}: {kernel} differs by {worst:.2} %");
}

#[test]
fn minor_agrees_with_gem5() {
    let core =
        || Minor::new(MinorConfig::default(), Some(&BranchPredictorParams::default()), 64).expect("the default builds");
    let equal = [("branchPred.condPredicted", "cond_predicted"), ("branchPred.condIncorrect", "cond_incorrect")];
    hold("minor", both(core), &equal, 0.05, 2.3);
}

#[test]
fn o3_agrees_with_gem5() {
    let core = || {
        let cfg = O3Config { quirks: Gem5Quirks::ALL, ..O3Config::default() };
        O3::new(cfg, Some(&BranchPredictorParams::default()), 64).expect("the default builds")
    };
    hold("o3", both(core), &[], 0.05, 3.6);
}
