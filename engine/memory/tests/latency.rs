//! Exact latencies: each number is the sum of the configured ones along the way (docs/memory.md, "Load to use").

mod common;

use breakeven_base::{Clock, MemKind, PhysAddr, Tick, WalkPath};
use breakeven_memory::config::*;
use breakeven_memory::{MemorySystem, Port, Response, Side, TlbResult};
use common::*;

const A: u64 = RAM.start + 0x10_0000;
/// Memory latency of the simple configurations, in cycles.
const MEM: u64 = 120;

fn simple() -> MemorySystem {
    build(reference_simple(MEM * CYCLE, 0.0))
}

/// Cycles from `now` to the answer of a load.
fn cycles(m: &mut MemorySystem, now: u64, paddr: u64) -> f64 {
    (load(m, now * CYCLE, paddr) - now * CYCLE) as f64 / CYCLE as f64
}

fn do_access(m: &mut MemorySystem, now: u64, paddr: u64, kind: MemKind) -> u64 {
    let (at, _) = access(m, now * CYCLE, paddr, kind);
    at.div_ceil(CYCLE) - now
}

#[test]
fn every_level_answers_after_the_sum_of_the_way() {
    let mut m = simple();
    // L1 tag 2, L2 bus 1, L2 tag 10, memory bus 3 + 4 + 1, memory, memory bus 2, L2 10, L2 bus 1, L1 2.
    assert_eq!(cycles(&mut m, 1000, A), (2 + 1 + 10 + 8 + MEM + 2 + 10 + 1 + 2) as f64);
    assert_eq!(cycles(&mut m, 2000, A), 2.0);
    // Push the line out of its L1 set (64 sets); it stays in the L2.
    for i in 1..=8 {
        cycles(&mut m, 3000 * i, A + i * 64 * 64);
    }
    assert_eq!(cycles(&mut m, 50_000, A), (2 + 1 + 10 + 1 + 2) as f64);
    assert_eq!(access(&mut m, 60_000 * CYCLE, A, MemKind::Load).1, 0);
    assert_eq!(access(&mut m, 70_000 * CYCLE, A + 64 * 64, MemKind::Load).1, 1);
    assert_eq!(access(&mut m, 80_000 * CYCLE, A + (64 << 10), MemKind::Load).1, 2);
}

#[test]
fn a_third_level_and_missing_levels() {
    let mut c = reference_simple(MEM * CYCLE, 0.0);
    c.caches.push(cache("system.l3", 1 << 20, 20, 20, 12, Link::XBar(1)));
    c.xbars.push(l2_xbar(Link::Cache(3)));
    c.caches[2].mem_side = Link::XBar(2);
    let mut m = build(c);
    let to_l3 = 2 + 1 + 10 + 1 + 20;
    assert_eq!(cycles(&mut m, 0, A), (to_l3 + 8 + MEM + 2 + 20 + 1 + 10 + 1 + 2) as f64);
    assert_eq!(access(&mut m, 1000 * CYCLE, A + 4096, MemKind::Load).1, 3);

    let mut c = reference_simple(MEM * CYCLE, 0.0);
    c.data = Link::XBar(1);
    assert_eq!(cycles(&mut build(c.clone()), 0, A), (8 + MEM + 2) as f64);
    c.data = Link::Memory(0);
    assert_eq!(cycles(&mut build(c.clone()), 0, A), MEM as f64);
    c.data = Link::None;
    assert_eq!(cycles(&mut build(c), 0, A), 0.0);
}

#[test]
fn clock_domains_round_up_to_their_own_edges() {
    let mut c = reference_simple(0, 0.0);
    c.caches[2].clock = Clock::new(800);
    let mut m = build(c);
    cycles(&mut m, 0, A);
    for i in 1..=8 {
        cycles(&mut m, 3000 * i, A + i * 64 * 64);
    }
    // From tick 50_000_000 (an edge of both): L2 bus at +1000, header 500; the L2's edge after 50_001_000 is
    // 50_001_600; header rounds up to one of its cycles: + 800 + 8000; bus back 500 to a core edge, L1 1000.
    let at = load(&mut m, 50_000_000, A);
    let l2 = 50_001_600 + 800 + 8000;
    assert_eq!(at, (l2 + 500u64).div_ceil(500) * 500 + 1000);
}

