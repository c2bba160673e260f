//! DRAM timing, the core directly on the controller: static latencies 10 + 10 ns, DDR3-1600 otherwise.

mod common;

use breakeven_base::{MemKind, PhysAddr, Tick};
use breakeven_memory::config::*;
use breakeven_memory::{MemorySystem, Port, Request, Response};
use common::*;

const STATIC: u64 = 20_000;
const ROW: u64 = 8192;
const BANKS: u64 = 16;
const CLOSED: u64 = 13_750 + 13_750 + 5_000;
const HIT: u64 = 13_750 + 5_000;
const CONFLICT: u64 = 13_750 + CLOSED;

fn dram(change: impl FnOnce(&mut MemCtrlConfig)) -> MemorySystem {
    let mut ctrl = ddr3_1600();
    change(&mut ctrl);
    let mut c = reference();
    c.data = Link::Memory(0);
    c.memories[0] = MemoryConfig::Dram(Box::new(ctrl));
    build(c)
}

fn go(m: &mut MemorySystem, now: u64, line: u64, kind: MemKind) -> u64 {
    let req = Request { paddr: PhysAddr(RAM.start + line), size: 64, ..request(0, kind) };
    match m.access(Port::Data, Tick(now), &req) {
        Response::Done { at, .. } => at.0 - now,
        Response::Blocked { .. } | Response::Pending { .. } => panic!("a memory never blocks the core"),
    }
}

fn read(m: &mut MemorySystem, now: u64, line: u64) -> u64 {
    go(m, now, line, MemKind::Load)
}

#[test]
fn closed_row_hit_and_conflict() {
    let mut m = dram(|_| {});
    assert_eq!(read(&mut m, 100_000, 0), STATIC + CLOSED);
    assert_eq!(read(&mut m, 200_000, 64), STATIC + HIT);
    // The next row of the same bank is after all banks of all ranks.
    assert_eq!(read(&mut m, 300_000, BANKS * ROW), STATIC + CONFLICT);
    assert_eq!(read(&mut m, 400_000, ROW), STATIC + CLOSED);
    assert_eq!(stat(&m, "system.mem_ctrl.dram.readRowHits"), 1.0);
    assert_eq!(stat(&m, "system.mem_ctrl.readReqs"), 4.0);
    assert_eq!(m.audit(), Ok(()));
}

#[test]
fn a_hit_goes_before_a_conflict_that_waits() {
    let third = |policy, at| {
        let mut m = dram(|c| c.mem_sched_policy = policy);
        [(0, 100_000), (BANKS * ROW, 100_000), (64, at)].map(|(line, now)| read(&mut m, now, line))[2]
    };
    assert_eq!(third(SchedPolicy::FrFcfs, 100_000), STATIC + CLOSED + 5_000);
    let in_order = third(SchedPolicy::Fcfs, 100_000);
    assert!(in_order > STATIC + CLOSED + CONFLICT, "{in_order}");
    assert_eq!(third(SchedPolicy::FrFcfs, 101_000), in_order - 1_000, "too late: the conflict has been chosen");
}

#[test]
fn an_early_conflict_waits_for_tras() {
    let mut m = dram(|_| {});
    let first = 100_000;
    read(&mut m, first, 0);
    // Precharge at activate + tRAS (35 ns), then as a closed row.
    let now = first + 20_000;
    assert_eq!(read(&mut m, now, BANKS * ROW), 15_000 + STATIC + CONFLICT);
}

#[test]
fn bursts_follow_each_other_on_the_bus() {
    let mut m = dram(|_| {});
    let at: Vec<u64> = (0..4).map(|i| read(&mut m, 100_000, i * 64)).collect();
    assert_eq!(at, [0, 5_000, 10_000, 15_000].map(|t| STATIC + CLOSED + t));
}

#[test]
fn page_policies() {
    let third = |policy, max| {
        let mut m = dram(|c| {
            c.dram.page_policy = policy;
            c.dram.max_accesses_per_row = max;
        });
        (1..=3).map(|i| read(&mut m, 200_000 * i, i * 64)).collect::<Vec<_>>()[2] - STATIC
    };
    assert_eq!(third(PagePolicy::Open, 16), HIT);
    assert_eq!(third(PagePolicy::OpenAdaptive, 16), HIT);
    assert_eq!(third(PagePolicy::OpenAdaptive, 2), CLOSED);
    assert_eq!(third(PagePolicy::Close, 16), CLOSED);
    assert_eq!(third(PagePolicy::CloseAdaptive, 16), CLOSED);
}

