//! Single instructions on the host CPU and in the engine: registers, defined flags, memory and faults must be the same.
//!
//! `cargo test` executes 100 000; `BREAKEVEN_HOST_CASES=1000000 cargo test --release -p breakeven-x86 --test x86 host` as
//! many as it says. `BREAKEVEN_HOST_SEED` starts elsewhere; `BREAKEVEN_HOST_ONLY=Paddb` keeps to codes with that name.
//! On a host that cannot run them the engine is compared with stored results of one that could (`vectors.bin`; written
//! with `BREAKEVEN_HOST_RECORD=1`).

mod engine;
mod generate;
mod latitude;
#[cfg(target_arch = "x86_64")]
mod native;
mod state;

use self::engine::Engine;
use self::generate::{case, codes, Case};
use self::state::{Outcome, Random, CODE, CODE_LEN, DATA, DATA_LEN};
use iced_x86::Code;

const VECTORS: usize = 8192;
const SEED: u64 = 0x9e37_79b9_7f4a_7c15;

fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|v| v.parse().ok())
}

/// The `n`th case: codes in turn, each time with other operands.
fn nth(codes: &[Code], n: usize, seed: u64, memory: &mut Vec<u8>) -> Option<Case> {
    let code = codes[n % codes.len()];
    let mut seed = Random::new(seed ^ (n as u64 + 1).wrapping_mul(0xd6e8_feb8_6659_fd93));
    for _ in 0..20 {
        let mut patches = Vec::new();
        if let Some(c) = case(code, seed.next(), &mut |at, v| patches.push((at, v))) {
            memory.resize(DATA_LEN, 0);
            Random::new(c.memory_seed).fill(memory);
            for (at, v) in patches {
                let off = at.wrapping_sub(DATA) as usize;
                if off < DATA_LEN - 8 {
                    memory[off..off + 8].copy_from_slice(&u64::to_le_bytes(v));
                } else {
                    // It faults, or would branch anywhere.
                    return None;
                }
            }
            return Some(c);
        }
    }
    None
}

/// The code pages with the instruction in them: the rest is int3.
fn place(c: &Case) -> Vec<u8> {
    let mut page = vec![0xcc; CODE_LEN];
    let off = (c.at - CODE) as usize;
    page[off..off + c.bytes.len()].copy_from_slice(&c.bytes);
    page
}

/// MXCSR as far as it is compared. A trapped overflow or underflow says inexact of a result whose exponent has no bounds,
/// here of the one that does not trap.
fn mxcsr(c: &Case, o: &Outcome) -> u32 {
    const RANGE: u32 = 0x18;
    const PRECISION: u32 = 0x20;
    let trapped = !(c.state.mxcsr >> 7) & RANGE & o.state.mxcsr != 0;
    o.state.mxcsr & !if trapped { PRECISION } else { 0 }
}

fn differences(c: &Case, want: &Outcome, got: &Outcome, want_memory: &[u8], memory: &[u8]) -> Vec<String> {
    let mut d = Vec::new();
    if want.fault == 3 && got.fault == 0 && latitude::masked_move(c.code) {
        return d;
    }
    let got = &latitude::settle(&c.ins, want, got);
    if want.fault != got.fault {
        d.push(format!("fault: host {} engine {}", want.fault, got.fault));
        return d;
    }
    if want.next != got.next {
        d.push(format!("next: host {:#x} engine {:#x} (at {:#x})", want.next, got.next, c.at));
    }
    if want.fault == 3 && got.address != 0 && !latitude::same_fault(c.code, want.address, got.address) {
        d.push(format!("address: host {:#x} engine {:#x}", want.address, got.address));
    }
    for n in 0..16 {
        let (w, g) = (want.state.gpr[n], got.state.gpr[n]);
        if w != g {
            d.push(format!("gpr{n}: before {:#x} host {w:#x} engine {g:#x}", c.state.gpr[n]));
        }
        let (w, g) = (want.state.ymm[n], got.state.ymm[n]);
        if w != g {
            d.push(format!("ymm{n}: before {:x?} host {w:x?} engine {g:x?}", c.state.ymm[n]));
        }
    }
    for n in 0..8 {
        let (w, g) = (want.state.mm[n], got.state.mm[n]);
        if w != g {
            d.push(format!("mm{n}: before {:#x} host {w:#x} engine {g:#x}", c.state.mm[n]));
        }
    }
    let (w, g) = (want.state.flags & c.defined, got.state.flags & c.defined);
    if w != g && want.fault == 0 {
        d.push(format!("flags: before {:#x} host {w:#x} engine {g:#x}", c.state.flags & c.defined));
    }
    let (w, g) = (mxcsr(c, want), mxcsr(c, got));
    if w != g {
        d.push(format!("mxcsr: before {:#x} host {w:#x} engine {g:#x}", c.state.mxcsr));
    }
    let below = (c.state.gpr[4].wrapping_sub(DATA + 8)) as usize;
    let word = below..below.saturating_add(8);
    let pushed = |m: &[u8]| {
        m.get(word.clone()).is_some_and(|w| latitude::pushed_before_the_fault(&c.ins, want.fault, w, c.exits[0]))
    };
    let pushed = pushed(want_memory);
    let differs = |k: &usize| want_memory[*k] != memory[*k] && !(pushed && word.contains(k));
    if let Some(k) = (0..memory.len()).find(differs) {
        d.push(format!("memory at {k:#x}: host {:#x} engine {:#x}", want_memory[k], memory[k]));
    }
    d
}

