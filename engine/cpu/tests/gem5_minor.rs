//! Minor against gem5's MinorCPU on the 34 micro-kernels: prints the table and holds the line reached.

mod common;

use breakeven_cpu::bpred::BranchPredictorParams;
use breakeven_cpu::minor::{Minor, MinorConfig};
use common::{gem5_rows, run_minor};

#[test]
fn cycles_agree_with_gem5() {
    let mut minor = Minor::new(MinorConfig::default(), Some(&BranchPredictorParams::default()), 64).expect("the default builds");
    let started = std::time::Instant::now();
    let regions = run_minor(&mut minor);
    let seconds = started.elapsed().as_secs_f64();
    let gem5 = gem5_rows("minor");
    assert_eq!(regions.len(), gem5.len());
    println!("{:12} {:>9} {:>9} {:>7}  insts d-acc (gem5) d-miss (gem5) cond (gem5) wrong (gem5)", "kernel", "gem5", "ours", "%");
    let mut differences = Vec::new();
    for (r, g) in regions.iter().zip(&gem5) {
        let (ours, theirs) = (r.get("system.cpu.numCycles"), g.get("cycles"));
        let percent = (ours - theirs) / theirs * 100.0;
        differences.push((percent.abs(), g.kernel.clone()));
        let show = |ours: &str, theirs: &str| format!("{} ({})", r.get(ours), g.get(theirs));
        println!(
            "{:12} {theirs:9} {ours:9} {percent:7.2}  {} | {} | {} | {} | {}",
            g.kernel,
            show("system.cpu.commitStats0.numInsts", "insts"),
            show("system.cpu.dcache.demandAccesses::total", "dcache_accesses"),
            show("system.cpu.dcache.demandMisses::total", "dcache_misses"),
            show("system.cpu.branchPred.condPredicted", "cond_predicted"),
            show("system.cpu.branchPred.condIncorrect", "cond_incorrect"),
        );
        assert_eq!(r.get("system.cpu.commitStats0.numInsts"), g.get("insts"), "{}: instructions", g.kernel);
    }
    differences.sort_by(|a, b| a.0.total_cmp(&b.0));
    let median = differences[differences.len() / 2].0;
    let worst = differences.last().expect("there are kernels");
    println!("median |difference| {median:.2} %, worst {:.2} % ({})", worst.0, worst.1);
    #[allow(clippy::cast_precision_loss)]
    let mips = minor.insts() as f64 / seconds / 1e6;
    println!("{} instructions in {seconds:.2} s: {mips:.1} million a second", minor.insts());
    assert!(median <= 5.0, "median difference {median:.2} %");
    assert!(worst.0 <= 25.0, "{} differs by {:.2} %", worst.1, worst.0);
}
