//! Hits made together change what hits one by one do.

mod common;

use std::ops::Range;

use breakeven_base::{MemKind, PhysAddr, StatSink, Tick, WalkPath};
use breakeven_memory::config::*;
use breakeven_memory::{DataUses, LineUse, MemorySystem, PageUse, Port, Response, Side, TlbResult};
use common::*;
use proptest::collection::vec;
use proptest::prelude::*;

const SHIFT: u8 = 12;
/// What all accesses are made in.
const LATER: Range<Tick> = Tick(100_000_000)..Tick(110_000_000);

/// A first level of 64 lines in four ways, and a TLB of four entries.
fn small(policy: Replacement) -> MemorySystem {
    let mut c = reference();
    (c.caches[1].size, c.caches[1].assoc, c.caches[1].replacement) = (64 * 64, 4, policy);
    c.dtb.size = 4;
    build(c)
}

/// An access of the `n`th word.
fn address(n: u64) -> u64 {
    RAM.start + 8 * n
}

fn warm(m: &mut MemorySystem) {
    for line in 0..64 {
        access(m, line * 200_000, address(8 * line), MemKind::Load);
    }
    m.tlb_walk(Side::Data, Tick(20_000_000), address(0), SHIFT, 0, &WalkPath { n: 0, ptes: [PhysAddr::ZERO; 5] });
}

/// Looks the page up, accesses the word; whether both hit.
fn hits(m: &mut MemorySystem, now: u64, word: u64, is_store: bool) -> bool {
    let kind = if is_store { MemKind::Store } else { MemKind::Load };
    let page = m.tlb_lookup(Side::Data, Tick(now), address(word), SHIFT, 0, is_store);
    let response = m.access(Port::Data, Tick(now), &request(address(word), kind));
    matches!(page, TlbResult::Hit { .. }) && matches!(response, Response::Done { level: 0, .. })
}

/// The accesses as one: each line in the order of its last use.
fn together(words: &[(u64, bool)]) -> DataUses {
    let mut uses = DataUses::default();
    for &(word, is_store) in words {
        let addr = PhysAddr(address(word)).align_down(64);
        let before = uses.lines.iter().position(|l| l.addr == addr).map(|i| uses.lines.remove(i));
        uses.lines.push(LineUse { addr, is_written: is_store || before.is_some_and(|l| l.is_written) });
        let i = usize::from(is_store);
        uses.counts.accesses[i] += 1;
        uses.counts.ticks[i] += 2 * CYCLE;
        uses.counts.pages[i] += 1;
    }
    uses.pages.push(PageUse { vaddr: address(0), shift: SHIFT, asid: 0 });
    uses
}

fn statistics(m: &MemorySystem) -> Vec<(String, String)> {
    let mut sink = StatSink::new();
    m.collect(&mut sink);
    sink.stats.into_iter().map(|s| (s.name, s.value.to_string())).collect()
}

/// Accesses that evict lines, and all statistics.
fn behind(m: &mut MemorySystem, then: &[(u64, bool)]) -> (Vec<(u64, u8)>, Vec<(String, String)>) {
    let answers = then.iter().zip(0..).map(|(&(word, is_store), i)| {
        let kind = if is_store { MemKind::Store } else { MemKind::Load };
        access(m, LATER.end.0 + i * 1_000_000, address(word), kind)
    });
    (answers.collect(), statistics(m))
}

fn word(end: u64) -> impl Strategy<Value = (u64, bool)> {
    (0..end, any::<bool>())
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn together_or_one_by_one(words in vec(word(512), 1..200), then in vec(word(4096), 1..60), policy in 0..4_usize) {
        let random = Replacement::Random { seed: 1, any_way: false };
        let mut one_by_one = small([Replacement::Lru, Replacement::TreePlru, Replacement::Fifo, random][policy]);
        warm(&mut one_by_one);
        let mut at_once = one_by_one.clone();
        let uses = together(&words);
        prop_assert!(at_once.counts_data_hits(true));
        prop_assert!(at_once.all_hit(&uses, &LATER));
        at_once.use_all(&uses);
        for (&(word, is_store), now) in words.iter().zip((LATER.start.0..).step_by(CYCLE as usize)) {
            prop_assert!(hits(&mut one_by_one, now, word, is_store));
        }
        prop_assert_eq!(behind(&mut one_by_one, &then), behind(&mut at_once, &then));
    }
}

#[test]
fn what_does_not_hit_at_once_is_not_made_together() {
    let mut m = small(Replacement::Lru);
    warm(&mut m);
    let all_hit =
        |m: &mut MemorySystem, word: u64, during: Range<Tick>| m.all_hit(&together(&[(word, false)]), &during);
    assert!(all_hit(&mut m, 511, LATER));
    assert!(!all_hit(&mut m, 512, LATER), "a line that is not there");
    let mut elsewhere = together(&[(0, false)]);
    elsewhere.pages[0].vaddr += 4096;
    assert!(!m.all_hit(&elsewhere, &LATER), "a page that is not there");
    // On its way: the memory takes longer.
    access(&mut m, LATER.start.0, address(512), MemKind::Load);
    assert!(!all_hit(&mut m, 512, LATER));
    assert!(all_hit(&mut m, 512, LATER.end..Tick(LATER.end.0 + CYCLE)));
}

#[test]
fn hits_that_take_the_data_port_or_that_a_prefetcher_sees_are_made_one_by_one() {
    assert!(build(reference()).counts_data_hits(true));
    let mut c = reference();
    c.caches[1].bandwidth = 16;
    assert!(!build(c).counts_data_hits(false));
    let mut c = reference();
    c.uncacheable = vec![AddrRange { start: 0, end: 4096 }];
    let m = build(c);
    assert!(m.counts_data_hits(false) && !m.counts_data_hits(true), "what may wait looks at more");
}
