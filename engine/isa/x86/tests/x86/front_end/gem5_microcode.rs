//! gem5's microcode: how many micro-ops an instruction has, and what they wait for.

use crate::common::{assemble, now, Machine, CODE};
use breakeven_base::{BranchKind, FrontEnd, OpClass, Reg, Step, StepResult, SysEffect, Uop, UopFlags};
use breakeven_x86::regs::{gpr, C, PRODUCT, T1, T3};
use breakeven_x86::{CrackConfig, X86Config};
use iced_x86::code_asm::*;
use iced_x86::IcedError;

/// The micro-ops of the first `n` instructions executed.
fn steps(n: usize, f: impl FnOnce(&mut CodeAssembler) -> Result<(), IcedError>) -> Vec<Vec<Uop>> {
    let mut m = Machine::with(&X86Config { crack: CrackConfig::gem5(), ..X86Config::default() });
    for (register, value) in [(4, 0x60_0000), (6, 0x40_0000), (7, 0x50_0000)] {
        m.fe.set_gpr(register, value);
    }
    m.code(CODE, &assemble(CODE, f));
    let mut out = Vec::new();
    for _ in 0..n {
        let s = *m.step();
        out.push(s.uops[..usize::from(s.n)].to_vec());
    }
    out
}

#[test]
fn immediates_and_branches_take_micro_ops() {
    let s = steps(9, |a| {
        a.add(rax, 1)?;
        a.add(rax, rbx)?;
        a.shl(rax, 3)?;
        a.mov(rax, 5u64)?;
        a.lea(rax, ptr(rsi + 8))?;
        a.mov(qword_ptr(rsi), 7)?;
        a.add(qword_ptr(rsi), 7)?;
        a.cmp(rax, 0)?;
        a.jne(CODE)
    });
    let counts: Vec<usize> = s.iter().map(Vec::len).collect();
    assert_eq!(counts, [2, 1, 1, 1, 1, 2, 4, 2, 3]);
    assert_eq!(s[0][1].src[..2], [gpr(0), T1]);
    assert_eq!(s[8][2].src, [C, T3, T1]);
}

#[test]
fn the_nop_of_one_byte_takes_an_integer_unit() {
    let s = steps(3, |a| {
        a.nop()?;
        a.pause()?;
        a.nop_1(qword_ptr(rax))
    });
    let classes: Vec<OpClass> = s.iter().map(|uops| uops[0].class).collect();
    assert_eq!(classes, [OpClass::IntAlu, OpClass::IntAlu, OpClass::No_OpClass]);
    assert!(s.iter().all(|uops| uops.len() == 1));
}

#[test]
fn calls_and_the_stack() {
    let s = steps(4, |a| {
        a.push(rbx)?;
        a.pop(rcx)?;
        a.call(CODE + 7)?;
        a.ret()
    });
    let counts: Vec<usize> = s.iter().map(Vec::len).collect();
    assert_eq!(counts, [2, 3, 5, 3]);
    // A call's immediate comes before the return address, which the store waits for.
    assert_eq!((s[2][0].dst[0], s[2][1].dst[0], s[2][2].src[2]), (T1, T3, T3));
    assert_eq!(s[2][4].src[..2], [T3, T1]);
}

#[test]
fn a_product_is_fetched_in_halves_and_products_are_a_chain() {
    let s = steps(3, |a| {
        a.imul_2(rax, rbx)?;
        a.imul_3(r8, rdi, 3)?;
        a.mul(rbx)
    });
    let counts: Vec<usize> = s.iter().map(Vec::len).collect();
    assert_eq!(counts, [3, 4, 3]);
    assert_eq!((s[0][0].class, s[0][0].src), (OpClass::IntMult, [gpr(0), gpr(3), PRODUCT]));
    assert_eq!((s[0][0].dst, s[0][1].src[0], s[0][1].dst[0]), ([PRODUCT, C], PRODUCT, gpr(0)));
    let mut halves = [s[2][1].dst[0].0, s[2][2].dst[0].0];
    halves.sort_unstable();
    assert_eq!(halves, [gpr(0).0, gpr(2).0]);
}

#[test]
fn logic_writes_all_flags_and_lea_reads_what_it_writes() {
    let s = steps(5, |a| {
        a.xor(rax, rax)?;
        a.or(rbx, rcx)?;
        a.test(rbx, rcx)?;
        a.shl(rax, 3)?;
        a.lea(rdx, ptr(rsi + rdi))
    });
    let merges = |op: &Uop| op.dst[1].is_some() && op.src.contains(&op.dst[1]);
    for logic in &s[..3] {
        assert!(logic[0].dst[1].is_some() && !merges(&logic[0]), "AF is written, too: {logic:?}");
    }
    assert!(merges(&s[3][0]), "a shift leaves AF: {:?}", s[3]);
    assert_eq!(s[4][0].src.iter().filter(|r| [gpr(2), gpr(6), gpr(7)].contains(r)).count(), 3, "{:?}", s[4]);
}

