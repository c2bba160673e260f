//! Accesses that wait with their line's miss until it leaves the cache (gem5's `isWholeLineWrite`).

mod common;

use breakeven_base::{MemKind, PhysAddr, Tick};
use breakeven_memory::{MemorySystem, MshrId, Port, Request, Response};
use common::*;
use proptest::collection::vec;
use proptest::prelude::*;

const A: u64 = RAM.start + 0x10_0000;

fn simple() -> MemorySystem {
    build(reference_simple(100 * CYCLE, 0.0))
}

/// An access whose sender can wait.
fn waits(m: &mut MemorySystem, at: Tick, req: &Request) -> Response {
    m.access(Port::Data, at, &Request { may_wait: true, ..*req })
}

/// The MSHR of the line of `paddr`.
fn line_of(paddr: u64) -> MshrId {
    MshrId::of(PhysAddr(paddr), 64)
}

/// The cycle until which a store of 8 bytes at `cycle` is held.
fn held(m: &mut MemorySystem, cycle: u64, paddr: u64) -> u64 {
    match waits(m, Tick(cycle * CYCLE), &request(paddr, MemKind::Store)) {
        Response::Pending { until, .. } => until.0 / CYCLE,
        other => panic!("{other:?}"),
    }
}

/// The cycle in which a store whose miss has left by `cycle` is in the cache, and the level that had its line.
fn end(m: &mut MemorySystem, cycle: u64, paddr: u64) -> (u64, u8) {
    m.send_pending(Tick(cycle * CYCLE));
    let end = m.response_of(Tick(cycle * CYCLE), line_of(paddr)).expect("it has left");
    (end.of(PhysAddr(paddr)).0 / CYCLE, end.level)
}

fn counts(m: &MemorySystem, cache: &str) -> [f64; 3] {
    ["demandMisses", "demandMshrMisses", "demandMshrHits"].map(|name| stat(m, &format!("system.{cache}.{name}::total")))
}

#[test]
fn registers_that_are_free_again_are_not_kept() {
    let mut m = simple();
    for n in 0..1000 {
        let pending = waits(&mut m, Tick((100 + 200 * n) * CYCLE), &request(A + 64 * n, MemKind::Load));
        assert!(matches!(pending, Response::Pending { .. }), "{pending:?}");
        m.send_pending(Tick((102 + 200 * n) * CYCLE));
        m.audit().expect("no more entries than registers");
    }
}

#[test]
fn a_line_written_whole_in_time_is_not_read() {
    let mut m = simple();
    for n in 0..8 {
        // Four a cycle: all there before the tag latency is over.
        assert_eq!(held(&mut m, 100 + n / 4, A + 8 * n), 102);
    }
    // Bus 1, second level 10, bus to the memory 8, which answers of itself; back 10, 1 and 2, without data to wait for.
    assert_eq!([end(&mut m, 102, A), end(&mut m, 102, A + 56)], [(134, 2), (134, 2)]);
    assert_eq!((counts(&m, "cpu.dcache"), counts(&m, "l2")), ([8.0, 1.0, 7.0], [0.0; 3]));
    assert_eq!(
        waits(&mut m, Tick(140 * CYCLE), &request(A + 8, MemKind::Store)),
        Response::Done { at: Tick(142 * CYCLE), level: 0 }
    );
    m.audit().expect("nothing is out of order");
}

#[test]
fn a_store_too_late_joins_and_the_line_is_read() {
    let mut m = simple();
    for n in 0..7 {
        held(&mut m, 100, A + 8 * n);
    }
    let late = waits(&mut m, Tick(102 * CYCLE), &request(A + 56, MemKind::Store));
    let ends = [end(&mut m, 102, A), end(&mut m, 102, A + 8)];
    assert_eq!(late, Response::Done { at: Tick(ends[1].0 * CYCLE), level: 2 });
    // As if nothing had been held; the others wait for the rest of the line.
    let mut plain = simple();
    let first = access(&mut plain, 100 * CYCLE, A, MemKind::Store);
    let second = access(&mut plain, 100 * CYCLE, A + 8, MemKind::Store);
    assert_eq!(ends.map(|(at, level)| (at * CYCLE, level)), [first, second]);
    assert!(second > first);
    for name in ["demandMissLatency", "demandMisses"].map(|n| format!("system.cpu.dcache.{n}::total")) {
        (2..8).for_each(|n| _ = access(&mut plain, 100 * CYCLE, A + 8 * n, MemKind::Store));
        assert!(stat(&m, &name) > 0.0 && stat(&m, &name) <= stat(&plain, &name), "{name}");
    }
    assert_eq!(counts(&m, "l2")[0], 1.0);
}

