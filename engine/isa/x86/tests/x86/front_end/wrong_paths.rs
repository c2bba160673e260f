//! A wrong path that is only described, and executed when asked for, is what it is when it is executed at once.

use std::cell::Cell;

use crate::common::{assemble, now, Machine, CODE, STACK};
use breakeven_base::{FrontEnd, Predecode, Step, StepResult, SysEffect, UopFlags};
use iced_x86::code_asm::*;
use proptest::collection::vec;
use proptest::prelude::{any, Strategy};
use proptest::sample::Index;
use proptest::test_runner::{Config, RngSeed, TestRunner};

/// Code with what wrong paths are made of: moves, flags, the stack, calls, vectors, and what must be executed or not be.
fn program(a: &mut CodeAssembler) -> Result<(), iced_x86::IcedError> {
    let (mut sub, mut done, mut back) = (a.create_label(), a.create_label(), a.create_label());
    a.mov(rbx, qword_ptr(rsp + 16))?;
    a.add(rbx, qword_ptr(rsi))?;
    a.adc(rdx, 5)?;
    a.mov(qword_ptr(rdi + 8), rbx)?;
    a.mov(rcx, qword_ptr(rdi + 8))?;
    a.set_label(&mut back)?;
    a.push(rcx)?;
    a.call(sub)?;
    a.pop(rax)?;
    a.movdqu(xmm1, xmmword_ptr(rsi + 1))?;
    a.paddd(xmm1, xmm2)?;
    a.movdqu(xmmword_ptr(rdi + 3), xmm1)?;
    a.lea(r9, qword_ptr(rbx + rcx * 4 + 7))?;
    a.cmp(rax, r9)?;
    a.cmovb(r10, qword_ptr(rsi + 24))?;
    a.setb(al)?;
    a.jb(done)?;
    a.imul_3(r11, r9, 77)?;
    a.shl(r11, cl)?;
    a.sub(rsp, 24)?;
    a.mov(qword_ptr(rsp), r11)?;
    a.add(rsp, 24)?;
    a.ret()?;
    a.set_label(&mut done)?;
    a.rep().stosb()?;
    a.xor(edx, edx)?;
    a.div(rbx)?;
    a.ret_1(16)?;
    a.set_label(&mut sub)?;
    a.inc(dword_ptr(rsi + 4))?;
    a.movzx(r8d, byte_ptr(rsi + 9))?;
    a.ret()?;
    a.jmp(back)?;
    a.hlt()
}

/// What a pipeline sees of a step before its references are asked for.
fn seen(s: &Step) -> String {
    format!("{:#x} {} {:?} {:?}", s.pc, s.len, &s.uops[..usize::from(s.n)], s.branch.kind)
}

fn references(s: &Step) -> String {
    let mem = s.uops.iter().zip(&s.mem).take(usize::from(s.n)).filter(|(u, _)| u.flags.any(UopFlags::MEM));
    format!("{:?}", mem.map(|(_, m)| *m).collect::<Vec<_>>())
}

/// The front end that only predecodes wrong paths catches up; every reference must be the one that was made.
fn execute_deferred(m: &mut Machine, made: &mut std::vec::IntoIter<String>) {
    let mut step = Step::default();
    while m.fe.execute_deferred(&mut m.bus, now(false), &mut step) {
        assert_eq!(Some(references(&step)), made.next(), "at {:#x}", step.pc);
    }
}

/// A wrong path: where it starts, what the registers and the stack hold (`None`: no address), and where each branch
/// goes, if not where it would.
#[derive(Clone, Debug)]
struct WrongPath {
    start: Index,
    numbers: Vec<u64>,
    stack: Vec<Option<Index>>,
    turns: Vec<Option<Index>>,
}

fn wrong_path() -> impl Strategy<Value = WrongPath> {
    let stack = vec(proptest::option::weighted(0.875, any::<Index>()), 64);
    let turns = vec(proptest::option::weighted(0.5, any::<Index>()), 60);
    let all = (any::<Index>(), vec(0..1_u64 << 20, 16), stack, turns);
    all.prop_map(|(start, numbers, stack, turns)| WrongPath { start, numbers, stack, turns })
}

