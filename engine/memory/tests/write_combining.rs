//! Non-temporal stores, write-combining memory, stores of whole lines: transfers counted, latencies derived.

mod common;

use breakeven_base::{MemKind, Tick};
use breakeven_memory::config::*;
use breakeven_memory::{MemorySystem, Port, Request, Response};
use common::*;

const A: u64 = RAM.start + 0x10_0000;
const B: u64 = RAM.start + 0x20_0000;
const MEM: u64 = 120;
/// A full buffer's way: L2 bus 1, memory bus 8, four beats of 16 bytes, memory, memory bus 2, L2 bus 1.
const FULL: u64 = 1 + 8 + 4 + MEM + 2 + 1;
/// Eight bytes: one beat.
const PIECE: u64 = 1 + 8 + 1 + MEM + 2 + 1;

fn config(buffers: u32) -> MemorySystemConfig {
    let mut c = reference_simple(MEM * CYCLE, 0.0);
    c.xbars.iter_mut().for_each(|x| x.bandwidth_limit = false);
    c.write_combining = Some(WriteCombiningConfig { buffers, ..WriteCombiningConfig::new("wc") });
    c
}

fn with_range() -> MemorySystemConfig {
    let mut c = config(4);
    if let Some(w) = &mut c.write_combining {
        w.ranges = vec![AddrRange { start: B, end: B + 0x1000 }];
    }
    c
}

/// Stores and loads without caring for time: asks again as long as it is told to.
struct Core {
    m: MemorySystem,
    now: u64,
}

impl Core {
    fn new(c: MemorySystemConfig) -> Self {
        Core { m: build(c), now: 1000 * CYCLE }
    }

    /// The cycles it took, and the level that answered.
    fn go(&mut self, paddr: u64, size: u16, kind: MemKind, non_temporal: bool) -> (u64, u8) {
        let req = Request { size, non_temporal, ..request(paddr, kind) };
        let start = self.now;
        loop {
            match self.m.access(Port::Data, Tick(self.now), &req) {
                Response::Done { at, level } => {
                    self.now = at.0.max(self.now).div_ceil(CYCLE) * CYCLE;
                    return ((self.now - start) / CYCLE, level);
                }
                Response::Blocked { retry } | Response::Pending { until: retry, .. } => {
                    self.now = retry.0.div_ceil(CYCLE) * CYCLE;
                }
            }
        }
    }

    fn fence(&mut self) -> u64 {
        let start = self.now;
        self.now = self.m.flush_write_combining(Tick(start)).0.div_ceil(CYCLE) * CYCLE;
        (self.now - start) / CYCLE
    }

    fn wc(&self, name: &str) -> u64 {
        stat(&self.m, &format!("wc.{name}")) as u64
    }

    /// Reads and writes of the memory.
    fn transfers(&self) -> (u64, u64) {
        let get = |name: &str| stat(&self.m, &format!("system.mem_ctrl.{name}::total")) as u64;
        (get("numReads"), get("numWrites"))
    }
}

/// Copies `lines` lines, 16 bytes at a time, and lets the caches write back what they hold.
fn copy(mut core: Core, lines: u64, store: impl Fn(&mut Core, u64)) -> (u64, u64) {
    for line in 0..lines {
        for part in 0..4 {
            core.go(A + 64 * line + 16 * part, 16, MemKind::Load, false);
        }
        store(&mut core, B + 64 * line);
    }
    core.fence();
    for line in 0..lines {
        core.go(B + 64 * line, 8, MemKind::CboFlush, false);
    }
    assert_eq!(core.m.audit(), Ok(()));
    core.transfers()
}

#[test]
fn a_copied_line_costs_three_transfers_through_the_caches_and_two_past_them() {
    let pieces = |non_temporal: bool| {
        move |core: &mut Core, line: u64| {
            (0..4).for_each(|i| _ = core.go(line + 16 * i, 16, MemKind::Store, non_temporal));
        }
    };
    // Source read, destination read for ownership, destination written back.
    assert_eq!(copy(Core::new(config(10)), 2000, pieces(false)), (2 * 2000, 2000));
    assert_eq!(copy(Core::new(config(10)), 2000, pieces(true)), (2000, 2000));
    // A string instruction's line needs no read, and may go past the caches too.
    let whole =
        |non_temporal: bool| move |core: &mut Core, line: u64| _ = core.go(line, 64, MemKind::StoreLine, non_temporal);
    assert_eq!(copy(Core::new(config(10)), 2000, whole(false)), (2000, 2000));
    assert_eq!(copy(Core::new(config(10)), 2000, whole(true)), (2000, 2000));
    // Without buffers the hint means nothing, as in gem5.
    let mut plain = config(10);
    plain.write_combining = None;
    assert_eq!(copy(Core::new(plain), 2000, pieces(true)), (2 * 2000, 2000));
}