#[test]
fn a_miss_that_waits_for_the_bus_takes_more_stores() {
    let mut m = simple();
    assert_eq!(held(&mut m, 100, A), 102);
    assert_eq!(held(&mut m, 100, A + 64), 103, "behind the other line's");
    for n in 1..8 {
        assert_eq!(held(&mut m, 102, A + 64 + 8 * n), 103);
    }
    let claimed = end(&mut m, 103, A + 64);
    assert!(claimed < end(&mut m, 103, A), "only the second line is whole");
}

#[test]
fn a_second_level_that_takes_nothing_holds_misses_back() {
    let mut c = reference_simple(100 * CYCLE, 0.0);
    c.caches[2].mshrs = 1;
    let mut m = build(c);
    held(&mut m, 100, A);
    assert_eq!(held(&mut m, 101, A + 64), 103);
    let free = m.send_pending(Tick(103 * CYCLE)).expect("the second one is still there").0;
    assert!(free > 200 * CYCLE, "until the first one's line has come: {free}");
    for n in 1..8 {
        assert_eq!(held(&mut m, 150, A + 64 + 8 * n) * CYCLE, free / CYCLE * CYCLE);
    }
    assert_eq!(m.response_of(Tick(150 * CYCLE), line_of(A + 64)), None);
    end(&mut m, free.div_ceil(CYCLE), A + 64);
    assert_eq!(counts(&m, "l2")[0], 1.0, "whole by then");
}

#[test]
fn a_load_sends_the_miss_that_it_joins() {
    let mut m = simple();
    (0..7).for_each(|n| _ = held(&mut m, 100, A + 8 * n));
    let loaded = load(&mut m, 101 * CYCLE, A + 8);
    assert_eq!(loaded, end(&mut m, 101, A + 8).0 * CYCLE);
    assert_eq!(m.send_pending(Tick(101 * CYCLE)), None);
}

/// The cycle until which a load at `cycle` is held.
fn held_load(m: &mut MemorySystem, cycle: u64, paddr: u64) -> u64 {
    match waits(m, Tick(cycle * CYCLE), &request(paddr, MemKind::Load)) {
        Response::Pending { until, .. } => until.0 / CYCLE,
        other => panic!("{other:?}"),
    }
}

#[test]
fn answers_come_in_the_order_in_which_misses_leave() {
    // Alone, each line is there as early as if nothing had been held.
    let alone = |cycle, kind| access(&mut simple(), cycle * CYCLE, A, kind).0 / CYCLE;
    let (stored, loaded) = (alone(100, MemKind::Store), alone(101, MemKind::Load));
    // Header and four beats of the line that comes first occupy the bus to the memory.
    let occupied = 5;
    let mut m = simple();
    assert_eq!((held(&mut m, 100, A), held_load(&mut m, 101, A + 640)), (102, 103));
    let ends = [end(&mut m, 103, A).0, end(&mut m, 103, A + 640).0];
    assert_eq!(ends, [stored, loaded + occupied - 1], "the load's answer waits for the store's");
    let mut m = simple();
    assert_eq!((held_load(&mut m, 100, A + 640), held(&mut m, 101, A)), (102, 103));
    let ends = [end(&mut m, 103, A).0, end(&mut m, 103, A + 640).0];
    assert_eq!(ends, [stored + 1 + occupied - 1, loaded - 1]);
    m.audit().expect("nothing is out of order");
}

#[test]
fn loads_join_loads_and_a_store_sends_the_miss_that_it_joins() {
    let mut m = simple();
    assert_eq!([held_load(&mut m, 100, A), held_load(&mut m, 101, A + 8)], [102, 102]);
    let ends = [end(&mut m, 102, A), end(&mut m, 102, A + 8)];
    let mut plain = simple();
    let all = [A, A + 8].map(|paddr| access(&mut plain, 100 * CYCLE, paddr, MemKind::Load));
    assert_eq!(ends.map(|(at, level)| (at * CYCLE, level)), all);
    assert_eq!((counts(&m, "cpu.dcache"), counts(&m, "l2")), (counts(&plain, "cpu.dcache"), counts(&plain, "l2")));
    let mut m = simple();
    held_load(&mut m, 100, A);
    let joined = waits(&mut m, Tick(100 * CYCLE), &request(A + 8, MemKind::Store));
    assert_eq!(joined, Response::Done { at: Tick(all[1].0), level: 2 });
    assert_eq!(m.send_pending(Tick(100 * CYCLE)), None);
}

