//! Invariants under random traffic, determinism, snapshots, and configurations that cannot be built.

mod common;

use breakeven_base::{MemKind, PhysAddr, StatSink, Tick, WalkPath};
use breakeven_memory::config::*;
use breakeven_memory::{MemorySystem, Port, Request, Response, Side};
use common::*;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestRunner;

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

/// One access of random traffic, and what comes with it.
#[derive(Clone, Debug)]
struct Step {
    /// Cycles since the one before.
    wait: u64,
    req: Request,
    /// A page-table walk, whose second entry is this one.
    walk: Option<u64>,
    /// Write combining is flushed.
    flush: bool,
}

fn step() -> impl Strategy<Value = Step> {
    let wait = prop_oneof![63 => 0..3_u64, 1 => 0..2000_u64];
    let kind = prop_oneof![1 => select(&KINDS[..]), 1 => Just(MemKind::Load), 1 => Just(MemKind::Store)];
    let place = (prop_oneof![3 => 0..64_u64 << 10, 1 => 0..4_u64 << 20], 0..4_u32);
    let hints = (proptest::bool::weighted(0.005), proptest::bool::weighted(0.11));
    let more = (proptest::option::weighted(0.02, 0..4096_u64), proptest::bool::weighted(0.003));
    (wait, kind, place, hints, 0..13_u64, more).prop_map(|(wait, kind, (at, log_size), hints, pc, (walk, flush))| {
        let size = 1 << log_size;
        let paddr = PhysAddr(RAM.start + at).align_down(size.into());
        let (uncacheable, non_temporal) = hints;
        Step { wait, req: Request { paddr, size, kind, uncacheable, non_temporal, pc, may_wait: false }, walk, flush }
    })
}

fn steps(n: usize) -> impl Strategy<Value = Vec<Step>> {
    vec(step(), n)
}

/// Makes the accesses from `now` on; everything that came back, for comparisons.
fn traffic(m: &mut MemorySystem, mut now: u64, steps: &[Step]) -> Vec<u64> {
    let mut seen = Vec::new();
    for (i, Step { wait, req, walk, flush }) in steps.iter().enumerate() {
        now += CYCLE * wait;
        let port = if req.kind == MemKind::Fetch { Port::Inst } else { Port::Data };
        match m.access(port, Tick(now), req) {
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
        if let Some(entry) = walk {
            let path =
                WalkPath { n: 3, ptes: [req.paddr.0 & !7, RAM.start + 8 * entry, RAM.start, 0, 0].map(PhysAddr) };
            seen.push(m.tlb_walk(Side::Data, Tick(now), req.paddr.0, 12, 0, &path).0);
        }
        if *flush {
            let at = m.flush_write_combining(Tick(now)).0;
            assert!(at >= now);
            seen.push(at);
        }
        if i % 1000 == 0 {
            assert_eq!(m.audit(), Ok(()), "after {i}");
            assert!(!m.describe_queues(Tick(now)).is_empty());
        }
    }
    assert_eq!(m.audit(), Ok(()));
    seen
}

/// Checks `property` on `n` random runs.
fn check(n: u32, length: usize, property: impl Fn(&[Step])) {
    let checked = TestRunner::new(cases(n)).run(&steps(length), |steps| {
        property(&steps);
        Ok(())
    });
    checked.unwrap_or_else(|e| panic!("{e}"));
}

/// The start of a second run: time never goes back.
const LATER: u64 = 1_000_000_000_000;

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
    for change in configs {
        for mut c in [reference(), small(), reference_simple(30_000, 12.8e9)] {
            change(&mut c);
            check(4, 4000, |steps| {
                traffic(&mut build(c.clone()), 0, steps);
            });
        }
    }
}

#[test]
fn a_snapshot_repeats_exactly() {
    let plain = small();
    let mut all = small();
    prefetch_everywhere(&mut all);
    write_combining(&mut all);
    for c in [plain, all] {
        check(2, 8000, |steps| repeats_exactly(&c, steps));
    }
}

fn repeats_exactly(c: &MemorySystemConfig, steps: &[Step]) {
    let (before, after) = steps.split_at(steps.len() / 2);
    let mut a = build(c.clone());
    traffic(&mut a, 0, before);
    let snapshot = a.clone();
    let first = traffic(&mut a, LATER, after);
    assert_eq!(traffic(&mut snapshot.clone(), LATER, after), first);
    // `a` has gone on; copying the snapshot into it brings everything back.
    a.clone_from(&snapshot);
    assert_eq!(traffic(&mut a, LATER, after), first);
    let mut other = build(reference_simple(1000, 0.0));
    other.clone_from(&snapshot);
    assert_eq!(traffic(&mut other, LATER, after), first);
}

#[test]
fn statistics_add_up_and_reset() {
    check(2, 8000, statistics);
}

fn statistics(steps: &[Step]) {
    let mut m = build(reference());
    traffic(&mut m, 0, steps);
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
            m.tlb_walk(Side::Inst, now, paddr, 200, 0, &WalkPath { n: 200, ptes: [PhysAddr(paddr & !7); 5] });
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

/// One access after the other; the levels that answered.
fn one_by_one(m: &mut MemorySystem, now: &mut u64, requests: &[Request]) -> Vec<u8> {
    let mut levels = Vec::new();
    for req in requests {
        let port = if req.kind == MemKind::Fetch { Port::Inst } else { Port::Data };
        // Long enough that the one before is over, and what it evicted written.
        *now += 1_000_000;
        match m.access(port, Tick(*now), req) {
            Response::Done { level, .. } => levels.push(level),
            other => panic!("{req:?}: {other:?}"),
        }
    }
    levels
}

#[test]
fn untimed_accesses_leave_the_caches_as_timed_ones_do() {
    let kind = select(&[MemKind::Load, MemKind::Store, MemKind::Atomic, MemKind::Fetch, MemKind::StoreLine][..]);
    let requests = vec((kind, 0..1_u64 << 19), 400)
        .prop_map(|all| all.into_iter().map(|(kind, at)| request((RAM.start + at) & !63, kind)).collect::<Vec<_>>());
    let mut exclusive = reference();
    exclusive.caches.iter_mut().filter(|c| c.path.ends_with("l2")).for_each(|c| c.clusivity = Clusivity::MostlyExcl);
    TestRunner::deterministic()
        .run(&requests, |requests| {
            for config in [reference(), exclusive.clone()] {
                let (mut timed, mut untimed) = (build(config.clone()), build(config));
                let (mut now, mut also) = (0, 0);
                untimed.time(false);
                let (before, after) = requests.split_at(300);
                one_by_one(&mut timed, &mut now, before);
                one_by_one(&mut untimed, &mut also, before);
                untimed.time(true);
                assert_eq!(one_by_one(&mut timed, &mut now, after), one_by_one(&mut untimed, &mut also, after));
            }
            Ok(())
        })
        .expect("the same");
}