#[test]
fn a_full_buffer_is_one_write_and_a_fence_waits_for_its_answer() {
    let mut core = Core::new(config(4));
    for i in 0..8 {
        assert_eq!(core.go(A + 8 * i, 8, MemKind::Store, true), (1, 0));
    }
    // The last store's buffer left with it.
    assert_eq!(core.fence(), FULL);
    assert_eq!(core.fence(), 0);
    assert_eq!((core.transfers(), core.wc("fullWrites"), core.wc("partialFlushes")), ((0, 1), 1, 0));
    assert_eq!(core.wc("stores"), 8);
}

#[test]
fn what_is_not_full_leaves_in_pieces() {
    let mut core = Core::new(config(4));
    core.go(A + 8, 8, MemKind::Store, true);
    assert_eq!(core.fence(), PIECE);
    assert_eq!(core.wc("partialWrites"), 1);
    // Bytes 3..11 touch two pieces, 40..44 a third.
    core.go(A + 3, 8, MemKind::Store, true);
    core.go(A + 40, 4, MemKind::Store, true);
    core.fence();
    assert_eq!((core.wc("partialFlushes"), core.wc("partialWrites"), core.transfers()), (2, 4, (0, 4)));
    let mut coarse = config(4);
    if let Some(w) = &mut coarse.write_combining {
        (w.buffer_bytes, w.partial_bytes) = (32, 32);
    }
    let mut core = Core::new(coarse);
    core.go(A + 24, 16, MemKind::Store, true); // two buffers
    core.fence();
    assert_eq!((core.wc("partialFlushes"), core.wc("partialWrites")), (2, 2));
}

#[test]
fn the_oldest_gives_way_when_another_line_comes() {
    let mut core = Core::new(config(2));
    core.go(A, 8, MemKind::Store, true);
    core.go(A + 64, 8, MemKind::Store, true);
    assert_eq!(core.go(A + 8, 8, MemKind::Store, true).0, 1, "merges");
    // The store waits for the answer to both pieces of the first; the second leaves when the memory bus, a cycle on, has
    // taken the other.
    assert_eq!(core.go(A + 128, 8, MemKind::Store, true).0, PIECE + 1 + 1);
    assert_eq!((core.wc("evictions"), core.wc("partialWrites")), (1, 2));
    assert_eq!(core.go(A + 72, 8, MemKind::Store, true).0, 1, "the second still gathers");
}

#[test]
fn lines_in_flight_are_limited_by_the_buffers() {
    for buffers in [1, 4] {
        let mut core = Core::new(config(buffers));
        let start = core.now;
        for i in 0..40 {
            core.go(A + 64 * i, 64, MemKind::StoreLine, true);
        }
        // A buffer is busy from the store on for its cycle and the write's way; the stores of one round follow each other.
        let round = 1 + FULL;
        let rounds = 40 / u64::from(buffers);
        assert_eq!((core.now - start) / CYCLE, (rounds - 1) * round + u64::from(buffers), "{buffers} buffers");
    }
}

#[test]
fn a_cached_copy_is_written_back_and_gone() {
    let mut core = Core::new(config(4));
    core.go(A, 8, MemKind::Store, false);
    assert_eq!(core.transfers(), (1, 0));
    core.go(A + 8, 8, MemKind::Store, true);
    assert_eq!((core.transfers(), core.wc("expelledLines")), ((1, 1), 2), "from both levels");
    // A load waits for what gathered, then goes to the memory.
    let (cycles, level) = core.go(A, 8, MemKind::Load, false);
    assert_eq!((cycles, level), (PIECE + 2 + 1 + 10 + 8 + MEM + 2 + 10 + 1 + 2, 2));
    assert_eq!(core.transfers(), (2, 2));
    // A store of the usual kind does, too.
    core.go(A, 8, MemKind::Store, true);
    core.go(A, 8, MemKind::Store, false);
    assert_eq!((core.transfers(), core.fence()), ((3, 3), 0));
}

#[test]
fn locked_and_uncached_accesses_empty_the_buffers() {
    let mut core = Core::new(config(4));
    core.go(B, 8, MemKind::Load, false);
    for atomic in [true, false] {
        core.go(A, 8, MemKind::Store, true);
        let req = Request { uncacheable: !atomic, ..request(B, if atomic { MemKind::Atomic } else { MemKind::Load }) };
        let Response::Blocked { retry } = core.m.access(Port::Data, Tick(core.now), &req) else { panic!("went") };
        assert_eq!(retry.0, core.now + PIECE * CYCLE);
        core.now = retry.0;
        assert!(matches!(core.m.access(Port::Data, retry, &req), Response::Done { .. }));
        core.now += 1000 * CYCLE;
    }
}

