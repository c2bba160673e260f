//! Any bytes as code: no panic, no endless step, no reference outside what may be, micro-ops within bounds. The same
//! bytes run by `run_fast` and by `step` end in the same state.

use crate::common::{now, Machine, CODE};
use breakeven_base::{FrontEnd, StepResult, SysEffect, UopFlags};
use breakeven_x86::X86Config;

fn next(s: &mut u64) -> u64 {
    *s ^= *s << 13;
    *s ^= *s >> 7;
    *s ^= *s << 17;
    *s
}

/// Bytes that are instructions more often than noise is.
fn program(s: &mut u64) -> Vec<u8> {
    const COMMON: &[&[u8]] = &[
        &[0x0f],
        &[0x66, 0x0f],
        &[0xf3, 0x0f],
        &[0xc5],
        &[0xc4, 0xe2],
        &[0x48],
        &[0xf3, 0xa4],
        &[0xf0],
        &[0x0f, 0x38],
    ];
    let mut code = Vec::new();
    while code.len() < 200 {
        let r = next(s);
        if r & 3 == 0 {
            code.extend_from_slice(COMMON[(r >> 8) as usize % COMMON.len()]);
        }
        code.push((r >> 16) as u8);
    }
    code
}

fn machine(code: &[u8], seed: u64) -> Machine {
    let mut m = Machine::with(&X86Config::default());
    m.fe.enable_avx();
    let mut s = seed | 1;
    for n in 0..16 {
        let r = next(&mut s);
        m.fe.set_gpr(n, if r & 1 == 0 { 0x40_0000 + (r >> 40) } else { r });
    }
    m.code(CODE, code);
    m
}

fn check(m: &Machine) {
    let s = &m.step;
    let n = usize::from(s.n);
    assert!((1..=8).contains(&n), "{n} micro-ops at {:#x}", s.pc);
    assert!(s.uops[0].flags.any(UopFlags::FIRST) && s.uops.iter().take(n).all(|u| u.src.iter().all(|r| r.0 < 128)));
}

#[test]
fn garbage_runs_without_a_panic_the_same_way_twice() {
    let mut s = 0x1234_5678_9abc_def1;
    for round in 0..4000u64 {
        let code = program(&mut s);
        let seed = next(&mut s);
        let mut slow = machine(&code, seed);
        let mut steps = 0;
        let mut ended = false;
        while slow.fe.retired() < 40 && steps < 3000 && !ended {
            steps += 1;
            if round % 4 == 0 && steps % 5 == 0 {
                // Down some wrong path and back.
                let (pc, before) = (slow.fe.pc(), slow.fe.gpr(0));
                let depth = slow.fe.fork(CODE + next(&mut s) % 200);
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
            continue;
        }
        let mut fast = machine(&code, seed);
        for _ in 0..10_000 {
            let left = slow.fe.retired() - fast.fe.retired();
            if left == 0 && !ended {
                break;
            }
            fast.fe.run_fast(&mut fast.bus, now(false), left);
            if fast.fe.retired() == slow.fe.retired() && !ended {
                break;
            }
            fast.step();
            if matches!(fast.step.effect, SysEffect::Exit { .. }) {
                break;
            }
        }
        let state = |m: &Machine| {
            let g: Vec<u64> = (0..16).map(|n| m.fe.gpr(n)).collect();
            let v: Vec<[u64; 4]> = (0..16).map(|n| m.fe.ymm(n)).collect();
            (g, v, m.fe.pc(), m.fe.rflags(), m.fe.retired())
        };
        assert_eq!(state(&fast), state(&slow), "round {round}: {code:02x?}");
    }
}
