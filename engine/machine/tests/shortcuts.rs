//! What saves work changes no cycle and no statistic: memoized execution, and wrong paths that are described without being
//! executed.

mod common;

use breakeven_cpu::MemoStatistics;
use breakeven_machine::{Limits, Machine};
use common::asm::*;
use common::RAM;
use serde_json::{json, Value};

const RISCV: &[u8] = include_bytes!("../../../tests/data/gem5/micro.rv64.elf");
const X86: &[u8] = include_bytes!("../../../tests/data/gem5/micro.x86.elf");

/// The statistics at the end of so many instructions, and what memoized execution came to.
fn run(description: &str, elf: &[u8], insts: u64, on: bool) -> (Vec<(String, String)>, MemoStatistics) {
    let mut machine = Machine::new(description, elf).unwrap_or_else(|e| panic!("{e}"));
    machine.memoize(on);
    machine.run(Limits { insts, ..Limits::default() });
    let stats = machine.dumps().into_iter().chain([machine.stats()]).flatten();
    let stats = stats.filter(|s| !s.name.starts_with("host")).map(|s| (s.name, format!("{:?}", s.value)));
    (stats.collect(), machine.memo_statistics().unwrap_or_default())
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
        let ((plain, none), (memoized, memo)) =
            (run(description, elf, insts, false), run(description, elf, insts, true));
        let other: Vec<_> = plain.iter().zip(&memoized).filter(|(a, b)| a != b).collect();
        assert!(other.is_empty() && plain.len() == memoized.len(), "{other:?}");
        assert_eq!(none.replayed_insts, 0);
        assert!(memo.replayed_insts > insts / 4, "only {} of {insts} were replayed", memo.replayed_insts);
        all_steady += memo.steady;
    }
    assert!(all_steady > 1000, "{all_steady} segments in a steady state");
}

/// gem5's Minor of x86, which predicts no branch, with microcode of processors: then it predicts them.
fn predicting_minor() -> String {
    let mut stored: Value =
        serde_json::from_str(include_str!("../../../tests/data/descriptions/x86_minor.json")).expect("JSON");
    let objects = stored["objects"].as_array_mut().expect("objects");
    let microcode = objects.iter_mut().find(|o| o["path"] == "system.cpu.isa.microcode").expect("microcode");
    microcode["params"]["gem5"] = json!(false);
    stored.to_string()
}

#[test]
fn a_described_wrong_path_costs_what_an_executed_one_costs() {
    for (description, elf) in [
        (include_str!("../../../tests/data/descriptions/x86_minor.json").to_owned(), X86),
        (predicting_minor(), X86),
        (include_str!("../../../tests/data/descriptions/x86_o3.json").to_owned(), X86),
        (include_str!("../../../tests/data/descriptions/o3.json").to_owned(), RISCV),
    ] {
        let run = |executed: bool| {
            let mut machine = Machine::new(&description, elf).unwrap_or_else(|e| panic!("{e}"));
            machine.memoize(false);
            if executed {
                machine.execute_wrong_paths();
            }
            machine.run(Limits { insts: 600_000, ..Limits::default() });
            let stats = machine.stats().into_iter().filter(|s| !s.name.starts_with("host"));
            stats.map(|s| (s.name, format!("{:?}", s.value))).collect::<Vec<_>>()
        };
        let (described, executed) = (run(false), run(true));
        let other: Vec<_> = described.iter().zip(&executed).filter(|(a, b)| a != b).collect();
        assert!(other.is_empty() && described.len() == executed.len(), "{other:?}");
    }
}

/// Copies 8 KiB by groups of `1 << lmul` vector registers, so many times.
fn vector_copies(lmul: u32, passes: u64) -> Asm {
    let op = |rd: u32, rs1: u32, rs2: u32, funct7: u32| funct7 << 25 | rs2 << 20 | rs1 << 15 | rd << 7 | 0x33;
    let mut a = Asm::new();
    // VS of mstatus: vectors are on.
    a.li(T0, 1 << 9).csrs(0x300, T0).li(S0, passes);
    let pass = a.words.len();
    a.li(A0, RAM + 0x2_0000).li(A1, RAM + 0x1_0000).li(A2, 8192);
    let turn = a.words.len();
    a.word((0xc0 | lmul) << 20 | A2 << 15 | 7 << 12 | T0 << 7 | 0x57); // vsetvli t0, a2, e8, ta, ma
    a.word(1 << 25 | A1 << 15 | 8 << 7 | 0x07); // vle8.v v8, (a1)
    a.word(op(A2, A2, T0, 0x20)).word(op(A1, A1, T0, 0));
    a.word(1 << 25 | A0 << 15 | 8 << 7 | 0x27); // vse8.v v8, (a0)
    a.word(op(A0, A0, T0, 0)).bne(A2, ZERO, turn);
    a.addi(S0, S0, -1).bne(S0, ZERO, pass).exit();
    a
}

#[test]
fn vector_copies_are_made_in_rounds_of_hits_and_run_as_without() {
    for description in [
        include_str!("../../../tests/data/descriptions/minor.json"),
        include_str!("../../../tests/data/descriptions/o3.json"),
    ] {
        let mut in_rounds = 0;
        for lmul in 0..4 {
            let elf = vector_copies(lmul, 60).elf();
            let (plain, memoized) = (run(description, &elf, 0, false), run(description, &elf, 0, true));
            let other: Vec<_> = plain.0.iter().zip(&memoized.0).filter(|(a, b)| a != b).collect();
            assert!(other.is_empty(), "m{}: {other:?}", 1 << lmul);
            in_rounds += memoized.1.in_rounds;
        }
        assert!(in_rounds > 500, "{in_rounds} segments in rounds of hits");
    }
}

#[test]
fn what_is_known_of_a_loop_outlives_its_calls_and_the_slices_of_a_run() {
    for description in [
        include_str!("../../../tests/data/descriptions/minor.json"),
        include_str!("../../../tests/data/descriptions/o3.json"),
    ] {
        let elf = vector_copies(0, 400).elf();
        let (plain, memoized) = (run(description, &elf, 0, false), run(description, &elf, 0, true));
        let other: Vec<_> = plain.0.iter().zip(&memoized.0).filter(|(a, b)| a != b).collect();
        assert!(other.is_empty(), "{other:?}");
        let MemoStatistics { in_rounds, replayed, .. } = memoized.1;
        assert!(in_rounds * 5 > replayed * 4, "{in_rounds} of {replayed} segments in rounds of hits");
    }
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
        assert!(memoized.1.steady > 0, "no steady state");
    }
}