#[test]
fn sequential_access_adds_tag_and_data() {
    let mut c = reference_simple(0, 0.0);
    c.caches[1].sequential_access = true;
    c.caches[1].data_latency = 3;
    let mut m = build(c);
    cycles(&mut m, 0, A);
    assert_eq!(cycles(&mut m, 1000, A), 5.0);
    assert_eq!(do_access(&mut m, 2000, A, MemKind::Store), 2);
}

#[test]
fn a_second_access_to_a_line_on_its_way_joins() {
    let mut m = simple();
    let first = load(&mut m, 0, A);
    // Same word: with the first. Another word: when the whole line is there, 64 bytes at 32 a cycle.
    assert_eq!(load(&mut m, 5 * CYCLE, A), first);
    assert_eq!(load(&mut m, 6 * CYCLE, A + 8), first + 2 * CYCLE);
    assert_eq!(stat(&m, "system.cpu.dcache.overallMisses::total"), 3.0);
    assert_eq!(stat(&m, "system.cpu.dcache.overallMshrMisses::total"), 1.0);
    assert_eq!(stat(&m, "system.cpu.dcache.overallMshrHits::total"), 2.0);
    assert_eq!(stat(&m, "system.l2.overallAccesses::total"), 1.0);
    assert_eq!(m.audit(), Ok(()));
}

#[test]
fn a_full_mshr_file_blocks_hits_too() {
    let mut m = simple();
    load(&mut m, 0, A);
    let now = 1000 * CYCLE;
    let first = (1..=10).map(|i| load(&mut m, now, A + i * 64)).min().expect("ten");
    let Response::Blocked { retry } = m.access(Port::Data, Tick(now), &request(A, MemKind::Load)) else {
        panic!("not blocked");
    };
    // The register is free when the response arrives, the response latency before the core has it.
    assert_eq!(retry.0, first - 2 * CYCLE + 1);
    assert_eq!(load(&mut m, retry.0, A), (retry.0.div_ceil(CYCLE) + 2) * CYCLE);
    assert_eq!(stat(&m, "system.cpu.dcache.blockedCauses::no_mshrs"), 1.0);
    assert!(stat(&m, "system.cpu.dcache.blockedCycles::no_mshrs") > 100.0);
    assert_eq!(m.audit(), Ok(()));
}

#[test]
fn targets_run_out() {
    let mut c = reference_simple(MEM * CYCLE, 0.0);
    c.caches[1].tgts_per_mshr = 3;
    let mut m = build(c);
    (0..3).for_each(|i| _ = load(&mut m, 0, A + 8 * i));
    assert!(matches!(m.access(Port::Data, Tick(CYCLE), &request(A, MemKind::Load)), Response::Blocked { .. }));
    assert_eq!(stat(&m, "system.cpu.dcache.blockedCauses::no_targets"), 1.0);
}

#[test]
fn a_blocked_second_level_holds_requests_back() {
    let mut c = reference_simple(MEM * CYCLE, 0.0);
    c.caches[2].mshrs = 1;
    let mut m = build(c);
    let (a, b) = (load(&mut m, 0, A), load(&mut m, 0, A + 4096));
    // The second waits at the L2 until the first has been answered there.
    assert!(b >= a + MEM * CYCLE, "{a} {b}");
}

#[test]
fn dirty_lines_come_back_and_clean_ones_only_say_so() {
    let mut m = simple();
    for (i, kind) in [MemKind::Store, MemKind::Load].into_iter().enumerate() {
        do_access(&mut m, 1000 * i as u64, A + 64 * i as u64, kind);
    }
    for i in 1..=8 {
        cycles(&mut m, 5000 * i, A + i * 4096);
        cycles(&mut m, 5000 * i + 1000, A + 64 + i * 4096);
    }
    assert_eq!(stat(&m, "system.cpu.dcache.writebacks::total"), 1.0);
    assert_eq!(stat(&m, "system.cpu.dcache.replacements"), 2.0);
    assert_eq!(stat(&m, "system.l2.WritebackDirty.hits::total"), 1.0);
    assert_eq!(stat(&m, "system.l2.CleanEvict.hits::total"), 1.0);
    // A load of the line that is dirty in the L2 takes the dirt along, so it is written back a second time.
    cycles(&mut m, 100_000, A);
    for i in 1..=8 {
        cycles(&mut m, 200_000 + 5000 * i, A + i * 4096);
    }
    assert_eq!(stat(&m, "system.cpu.dcache.writebacks::total"), 2.0);
}

