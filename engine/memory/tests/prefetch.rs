//! Prefetchers in a memory system: what is sent when, what it saves, what is counted. Exact numbers, each derived.

mod common;

use breakeven_base::{MemKind, Tick};
use breakeven_memory::config::*;
use breakeven_memory::{MemorySystem, Port, Request, Response};
use common::*;

const A: u64 = RAM.start + 0x10_0000;
/// Memory latency, in cycles.
const MEM: u64 = 120;
/// From a request's leaving the L1 to its response there: L2 bus 1, L2 tag 10, memory bus 8, memory, bus 2, L2 10, bus 1.
const BELOW: u64 = 1 + 10 + 8 + MEM + 2 + 10 + 1;
/// Cycles of a load from the memory (L1 tag and response 2 each), from the L2, from the L1.
const FROM_MEM: u64 = 2 + BELOW + 2;
const FROM_L2: u64 = 2 + 1 + 10 + 1 + 2;
const FROM_L1: u64 = 2;
const L1: usize = 1;
const L2: usize = 2;

/// Buses without limits, so that latencies are sums; prefetchers at one cache.
fn config(cache: usize, kinds: &[PrefetcherKind]) -> MemorySystemConfig {
    let mut c = reference_simple(MEM * CYCLE, 0.0);
    c.xbars.iter_mut().for_each(|x| x.bandwidth_limit = false);
    c.caches[cache].prefetchers =
        kinds.iter().enumerate().map(|(i, k)| PrefetcherConfig::new(&format!("pf{i}"), k.clone())).collect();
    c
}

fn tagged(degree: u32) -> PrefetcherKind {
    PrefetcherKind::Tagged { degree }
}

fn with(kind: PrefetcherKind, change: impl FnOnce(&mut CacheConfig)) -> MemorySystem {
    let mut c = config(L1, &[kind]);
    change(&mut c.caches[L1]);
    build(c)
}

/// Cycles that a load at cycle `now` takes.
fn cycles(m: &mut MemorySystem, now: u64, paddr: u64, pc: u64) -> u64 {
    let req = Request { pc, ..request(paddr, MemKind::Load) };
    match m.access(Port::Data, Tick(now * CYCLE), &req) {
        Response::Done { at, .. } => at.0.div_ceil(CYCLE) - now,
        Response::Blocked { retry } | Response::Pending { until: retry, .. } => panic!("blocked until {retry:?}"),
    }
}

fn count(m: &MemorySystem, name: &str) -> u64 {
    stat(m, &format!("pf0.{name}")) as u64
}

#[test]
fn a_stream_of_lines_hits_from_the_second_on_in_each_page() {
    let mut m = build(config(L1, &[tagged(1)]));
    let mut plain = build(config(L1, &[]));
    for i in 0..130 {
        let first_of_page = i % 64 == 0;
        let (now, paddr) = (1000 * (i + 1), A + 64 * i);
        assert_eq!(cycles(&mut plain, now, paddr, 0), FROM_MEM);
        assert_eq!(cycles(&mut m, now, paddr, 0), if first_of_page { FROM_MEM } else { FROM_L1 }, "line {i}");
    }
    // Three pages begun; the last line's prefetch is still queued, those of lines 63 and 127 would leave the page.
    assert_eq!((count(&m, "pfIdentified"), count(&m, "pfIssued"), count(&m, "pfUseful")), (128, 127, 127));
    assert_eq!((count(&m, "demandMshrMisses"), count(&m, "pfSpanPage"), count(&m, "pfUnused")), (3, 2, 0));
    assert_eq!(stat(&m, "pf0.accuracy"), 1.0);
    assert_eq!(stat(&m, "pf0.coverage"), 127.0 / 130.0);
    assert_eq!(stat(&m, "system.cpu.dcache.demandMisses::total"), 3.0);
    assert_eq!(stat(&m, "system.cpu.dcache.HardPFReq.mshrMisses::total"), 127.0);
    assert_eq!(stat(&m, "system.l2.overallMisses::prefetchers"), 127.0);
    m.reset_stats();
    assert_eq!(count(&m, "pfIssued"), 0);
    assert_eq!(m.audit(), Ok(()));
}

