//! Host cost of the memory system's operations: `cargo bench -p breakeven-memory`.

#[path = "../tests/common/mod.rs"]
mod common;

use std::hint::black_box;
use std::time::Instant;

use breakeven_base::{MemKind, PhysAddr, Tick, WalkPath};
use breakeven_memory::config::{MemorySystemConfig, PrefetcherConfig, PrefetcherKind};
use breakeven_memory::{Port, Response, Side};
use common::{build, reference, request, CYCLE, RAM};

fn time(name: &str, n: u64, mut f: impl FnMut(u64)) {
    f(0);
    let start = Instant::now();
    (1..=n).for_each(&mut f);
    println!("{name:32} {:8.1} ns", start.elapsed().as_nanos() as f64 / n as f64);
}

fn main() {
    accesses("", reference());
    let mut c = reference();
    c.caches[1].prefetchers = vec![
        PrefetcherConfig::new("next", PrefetcherKind::NextLine { degree: 1 }),
        PrefetcherConfig::new("stride", PrefetcherKind::stride()),
    ];
    c.caches[2].prefetchers = vec![
        PrefetcherConfig::new("stream", PrefetcherKind::stream()),
        PrefetcherConfig::new("pair", PrefetcherKind::AdjacentLine { pair_bytes: 128 }),
    ];
    accesses(", prefetchers", c);
}

fn accesses(what: &str, c: MemorySystemConfig) {
    let mut m = build(c);
    let mut now = 1_000_000;
    let mut go = |name: &str, n: u64, span: u64, step: u64, kind: MemKind| {
        time(&format!("{name}{what}"), n, |i| {
            let req = request(RAM.start + i * step % span, kind);
            match m.access(Port::Data, Tick(now), &req) {
                Response::Done { at, .. } => now = at.0.div_ceil(CYCLE) * CYCLE,
                Response::Blocked { retry } | Response::Pending { until: retry, .. } => {
                    now = retry.0.div_ceil(CYCLE) * CYCLE
                }
            }
        });
    };
    go("L1 load hit", 20_000_000, 16 << 10, 8, MemKind::Load);
    go("L1 store hit", 20_000_000, 16 << 10, 8, MemKind::Store);
    go("L2 hit", 2_000_000, 128 << 10, 64, MemKind::Load);
    go("memory, streaming", 1_000_000, 64 << 20, 64, MemKind::Load);
    go("memory, writing", 1_000_000, 64 << 20, 64, MemKind::Store);
    let path = WalkPath { n: 1, ptes: [PhysAddr(RAM.start); 5] };
    for page in 0..32 {
        m.tlb_walk(Side::Data, Tick(now), page << 12, 12, 1, &path);
    }
    time(&format!("TLB hit{what}"), 20_000_000, |i| {
        black_box(m.tlb_lookup(Side::Data, Tick(0), i * 4096 % (32 << 12), 12, 1, false));
    });
    let snapshot = m.clone();
    time(&format!("clone_from{what}"), 1_000, |_| m.clone_from(black_box(&snapshot)));
}