#[test]
fn writeback_clean_carries_data() {
    let mut c = reference_simple(MEM * CYCLE, 0.0);
    c.caches[1].writeback_clean = true;
    let mut m = build(c);
    (0..=8).for_each(|i| _ = cycles(&mut m, 5000 * i, A + i * 4096));
    assert_eq!(stat(&m, "system.cpu.dcache.writebacks::total"), 1.0);
    assert_eq!(stat(&m, "system.l2.WritebackClean.hits::total"), 1.0);
}

#[test]
fn a_mostly_exclusive_level_keeps_what_was_evicted_only() {
    let mut c = reference_simple(MEM * CYCLE, 0.0);
    c.caches[2].clusivity = Clusivity::MostlyExcl;
    c.caches[1].writeback_clean = true;
    let mut m = build(c);
    cycles(&mut m, 0, A);
    assert_eq!(stat(&m, "system.l2.tags.tagsInUse"), 0.0);
    (1..=8).for_each(|i| _ = cycles(&mut m, 5000 * i, A + i * 4096));
    assert_eq!(stat(&m, "system.l2.tags.tagsInUse"), 1.0);
    // Back into the L1: a hit that leaves the L2 (and another clean line moves in).
    assert_eq!(access(&mut m, 100_000 * CYCLE, A, MemKind::Load).1, 1);
    assert_eq!(stat(&m, "system.l2.tags.tagsInUse"), 1.0);
    assert_eq!(m.audit(), Ok(()));
}

#[test]
fn replacement_policies_choose_differently() {
    // Lines 0..7 fill a set, 0 is used again, line 8 evicts: which of 0 and 1 is still there?
    let survivors = |replacement| {
        let mut c = reference_simple(MEM * CYCLE, 0.0);
        c.caches[1].replacement = replacement;
        let mut m = build(c);
        (0..8).for_each(|i| _ = cycles(&mut m, 1000 * i, A + i * 4096));
        cycles(&mut m, 10_000, A);
        cycles(&mut m, 11_000, A + 8 * 4096);
        let mut there = |i: u64| access(&mut m, (20_000 + 1000 * i) * CYCLE, A + i * 4096, MemKind::Load).1 == 0;
        (there(0), there(1))
    };
    assert_eq!(survivors(Replacement::Lru), (true, false));
    assert!(!survivors(Replacement::Fifo).0);
    assert!(survivors(Replacement::TreePlru).0);
}

#[test]
fn a_random_policy_may_take_ways_while_others_are_free() {
    // Eight lines of one set of eight ways, into an empty cache.
    let used = |any_way| {
        let mut c = reference_simple(MEM * CYCLE, 0.0);
        c.caches[1].replacement = Replacement::Random { seed: 1, any_way };
        let mut m = build(c);
        (0..8).for_each(|i| _ = cycles(&mut m, 1000 * i, A + i * 4096));
        assert_eq!(m.audit(), Ok(()));
        stat(&m, "system.cpu.dcache.tags.tagsInUse")
    };
    assert_eq!(used(false), 8.0);
    assert!((1.0..8.0).contains(&used(true)));
}

#[test]
fn the_bus_spaces_lines_out() {
    let pair = |limit| {
        let mut c = reference_simple(MEM * CYCLE, 0.0);
        c.xbars.iter_mut().for_each(|x| x.bandwidth_limit = limit);
        let mut m = build(c);
        for i in 0..=16 {
            cycles(&mut m, 1000 * i, A + i * 4096);
        }
        let now = 50_000 * CYCLE;
        (load(&mut m, now, A), load(&mut m, now, A + 4096))
    };
    let (a, b) = pair(false);
    assert_eq!(b, a);
    // The request layer takes the second a cycle later; the response layer is busy a header and two beats.
    let (a, b) = pair(true);
    assert_eq!(b - a, 3 * CYCLE);
}