#[test]
fn a_late_prefetch_saves_what_it_was_ahead() {
    let mut m = build(config(L1, &[tagged(1)]));
    assert_eq!(cycles(&mut m, 1000, A, 0), FROM_MEM);
    // Sent at 1001, past the tags; ten cycles later the rest of the way is waited for.
    assert_eq!(cycles(&mut m, 1011, A + 64, 0), 1001 + BELOW + 2 - 1011);
    assert_eq!((count(&m, "pfDemandJoined"), count(&m, "pfUseful")), (1, 0));
    assert_eq!(m.audit(), Ok(()));
}

#[test]
fn latency_delays_the_prefetch() {
    let mut c = config(L1, &[tagged(1)]);
    c.caches[L1].prefetchers[0].latency = 40;
    let mut m = build(c);
    cycles(&mut m, 1000, A, 0);
    assert_eq!(cycles(&mut m, 1050, A + 64, 0), 1040 + BELOW + 2 - 1050);
}

#[test]
fn demand_takes_precedence_over_what_is_queued() {
    // Three registers, one reserved and one kept free: a prefetch goes when none is in use.
    let mut m = with(tagged(2), |c| c.mshrs = 3);
    cycles(&mut m, 1000, A, 0);
    assert_eq!(cycles(&mut m, 1005, A + 64, 0), FROM_MEM, "not prefetched yet");
    assert_eq!((count(&m, "pfIssued"), count(&m, "pfRemovedDemand")), (0, 1));
    // Of A + 64 .. 128 and A + 128 .. 192 one was there already.
    assert_eq!((count(&m, "pfIdentified"), count(&m, "pfBufferHit")), (4, 1));
    // Both registers are free when the second answer arrives: 1005 + 2 + BELOW. A + 128 goes then, A + 192 after it.
    let first = 1005 + 2 + BELOW;
    assert_eq!(cycles(&mut m, first + 1, A + 128, 0), BELOW - 1 + 2);
    assert_eq!((count(&m, "pfIssued"), count(&m, "pfDemandJoined")), (1, 1));
    assert_eq!(cycles(&mut m, first + 2000, A + 192, 0), FROM_L1);
    assert_eq!(m.audit(), Ok(()));
}

#[test]
fn without_squash_and_filter_candidates_pile_up_and_are_dropped_later() {
    let mut c = config(L1, &[tagged(2)]);
    c.caches[L1].mshrs = 3;
    (c.caches[L1].prefetchers[0].queue_squash, c.caches[L1].prefetchers[0].queue_filter) = (false, false);
    c.caches[L1].prefetchers[0].queue_size = 3;
    let mut m = build(c);
    cycles(&mut m, 1000, A, 0);
    cycles(&mut m, 1005, A + 64, 0);
    // A + 64, A + 128, A + 128, A + 192: the queue of three drops the first.
    assert_eq!((count(&m, "pfRemovedDemand"), count(&m, "pfBufferHit"), count(&m, "pfRemovedFull")), (0, 0, 1));
    cycles(&mut m, 9000, A + 4096, 0);
    // The second A + 128 is tried when the first has been answered.
    assert_eq!((count(&m, "pfIssued"), count(&m, "pfHitInCache"), count(&m, "pfLate")), (3, 1, 1));
    assert_eq!(m.audit(), Ok(()));
}

#[test]
fn cache_snoop_drops_what_is_there_before_it_is_queued() {
    for snoop in [false, true] {
        let mut c = config(L1, &[tagged(1)]);
        c.caches[L1].prefetchers[0].cache_snoop = snoop;
        let mut m = build(c);
        cycles(&mut m, 1000, A + 64, 0);
        cycles(&mut m, 2000, A, 0);
        cycles(&mut m, 3000, A + 4096, 0);
        let seen = (count(&m, "pfInCache"), count(&m, "pfHitInCache"));
        assert_eq!(seen, if snoop { (1, 0) } else { (0, 1) });
    }
}