/// Steps of the one instruction that `f` assembles, to its end.
fn whole(prepare: impl FnOnce(&mut Machine), f: impl FnOnce(&mut CodeAssembler) -> Result<(), IcedError>) -> Vec<Step> {
    let mut m = Machine::with(&X86Config { crack: CrackConfig::gem5(), ..X86Config::default() });
    prepare(&mut m);
    m.code(CODE, &assemble(CODE, f));
    let retired = m.fe.retired();
    let mut out: Vec<Step> = Vec::new();
    while m.fe.pc() == CODE {
        assert_eq!(m.fe.retired(), retired, "one instruction, at its end");
        out.push(*m.step());
    }
    assert_eq!(m.fe.retired(), retired + 1);
    out
}

/// Micro-ops of each step; the last of each instruction is marked, and the loop's branch leads back while it is taken.
fn shape(steps: &[Step]) -> Vec<u8> {
    let has = |s: &Step, flag: UopFlags| s.uops[usize::from(s.n) - 1].flags.any(flag);
    for (k, s) in steps.iter().enumerate() {
        assert_eq!(has(s, UopFlags::LAST), k + 1 == steps.len());
        assert_eq!(s.uops[0].flags.any(UopFlags::FIRST), k == 0);
        assert_eq!(has(s, UopFlags::MICRO_BRANCH), s.branch.kind == BranchKind::Cond);
        if s.branch.kind == BranchKind::Cond {
            let target = if k == 0 && s.uops[0].class == OpClass::IntAlu { CODE + 1 } else { CODE };
            let fall_through = CODE + u64::from(s.len);
            assert_eq!((s.branch.target, s.next_pc), (target, if s.branch.taken { target } else { fall_through }));
        }
    }
    steps.iter().map(|s| s.n).collect()
}

fn taken(steps: &[Step]) -> Vec<bool> {
    steps.iter().filter(|s| s.branch.kind == BranchKind::Cond).map(|s| s.branch.taken).collect()
}

#[test]
fn a_repeated_move_is_a_loop_of_micro_ops() {
    let count = |n: u64| {
        move |m: &mut Machine| {
            for (register, value) in [(1, n), (6, 0x40_0000), (7, 0x50_0000)] {
                m.fe.set_gpr(register, value);
            }
        }
    };
    let s = whole(count(3), |a| a.rep().movsb());
    assert_eq!(shape(&s), [2, 4, 6, 6, 6, 1], "gem5: 6 before the loop, the second a branch, 6 a turn, one behind it");
    assert_eq!(taken(&s), [false, true, true, false]);
    let merged = s[2].uops[0];
    assert_eq!(merged.src[2], merged.dst[0], "a byte is merged with what the register held");
    assert_eq!(shape(&whole(count(2), |a| a.rep().stosq())), [2, 4, 4, 4, 1]);
    assert_eq!(shape(&whole(count(2), |a| a.repne().scasb())), [2, 4, 5, 1], "the comparison ends it");
    let empty = whole(count(0), |a| a.rep().movsb());
    assert_eq!((shape(&empty), taken(&empty)), (vec![2, 1], vec![true]), "the branch leads behind the loop");
}

#[test]
fn a_division_takes_a_turn_for_every_four_subtractions() {
    let of = |high: u64, low: u64, divisor: u64| {
        move |m: &mut Machine| {
            for (register, value) in [(0, low), (2, high), (3, divisor)] {
                m.fe.set_gpr(register, value);
            }
        }
    };
    // 10 micro-ops where the quotient has few ones: six subtractions at most.
    let s = whole(of(0, 100, 10), |a| a.div(rbx));
    assert_eq!((shape(&s), taken(&s)), (vec![3, 5, 2], vec![false]));
    // 64 ones, two of them before the loop: 16 turns.
    let s = whole(of(0, u64::MAX, 1), |a| a.div(rbx));
    assert_eq!(taken(&s), [vec![true; 15], vec![false]].concat());
    let s = whole(of(u64::MAX, (-100i64) as u64, 7), |a| a.idiv(rbx));
    assert_eq!(shape(&s), [6, 7, 5, 8, 3]);
    // Bytes: two subtractions a turn.
    assert_eq!(shape(&whole(of(0, 255, 1), |a| a.div(bl))), [3, 3, 3, 3, 2]);
}

#[test]
fn a_division_in_steps_comes_to_its_result() {
    let mut m = Machine::with(&X86Config { crack: CrackConfig::gem5(), ..X86Config::default() });
    m.code(CODE, &assemble(CODE, |a| a.idiv(rbx)));
    for (register, value) in [(0, (-100i64) as u64), (2, u64::MAX), (3, 7)] {
        m.fe.set_gpr(register, value);
    }
    while m.fe.pc() == CODE {
        m.step();
    }
    assert_eq!((m.fe.gpr(0) as i64, m.fe.gpr(2) as i64), (-14, -2));
}

