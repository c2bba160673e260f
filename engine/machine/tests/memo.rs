//! Memoized execution changes no cycle and no statistic.

use breakeven_machine::{Limits, Machine};

const RISCV: &[u8] = include_bytes!("../../../tests/data/gem5/micro.rv64.elf");
const X86: &[u8] = include_bytes!("../../../tests/data/gem5/micro.x86.elf");

/// The statistics at the end of so many instructions, and how many of those were replayed.
fn run(description: &str, elf: &[u8], insts: u64, on: bool) -> (Vec<(String, String)>, u64) {
    let mut machine = Machine::new(description, elf).unwrap_or_else(|e| panic!("{e}"));
    machine.memoize(on);
    machine.run(Limits { insts, ..Limits::default() });
    let stats = machine.dumps().into_iter().chain([machine.stats()]).flatten();
    let stats = stats.filter(|s| !s.name.starts_with("host")).map(|s| (s.name, format!("{:?}", s.value)));
    (stats.collect(), machine.memo_statistics().map_or(0, |memo| memo.replayed_insts))
}

#[test]
fn the_reference_guests_run_alike_and_mostly_out_of_memory() {
    for (description, elf) in [
        (include_str!("../../../tests/data/descriptions/minor.json"), RISCV),
        (include_str!("../../../tests/data/descriptions/x86_minor.json"), X86),
        (include_str!("../../../tests/data/descriptions/o3.json"), RISCV),
        (include_str!("../../../tests/data/descriptions/c910.json"), RISCV),
        (include_str!("../../../tests/data/descriptions/x86_o3.json"), X86),
    ] {
        let insts = 600_000;
        let ((plain, none), (memoized, replayed)) =
            (run(description, elf, insts, false), run(description, elf, insts, true));
        let other: Vec<_> = plain.iter().zip(&memoized).filter(|(a, b)| a != b).collect();
        assert!(other.is_empty() && plain.len() == memoized.len(), "{other:?}");
        assert_eq!(none, 0);
        assert!(replayed > insts / 4, "only {replayed} of {insts} were replayed");
    }
}
