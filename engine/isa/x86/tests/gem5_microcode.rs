//! gem5's microcode: how many micro-ops an instruction has, and what they wait for.

mod common;

use breakeven_base::{OpClass, Uop};
use breakeven_x86::regs::{gpr, C, PRODUCT, T1, T3};
use breakeven_x86::{CrackConfig, X86Config};
use common::{assemble, Machine, CODE};
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
fn calls_and_the_stack() {
    let s = steps(4, |a| {
        a.push(rbx)?;
        a.pop(rcx)?;
        a.call(CODE + 7)?;
        a.ret()
    });
    let counts: Vec<usize> = s.iter().map(Vec::len).collect();
    assert_eq!(counts, [2, 3, 5, 3]);
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