#[test]
fn what_marks_an_instant_does_not_wait_for_an_empty_pipeline() {
    let reset = |crack: CrackConfig, delay: u64| {
        let mut m = Machine::with(&X86Config { crack, ..X86Config::default() });
        m.code(CODE, &[0x0f, 0x04, 0x40, 0x00]);
        m.fe.set_gpr(7, delay);
        let result = m.fe.step(&mut m.bus, now(false), &mut m.step);
        (result, m.step.effect, m.step.uops[0])
    };
    let (result, effect, Uop { dst, flags, .. }) = reset(CrackConfig::gem5(), 0);
    assert_eq!((result, effect), (StepResult::Done, SysEffect::ResetStats));
    assert!(flags.any(UopFlags::EFFECT) && flags.any(UopFlags::NON_SPECULATIVE));
    assert!(!flags.any(UopFlags::SERIALIZE_AFTER), "gem5's pseudo-op is not serialising");
    assert_eq!(dst, [gpr(0), Reg::NONE], "gem5's returns a result, whatever it does: what reads rax waits");
    assert_eq!(reset(CrackConfig::gem5(), 5).0, StepResult::NeedsDrain, "what is put off asks what time it is");
    assert_eq!(reset(CrackConfig::default(), 0).0, StepResult::NeedsDrain);
}

#[test]
fn a_wrong_path_behind_a_micro_branch_stays_in_the_instruction() {
    let mut m = Machine::with(&X86Config { crack: CrackConfig::gem5(), ..X86Config::default() });
    m.code(CODE, &assemble(CODE, |a| a.rep().movsb()));
    for (register, value) in [(1, 2), (6, 0x40_0000), (7, 0x50_0000)] {
        m.fe.set_gpr(register, value);
    }
    let sizes = |m: &mut Machine, n: usize| -> Vec<u8> { (0..n).map(|_| m.step().n).collect() };
    let end = CODE + 2;
    // Not over the loop, and followed there; or to the loop's top, where the predictor knows a target of that address.
    assert_eq!(sizes(&mut m, 1), [2]);
    let depth = m.fe.fork(CODE + 1);
    assert_eq!((m.fe.pc(), m.step().n, m.fe.pc()), (CODE, 1, end));
    m.fe.rollback(depth);
    let depth = m.fe.fork(CODE);
    assert_eq!((sizes(&mut m, 1), m.fe.gpr(1)), (vec![6], 1));
    m.fe.rollback(depth);
    assert_eq!(sizes(&mut m, 2), [4, 6]);
    // Taken, and followed as not taken: the micro-op behind the loop.
    let depth = m.fe.fork(end);
    assert_eq!((m.fe.pc(), m.step().n, m.fe.pc()), (CODE, 1, end));
    m.fe.rollback(depth);
    assert_eq!((m.fe.pc(), m.fe.gpr(1)), (CODE, 1));
    // Not taken, and followed as taken: turns without end.
    assert_eq!(sizes(&mut m, 1), [6]);
    let depth = m.fe.fork(CODE);
    assert_eq!(sizes(&mut m, 3), [6, 6, 6]);
    assert_eq!(m.fe.gpr(1) as i64, -3);
    m.fe.rollback(depth);
    assert_eq!((m.fe.gpr(1), m.step().n, m.fe.pc()), (0, 1, end));
}

#[test]
fn a_wrong_path_into_a_loop_that_is_not_entered_stays_in_the_instruction() {
    let mut m = Machine::with(&X86Config { crack: CrackConfig::gem5(), ..X86Config::default() });
    m.code(CODE, &assemble(CODE, |a| a.rep().movsb()));
    for (register, value) in [(1, 0), (6, 0x40_0000), (7, 0x50_0000)] {
        m.fe.set_gpr(register, value);
    }
    assert_eq!(m.step().n, 2);
    let depth = m.fe.fork(CODE + 2);
    let sizes: Vec<u8> = (0..3).map(|_| m.step().n).collect();
    assert_eq!((sizes, m.fe.gpr(1) as i64), (vec![4, 6, 6], -2));
    m.fe.rollback(depth);
    assert_eq!((m.fe.gpr(1), m.step().n, m.fe.pc()), (0, 1, CODE + 2));
}

#[test]
fn a_division_s_wrong_path_is_its_end_or_one_turn_more() {
    let mut m = Machine::with(&X86Config { crack: CrackConfig::gem5(), ..X86Config::default() });
    m.code(CODE, &assemble(CODE, |a| a.div(rbx)));
    for (register, value) in [(0, u64::MAX), (2, 0), (3, 1)] {
        m.fe.set_gpr(register, value);
    }
    assert_eq!((m.step().n, m.step().n), (3, 5));
    let depth = m.fe.fork(CODE + 3);
    assert_eq!((m.fe.pc(), m.step().n, m.fe.pc()), (CODE, 2, CODE + 3));
    m.fe.rollback(depth);
    for _ in 1..16 {
        assert_eq!(m.step().n, 5);
    }
    assert!(!m.step.branch.taken);
    let depth = m.fe.fork(CODE);
    assert_eq!((m.step().n, m.step().n), (5, 2));
    m.fe.rollback(depth);
    assert_eq!((m.step().n, m.fe.pc(), m.fe.gpr(0)), (2, CODE + 3, u64::MAX));
}
