//! Host cost of the memory system's operations: `cargo bench -p breakeven-memory`.

#[path = "../tests/common/mod.rs"]
mod common;

use std::hint::black_box;
use std::time::Instant;

use breakeven_base::{MemKind, Tick, WalkPath};
use breakeven_memory::{Port, Response, Side};
use common::{build, reference, request, CYCLE, RAM};

fn time(name: &str, n: u64, mut f: impl FnMut(u64)) {
    f(0);
    let start = Instant::now();
    (1..=n).for_each(&mut f);
    println!("{name:24} {:8.1} ns", start.elapsed().as_nanos() as f64 / n as f64);
}

fn main() {
    let mut m = build(reference());
    let mut now = 1_000_000;
    let mut go = |name: &str, n: u64, span: u64, step: u64, kind: MemKind| {
        time(name, n, |i| {
            let req = request(RAM.start + i * step % span, kind);
            match m.access(Port::Data, Tick(now), &req) {
                Response::Done { at, .. } => now = at.0.div_ceil(CYCLE) * CYCLE,
                Response::Blocked { retry } => now = retry.0.div_ceil(CYCLE) * CYCLE,
            }
        });
    };
    go("L1 load hit", 20_000_000, 16 << 10, 8, MemKind::Load);
    go("L1 store hit", 20_000_000, 16 << 10, 8, MemKind::Store);
    go("L2 hit", 2_000_000, 128 << 10, 64, MemKind::Load);
    go("memory, streaming", 1_000_000, 64 << 20, 64, MemKind::Load);
    go("memory, writing", 1_000_000, 64 << 20, 64, MemKind::Store);
    let path = WalkPath { n: 1, ptes: [RAM.start; 5] };
    for page in 0..32 {
        m.tlb_walk(Side::Data, Tick(now), page << 12, 12, 1, &path);
    }
    time("TLB hit", 20_000_000, |i| {
        black_box(m.tlb_lookup(Side::Data, Tick(0), i * 4096 % (32 << 12), 12, 1, false));
    });
    let snapshot = m.clone();
    time("clone_from", 1_000, |_| m.clone_from(black_box(&snapshot)));
}
