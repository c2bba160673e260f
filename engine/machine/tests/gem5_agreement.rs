//! The reference guest's 34 kernels against gem5 24.0, cycle counts side by side (`tests/data/gem5`).
//!
//! Prints them; asserts the line that the models have reached, and that docs/gem5-agreement.md has today's cycles (its
//! tables are made from `ours.csv`). What explains the rest is said there.

mod common;

use std::collections::BTreeMap;

use breakeven_machine::{Limits, Machine, MachineConfig};
use common::{hold, kept_cycles, reference, STALE};

const ELF: &[u8] = include_bytes!("../../../tests/data/gem5/micro.rv64.elf");
const CYCLES: &str = include_str!("../../../tests/data/gem5/cycles-rv64.csv");

/// What is counted besides cycles. Where no wrong path runs, the first four do not depend on time: ours must be gem5's.
const COUNTED: [(&str, &str); 10] = [
    ("dcache_accesses", "system.cpu.dcache.demandAccesses::total"),
    ("dcache_misses", "system.cpu.dcache.demandMisses::total"),
    ("cond_predicted", "system.cpu.branchPred.condPredicted"),
    ("cond_incorrect", "system.cpu.branchPred.condIncorrect"),
    ("micro_ops", "simOps"),
    ("dcache_mshr_misses", "system.cpu.dcache.demandMshrMisses::total"),
    ("l2_accesses", "system.l2.demandAccesses::total"),
    ("l2_misses", "system.l2.demandMisses::total"),
    ("dcache_writebacks", "system.cpu.dcache.writebacks::total"),
    ("commit_mispredicts", "system.cpu.commit.branchMispredicts"),
];

/// One row: a kernel on a core.
struct Kernel(BTreeMap<&'static str, &'static str>);

impl Kernel {
    fn name(&self) -> &'static str {
        self.0["kernel"]
    }
    fn number(&self, column: &str) -> f64 {
        self.0[column].parse().unwrap_or_else(|e| panic!("{}, {column}: {e}", self.name()))
    }
}

fn published(core: &str) -> Vec<Kernel> {
    let mut lines = CYCLES.lines().map(|l| l.split(','));
    let header = lines.next().expect("a header");
    lines.map(|row| Kernel(header.clone().zip(row).collect())).filter(|k| k.0["cpu"] == core).collect()
}

/// What the configuration language makes of the reference machine (the presets `timing` and `minor`).
fn description(core: &str) -> &'static str {
    match core {
        "timing" => include_str!("../../../tests/data/descriptions/timing.json"),
        "minor" => include_str!("../../../tests/data/descriptions/minor.json"),
        "o3" => include_str!("../../../tests/data/descriptions/o3.json"),
        other => panic!("no description of {other}"),
    }
}

/// One kernel: gem5's numbers and ours.
struct Compared {
    name: &'static str,
    cycles: [f64; 2],
    /// By the names of [`COUNTED`]; what a core does not count is left out.
    counted: BTreeMap<&'static str, [f64; 2]>,
}

impl Compared {
    /// Of the cycles, in percent.
    fn difference(&self) -> f64 {
        (self.cycles[1] / self.cycles[0] - 1.0) * 100.0
    }
}

/// Runs the kernels. Instructions must be gem5's on every core (its counter may be read one instruction apart).
fn compare(core: &str, description: &str) -> Vec<Compared> {
    let mut m = Machine::new(description, ELF).expect("builds");
    let end = m.run(Limits { insts: 20_000_000, cycles: 200_000_000, ticks: 0 });
    assert_eq!(end.cause.text(), "m5_exit instruction encountered", "{end:?}");
    let kernels = published(core);
    assert_eq!((kernels.len(), m.dumps().len()), (34, 34));
    println!("{core}: kernel, gem5's cycles, ours, difference in percent; counts that differ (gem5's/ours)");
    let mut out = Vec::new();
    for (k, dump) in kernels.iter().zip(m.dumps()) {
        let find = |name: &str| dump.iter().find(|s| s.name == name).map(|s| s.value);
        let stat = |name: &str| find(name).unwrap_or_else(|| panic!("no {name}"));
        let counted = |(column, name): &(&'static str, &str)| Some((*column, [k.number(column), find(name)?]));
        let c = Compared {
            name: k.name(),
            cycles: [k.number("cycles"), stat("system.cpu.numCycles")],
            counted: COUNTED.iter().filter_map(counted).collect(),
        };
        let apart: String = c
            .counted
            .iter()
            .filter(|(_, [theirs, ours])| theirs != ours)
            .map(|(column, [theirs, ours])| format!(" {column} {theirs}/{ours}"))
            .collect();
        println!("{:12} {:9} {:9} {:+7.2}{apart}", c.name, c.cycles[0], c.cycles[1], c.difference());
        assert_eq!(c.cycles[1], kept_cycles("rv64", core, c.name), "{core}, {}: {STALE}", c.name);
        let (insts, theirs) = (stat("simInsts"), k.number("insts"));
        assert!((insts - theirs).abs() <= 1.0, "{}: {insts} instructions, gem5 {theirs}", k.name());
        out.push(c);
    }
    out
}

/// Absolute differences of the cycles in percent, kernel by kernel, on a core without wrong paths: counts are gem5's.
fn differences(core: &str, description: &str) -> Vec<(&'static str, f64)> {
    let all = compare(core, description);
    for c in &all {
        // gem5's simple cores have no branch predictor.
        for (column, _) in &COUNTED[..if core == "minor" { 4 } else { 2 }] {
            let [theirs, ours] = c.counted[column];
            assert_eq!(ours, theirs, "{}: {column}", c.name);
        }
    }
    all.iter().map(|c| (c.name, c.difference().abs())).collect()
}

#[test]
fn timing_simple_agrees_with_gem5() {
    hold("rv64", "timing", &differences("timing", description("timing")));
}

#[test]
fn minor_agrees_with_gem5() {
    hold("rv64", "minor", &differences("minor", description("minor")));
}

#[test]
fn the_hand_written_reference_is_what_the_configuration_language_makes() {
    for core in ["timing", "minor"] {
        let [ours, theirs] = [reference(core).json(), description(core).to_owned()]
            .map(|d| MachineConfig::parse(&d).expect("can be built"));
        assert_eq!(ours.memory, theirs.memory, "{core}");
    }
}

#[test]
fn o3_agrees_with_gem5() {
    let all = compare("o3", description("o3"));
    let differences: Vec<_> = all.iter().map(|c| (c.name, c.difference().abs())).collect();
    hold("rv64", "o3", &differences);
    for c in &all {
        // Lines that stores write whole before their miss leaves are not read.
        let [theirs, ours] = c.counted["l2_accesses"];
        let within = match c.name {
            "copy64k_s3" => 0.026,
            "copy64kcold" => 0.004,
            _ => 0.002,
        };
        assert!(
            (ours - theirs).abs() <= (theirs * within).max(1.0),
            "{}: {ours} of {theirs} at the second level",
            c.name
        );
        let [theirs, ours] = c.counted["cond_predicted"];
        assert!((ours - theirs).abs() <= 1.0, "{}: {ours} of {theirs} conditional branches predicted", c.name);
        let [theirs, ours] = c.counted["commit_mispredicts"];
        assert_eq!(ours, theirs, "{}: mispredictions", c.name);
        let [theirs, ours] = c.counted["cond_incorrect"];
        assert_eq!(ours, theirs, "{}: mispredictions found", c.name);
        let [theirs, ours] = c.counted["micro_ops"];
        assert!((ours - theirs).abs() <= 1.0, "{}: {ours} micro-ops, gem5 {theirs}", c.name);
    }
}
