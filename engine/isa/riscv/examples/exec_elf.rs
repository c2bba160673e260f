//! Runs a bare-metal ELF functionally on the test bus and prints its console and how fast it ran:
//! `exec_elf ELF [step|fast [address of tohost, hexadecimal]]`.

#[path = "../tests/common/mod.rs"]
mod common;

use std::time::Instant;

use breakeven_base::{FrontEnd, Step, StepResult, SysEffect};
use breakeven_riscv::{RiscvConfig, RiscvFrontEnd};
use common::{now, TestBus, RAM};

fn word(b: &[u8], at: usize, n: usize) -> u64 {
    b.get(at..at + n).map_or(0, |s| s.iter().rev().fold(0, |v, &x| v << 8 | u64::from(x)))
}

/// Loads the PT_LOAD segments at their physical addresses; returns the entry point.
fn load(bus: &mut TestBus, elf: &[u8]) -> Option<u64> {
    let (phoff, phentsize, phnum) = (word(elf, 32, 8) as usize, word(elf, 54, 2) as usize, word(elf, 56, 2) as usize);
    for i in 0..phnum {
        let p = phoff + i * phentsize;
        if word(elf, p, 4) == 1 {
            let (off, paddr, size) = (word(elf, p + 8, 8) as usize, word(elf, p + 24, 8), word(elf, p + 32, 8));
            bus.ram.slice_mut(paddr, size)?.copy_from_slice(elf.get(off..off + size as usize)?);
        }
    }
    Some(word(elf, 24, 8))
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let Some(elf) = args.get(1).and_then(|p| std::fs::read(p).ok()) else {
        eprintln!("usage: exec_elf ELF [step|fast [TOHOST]]");
        std::process::exit(2);
    };
    let fast = args.get(2).is_none_or(|m| m == "fast");
    let mut bus = TestBus::new(512 << 20);
    let Some(entry) = load(&mut bus, &elf) else {
        eprintln!("the ELF does not fit RAM at {RAM:#x}");
        std::process::exit(2);
    };
    if let Some(at) = args.get(3).and_then(|a| u64::from_str_radix(a, 16).ok()) {
        bus.ram.watch(at);
    }
    let config = RiscvConfig { reset_pc: entry, ..RiscvConfig::default() };
    let Ok(mut fe) = RiscvFrontEnd::new(&config) else { std::process::exit(2) };
    let mut step = Step::default();
    let (start, mut traps) = (Instant::now(), 0u64);
    loop {
        if fast {
            fe.run_fast(&mut bus, now(false), 1_000_000);
        }
        let mut r = fe.step(&mut bus, now(false), &mut step);
        if r == StepResult::NeedsDrain {
            r = fe.step(&mut bus, now(true), &mut step);
        }
        traps += u64::from(step.uops[0].flags.any(breakeven_base::UopFlags::TRAP));
        if r != StepResult::Done || fe.retired() > 2_000_000_000 {
            println!("stopped: {r:?} at {:#x}", fe.pc());
            break;
        }
        if let SysEffect::Exit { cause, code } = step.effect {
            println!("exit: {cause:?} {code}");
            break;
        }
    }
    print!("{}", String::from_utf8_lossy(&bus.console));
    let (n, s) = (fe.retired(), start.elapsed().as_secs_f64());
    println!("{n} instructions, {traps} traps, {s:.3} s, {:.1} M/s", n as f64 / s / 1e6);
}