#[test]
fn simple_memory_has_a_bandwidth() {
    let mut c = reference_simple(60_000, 12.8e9);
    c.data = Link::Memory(0);
    let mut m = build(c);
    let mut req = request(A, MemKind::Load);
    req.size = 64;
    let mut at = |addr| {
        req.paddr = PhysAddr(addr);
        match m.access(Port::Data, Tick(0), &req) {
            Response::Done { at, .. } => at.0,
            Response::Blocked { .. } | Response::Pending { .. } => 0,
        }
    };
    // A byte in 78.125 ticks: gem5 rounds that to 78, and 64 bytes take 4,992.
    assert_eq!([at(A), at(A + 64), at(A + 128)], [60_000, 64_992, 69_984]);
}

#[test]
fn a_bandwidth_below_a_byte_a_second_is_refused() {
    let mut c = reference_simple(60_000, 1e-3);
    c.data = Link::Memory(0);
    let Err(errors) = MemorySystem::new(c) else { panic!("was built") };
    assert!(errors[0].to_string().contains("at least a byte a second"), "{errors:?}");
}

#[test]
fn a_hit_bandwidth_spaces_hits_out() {
    let mut c = reference_simple(0, 0.0);
    c.caches[1].bandwidth = 4;
    let mut m = build(c);
    cycles(&mut m, 0, A);
    let now = 1000 * CYCLE;
    let at: Vec<u64> = (0..3).map(|i| load(&mut m, now, A + 8 * i) - now).collect();
    assert_eq!(at, [2 * CYCLE, 4 * CYCLE, 6 * CYCLE]);
}

#[test]
fn without_write_allocate_a_missing_store_goes_below() {
    let mut c = reference_simple(MEM * CYCLE, 0.0);
    c.caches[1].write_allocate = false;
    let mut m = build(c);
    assert_eq!(do_access(&mut m, 0, A, MemKind::Store), 2);
    assert_eq!(stat(&m, "system.cpu.dcache.tags.tagsInUse"), 0.0);
    assert_eq!(stat(&m, "system.l2.WriteReq.misses::total"), 1.0);
    cycles(&mut m, 1000, A);
    assert_eq!(do_access(&mut m, 2000, A, MemKind::Store), 2);
    assert_eq!(stat(&m, "system.l2.WriteReq.accesses::total"), 1.0);
}

#[test]
fn write_buffers_run_out() {
    let mut c = reference_simple(MEM * CYCLE, 0.0);
    c.caches[1].write_allocate = false;
    c.caches[2].mshrs = 1;
    let mut m = build(c);
    let blocked =
        (0..32).find_map(|i| match m.access(Port::Data, Tick(i * CYCLE), &request(A + i * 64, MemKind::Store)) {
            Response::Blocked { retry } | Response::Pending { until: retry, .. } => Some((i, retry.0)),
            Response::Done { .. } => None,
        });
    let (i, retry) = blocked.expect("the L2 takes one write a memory latency");
    assert!(i >= 8 && retry > i * CYCLE, "{i} {retry}");
    assert!(stat(&m, "system.cpu.dcache.blockedCauses::no_wb_buffers") >= 1.0);
}

#[test]
fn uncacheable_accesses_go_past_and_leave_no_line() {
    let mut c = reference_simple(MEM * CYCLE, 0.0);
    c.uncacheable.push(AddrRange { start: A, end: A + 4096 });
    let mut m = build(c);
    let way = 2 + 1 + 10 + 8 + MEM + 2 + 10 + 1 + 2;
    // The word's own beat on both buses comes on top: 8 bytes, a cycle each.
    assert_eq!(cycles(&mut m, 0, A), (way + 2) as f64);
    assert_eq!(cycles(&mut m, 1000, A), (way + 2) as f64);
    assert_eq!(stat(&m, "system.cpu.dcache.tags.tagsInUse"), 0.0);
    // A line that was cached before it became uncacheable leaves.
    do_access(&mut m, 2000, A + 8192, MemKind::Store);
    let mut req = request(A + 8192, MemKind::Load);
    req.uncacheable = true;
    m.access(Port::Data, Tick(4000 * CYCLE), &req);
    assert_eq!(stat(&m, "system.cpu.dcache.tags.tagsInUse"), 0.0);
    assert_eq!(stat(&m, "system.cpu.dcache.writebacks::total"), 1.0);
}