#[test]
fn write_combining_memory_is_never_cached() {
    let mut core = Core::new(with_range());
    (0..8).for_each(|i| _ = core.go(B + 8 * i, 8, MemKind::Store, false));
    core.fence();
    assert_eq!((core.transfers(), core.wc("fullWrites")), ((0, 1), 1));
    (0..2).for_each(|_| assert_eq!(core.go(B, 8, MemKind::Load, false).1, 2));
    assert_eq!(core.transfers(), (2, 1));
    // Streaming loads: the line comes once.
    let first = core.go(B + 64, 16, MemKind::Load, true);
    assert_eq!(first.1, 2);
    (1..4).for_each(|i| assert_eq!(core.go(B + 64 + 16 * i, 16, MemKind::Load, true), (1, 0)));
    assert_eq!((core.transfers(), core.wc("streamingLoadHits")), ((3, 1), 3));
    // A store to the line, or a fence, makes it stale.
    core.go(B + 64, 8, MemKind::Store, false);
    assert_eq!(core.go(B + 64, 16, MemKind::Load, true).1, 2);
    core.fence();
    assert_eq!(core.go(B + 64, 16, MemKind::Load, true).1, 2);
}

#[test]
fn a_streaming_load_waits_for_a_blocked_cache_as_others_do() {
    let mut c = with_range();
    c.caches[1].mshrs = 1;
    let mut m = build(c);
    let now = Tick(1000 * CYCLE);
    let Response::Done { at, .. } = m.access(Port::Data, now, &request(A, MemKind::Load)) else { panic!("it misses") };
    let streaming = Request { non_temporal: true, ..request(B, MemKind::Load) };
    let Response::Blocked { retry } = m.access(Port::Data, now, &streaming) else { panic!("no MSHR is free") };
    assert!(retry > now && retry <= at);
    assert!(matches!(m.access(Port::Data, at, &streaming), Response::Done { .. }));
    assert_eq!(m.audit(), Ok(()));
}

#[test]
fn a_non_temporal_prefetch_fills_the_first_level_only() {
    for first_level_only in [true, false] {
        let mut c = config(4);
        if let Some(w) = &mut c.write_combining {
            w.prefetch_nta_first_level = first_level_only;
        }
        let mut core = Core::new(c);
        core.go(A, 8, MemKind::PrefetchRead, true);
        core.now += 1000 * CYCLE;
        assert_eq!(core.go(A, 8, MemKind::Load, false).1, 0);
        // Push it out of its set of eight.
        (1..=8).for_each(|i| _ = core.go(A + 4096 * i, 8, MemKind::Load, false));
        assert_eq!(core.go(A, 8, MemKind::Load, false).1, if first_level_only { 2 } else { 1 });
    }
}

#[test]
fn mistakes_are_reported_with_their_path() {
    let mut c = config(0);
    if let Some(w) = &mut c.write_combining {
        (w.buffer_bytes, w.partial_bytes) = (48, 128);
        w.ranges = vec![AddrRange { start: 1, end: 1 }];
    }
    let Err(errors) = MemorySystem::new(c) else { panic!("was built") };
    let text = errors.iter().map(|e| format!("{e}\n")).collect::<String>();
    for part in ["wc.buffers", "wc.buffer_bytes", "wc.partial_bytes", "wc.ranges"] {
        assert!(text.contains(part), "no word about {part} in\n{text}");
    }
}

#[test]
fn a_posted_buffer_is_free_when_the_memory_has_accepted_it() {
    // Three lines through one buffer, then a fence.
    let times = |posted: bool, write_buffer_size: u32| {
        let mut c = config(1);
        c.write_combining.iter_mut().for_each(|w| w.posted = posted);
        if let MemoryConfig::Simple(m) = &mut c.memories[0] {
            m.write_buffer_size = write_buffer_size;
        }
        let mut core = Core::new(c);
        let start = core.now;
        let stores = [0, 64, 128].map(|offset| {
            core.go(A + offset, 64, MemKind::StoreLine, true);
            (core.now - start) / CYCLE
        });
        core.fence();
        assert_eq!((core.transfers(), core.m.audit()), ((0, 3), Ok(())));
        (stores, (core.now - start) / CYCLE)
    };
    // A store takes a cycle; then its buffer is sent.
    let each = 1 + FULL;
    assert_eq!(times(false, 0), ([1, each + 1, 2 * each + 1], 3 * each));
    // The way to the memory: L2 bus 1, and on the memory bus the request without its data.
    let there = each - FULL + 1;
    assert_eq!(times(true, 0), ([1, there + 1, 2 * there + 1], 2 * there + each));
    // With one write under way at a time the second is accepted when the first, accepted two cycles after the start, is
    // done; answers take three cycles back.
    let done = each - 3;
    assert_eq!(times(true, 1), ([1, there + 1, done + 1], done + 2 * (done - 2) + 3));
}

#[test]
fn reads_do_not_wait_for_a_memory_that_is_full_of_writes() {
    let mut c = reference_simple(MEM * CYCLE, 0.0);
    if let MemoryConfig::Simple(m) = &mut c.memories[0] {
        m.write_buffer_size = 1;
    }
    let (mut bounded, mut plain) = (build(c), build(reference_simple(MEM * CYCLE, 0.0)));
    assert_eq!(load(&mut bounded, 1000, A), load(&mut plain, 1000, A));
}