/// Goes down one wrong path. Returns how many instructions were only described.
fn compare(path: &WrongPath) -> usize {
    let code = assemble(CODE, program);
    let starts: Vec<u64> = iced_x86::Decoder::with_ip(64, &code, CODE, 0).iter().map(|i| i.ip()).collect();
    let [mut eager, mut lazy] = [0, 1].map(|_| Machine::new(program));
    let numbers = &path.numbers;
    let stack = path.stack.iter().map(|at| at.map_or(1 << 62, |at| *at.get(&starts)));
    let stack: Vec<u64> = stack.collect();
    for m in [&mut eager, &mut lazy] {
        m.fe.set_pc(CODE);
        numbers.iter().enumerate().for_each(|(i, v)| m.fe.set_gpr(i, *v));
        m.fe.set_gpr(1, 3);
        m.fe.set_gpr(4, STACK);
        m.fe.set_gpr(6, 0x40_0000 + numbers[6] % 4096);
        m.fe.set_gpr(7, 0x50_0000 + numbers[7] % 4096);
        stack.iter().enumerate().for_each(|(i, v)| m.put(STACK + 8 * i as u64, *v));
        m.fe.fork(*path.start.get(&starts));
    }
    let (mut predecoded, mut made) = (0, Vec::new());
    for turn in &path.turns {
        let mut lazy_step = Step::default();
        let result = eager.fe.step(&mut eager.bus, now(false), &mut eager.step);
        let pc = lazy.fe.pc();
        let described = match lazy.fe.predecode(&mut lazy.bus, &mut lazy_step) {
            Predecode::Described(predecoded) => {
                lazy_step.describe(pc, &predecoded);
                let uops = &eager.step.uops[..usize::from(eager.step.n)];
                assert_eq!(predecoded.flags, uops.iter().fold(UopFlags::empty(), |all, u| all | u.flags), "at {pc:#x}");
                Some(StepResult::Done)
            }
            Predecode::Blocked => Some(StepResult::Blocked),
            Predecode::MustExecute => None,
        };
        let other = described.unwrap_or_else(|| {
            execute_deferred(&mut lazy, &mut std::mem::take(&mut made).into_iter());
            lazy.fe.step(&mut lazy.bus, now(false), &mut lazy_step)
        });
        assert_eq!(result, other, "at {:#x}", eager.fe.pc());
        if result != StepResult::Done {
            break;
        }
        assert_eq!(seen(&eager.step), seen(&lazy_step));
        assert_eq!(lazy_step.effect, SysEffect::None);
        match described {
            Some(_) => made.push(references(&eager.step)),
            None => assert_eq!(references(&eager.step), references(&lazy_step), "at {:#x}", lazy_step.pc),
        }
        predecoded += usize::from(described.is_some());
        let fall_through = lazy_step.pc + u64::from(lazy_step.len);
        let turn = turn.filter(|_| lazy_step.branch.kind != Default::default());
        let goes_to = turn.map_or(eager.fe.pc(), |to| *to.get(&starts));
        // A branch that was not executed falls through, until the pipeline says otherwise.
        assert!(lazy.fe.pc() == if described.is_some() { fall_through } else { eager.fe.pc() });
        eager.fe.redirect(goes_to);
        lazy.fe.redirect(goes_to);
    }
    execute_deferred(&mut lazy, &mut made.into_iter());
    (0..16).for_each(|r| assert_eq!(eager.fe.gpr(r), lazy.fe.gpr(r), "register {r}"));
    (0..16).for_each(|r| assert_eq!(eager.fe.ymm(r), lazy.fe.ymm(r), "vector register {r}"));
    assert_eq!(eager.fe.rflags(), lazy.fe.rflags());
    lazy.fe.rollback(1);
    assert_eq!((lazy.fe.pc(), lazy.fe.gpr(0), lazy.fe.depth()), (CODE, numbers[0], 0));
    predecoded
}

#[test]
fn a_predecoded_wrong_path_is_the_executed_one() {
    let config = Config { cases: 400, rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..Config::default() };
    let predecoded = Cell::new(0);
    let run = |path: WrongPath| {
        predecoded.set(predecoded.get() + compare(&path));
        Ok(())
    };
    TestRunner::new(config).run(&wrong_path(), run).unwrap_or_else(|e| panic!("{e}"));
    assert!(predecoded.get() > 3500, "only {} instructions were predecoded", predecoded.get());
}
