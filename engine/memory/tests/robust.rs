//! Invariants under random traffic, determinism, snapshots, and configurations that cannot be built.

mod common;

use breakeven_base::{MemKind, StatSink, Tick, WalkPath};
use breakeven_memory::config::*;
use breakeven_memory::{MemorySystem, Port, Request, Response, Side};
use common::*;

const KINDS: [MemKind; 13] = [
    MemKind::Load,
    MemKind::Store,
    MemKind::Atomic,
    MemKind::Fetch,
    MemKind::Walk,
    MemKind::PrefetchRead,
    MemKind::PrefetchWrite,
    MemKind::PrefetchFetch,
    MemKind::CboClean,
    MemKind::CboFlush,
    MemKind::CboInval,
    MemKind::CboZero,
    MemKind::StoreLine,
];

/// Random traffic in bursts; everything that came back, for comparisons.
fn traffic(m: &mut MemorySystem, seed: u64, n: u64) -> Vec<u64> {
    let mut x = seed;
    let mut random = move |below: u64| {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        x % below
    };
    // Time never goes back: a later run starts later.
    let mut now = seed % 1000 * 1_000_000_000;
    let mut seen = Vec::new();
    for i in 0..n {
        now += CYCLE * random(if i % 64 == 0 { 2000 } else { 3 });
        let span = if random(4) == 0 { 4 << 20 } else { 64 << 10 };
        let pick = random(40);
        let kind = if pick < 13 { KINDS[pick as usize] } else { KINDS[(pick % 2) as usize] };
        let port = if kind == MemKind::Fetch { Port::Inst } else { Port::Data };
        let size = 1 << random(4);
        let paddr = (RAM.start + random(span)) & !(size - 1);
        let uncacheable = random(200) == 0;
        let req = Request {
            paddr,
            size: size as u16,
            kind,
            uncacheable,
            non_temporal: random(9) == 0,
            pc: i % 13,
            may_wait: false,
        };
        match m.access(port, Tick(now), &req) {
            Response::Done { at, level } => {
                assert!(at.0 >= now && level <= 4, "{req:?} at {now}: {at:?}, level {level}");
                assert!(at.0 < now + 100_000_000, "{req:?} at {now} takes until {at:?}");
                seen.push(at.0);
            }
            Response::Blocked { retry } | Response::Pending { until: retry, .. } => {
                assert!(retry.0 > now);
                seen.push(!retry.0);
            }
        }
        if random(50) == 0 {
            let path = WalkPath { n: 3, ptes: [paddr & !7, RAM.start + 8 * random(4096), RAM.start, 0, 0] };
            seen.push(m.tlb_walk(Side::Data, Tick(now), paddr, 12, 0, &path).0);
        }
        if random(300) == 0 {
            let at = m.flush_write_combining(Tick(now)).0;
            assert!(at >= now);
            seen.push(at);
        }
        if i % 1000 == 0 {
            assert_eq!(m.audit(), Ok(()), "after {i}");
            assert!(!m.describe_queues(Tick(now)).is_empty());
        }
    }
    seen
}

fn small() -> MemorySystemConfig {
    let mut c = reference();
    for k in &mut c.caches {
        (k.size, k.assoc, k.mshrs, k.tgts_per_mshr, k.write_buffers) = (4096, 4, 2, 2, 1);
    }
    c.caches[2].size = 16 << 10;
    c
}

/// Every prefetcher in every cache, with registers to send with.
fn prefetch_everywhere(c: &mut MemorySystemConfig) {
    let kinds = [
        PrefetcherKind::stride(),
        PrefetcherKind::Tagged { degree: 3 },
        PrefetcherKind::NextLine { degree: 1 },
        PrefetcherKind::AdjacentLine { pair_bytes: 128 },
        PrefetcherKind::stream(),
    ];
    for cache in &mut c.caches {
        cache.mshrs += 2;
        let new = |k: &PrefetcherKind| PrefetcherConfig::new(&format!("{}.pf{k:?}", cache.path), k.clone());
        cache.prefetchers = kinds.iter().map(new).collect();
    }
}

fn write_combining(c: &mut MemorySystemConfig) {
    let ranges = vec![AddrRange { start: RAM.start + 0x4000, end: RAM.start + 0x5000 }];
    c.write_combining = Some(WriteCombiningConfig { buffers: 3, ranges, ..WriteCombiningConfig::new("wc") });
}

#[test]
fn invariants_hold_under_random_traffic() {
    let configs: [fn(&mut MemorySystemConfig); 11] = [
        |_| {},
        |c| c.caches.iter_mut().for_each(|k| k.replacement = Replacement::TreePlru),
        |c| c.caches.iter_mut().for_each(|k| k.replacement = Replacement::Random { seed: 1, any_way: true }),
        |c| c.caches.iter_mut().for_each(|k| k.write_allocate = false),
        |c| c.caches.iter_mut().for_each(|k| k.writeback_clean = true),
        |c| c.caches[2].clusivity = Clusivity::MostlyExcl,
        |c| c.xbars.iter_mut().for_each(|x| x.bandwidth_limit = false),
        prefetch_everywhere,
        write_combining,
        |c| {
            prefetch_everywhere(c);
            write_combining(c);
        },
        |c| {
            prefetch_everywhere(c);
            c.caches[2].clusivity = Clusivity::MostlyExcl;
            c.data_walk = Link::Cache(1);
        },
    ];
    for (i, change) in configs.into_iter().enumerate() {
        for mut c in [reference(), small(), reference_simple(30_000, 12.8e9)] {
            change(&mut c);
            traffic(&mut build(c), 1 + i as u64, 30_000);
        }
    }
}

#[test]
fn a_snapshot_repeats_exactly() {
    let mut c = small();
    repeats_exactly(&c);
    prefetch_everywhere(&mut c);
    write_combining(&mut c);
    repeats_exactly(&c);
}

