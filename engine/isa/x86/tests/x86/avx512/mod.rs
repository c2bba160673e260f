//! AVX-512 against Bochs: a program of single instructions from a fixed seed runs on both and logs, after each, a hash of all
//! vector, opmask and general registers, flags, a window of memory and the fault, if there was one. The window ends at a page
//! that is not present, so that elements which a mask leaves out lie there, too.
//!
//! `cargo test` compares with stored results (`bochs.bin`). `BREAKEVEN_BOCHS=1 cargo test -p breakeven-x86 --test x86 avx512` runs
//! Bochs (Debian's package `bochs`, 2.7, as a Skylake-X); `BREAKEVEN_BOCHS=record` writes its results; `BREAKEVEN_BOCHS_SEED` starts
//! elsewhere.

mod bochs;
mod computed;
mod program;

use self::program::{Program, CASES, LOG, PROGRAM};
use crate::common::{now, Machine, TestBus};
use breakeven_base::{FrontEnd, StepResult, SysEffect};
use breakeven_x86::{X86Config, X86FrontEnd};

const SEED: u64 = 0x2545_f491_4f6c_dd1d;

fn machine(image: &[u8]) -> Machine {
    let mut bus = TestBus::new(32 << 20);
    X86FrontEnd::boot(&mut bus);
    let fe = X86FrontEnd::new(&X86Config { reset_pc: PROGRAM, ..X86Config::default() }).expect("a good configuration");
    let mut m = Machine { fe, bus, step: breakeven_base::Step::default() };
    m.code(PROGRAM, image);
    m
}

/// The program's log; `steps`: every instruction is described, too.
fn engine(program: &Program, steps: bool) -> Vec<u64> {
    let mut m = machine(&program.image);
    loop {
        if !steps {
            m.fe.run_fast(&mut m.bus, now(true), 1 << 20);
        }
        let result = m.fe.step(&mut m.bus, now(true), &mut m.step);
        assert_eq!(result, StepResult::Done, "at {:#x}", m.fe.pc());
        assert!((1..=8).contains(&m.step.n), "{} micro-ops at {:#x}", m.step.n, m.step.pc);
        if let SysEffect::Exit { .. } = m.step.effect {
            assert!(m.fe.halt_reason(&mut m.bus).is_none(), "{}", m.halt_reason());
            return (0..program.cases.len()).map(|n| m.u64(LOG + 8 * n as u64)).collect();
        }
    }
}

fn differing(program: &Program, want: &[u64], got: &[u64]) -> Vec<String> {
    assert_eq!(want.len(), got.len());
    let pairs = want.iter().zip(got).zip(&program.cases).enumerate();
    pairs.filter(|(_, ((w, g), _))| w != g).map(|(n, (_, case))| format!("{n}: {case}")).collect()
}

static STORED: &[u8] = include_bytes!("bochs.bin");

#[test]
fn engine_agrees_with_bochs() {
    let setting = std::env::var("BREAKEVEN_BOCHS").unwrap_or_default();
    let seed = std::env::var("BREAKEVEN_BOCHS_SEED").ok().and_then(|v| v.parse().ok());
    let program = Program::new(seed.unwrap_or(SEED));
    let want: Vec<u64> = if setting.is_empty() {
        assert!(seed.is_none(), "another seed needs BREAKEVEN_BOCHS=1");
        let words = STORED.chunks_exact(8);
        words.map(|c| c.iter().rev().fold(0, |v, &b| v << 8 | u64::from(b))).collect()
    } else {
        bochs::log(&program)
    };
    if setting == "record" {
        let bytes: Vec<u8> = want.iter().flat_map(|v| v.to_le_bytes()).collect();
        std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/x86/avx512/bochs.bin"), bytes).expect("writes");
    }
    assert_eq!(program.cases.len(), CASES);
    assert!(program.near_the_end > CASES / 20, "{} may fault", program.near_the_end);
    for steps in [false, true] {
        let wrong = differing(&program, &want, &engine(&program, steps));
        assert!(
            wrong.is_empty(),
            "{} of {CASES} differ, the first of them: {:#?}",
            wrong.len(),
            &wrong[..wrong.len().min(12)]
        );
    }
    eprintln!("{CASES} instructions of {} codes, {} may fault", program.codes, program.near_the_end);
}
