//! Sweeps of guests that mark their work: the rest is executed functionally, with caches warm, and changes no settled number.

mod common;

use std::ops::ControlFlow;

use breakeven_machine::sweep::{RECORD_BYTES, RESULT_BYTES};
use breakeven_machine::{Detail, EngineError, Sweep};
use common::asm::*;

const WORK_BEGIN: u32 = 0x5a;
const WORK_END: u32 = 0x5b;
const READ_FILE: u32 = 0x50;
const WRITE_FILE: u32 = 0x4f;
const CYCLE: u32 = 0xb00;
/// Where the result's last words are: cycles of the measurement, and what the routine made.
const CYCLES_AT: usize = 8;
const MADE_AT: usize = 40;
/// Lines that lie in no other's set.
const TOUCHED: u64 = DATA + 0x10000;
const UNTOUCHED: u64 = DATA + 0x20400;
/// Cores that time instructions: gem5's, and two of silicon with other predictors, caches and prefetchers.
const TIMED: [(&str, &str); 5] = [
    ("timing", include_str!("../../../tests/data/descriptions/timing.json")),
    ("minor", include_str!("../../../tests/data/descriptions/minor.json")),
    ("o3", include_str!("../../../tests/data/descriptions/o3.json")),
    ("u74", include_str!("../../../tests/data/descriptions/u74.json")),
    ("c910", include_str!("../../../tests/data/descriptions/c910.json")),
];
const ATOMIC: &str = include_str!("../../../tests/data/descriptions/atomic.json");

/// What a guest's parts do: before its work, the work, after it. Work-end comes first, as our guests have it.
fn guest(before: impl Fn(&mut Asm), work: impl Fn(&mut Asm), after: impl Fn(&mut Asm)) -> Vec<u8> {
    let (points, result, name) = (DATA, DATA + 0x400, DATA + 0xc00);
    let mut a = Asm::new();
    a.data(name, b"results.bin\0");
    a.op(WORK_END).m5(READ_FILE, &[points, 4096, 0]);
    before(&mut a);
    a.op(WORK_BEGIN);
    work(&mut a);
    a.op(WORK_END);
    after(&mut a);
    a.m5(WRITE_FILE, &[result, 64, 0, name]).exit();
    a.elf()
}

/// Loads from `address` between two readings of the counter, into the result.
fn timed_load(a: &mut Asm, address: u64) {
    a.li(S0, address).csrr(A4, CYCLE).ld(T1, S0, 0).csrr(A5, CYCLE);
    a.li(T0, DATA + 0x400).sd(A4, T0, CYCLES_AT as i32).sd(A5, T0, CYCLES_AT as i32 + 8);
}

/// Adds up the words of a table `times` times.
fn sums(a: &mut Asm, times: u64) {
    a.li(S1, times).li(T2, 0);
    let again = a.words.len();
    a.li(S0, TOUCHED).li(A2, 64);
    let top = a.words.len();
    a.ld(T1, S0, 0).add(T2, T2, T1).addi(S0, S0, 8).addi(A2, A2, -1).bne(A2, ZERO, top);
    a.addi(S1, S1, -1).bne(S1, ZERO, again);
}

/// Fills that table with 1, 2, 3, ...
fn fill(a: &mut Asm) {
    a.li(S0, TOUCHED).li(A2, 64).li(T1, 1);
    let top = a.words.len();
    a.sd(T1, S0, 0).addi(T1, T1, 1).addi(S0, S0, 8).addi(A2, A2, -1).bne(A2, ZERO, top);
}

fn made(a: &mut Asm) {
    a.li(T0, DATA + 0x400).sd(T2, T0, MADE_AT as i32);
}

fn swept(description: &str, elf: &[u8], detail: Detail) -> Sweep {
    Sweep::new_observed(description, elf, detail, &mut || ControlFlow::Continue(())).expect("boots")
}

fn word(result: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(result[at..at + 8].try_into().expect("8 bytes"))
}

fn result_of(sweep: &Sweep) -> Vec<u8> {
    let result = sweep.run(&[0; RECORD_BYTES], 1, &mut |_| ControlFlow::Continue(())).expect("runs");
    assert_eq!((result.len(), word(&result, 0)), (RESULT_BYTES, 0), "the point has finished");
    result
}

