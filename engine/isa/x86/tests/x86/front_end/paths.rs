//! Known paths are run as by steps, up to where they are others.

use crate::common::{assemble, Machine, CODE, STACK};
use breakeven_base::{FrontEnd, MemRef, PathInst, Step, StepResult, UopFlags};
use breakeven_x86::{FlagMerge, X86Config};
use iced_x86::code_asm::*;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, RngSeed};

/// A loop of what routines are made of: loads, stores and both at once, flags read together and apart, the stack, calls,
/// vectors, a string instruction, and a branch that goes both ways.
fn program(a: &mut CodeAssembler) -> Result<(), iced_x86::IcedError> {
    let (mut back, mut odd, mut sub) = (a.create_label(), a.create_label(), a.create_label());
    a.set_label(&mut back)?;
    a.mov(rax, qword_ptr(rsi))?;
    a.add(rdx, rax)?;
    a.adc(rdx, qword_ptr(rsi + 8))?;
    a.inc(r8)?;
    a.cmovbe(r9, rdx)?;
    a.setb(r10b)?;
    a.mov(qword_ptr(rdi), rdx)?;
    a.add(dword_ptr(rdi + 8), 7)?;
    a.push(rdx)?;
    a.call(sub)?;
    a.pop(r11)?;
    a.movdqu(xmm1, xmmword_ptr(rsi + 3))?;
    a.paddd(xmm2, xmm1)?;
    a.movdqu(xmmword_ptr(rdi + 16), xmm2)?;
    a.vmovdqu(ymm3, ymmword_ptr(rsi + 32))?;
    a.vmovdqu(ymmword_ptr(rdi + 32), ymm3)?;
    a.xor(r12d, r12d)?;
    a.imul_2(r13, rdx)?;
    a.test(r8, 3)?;
    a.jne(odd)?;
    a.mov(r14, rcx)?;
    a.mov(r15, rdi)?;
    a.mov(ecx, 5)?;
    a.rep().stosb()?;
    a.mov(rdi, r15)?;
    a.mov(rcx, r14)?;
    a.set_label(&mut odd)?;
    a.lea(rsi, qword_ptr(rsi + 8))?;
    a.lea(rdi, qword_ptr(rdi + 8))?;
    a.dec(rcx)?;
    a.jne(back)?;
    a.hlt()?;
    a.set_label(&mut sub)?;
    a.movzx(ebx, byte_ptr(rsi + 9))?;
    a.xchg(qword_ptr(rsp + 8), rbx)?;
    a.ret()
}