#[test]
fn refresh_closes_rows_and_holds_accesses_up() {
    let mut m = dram(|_| {});
    read(&mut m, 100_000, 0);
    // Due tRP before tREFI; precharge, then tRFC.
    let due = 7_800_000 - 13_750;
    let done = due + 13_750 + 260_000;
    assert_eq!(read(&mut m, due + 1_000, 64), done - (due + 1_000) + STATIC + CLOSED);
    assert_eq!(read(&mut m, done + 100_000, 64), STATIC + HIT);
    let mut off = dram(|c| c.dram.tREFI = 0);
    read(&mut off, 100_000, 0);
    assert_eq!(read(&mut off, due + 1_000, 64), STATIC + HIT);
}

#[test]
fn four_activations_fill_the_window() {
    let mut m = dram(|_| {});
    let at: Vec<u64> = (0..5).map(|i| read(&mut m, 100_000, i * ROW) - STATIC - CLOSED).collect();
    // tRRD 6 ns between activations, the fifth tXAW (30 ns) after the first.
    assert_eq!(at, [0, 6_000, 12_000, 18_000, 30_000]);
}

#[test]
fn writes_are_queued_and_drained_together() {
    let mut m = dram(|_| {});
    for i in 0..32 {
        assert_eq!(go(&mut m, 100_000 + i * 10_000, i * 64, MemKind::Store), 10_000);
    }
    read(&mut m, 1_000_000, 1 << 20);
    assert_eq!(stat(&m, "system.mem_ctrl.dram.writeBursts"), 0.0);
    // One above the low threshold with no read waiting: 17 go, then 15 are fewer than low - min_writes_per_switch.
    for i in 32..34 {
        go(&mut m, 1_000_000 + i * 10_000, i * 64, MemKind::Store);
    }
    read(&mut m, 3_000_000, 1 << 20);
    assert!(stat(&m, "system.mem_ctrl.dram.writeBursts") >= 16.0);
    assert!(stat(&m, "system.mem_ctrl.dram.writeRowHits") >= 14.0);
    assert_eq!(m.audit(), Ok(()));
}

#[test]
fn reads_are_served_from_the_write_queue_and_writes_merge() {
    let mut m = dram(|_| {});
    go(&mut m, 100_000, 0, MemKind::Store);
    go(&mut m, 200_000, 0, MemKind::Store);
    assert_eq!(read(&mut m, 300_000, 0), 10_000);
    assert_eq!(stat(&m, "system.mem_ctrl.mergedWrBursts"), 1.0);
    assert_eq!(stat(&m, "system.mem_ctrl.servicedByWrQ"), 1.0);
}

#[test]
fn a_read_behind_writes_waits_for_the_turnaround() {
    let mut m = dram(|c| c.write_low_thresh_perc = 1);
    for i in 0..3 {
        go(&mut m, 100_000, i * 64, MemKind::Store);
    }
    let alone = STATIC + HIT;
    let behind = read(&mut m, 120_000, 3 * 64);
    // At least write data, tWTR and the write latency after the last write.
    assert!(behind > alone + 13_750 + 5_000 + 7_500, "{behind}");
}

#[test]
fn a_full_write_queue_takes_one_write_a_burst() {
    let mut m = dram(|_| {});
    let last = (0..400).map(|i| go(&mut m, 100_000, i * 64, MemKind::Store)).max().expect("writes");
    let rate = last as f64 / (400.0 - 64.0);
    assert!((4_500.0..7_500.0).contains(&rate), "{rate} ticks a line, a burst takes 5000");
    assert!(stat(&m, "system.mem_ctrl.numWrRetry") > 0.0);
}

#[test]
fn address_mapping_interleaves_banks_at_the_bottom() {
    let mut m = dram(|c| c.dram.addr_mapping = AddrMapping::RoCoRaBaCh);
    read(&mut m, 100_000, 0);
    assert_eq!(read(&mut m, 200_000, 64), STATIC + CLOSED);
    assert_eq!(read(&mut m, 300_000, BANKS * 64), STATIC + HIT);
}