#[test]
fn cache_block_operations_act_on_all_levels() {
    let mut m = simple();
    do_access(&mut m, 0, A, MemKind::Store);
    // To the memory bus and back: L1 2, bus 1, L2 10, bus 8; 10, 1, 2. The data goes ahead and occupies the memory bus
    // for a header and four beats.
    assert_eq!(do_access(&mut m, 1000, A, MemKind::CboClean), 2 + 1 + 10 + 8 + 10 + 1 + 2 + 5);
    assert_eq!(stat(&m, "system.mem_ctrl.numWrites::total"), 1.0);
    assert_eq!(access(&mut m, 2000 * CYCLE, A, MemKind::Load).1, 0);
    do_access(&mut m, 3000, A, MemKind::CboFlush);
    assert_eq!(stat(&m, "system.mem_ctrl.numWrites::total"), 1.0);
    assert_eq!(access(&mut m, 4000 * CYCLE, A, MemKind::Load).1, 2);
    // Zeroing a line reads nothing.
    let reads = stat(&m, "system.mem_ctrl.numReads::total");
    do_access(&mut m, 5000, A + 4096, MemKind::CboZero);
    assert_eq!(stat(&m, "system.mem_ctrl.numReads::total"), reads);
    assert_eq!(access(&mut m, 6000 * CYCLE, A + 4096, MemKind::Load).1, 0);
    do_access(&mut m, 7000, A + 4096, MemKind::CboFlush);
    assert_eq!(stat(&m, "system.mem_ctrl.numWrites::total"), 2.0);
    assert_eq!(m.audit(), Ok(()));
}

#[test]
fn prefetches_do_not_wait() {
    let mut m = simple();
    assert_eq!(do_access(&mut m, 0, A, MemKind::PrefetchRead), 2);
    assert_eq!(do_access(&mut m, 500, A, MemKind::Load), 2);
    assert_eq!(stat(&m, "system.cpu.dcache.demandMisses::total"), 0.0);
    assert_eq!(stat(&m, "system.cpu.dcache.overallMisses::total"), 1.0);
    do_access(&mut m, 1000, A + 4096, MemKind::PrefetchFetch);
    assert_eq!(stat(&m, "system.cpu.icache.tags.tagsInUse"), 1.0);
}

#[test]
fn a_dirty_line_beside_is_supplied_and_fence_i_drops_stale_code() {
    let mut m = simple();
    let fetch =
        |m: &mut MemorySystem, now: u64| match m.access(Port::Inst, Tick(now * CYCLE), &request(A, MemKind::Fetch)) {
            Response::Done { at, level } => (at.0 / CYCLE - now, level),
            Response::Blocked { .. } | Response::Pending { .. } => (0, 9),
        };
    do_access(&mut m, 0, A, MemKind::Store);
    // L1 2, bus 1, the other L1 answers after its tag latency, bus 1, L1 2.
    assert_eq!(fetch(&mut m, 1000).0, 2 + 1 + 2 + 1 + 2);
    assert_eq!(fetch(&mut m, 2000).1, 0);
    m.fetch_flush();
    assert_eq!(fetch(&mut m, 3000).1, 1);
}

#[test]
fn walks_read_through_the_second_level_one_after_the_other() {
    let mut m = simple();
    let path = WalkPath { n: 3, ptes: [A, A + 4096, A + 8192, 0, 0].map(PhysAddr) };
    let miss = 1 + 10 + 8 + MEM + 2 + 10 + 1;
    let hit = 1 + 10 + 1;
    assert_eq!(m.tlb_lookup(Side::Data, Tick(0), 0x4000_1234, 12, 1, false), TlbResult::Miss { at: Tick(0) });
    assert_eq!(m.tlb_walk(Side::Data, Tick(0), 0x4000_1234, 12, 1, &path), Tick(3 * miss * CYCLE));
    let now = Tick(1_000_000);
    assert_eq!(m.tlb_lookup(Side::Data, now, 0x4000_1fff, 12, 1, true), TlbResult::Hit { at: now });
    assert_eq!(m.tlb_lookup(Side::Data, now, 0x4000_1fff, 12, 2, true), TlbResult::Miss { at: now });
    assert_eq!(m.tlb_lookup(Side::Inst, now, 0x4000_1fff, 0, 2, false), TlbResult::Hit { at: now });
    assert_eq!(m.tlb_walk(Side::Inst, now, 0x4000_1234, 12, 1, &path), now + 3 * hit * CYCLE);
    assert_eq!(stat(&m, "system.cpu.mmu.dtb.misses"), 2.0);
    m.tlb_flush(Some(0x4000_1000));
    assert_eq!(m.tlb_lookup(Side::Data, now, 0x4000_1fff, 12, 1, true), TlbResult::Miss { at: now });
    assert_eq!(m.audit(), Ok(()));
}