#[test]
fn throttling_goes_by_accuracy() {
    let mut c = config(L1, &[tagged(4)]);
    c.caches[L1].prefetchers[0].throttle_control_percentage = 100;
    let mut m = build(c);
    cycles(&mut m, 1000, A, 0); // nothing issued yet: all 4
    cycles(&mut m, 2000, A + 0x1_0000, 0); // 4 issued, none useful: 1
    assert_eq!(count(&m, "pfIdentified"), 5);
    cycles(&mut m, 3000, A + 64, 0); // 5 issued, now 1 useful: 1 + 3 * 1 / 5
    assert_eq!(count(&m, "pfIdentified"), 6);
    (2..5).for_each(|i| _ = cycles(&mut m, 3000 + 100 * i, A + 64 * i, 0));
    // 6, 8 and 10 issued (most were there already), 2, 3 and 4 useful: 1 + 3 * 2 / 6, 1 + 3 * 3 / 8, 1 + 3 * 4 / 10.
    assert_eq!(count(&m, "pfIdentified"), 12);
}

#[test]
fn evicted_without_use() {
    let mut m = with(tagged(1), |c| (c.size, c.assoc) = (64 * 2, 1));
    cycles(&mut m, 1000, A, 0); // brings A + 64, in the other set
    cycles(&mut m, 2000, A + 192, 0); // takes its place
    assert_eq!((count(&m, "pfUnused"), count(&m, "pfUseful")), (1, 0));
}

#[test]
fn which_accesses_are_looked_at() {
    let identified = |change: &dyn Fn(&mut PrefetcherConfig)| {
        let mut c = config(L1, &[tagged(1)]);
        change(&mut c.caches[L1].prefetchers[0]);
        let mut m = build(c);
        cycles(&mut m, 1000, A, 0);
        access(&mut m, 2000 * CYCLE, A + 0x2000, MemKind::Store);
        cycles(&mut m, 3000, A, 0); // a plain hit
        cycles(&mut m, 4000, A + 64, 0); // the first use of a prefetched line
        access(&mut m, 5000 * CYCLE, A + 0x4000, MemKind::PrefetchRead);
        access(&mut m, 6000 * CYCLE, A, MemKind::CboFlush);
        count(&m, "pfIdentified")
    };
    assert_eq!(identified(&|_| {}), 3);
    // Without the first load's prefetch, A + 64 is a miss.
    assert_eq!(identified(&|p| p.on_read = false), 1);
    assert_eq!(identified(&|p| p.on_write = false), 2);
    assert_eq!(identified(&|p| p.on_data = false), 0);
    assert_eq!(identified(&|p| p.prefetch_on_pf_hit = false), 2);
    assert_eq!(identified(&|p| (p.prefetch_on_pf_hit, p.prefetch_on_access) = (false, true)), 4);
    assert_eq!(identified(&|p| (p.prefetch_on_pf_hit, p.on_miss, p.prefetch_on_access) = (false, true, true)), 2);
}

#[test]
fn instructions_are_prefetched_when_asked() {
    for on_inst in [true, false] {
        let mut c = config(0, &[tagged(1)]);
        c.caches[0].prefetchers[0].on_inst = on_inst;
        let mut m = build(c);
        let mut fetch = |now: u64, paddr| m.access(Port::Inst, Tick(now), &request(paddr, MemKind::Fetch));
        fetch(0, A);
        let Response::Done { level, .. } = fetch(1_000_000, A + 64) else { panic!("blocked") };
        assert_eq!(level, if on_inst { 0 } else { 2 });
    }
}

#[test]
fn a_stride_is_followed_from_its_third_access() {
    let mut m = build(config(L1, &[PrefetcherKind::stride()]));
    let seen: Vec<u64> = (0..8).map(|i| cycles(&mut m, 1000 * (i + 1), A + 0x100 * i, 0x8000_0010)).collect();
    // Degree 4: the third access brings the next four. From then on gem5 learns at first uses, each one stride on.
    assert_eq!(seen, [FROM_MEM, FROM_MEM, FROM_MEM, FROM_L1, FROM_L1, FROM_L1, FROM_L1, FROM_L1]);
    // Another instruction's accesses in between do not matter; without a PC there is no stride.
    let mut m = build(config(L1, &[PrefetcherKind::stride()]));
    (0..4).for_each(|i| assert_eq!(cycles(&mut m, 1000 * (i + 1), A + 0x100 * i, 0), FROM_MEM));
}

