//! Memoized execution changes no cycle and no statistic.

mod common;

use breakeven_machine::{Limits, Machine};
use common::asm::*;
use common::RAM;

const RISCV: &[u8] = include_bytes!("../../../tests/data/gem5/micro.rv64.elf");
const X86: &[u8] = include_bytes!("../../../tests/data/gem5/micro.x86.elf");

/// The statistics at the end of so many instructions, how many of those were replayed, and segments in a steady state.
fn run(description: &str, elf: &[u8], insts: u64, on: bool) -> (Vec<(String, String)>, u64, u64) {
    let mut machine = Machine::new(description, elf).unwrap_or_else(|e| panic!("{e}"));
    machine.memoize(on);
    machine.run(Limits { insts, ..Limits::default() });
    let stats = machine.dumps().into_iter().chain([machine.stats()]).flatten();
    let stats = stats.filter(|s| !s.name.starts_with("host")).map(|s| (s.name, format!("{:?}", s.value)));
    let (replayed, steady) = machine.memo_statistics().map_or((0, 0), |memo| (memo.replayed_insts, memo.steady));
    (stats.collect(), replayed, steady)
}

#[test]
fn the_reference_guests_run_alike_and_mostly_out_of_memory() {
    let mut all_steady = 0;
    for (description, elf) in [
        (include_str!("../../../tests/data/descriptions/minor.json"), RISCV),
        (include_str!("../../../tests/data/descriptions/x86_minor.json"), X86),
        (include_str!("../../../tests/data/descriptions/o3.json"), RISCV),
        (include_str!("../../../tests/data/descriptions/c910.json"), RISCV),
        (include_str!("../../../tests/data/descriptions/x86_o3.json"), X86),
    ] {
        let insts = 600_000;
        let ((plain, none, _), (memoized, replayed, steady)) =
            (run(description, elf, insts, false), run(description, elf, insts, true));
        let other: Vec<_> = plain.iter().zip(&memoized).filter(|(a, b)| a != b).collect();
        assert!(other.is_empty() && plain.len() == memoized.len(), "{other:?}");
        assert_eq!(none, 0);
        assert!(replayed > insts / 4, "only {replayed} of {insts} were replayed");
        all_steady += steady;
    }
    assert!(all_steady > 1000, "{all_steady} segments in a steady state");
}

/// A loop that clears memory downwards, again and again, from far above its code to the line above; the last time it goes on
/// to the bytes behind its code, in the line of that.
fn clearer(passes: u64) -> Asm {
    let (mut a, at) = (Asm::new(), 0xe00 / 4);
    let code = RAM + 4 * at as u64;
    a.li(S0, code + 0xdf8).li(S1, code + 0x80).li(A3, passes).li(T2, 1);
    let pass = a.words.len();
    a.mv(A0, S0).beq(ZERO, ZERO, at);
    let back = a.words.len();
    a.addi(A3, A3, -1).bne(A3, T2, back + 6).li(S1, code + 0x10).bne(A3, ZERO, pass).exit();
    while a.words.len() < at {
        a.addi(ZERO, ZERO, 0);
    }
    a.sd(ZERO, A0, 0).addi(A0, A0, -8).bne(A0, S1, at).beq(ZERO, ZERO, back);
    a
}

#[test]
fn a_loop_that_comes_to_write_its_own_code_is_fetched_as_without() {
    for description in [
        include_str!("../../../tests/data/descriptions/minor.json"),
        include_str!("../../../tests/data/descriptions/o3.json"),
    ] {
        let elf = clearer(40).elf();
        let (plain, memoized) = (run(description, &elf, 0, false), run(description, &elf, 0, true));
        let other: Vec<_> = plain.0.iter().zip(&memoized.0).filter(|(a, b)| a != b).collect();
        assert!(other.is_empty(), "{other:?}");
        assert!(memoized.2 > 0, "no steady state");
    }
}
