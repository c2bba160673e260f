//! The reference guest's 34 kernels on x86 against gem5 24.0 (`tests/data/gem5`): cycles side by side, counts equal.
//! Printed; what explains the rest is in docs/gem5-agreement.md.

mod common;

use std::collections::BTreeMap;

use breakeven_machine::{Limits, Machine};
use common::{hold, kept_cycles, STALE};

const ELF: &[u8] = include_bytes!("../../../tests/data/gem5/micro.x86.elf");
const CYCLES: &str = include_str!("../../../tests/data/gem5/cycles-x86.csv");

fn description(core: &str) -> &'static str {
    match core {
        "timing" => include_str!("../../../tests/data/descriptions/x86_timing.json"),
        "minor" => include_str!("../../../tests/data/descriptions/x86_minor.json"),
        "o3" => include_str!("../../../tests/data/descriptions/x86_o3.json"),
        other => panic!("no description of {other}"),
    }
}

fn published(core: &str) -> Vec<BTreeMap<&'static str, &'static str>> {
    let mut lines = CYCLES.lines().map(|l| l.split(','));
    let header = lines.next().expect("a header");
    lines.map(|row| header.clone().zip(row).collect()).filter(|k: &BTreeMap<_, _>| k["cpu"] == core).collect()
}

/// Runs the kernels; the differences of the cycles in percent. Instructions and micro-ops are gem5's.
fn compare(core: &str) -> Vec<(&'static str, f64)> {
    let mut m = Machine::new(description(core), ELF).expect("builds");
    let end = m.run(Limits { insts: 20_000_000, cycles: 200_000_000, ticks: 0 });
    assert_eq!(end.cause.text(), "m5_exit instruction encountered", "{end:?}");
    let kernels = published(core);
    // The guest dumps once more at its end.
    assert_eq!((kernels.len(), m.dumps().len()), (34, 34));
    println!("{core}: kernel, gem5's cycles, ours, difference in percent; micro-ops that differ");
    let mut out = Vec::new();
    for (k, dump) in kernels.iter().zip(m.dumps()) {
        let name = k["kernel"];
        let stat = |name: &str| dump.iter().find(|s| s.name == name).map_or_else(|| panic!("no {name}"), |s| s.value);
        let number = |column: &str| k[column].parse::<f64>().expect("a number");
        let (theirs, ours) = (number("cycles"), stat("system.cpu.numCycles"));
        assert_eq!(ours, kept_cycles("x86", core, name), "{core}, {name}: {STALE}");
        let difference = (ours / theirs - 1.0) * 100.0;
        let ops = (number("micro_ops"), stat("simOps"));
        println!(
            "{name:12} {theirs:9} {ours:9} {difference:+7.2}{}",
            if ops.0 == ops.1 { String::new() } else { format!(" {} {}", ops.0, ops.1) }
        );
        for (column, cache) in [("dcache_accesses", "cpu.dcache"), ("l2_accesses", "l2")] {
            let (theirs, ours) = (number(column), stat(&format!("system.{cache}.demandAccesses::total")));
            // On O3 wrong paths access the caches, too; instructions come from the second level, on Minor of wrong paths.
            let within = match (core, column) {
                ("o3", "dcache_accesses") => (theirs * 0.0055).max(1.0),
                ("o3" | "minor", "l2_accesses") => (theirs * 0.0005).max(1.0),
                _ => 0.0,
            };
            assert!((ours - theirs).abs() <= within, "{core}, {name}: {column} {ours}, gem5 {theirs}");
        }
        assert_eq!(stat("simInsts"), number("insts"), "{core}, {name}: instructions");
        assert_eq!(ops.0, ops.1, "{core}, {name}: micro-ops");
        out.push((name, difference.abs()));
    }
    out
}

#[test]
fn timing_simple_agrees_with_gem5() {
    hold("x86", "timing", &compare("timing"));
}

#[test]
fn minor_agrees_with_gem5() {
    hold("x86", "minor", &compare("minor"));
}

#[test]
fn o3_agrees_with_gem5() {
    hold("x86", "o3", &compare("o3"));
}