fn cycles(result: &[u8]) -> u64 {
    word(result, CYCLES_AT + 8) - word(result, CYCLES_AT)
}

#[test]
fn functional_execution_leaves_the_caches_warm() {
    for (core, description) in TIMED {
        let touch = |a: &mut Asm| {
            a.li(S0, TOUCHED).ld(T1, S0, 0);
        };
        let of = |address| {
            let work = |a: &mut Asm| timed_load(a, address);
            cycles(&result_of(&swept(description, &guest(touch, work, |_| {}), Detail::Work)))
        };
        let [warm, cold] = [TOUCHED, UNTOUCHED].map(of);
        assert!(cold > warm + 20, "{core}: {cold} cycles where nothing was touched, {warm} where a line was");
    }
}

#[test]
fn a_settled_measurement_takes_as_long_as_with_everything_in_detail() {
    for (core, description) in TIMED {
        let work = |a: &mut Asm| {
            // Twice: the code of the first turn is new to caches and predictor.
            a.li(A3, 2);
            let top = a.words.len();
            a.csrr(A4, CYCLE);
            sums(a, 20);
            a.csrr(A5, CYCLE);
            a.addi(A3, A3, -1).bne(A3, ZERO, top);
            a.li(T0, DATA + 0x400).sd(A4, T0, CYCLES_AT as i32).sd(A5, T0, CYCLES_AT as i32 + 8);
        };
        let elf = guest(fill, work, made);
        let [some, all] = [Detail::Work, Detail::Everything].map(|detail| result_of(&swept(description, &elf, detail)));
        assert_eq!(word(&some, MADE_AT), 20 * (1..=64).sum::<u64>(), "{core}");
        assert_eq!((cycles(&some), word(&some, MADE_AT)), (cycles(&all), word(&all, MADE_AT)), "{core}");
        assert_ne!(word(&some, CYCLES_AT), word(&all, CYCLES_AT), "{core}: what came before was not timed");
    }
}

#[test]
fn a_measurement_is_looked_into_as_it_was() {
    let elf = guest(fill, |a| timed_load(a, TOUCHED), |_| {});
    for (core, description) in TIMED {
        let sweep = swept(description, &elf, Detail::Work);
        let measured = sweep.measured(&[0; RECORD_BYTES], None).expect("runs");
        assert_eq!(measured.result.to_vec(), result_of(&sweep), "{core}");
        let counted = measured.stats.iter().find(|s| s.name == "system.cpu.numCycles").map(|s| s.value);
        assert_eq!(counted, Some((measured.end - measured.begin) as f64), "{core}");
    }
}

#[test]
fn work_items_may_come_in_any_order() {
    let many = |a: &mut Asm| {
        a.li(A3, 300);
        let top = a.words.len();
        a.op(WORK_BEGIN).op(WORK_BEGIN).addi(T2, T2, 1).op(WORK_END).op(WORK_END).addi(T2, T2, 1);
        a.addi(A3, A3, -1).bne(A3, ZERO, top);
    };
    let zero = |a: &mut Asm| {
        a.li(T2, 0);
    };
    let elf = guest(zero, many, made);
    let all = result_of(&swept(ATOMIC, &elf, Detail::Everything));
    for (core, description) in TIMED {
        assert_eq!(result_of(&swept(description, &elf, Detail::Work)), all, "{core}");
    }
}

#[test]
fn a_guest_that_never_ends_is_stopped_wherever_it_is() {
    let spins = |at: usize| {
        let spin = |here: usize| {
            move |a: &mut Asm| {
                if here == at {
                    a.spin();
                }
            }
        };
        guest(spin(0), spin(1), spin(2))
    };
    for at in 0..3 {
        let sweep = swept(TIMED[1].1, &spins(at), Detail::Work);
        let mut asked = 0;
        let stopped = sweep.run(&[0; RECORD_BYTES], 1, &mut |_| {
            asked += 1;
            if asked > 3 {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        assert!(matches!(stopped, Err(EngineError::Sweep(_))), "{at}: {stopped:?}");
    }
}