#[test]
fn a_walker_that_knows_upper_entries_reads_the_last_only() {
    let mut c = reference_simple(MEM * CYCLE, 0.0);
    c.walkers[1] = WalkerConfig { upper_entries: vec![1, 2] };
    let mut m = build(c);
    let miss = 1 + 10 + 8 + MEM + 2 + 10 + 1;
    let hit = 1 + 10 + 1;
    let mut walk = |now: u64, ptes: [u64; 5]| {
        m.tlb_walk(Side::Data, Tick(now), 0x4000_1000, 12, 0, &WalkPath { n: 3, ptes: ptes.map(PhysAddr) })
            .0
            .wrapping_sub(now)
            / CYCLE
    };
    assert_eq!(walk(0, [A, A + 4096, A + 8192, 0, 0]), 3 * miss);
    assert_eq!(walk(1_000_000, [A, A + 4096, A + 8200, 0, 0]), hit);
    assert_eq!(walk(2_000_000, [A, A + 4104, A + 8208, 0, 0]), 2 * hit);
    assert_eq!(stat(&m, "system.cpu.mmu.dtb.walker.entriesSkipped"), 3.0);
    m.tlb_flush(Some(0x9000));
    let path = WalkPath { n: 3, ptes: [A, A + 4096, A + 8192, 0, 0].map(PhysAddr) };
    let now = Tick(3_000_000);
    assert_eq!(m.tlb_walk(Side::Data, now, 0x4000_1000, 12, 0, &path), now + 3 * hit * CYCLE);
    assert_eq!(m.audit(), Ok(()));
}

#[test]
fn the_second_level_tlb_is_shared_and_costs_its_latency() {
    let mut c = reference_simple(0, 0.0);
    c.l2_tlb = Some(L2TlbConfig { size: 512, assoc: 4, latency: 7 });
    let mut m = build(c);
    let now = Tick(1_000_000);
    let late = now + 7 * CYCLE;
    assert_eq!(m.tlb_lookup(Side::Data, now, 0x1000, 12, 0, false), TlbResult::Miss { at: late });
    m.tlb_walk(Side::Data, now, 0x1000, 12, 0, &WalkPath::default());
    assert_eq!(m.tlb_lookup(Side::Inst, now, 0x1000, 12, 0, false), TlbResult::Hit { at: late });
    assert_eq!(m.tlb_lookup(Side::Inst, now, 0x1000, 12, 0, false), TlbResult::Hit { at: now });
}

#[test]
fn a_flush_writes_everything_back_and_takes_its_time() {
    let mut m = simple();
    access(&mut m, 1000 * CYCLE, A, MemKind::Store);
    load(&mut m, 2000 * CYCLE, A + 64);
    let start = 10_000;
    m.flush_caches(Tick(start * CYCLE), 5);
    // Two lines in either level, five cycles each; the dirty one has gone to the memory before its level is through.
    let asked = Tick((start + 1) * CYCLE);
    let Response::Blocked { retry } = m.access(Port::Data, asked, &request(A, MemKind::Load)) else {
        panic!("a cache that is being written back takes nothing");
    };
    assert_eq!(retry, Tick((start + 4 * 5) * CYCLE));
    assert_eq!(["system.cpu.dcache", "system.l2"].map(|c| stat(&m, &format!("{c}.writebacks::total"))), [1.0, 1.0]);
    assert_eq!(access(&mut m, retry.0, A, MemKind::Load).1, 2, "from the memory");
    m.audit().expect("nothing is out of order");
}