fn machine(flag_merge: FlagMerge) -> Machine {
    let mut config = X86Config::default();
    config.crack.max_access = 16;
    config.crack.flag_merge = flag_merge;
    let mut m = Machine::with(&config);
    m.fe.enable_avx();
    m.code(CODE, &assemble(CODE, program));
    (0..64).for_each(|n| m.put(0x40_0000 + 8 * n, n.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
    for (r, v) in [(1, 20), (4, STACK), (6, 0x40_0000), (7, 0x41_0000)] {
        m.fe.set_gpr(r, v);
    }
    m
}

/// The whole program, step by step, and a machine where it begins, its code decoded.
fn known(flag_merge: FlagMerge) -> (Vec<Known>, Machine) {
    let mut first = machine(flag_merge);
    whole(&mut first);
    let fresh = machine(flag_merge);
    (0..16).for_each(|n| first.fe.set_gpr(n, fresh.fe.gpr(n)));
    first.fe.set_pc(CODE);
    first.bus = fresh.bus;
    let m = Machine { fe: first.fe.clone(), ..machine(flag_merge) };
    (whole(&mut first), m)
}

fn state(m: &Machine) -> String {
    let g: Vec<u64> = (0..16).map(|n| m.fe.gpr(n)).collect();
    let v: Vec<[u64; 4]> = (0..4).map(|n| m.fe.ymm(n)).collect();
    format!("{g:x?} {v:x?} {:#x} {:?} {}", m.fe.pc(), m.fe.rflags(), m.fe.retired())
}

fn references(s: &Step) -> Vec<MemRef> {
    let uops = s.uops.iter().zip(&s.mem).take(usize::from(s.n));
    uops.filter(|(uop, _)| uop.flags.any(UopFlags::MEM)).map(|(_, m)| *m).collect()
}

fn described(s: &Step) -> String {
    let uops = &s.uops[..usize::from(s.n)];
    format!("{:?}", (s.pc, s.len, s.next_pc, s.branch, s.decoded, s.effect, uops, references(s)))
}

/// One step of the whole program, and the state behind it.
struct Known {
    inst: Option<PathInst>,
    mems: Vec<MemRef>,
    described: String,
    state: String,
}

fn whole(m: &mut Machine) -> Vec<Known> {
    let mut all = Vec::new();
    while m.fe.step(&mut m.bus, crate::common::now(false), &mut m.step) == StepResult::Done {
        let (s, mems) = (&m.step, references(&m.step));
        let has_references = !mems.is_empty();
        let inst = PathInst { pc: s.pc, decoded: s.decoded, next_pc: s.next_pc, has_references };
        let inst = (s.decoded != 0).then_some(inst);
        all.push(Known { inst, mems, described: described(s), state: state(m) });
    }
    all
}

/// Of how many instructions a path is, then one that goes elsewhere or whose references are refused.
#[derive(Clone, Copy, Debug)]
struct Window {
    length: usize,
    elsewhere: usize,
    refused: usize,
}

fn windows() -> impl Strategy<Value = Vec<Window>> {
    let window = (1..60_usize, 0..90_usize, 0..90_usize);
    vec(window.prop_map(|(length, elsewhere, refused)| Window { length, elsewhere, refused }), 1..40)
}

fn paths_are_run_as_by_steps(flag_merge: FlagMerge, windows: &[Window]) {
    let (all, mut m) = known(flag_merge);
    let (mut at, mut ran) = (0, 0);
    for window in windows.iter().cycle() {
        if at + 1 >= all.len() {
            break;
        }
        let known = &all[at..all.len().min(at + window.length)];
        let path = |n: usize| {
            let elsewhere = if n == window.elsewhere { 64 } else { 0 };
            known.get(n)?.inst.map(|inst| PathInst { next_pc: inst.next_pc ^ elsewhere, ..inst })
        };
        let mut wrong = None;
        let end = m.fe.run_path(&mut m.bus, &mut m.step, path, |n, mems| {
            wrong = wrong.or((mems != known[n].mems || !known[n].inst.is_some_and(|i| i.has_references)).then_some(n));
            n != window.refused
        });
        assert_eq!(wrong, None, "references of an instruction");
        assert!(!end.other || end.done == window.elsewhere || end.done == window.refused);
        assert!(end.done <= window.elsewhere);
        at += end.done;
        ran += end.done;
        if end.other {
            assert_eq!(described(&m.step), all[at].described);
            at += 1;
        }
        if at > 0 {
            assert_eq!(state(&m), all[at - 1].state);
        }
        // What it has left to a step, if not all of the path; who holds the flags shows in the next ones.
        for _ in 0..2.min(all.len() - at) {
            m.step();
            assert_eq!(described(&m.step), all[at].described);
            at += 1;
        }
    }
    let possible = windows.iter().map(|w| w.length.min(w.elsewhere).min(w.refused)).sum::<usize>();
    assert!(ran > 0 || possible < 20, "no path was run at all");
}

#[test]
fn all_but_string_instructions_of_a_loop_is_one_path() {
    let (all, mut m) = known(FlagMerge::None);
    let string = all.iter().position(|known| known.inst.is_none()).expect("there is one");
    assert!(string > 60, "{string}");
    // The first step finds the page.
    m.step();
    let end = m.fe.run_path(&mut m.bus, &mut m.step, |n| all[1 + n].inst, |_, _| true);
    assert_eq!((end.done, end.other), (string - 1, false));
}

proptest! {
    #![proptest_config(Config { cases: 60, rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..Config::default() })]

    #[test]
    fn known_paths_are_run_as_by_steps(
        merge in select(&[FlagMerge::None, FlagMerge::Uop, FlagMerge::Stall][..]),
        windows in windows(),
    ) {
        paths_are_run_as_by_steps(merge, &windows);
    }
}