#[test]
fn the_streamer_of_the_second_level_turns_memory_into_hits_there() {
    for step in [64u64, 64u64.wrapping_neg()] {
        let mut m = build(config(L2, &[PrefetcherKind::stream()]));
        let start = if step == 64 { A } else { A + 4096 - 64 };
        for i in 0..64u64 {
            let paddr = start.wrapping_add(step.wrapping_mul(i));
            let expected = if i < 3 { FROM_MEM } else { FROM_L2 };
            assert_eq!(cycles(&mut m, 1000 * (i + 1), paddr, 0), expected, "line {i}");
        }
        // 61 of the page, none beyond.
        assert_eq!((count(&m, "pfIssued"), count(&m, "pfUseful"), count(&m, "pfSpanPage")), (61, 61, 0));
    }
}

#[test]
fn the_buddy_comes_along() {
    let mut m = build(config(L2, &[PrefetcherKind::AdjacentLine { pair_bytes: 128 }]));
    let seen: Vec<u64> = (0..6).map(|i| cycles(&mut m, 1000 * (i + 1), A + 64 * (i ^ 1), 0)).collect();
    assert_eq!(seen, [FROM_MEM, FROM_L2, FROM_MEM, FROM_L2, FROM_MEM, FROM_L2]);
}

#[test]
fn the_next_line_comes_once_for_each_line() {
    let mut m = build(config(L1, &[PrefetcherKind::NextLine { degree: 1 }]));
    for i in 0..64u64 {
        assert_eq!(cycles(&mut m, 1000 * (i + 1), A + 8 * i, 0), if i == 0 { FROM_MEM } else { FROM_L1 });
    }
    assert_eq!(count(&m, "pfIdentified"), 8);
}

#[test]
fn several_prefetchers_take_turns_and_are_counted_apart() {
    let mut m = build(config(L1, &[tagged(1), PrefetcherKind::AdjacentLine { pair_bytes: 256 }]));
    cycles(&mut m, 1000, A, 0);
    // The second wants A + 64, too: whose turn comes first is the second's (as gem5's, the turn moves on before).
    assert_eq!(cycles(&mut m, 2000, A + 128, 0), FROM_L1);
    assert_eq!((count(&m, "pfIssued"), count(&m, "pfLate")), (1, 1));
    assert_eq!((stat(&m, "pf1.pfIssued"), stat(&m, "pf1.pfUseful")), (3.0, 1.0));
    assert_eq!(m.audit(), Ok(()));
}

#[test]
fn the_second_level_learns_from_the_first_levels_prefetches() {
    let mut c = config(L1, &[tagged(1)]);
    c.caches[L2].prefetchers = vec![PrefetcherConfig::new("l2pf", tagged(1))];
    let mut m = build(c);
    cycles(&mut m, 1000, A, 0);
    cycles(&mut m, 9000, A + 4096, 0);
    // L1: A, and A + 64 prefetched. L2: A wants A + 64, which the L1's prefetch asks for before it is sent; that wants
    // A + 128. Then A + 4096 wants A + 4160.
    assert_eq!((stat(&m, "l2pf.pfIdentified"), stat(&m, "l2pf.pfIssued")), (3.0, 1.0));
    assert_eq!(stat(&m, "l2pf.pfRemovedDemand"), 1.0);
    assert_eq!(stat(&m, "system.l2.demandAccesses::prefetchers"), 1.0);
    assert_eq!(m.audit(), Ok(()));
}

#[test]
fn mistakes_are_reported_with_their_path() {
    let mut c = config(L1, &[PrefetcherKind::stride(), PrefetcherKind::AdjacentLine { pair_bytes: 64 }]);
    c.caches[L1].mshrs = 2;
    c.caches[L1].prefetchers[0].page_bytes = 100;
    c.caches[L1].prefetchers[1].queue_size = 0;
    if let PrefetcherKind::Stride { table_entries, .. } = &mut c.caches[L1].prefetchers[0].kind {
        *table_entries = 24;
    }
    let Err(errors) = MemorySystem::new(c) else { panic!("was built") };
    let text = errors.iter().map(|e| format!("{e}\n")).collect::<String>();
    for part in ["system.cpu.dcache.mshrs", "pf0.page_bytes", "pf0.table_entries", "pf1.pair_bytes", "pf1.queue_size"] {
        assert!(text.contains(part), "no word about {part} in\n{text}");
    }
}
