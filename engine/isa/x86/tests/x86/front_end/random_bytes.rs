//! Any bytes as code: no panic, no endless step, no reference outside what may be, micro-ops within bounds. The same
//! bytes run by `run_fast` and by `step` end in the same state.

use crate::common::{now, Machine, CODE};
use breakeven_base::{FrontEnd, References, StepResult, SysEffect, UopFlags};
use breakeven_x86::X86Config;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, RngSeed};

const COMMON: &[&[u8]] =
    &[&[0x0f], &[0x66, 0x0f], &[0xf3, 0x0f], &[0xc5], &[0xc4, 0xe2], &[0x48], &[0xf3, 0xa4], &[0xf0], &[0x0f, 0x38]];

/// Bytes that are instructions more often than noise is.
fn program() -> impl Strategy<Value = Vec<u8>> {
    let piece = (proptest::option::weighted(0.25, select(COMMON)), any::<u8>());
    vec(piece, 120..200).prop_map(|pieces| {
        pieces.into_iter().flat_map(|(prefix, byte)| prefix.unwrap_or_default().iter().copied().chain([byte])).collect()
    })
}

/// What the registers hold: places in RAM, and anything.
fn registers() -> impl Strategy<Value = Vec<u64>> {
    vec(prop_oneof![(0..1_u64 << 24).prop_map(|at| 0x40_0000 + at), any::<u64>()], 16)
}

fn machine(code: &[u8], registers: &[u64]) -> Machine {
    let mut m = Machine::with(&X86Config::default());
    m.fe.enable_avx();
    registers.iter().enumerate().for_each(|(n, v)| m.fe.set_gpr(n, *v));
    m.code(CODE, code);
    m
}

fn check(m: &Machine) {
    let s = &m.step;
    let n = usize::from(s.n);
    assert!((1..=8).contains(&n), "{n} micro-ops at {:#x}", s.pc);
    assert!(s.uops[0].flags.any(UopFlags::FIRST) && s.uops.iter().take(n).all(|u| u.src.iter().all(|r| r.0 < 128)));
}

/// Runs `code` by steps, with forks to `wrong` (offsets into the code) every fifth step as long as there are any, then by
/// `run_fast`.
fn the_same_twice(code: &[u8], registers: &[u64], wrong: &[u64]) {
    let mut slow = machine(code, registers);
    let mut wrong = wrong.iter();
    let mut steps = 0;
    let mut ended = false;
    while slow.fe.retired() < 40 && steps < 3000 && !ended {
        steps += 1;
        if let Some(at) = if steps % 5 == 0 { wrong.next() } else { None } {
            // Down some wrong path and back.
            let (pc, before) = (slow.fe.pc(), slow.fe.gpr(0));
            let depth = slow.fe.fork(CODE + at);
            for _ in 0..5 {
                if slow.fe.step(&mut slow.bus, now(true), &mut slow.step) != StepResult::Done {
                    break;
                }
                check(&slow);
            }
            slow.fe.rollback(depth);
            assert_eq!((slow.fe.pc(), slow.fe.gpr(0)), (pc, before));
        }
        slow.step();
        check(&slow);
        ended = matches!(slow.step.effect, SysEffect::Exit { .. });
    }
    if slow.fe.retired() > 40 || steps == 3000 {
        return;
    }
    let state = |m: &Machine| {
        let g: Vec<u64> = (0..16).map(|n| m.fe.gpr(n)).collect();
        let v: Vec<[u64; 4]> = (0..16).map(|n| m.fe.ymm(n)).collect();
        (g, v, m.fe.pc(), m.fe.rflags(), m.fe.retired())
    };
    for notes in [false, true] {
        let fast = undescribed(code, registers, slow.fe.retired(), ended, notes);
        assert_eq!(state(&fast), state(&slow), "noting references: {notes}; {code:02x?}");
    }
}

/// Runs `code` up to so many instructions (or, if it `ends`, its end) by `run_fast`, or by `run_noting`.
fn undescribed(code: &[u8], registers: &[u64], until: u64, ends: bool, notes: bool) -> Machine {
    let mut fast = machine(code, registers);
    let mut used = References::new(64);
    for _ in 0..10_000 {
        let left = until - fast.fe.retired();
        if left == 0 && !ends {
            break;
        }
        if notes {
            fast.fe.run_noting(&mut fast.bus, now(false), left, &mut used);
        } else {
            fast.fe.run_fast(&mut fast.bus, now(false), left);
        }
        if fast.fe.retired() == until && !ends {
            break;
        }
        fast.step();
        if matches!(fast.step.effect, SysEffect::Exit { .. }) {
            break;
        }
    }
    fast
}

proptest! {
    // The same cases in each run: a change, not chance, decides whether the test passes.
    #![proptest_config(Config { cases: 4000, rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..Config::default() })]

    #[test]
    fn garbage_runs_without_a_panic_the_same_way_twice(
        code in program(),
        registers in registers(),
        wrong in prop_oneof![3 => Just(Vec::new()), 1 => vec(0..200_u64, 600)],
    ) {
        the_same_twice(&code, &registers, &wrong);
    }
}