/// A hash of what must be the same (FNV-1a).
fn digest(c: &Case, o: &Outcome, memory: &[u8]) -> u64 {
    let mut h = 0xcbf2_9ce4_8422_2325u64;
    let mut add = |v: u64| h = (h ^ v).wrapping_mul(0x0100_0000_01b3).rotate_left(23);
    c.bytes.iter().for_each(|b| add(u64::from(*b)));
    add(u64::from(o.fault));
    add(o.next);
    o.state.gpr.iter().for_each(|v| add(*v));
    o.state.ymm.iter().flatten().for_each(|v| add(*v));
    o.state.mm.iter().for_each(|v| add(*v));
    add(if o.fault == 0 { o.state.flags & c.defined } else { 0 });
    add(u64::from(mxcsr(c, o)));
    memory.iter().for_each(|b| add(u64::from(*b)));
    h
}

/// What a host that could run them gave.
static STORED: &[u8] = include_bytes!("vectors.bin");

#[test]
fn engine_agrees_with_stored_results() {
    let codes = codes();
    let mut engine = Engine::new();
    let mut memory = Vec::new();
    let mut wrong = Vec::new();
    assert_eq!(STORED.len(), 8 * VECTORS);
    for (n, stored) in STORED.chunks_exact(8).enumerate() {
        let want = stored.iter().rev().fold(0, |v, &b| v << 8 | u64::from(b));
        let Some(c) = nth(&codes, n, SEED, &mut memory).filter(|_| want != 0) else { continue };
        let page = place(&c);
        let got = engine.run(&c.state, c.at, &page[(c.at - CODE) as usize..][..c.bytes.len()], &mut memory, n % 2 == 1);
        if digest(&c, &got, &memory) != want {
            wrong.push(format!("{n}: {:?} {:02x?}", c.code, c.bytes));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} cases differ from the stored results (made by another version of the generator? see the module): {:?}",
        wrong.len(),
        &wrong[..wrong.len().min(10)]
    );
}

#[test]
#[cfg(target_arch = "x86_64")]
fn engine_and_host_agree() {
    let Some(mut host) = native::Native::new() else {
        eprintln!("this host has no AVX2: stored results are compared instead");
        return;
    };
    let total = setting("BREAKEVEN_HOST_CASES").unwrap_or(100_000) as usize;
    let seed = setting("BREAKEVEN_HOST_SEED").unwrap_or(SEED);
    let only = std::env::var("BREAKEVEN_HOST_ONLY").unwrap_or_default();
    let record = setting("BREAKEVEN_HOST_RECORD").is_some();
    let codes: Vec<Code> = codes().into_iter().filter(|c| format!("{c:?}").contains(&only)).collect();
    let mut engine = Engine::new();
    let (mut ran, mut faults, mut shown, mut wrong) = (0usize, 0usize, 0, std::collections::BTreeMap::new());
    let mut memory = Vec::new();
    let mut vectors = Vec::new();
    // A case that no processor could run is none: as many as are asked for are executed.
    for n in 0..if record { VECTORS } else { 2 * total } {
        if ran == total && !record {
            break;
        }
        let Some(c) = nth(&codes, n, seed, &mut memory) else {
            vectors.push(0u64);
            continue;
        };
        let page = place(&c);
        let (mut host_memory, mut engine_memory) = (memory.clone(), memory.clone());
        let want = host.run(&c.state, c.at, &c.bytes, c.exits, &mut host_memory);
        let got = engine.run(
            &c.state,
            c.at,
            &page[(c.at - CODE) as usize..][..c.bytes.len()],
            &mut engine_memory,
            n % 2 == 0,
        );
        if got.fault == 3 && got.address & !0xfff == native::CTX {
            // It reached the runner's own page.
            host.reset();
            vectors.push(0);
            continue;
        }
        let d = differences(&c, &want, &got, &host_memory, &engine_memory);
        if !d.is_empty() {
            let code = &page[(c.at - CODE) as usize..][..c.bytes.len()];
            engine.run(&c.state, c.at, code, &mut memory.clone(), false);
            if engine.in_code {
                vectors.push(0);
                continue;
            }
        }
        ran += 1;
        faults += usize::from(want.fault != 0);
        // Where processors may differ (`latitude`), this one's result is no measure of the engine.
        let stored = digest(&c, &want, &host_memory);
        let either_way = d.is_empty() && digest(&c, &got, &engine_memory) != stored;
        vectors.push(if either_way { 0 } else { stored });
        if !d.is_empty() {
            let count = wrong.entry(format!("{:?}", c.code)).or_insert(0);
            *count += 1;
            if *count <= 2 && shown < 60 {
                shown += 1;
                eprintln!(
                    "case {n}: {:?} {:02x?} ({})\n    {}",
                    c.code,
                    c.bytes,
                    engine.halt_reason(),
                    d.join("\n    ")
                );
            }
        }
    }
    if record {
        let bytes: Vec<u8> = vectors.iter().flat_map(|v| v.to_le_bytes()).collect();
        std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/x86/host/vectors.bin"), bytes).expect("writes");
    }
    eprintln!("{} codes, {ran} instructions, {faults} of them faulting; differing codes: {}", codes.len(), wrong.len());
    assert!(record || ran == total, "{ran} instructions of {total}");
    assert!(wrong.is_empty(), "engine and host differ: {wrong:?}");
}