#[test]
fn what_does_not_miss_is_not_held() {
    let mut m = simple();
    load(&mut m, 100 * CYCLE, A);
    let on_its_way = waits(&mut m, Tick(110 * CYCLE), &request(A, MemKind::Store));
    assert!(matches!(on_its_way, Response::Done { level: 2, .. }), "{on_its_way:?}");
    let loaded = waits(&mut m, Tick(110 * CYCLE), &request(A, MemKind::Load));
    assert!(matches!(loaded, Response::Done { level: 2, .. }), "{loaded:?}");
    let past = Request { uncacheable: true, ..request(A + 640, MemKind::Store) };
    assert!(matches!(waits(&mut m, Tick(111 * CYCLE), &past), Response::Done { .. }));
    assert!(matches!(waits(&mut m, Tick(111 * CYCLE), &past), Response::Done { .. }));
    assert!(matches!(waits(&mut m, Tick(112 * CYCLE), &request(A + 1280, MemKind::CboZero)), Response::Done { .. }));
}

/// A store or load of random traffic: cycles since the one before, its address, and whether it can wait.
#[derive(Clone, Debug)]
struct Step {
    wait: u64,
    paddr: u64,
    kind: MemKind,
    waits: bool,
}

/// Runs of stores with loads between them.
fn steps() -> impl Strategy<Value = Vec<Step>> {
    let place = proptest::option::weighted(0.06, 0..2048_u64);
    let step = (0..2_u64, place, proptest::bool::weighted(0.06), any::<bool>());
    vec(step, 8000).prop_map(|steps| {
        let made = steps.into_iter().zip(0_u64..).map(|((wait, place, load, waits), i)| {
            let kind = if load { MemKind::Load } else { MemKind::Store };
            Step { wait, paddr: A + 8 * place.unwrap_or(i % 4096), kind, waits: waits || !load }
        });
        made.collect()
    })
}

fn leaves_nothing_behind(steps: &[Step]) {
    let mut c = reference();
    for k in &mut c.caches {
        (k.size, k.mshrs, k.tgts_per_mshr, k.write_buffers) = (4096, 3, 6, 2);
    }
    let mut m = build(c);
    let (mut now, mut last) = (0, None);
    for (i, step) in steps.iter().enumerate() {
        now += CYCLE * step.wait;
        let req = Request { may_wait: step.waits, ..request(step.paddr, step.kind) };
        match m.access(Port::Data, Tick(now), &req) {
            Response::Done { at, .. } => assert!(at.0 > now && at.0 < now + 10_000_000),
            Response::Blocked { retry } => now = retry.0.next_multiple_of(CYCLE),
            Response::Pending { until, .. } => {
                assert!(step.waits && until.0 > now && until.0 < now + 10_000_000);
                last = Some((until.0, step.paddr));
            }
        }
        if let Some((_, paddr)) = last.filter(|(until, _)| *until <= now) {
            let next = m.send_pending(Tick(now));
            assert!(
                next.is_none_or(|t| t.0 > now)
                    && (next.is_some() || m.response_of(Tick(now), line_of(paddr)).is_some())
            );
            last = None;
        }
        if i % 500 == 0 {
            assert_eq!(m.audit(), Ok(()), "after {i}");
        }
    }
    // A copy goes on as the original does.
    let mut copy = m.clone();
    let both = [&mut m, &mut copy].map(|m| {
        (0..64).map(|n| waits(m, Tick(now + CYCLE * n), &request(A + 8 * n, MemKind::Store))).collect::<Vec<_>>()
    });
    assert_eq!(both[0], both[1]);
    assert!(both[0].iter().any(|r| matches!(r, Response::Pending { .. } | Response::Blocked { .. })));
}

proptest! {
    #![proptest_config(cases(8))]

    #[test]
    fn random_stores_and_loads_leave_nothing_behind(steps in steps()) {
        leaves_nothing_behind(&steps);
    }
}