fn repeats_exactly(c: &MemorySystemConfig) {
    let mut a = build(c.clone());
    traffic(&mut a, 1, 5_000);
    let snapshot = a.clone();
    let first = traffic(&mut a, 2, 5_000);
    assert_eq!(traffic(&mut snapshot.clone(), 2, 5_000), first);
    // `a` has gone on; copying the snapshot into it brings everything back.
    a.clone_from(&snapshot);
    assert_eq!(traffic(&mut a, 2, 5_000), first);
    let mut other = build(reference_simple(1000, 0.0));
    other.clone_from(&snapshot);
    assert_eq!(traffic(&mut other, 2, 5_000), first);
}

#[test]
fn statistics_add_up_and_reset() {
    let mut m = build(reference());
    traffic(&mut m, 3, 20_000);
    let mut sink = StatSink::new();
    m.collect(&mut sink);
    let get = |name: &str| sink.stats.iter().find(|s| s.name == name).map_or(0.0, |s| s.value);
    for cache in ["system.cpu.dcache", "system.cpu.icache", "system.l2"] {
        let of = |s: &str| get(&format!("{cache}.overall{s}::total"));
        assert_eq!(of("Accesses"), of("Hits") + of("Misses"), "{cache}");
        assert_eq!(of("Misses"), of("MshrHits") + of("MshrMisses"), "{cache}");
        assert!(of("Accesses") > 0.0);
    }
    assert!(get("system.l2.overallMisses::cpu.data") > 0.0);
    let mut names: Vec<&String> = sink.stats.iter().map(|s| &s.name).collect();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), sink.stats.len(), "a statistic has one name");
    m.reset_stats();
    assert_eq!(stat(&m, "system.cpu.dcache.overallMisses::total"), 0.0);
    assert_eq!(stat(&m, "system.mem_ctrl.readReqs"), 0.0);
}

#[test]
fn wild_addresses_do_no_harm() {
    let mut all = reference();
    prefetch_everywhere(&mut all);
    write_combining(&mut all);
    [reference(), all].into_iter().for_each(wild_addresses);
}

fn wild_addresses(c: MemorySystemConfig) {
    let mut m = build(c);
    for (i, paddr) in [0, 7, u64::MAX - 7, RAM.end, RAM.start - 8, 1 << 63].into_iter().enumerate() {
        for kind in KINDS {
            let now = Tick(1_000_000 * (i as u64 + 1));
            m.access(Port::Data, now, &request(paddr & !7, kind));
            m.access(Port::Data, now, &Request { non_temporal: true, ..request(paddr & !7, kind) });
            m.tlb_lookup(Side::Data, now, paddr, 63, u16::MAX, true);
            m.tlb_walk(Side::Inst, now, paddr, 200, 0, &WalkPath { n: 200, ptes: [paddr & !7; 5] });
        }
    }
    assert_eq!(m.audit(), Ok(()));
}

#[test]
fn every_mistake_is_reported_with_its_path() {
    let mut c = reference();
    c.line_bytes = 48;
    c.caches[1].size = 1000;
    c.caches[1].mshrs = 0;
    c.caches[2].mem_side = Link::XBar(7);
    c.xbars[0].width = 0;
    c.dtb.assoc = 7;
    if let MemoryConfig::Dram(d) = &mut c.memories[0] {
        d.dram.tREFI = 1000;
        d.write_low_thresh_perc = 90;
        d.dram.burst_length = 3;
    }
    let Err(errors) = MemorySystem::new(c) else { panic!("was built") };
    let text = errors.iter().map(|e| format!("{e}\n")).collect::<String>();
    for part in [
        "system.cache_line_size",
        "system.cpu.dcache.size",
        "system.cpu.dcache.mshrs",
        "system.l2.mem_side",
        "system.l2bus.width",
        "system.cpu.mmu.dtb.assoc",
        "system.mem_ctrl.dram.tREFI",
        "system.mem_ctrl.write_low_thresh_perc",
        "system.mem_ctrl.dram.burst_length",
    ] {
        assert!(text.contains(part), "no word about {part} in\n{text}");
    }
}

#[test]
fn sets_are_a_power_of_two_in_each_slice() {
    let built = |size: u64, assoc: u32, slices: u32| {
        let mut c = reference();
        (c.caches[1].size, c.caches[1].assoc, c.caches[1].slices) = (size, assoc, slices);
        MemorySystem::new(c).map(|_| ()).map_err(|errors| errors[0].to_string())
    };
    assert_eq!(built(28160 << 10, 11, 20), Ok(()));
    assert_eq!(
        built(17 << 10, 8, 1).unwrap_err(),
        "system.cpu.dcache.size: is 17KiB: 34 sets of 512 bytes (assoc x line); the number of sets must be a power of two, \
         as in gem5; the nearest sizes: 16KiB, 32KiB"
    );
    let text = built(28160 << 10, 11, 1).unwrap_err();
    assert!(text.contains("40960 sets of 704 bytes") && text.ends_with("the nearest sizes: 22MiB, 44MiB"), "{text}");
    assert!(built(28160 << 10, 11, 16).unwrap_err().contains("the number of sets in each of 16 slices"));
    assert!(built(100, 8, 1).unwrap_err().ends_with("the nearest sizes: 512B, 1KiB"));
    assert!(built(32 << 10, 8, 0).unwrap_err().contains("slices"));
}

#[test]
fn circles_are_refused() {
    let mut c = reference();
    c.xbars[1].routes[0].to = Link::Cache(1);
    let Err(errors) = MemorySystem::new(c) else { panic!("was built") };
    assert!(errors[0].to_string().contains("circle"), "{errors:?}");
}
