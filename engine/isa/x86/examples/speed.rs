//! Host speed of the front end alone: million instructions a second by `run_fast` and by `step`, on loops of plain
//! integer code, of a checksum's adc chain, and of vector copies.
//!
//! `cargo run --release -p breakeven-x86 --example speed [million instructions]`

#[path = "../tests/x86/common/mod.rs"]
mod common;

use std::time::Instant;

use breakeven_base::FrontEnd;
use common::{now, Machine};
#[allow(clippy::wildcard_imports)] // an assembler names dozens of registers
use iced_x86::code_asm::*;
use iced_x86::IcedError;

type Body = fn(&mut CodeAssembler) -> Result<(), IcedError>;

fn integer(a: &mut CodeAssembler) -> Result<(), IcedError> {
    a.mov(rax, qword_ptr(rsi + 8))?;
    a.add(rax, rbx)?;
    a.mov(qword_ptr(rdi + 16), rax)?;
    a.lea(rbx, rax + rbx * 4 + 7)?;
    a.xor(edx, ebx)?;
    a.shr(rbx, 3)?;
    a.cmp(rbx, rax)
}

fn checksum(a: &mut CodeAssembler) -> Result<(), IcedError> {
    for k in 0..8 {
        a.adc(rax, qword_ptr(rsi + 8 * k))?;
    }
    Ok(())
}

fn vectors(a: &mut CodeAssembler) -> Result<(), IcedError> {
    for k in 0..4 {
        a.movups(xmm0, ptr(rsi + 16 * k))?;
        a.movups(ptr(rdi + 16 * k), xmm0)?;
    }
    Ok(())
}

fn main() {
    let millions: u64 = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(20);
    for (name, body) in [("integer", integer as Body), ("checksum", checksum), ("vectors", vectors)] {
        let mut m = Machine::new(|a| {
            a.mov(rsi, 0x40_0000u64)?;
            a.mov(rdi, 0x50_0000u64)?;
            a.mov(rcx, u64::MAX)?;
            let mut top = a.create_label();
            a.set_label(&mut top)?;
            body(a)?;
            a.dec(rcx)?;
            a.jne(top)
        });
        let mut speed = |fast: bool, n: u64| {
            let (start, end) = (Instant::now(), m.fe.retired() + n);
            while m.fe.retired() < end {
                if fast {
                    m.fe.run_fast(&mut m.bus, now(false), end - m.fe.retired());
                } else {
                    m.fe.step(&mut m.bus, now(true), &mut m.step);
                }
            }
            n as f64 / start.elapsed().as_secs_f64() / 1e6
        };
        let (fast, step) = (speed(true, millions * 1_000_000), speed(false, millions * 250_000));
        println!("{name}: run_fast {fast:.1}, step {step:.1} million instructions a second");
    }
}
