//! Exact cycles of the queue by itself. Execution in cycle 10 of a load that the memory answers in 2 cycles writes back in
//! cycle 12; a store writes back in the cycle in which it executes.

mod random;
mod rig;
mod stores;

use breakeven_base::UopFlags;

use super::super::config::O3Config;
use super::super::inst::State;
use super::super::quirks::Gem5Quirks;
use super::super::seq::Seq;
use super::config::{LsqConfig, PartialForward};
use crate::misaligned::MisalignedCosts;
use rig::{amo, done, fence, load, prefetch, store, Op, Rig, DATA};

fn with(change: impl FnOnce(&mut O3Config)) -> O3Config {
    let mut cfg = plain();
    change(&mut cfg);
    cfg
}

/// gem5's defaults, but as many answers at once as the cache gives.
fn plain() -> O3Config {
    O3Config { quirks: Gem5Quirks::NONE, ..O3Config::default() }
}

/// A store executed at 10 of which the LSQ hears at 20 that it has committed, and a load executed at 11.
fn store_and_load(cfg: &O3Config, s: Op, l: Op) -> Rig {
    let mut rig = Rig::new(cfg);
    let first = rig.dispatch(s);
    rig.dispatch(l);
    rig.commit(first, 20);
    rig.run_to(100);
    rig
}

#[test]
fn a_load_takes_its_bytes_from_a_store_that_has_them_all() {
    let cfg = plain();
    // The store's bytes a cycle after execution; the cache's after 2.
    assert_eq!(store_and_load(&cfg, store(DATA, 8, 10), load(DATA, 8, 11)).done[2], 12);
    assert_eq!(store_and_load(&cfg, store(DATA, 8, 10), load(DATA + 4, 4, 11)).done[2], 12);
    assert_eq!(store_and_load(&cfg, store(DATA, 8, 10), load(DATA + 8, 8, 11)).done[2], 13);
    let slow = with(|c| c.lsq.forwardLatency = 5);
    assert_eq!(store_and_load(&slow, store(DATA, 8, 10), load(DATA, 8, 11)).done[2], 16);
}

#[test]
fn a_load_one_byte_off_waits_until_the_store_has_been_sent() {
    // Heard at 20, sent at 21 after that cycle's issue; the load issues at 22, executes at 23 and takes 2 cycles: 25
    // instead of 12.
    let rig = store_and_load(&plain(), store(DATA, 8, 10), load(DATA + 1, 8, 11));
    assert_eq!((rig.executed[2], rig.done[2]), (23, 25));
    let cfg = with(|c| {
        c.lsq =
            LsqConfig { partialForwardPolicy: PartialForward::Penalty, forwardFailPenalty: 7, ..LsqConfig::default() };
    });
    assert_eq!(store_and_load(&cfg, store(DATA, 8, 10), load(DATA + 1, 8, 11)).done[2], 32);
}

#[test]
fn the_youngest_older_store_decides() {
    // The second store has the load's bytes whole, the first only in part: 12. The other way about it waits for the
    // second, which is sent at 21 with the first: 25.
    let mut rig = Rig::new(&plain());
    rig.dispatch(store(DATA + 4, 8, 9));
    rig.dispatch(store(DATA, 8, 10));
    rig.dispatch(load(DATA, 8, 11));
    rig.dispatch(load(DATA + 4, 8, 11));
    rig.dispatch(store(DATA + 4, 8, 11));
    rig.commit(2, 20);
    rig.run_to(100);
    assert_eq!(rig.done[3..=4], [12, 25]);
}

#[test]
fn a_store_that_has_been_sent_no_longer_forwards() {
    // The load executes at 22, a cycle after the store was sent: the cache has the bytes, 24.
    let rig = store_and_load(&plain(), store(DATA, 8, 10), load(DATA + 1, 8, 22));
    assert_eq!((rig.executed[2], rig.done[2]), (22, 24));
}

#[test]
fn crossing_costs_what_the_description_says() {
    let costs = MisalignedCosts {
        granule: 16,
        granule_cross_load: 1,
        line_cross_load: 3,
        page_cross_load: 10,
        ..MisalignedCosts::default()
    };
    let cfg = with(|c| c.misaligned = costs);
    let at = |vaddr| done(&cfg, &[load(vaddr, 8, 10)])[0];
    assert_eq!([at(DATA), at(DATA + 1), at(DATA + 12), at(DATA + 60), at(DATA + 4092)], [12, 12, 13, 15, 22]);
    // gem5's defaults: both access go in one cycle, nothing is late.
    let free = |vaddr| done(&plain(), &[load(vaddr, 8, 10)])[0];
    assert_eq!([free(DATA + 60), free(DATA + 4092)], [12, 12]);
}

#[test]
fn the_second_packet_needs_a_port_of_its_own() {
    // One port: the second packet goes when the load has been issued again, a cycle later.
    let cfg = with(|c| c.cacheLoadPorts = 1);
    assert_eq!(done(&cfg, &[load(DATA + 60, 8, 10)]), [13]);
    assert_eq!(done(&cfg, &[load(DATA, 8, 10)]), [12]);
    // 130 bytes from the last of a line on lie in three more.
    assert_eq!(done(&cfg, &[load(DATA + 63, 130, 10)]), [15]);
}

#[test]
fn a_page_crossing_needs_two_translations() {
    // Each walk reads one entry in 20 cycles, one after the other: over at 50, issued then, executed at 51, 53. A line
    // crossing needs one: 33.
    let cfg = plain();
    assert_eq!(done(&cfg, &[load(DATA + 4092, 8, 10).paged()]), [53]);
    assert_eq!(done(&cfg, &[load(DATA + 60, 8, 10).paged()]), [33]);
}

#[test]
fn one_walk_serves_all_who_want_its_page_and_others_queue() {
    let cfg = plain();
    let same = [load(DATA, 8, 10).paged(), load(DATA + 8, 8, 14).paged()];
    assert_eq!(done(&cfg, &same), [33, 33]);
    let apart = [load(DATA, 8, 10).paged(), load(DATA + 4096, 8, 14).paged()];
    assert_eq!(done(&cfg, &apart), [33, 53]);
    // Later everything is in the TLB.
    assert_eq!(done(&cfg, &[load(DATA, 8, 10).paged(), load(DATA, 8, 60).paged()]), [33, 62]);
}

#[test]
fn a_squashed_walk_goes_on_and_fills_the_tlb_for_nobody() {
    let mut rig = Rig::new(&plain());
    rig.dispatch(load(DATA, 8, 10).paged());
    rig.run_to(12);
    rig.squash(0);
    rig.dispatch(load(DATA, 8, 20).paged());
    rig.run_to(100);
    assert_eq!(rig.done, [0, 33]);
}

#[test]
fn ports_a_cycle() {
    let loads: Vec<Op> = (0..4).map(|i| load(DATA + 64 * i, 8, 10)).collect();
    assert_eq!(done(&plain(), &loads), [12, 12, 12, 12]);
    // The other two are issued again: executed at 11.
    assert_eq!(done(&with(|c| c.cacheLoadPorts = 2), &loads), [12, 12, 13, 13]);
}

#[test]
fn gem5s_load_without_a_port_is_issued_again_from_the_next_cycle_on() {
    let loads = |n: u64| (0..n).map(|i| load(DATA + 64 * i, 8, 10)).collect::<Vec<_>>();
    let ports = |n| {
        with(|c| {
            c.cacheLoadPorts = n;
            c.quirks.gem5PortRetries = true;
        })
    };
    // Refused in 10, ready in 11, executed in 12: there all but the first find no port again.
    assert_eq!(done(&ports(2), &loads(4)), [12, 12, 14, 14]);
    assert_eq!(done(&ports(1), &loads(3)), [12, 14, 16]);
    // What executes in 11 goes before those refused in 10.
    assert_eq!(done(&ports(1), &[load(DATA, 8, 10), load(DATA, 8, 10), load(DATA, 8, 11)]), [12, 14, 13]);
    assert_eq!(done(&ports(1), &[load(DATA + 60, 8, 10)]), [14], "the second packet");
}

#[test]
fn of_answers_at_one_instant_the_first_is_in_time() {
    // gem5's port sends one packet a tick: of four loads at once three miss the clock edge, as does a store's answer.
    let cfg = with(|c| c.quirks.serialResponses = true);
    let loads: Vec<Op> = (0..4).map(|i| load(DATA + 64 * i, 8, 10)).collect();
    assert_eq!(done(&cfg, &loads), [12, 13, 13, 13]);
    // One load a cycle is never late.
    let apart: Vec<Op> = (0..4).map(|i| load(DATA + 64 * i, 8, 10 + i)).collect();
    assert_eq!(done(&cfg, &apart), [12, 13, 14, 15]);
    let mut rig = Rig::new(&cfg);
    rig.dispatch(store(DATA, 8, 5));
    rig.dispatch(load(DATA + 64, 8, 21));
    rig.commit(1, 20);
    rig.run_to(50);
    assert_eq!((rig.done[2], rig.written[0].1), (23, 24));
}

#[test]
fn a_split_access_holds_its_port() {
    // With one port and no more slots the crossing load takes it at 10 and 11, the next load goes at 12; with 3 slots
    // more at 15.
    let ops = [load(DATA + 60, 8, 10), load(DATA + 128, 8, 11)];
    let slots = |n| {
        with(|c| {
            c.cacheLoadPorts = 1;
            c.misaligned.split_slots = n;
        })
    };
    assert_eq!(done(&slots(0), &ops)[1], 14);
    assert_eq!(done(&slots(3), &ops)[1], 17);
}

#[test]
fn a_store_whose_address_comes_late_finds_the_load_that_passed_it() {
    let mut rig = Rig::new(&plain());
    rig.dispatch(store(DATA, 8, 15).pc(0x100));
    rig.dispatch(load(DATA + 64, 8, 10).pc(0x104));
    rig.dispatch(load(DATA, 8, 10).pc(0x108));
    rig.dispatch(load(DATA, 8, 11).pc(0x10c));
    rig.run_to(30);
    // The oldest load of those granules is to be fetched again.
    assert_eq!(rig.violations, [(15, 3)]);
    rig.squash(2);
    // From now on the two are of one set: the load is held back until the store has written back at 60 and executes at
    // 61, when the store hands it the bytes.
    rig.dispatch(store(DATA + 512, 8, 60).pc(0x100));
    rig.dispatch(load(DATA + 512, 8, 50).pc(0x108));
    rig.run_to(100);
    assert_eq!((rig.executed[4], rig.done[4]), (61, 62));
    assert_eq!(rig.violations.len(), 1);
}

#[test]
fn a_string_instructions_loads_wait_for_its_own_stores_only_as_gem5_indexes_store_sets() {
    let executed = |gem5: bool| {
        let mut cfg = plain();
        cfg.quirks.gem5StoreSetIndex = gem5;
        cfg.instShift = 0;
        let mut rig = Rig::new(&cfg);
        // Another instruction's store comes late: the string instruction's load is of its set from now on.
        let mut other = store(DATA, 8, 15).pc(0x100);
        other.flags |= UopFlags::FIRST | UopFlags::LAST;
        rig.dispatch(other);
        rig.dispatch(load(DATA, 8, 10).pc(0x108));
        rig.run_to(30);
        assert_eq!(rig.violations.len(), 1);
        rig.squash(1);
        // Its own store, elsewhere; then the next load of it.
        rig.dispatch(store(DATA + 512, 8, 60).pc(0x108));
        let own = rig.dispatch(load(DATA + 640, 8, 50).pc(0x108));
        // And a load behind the other instruction's store.
        rig.dispatch(Op { at: 70, ..other });
        let behind = rig.dispatch(load(DATA + 704, 8, 55).pc(0x108));
        rig.run_to(100);
        (rig.executed[own as usize], rig.executed[behind as usize])
    };
    assert_eq!(executed(true), (61, 71));
    assert_eq!(executed(false), (50, 71));
}

#[test]
fn what_is_dispatched_behind_an_issued_store_of_its_set_does_not_wait() {
    // The set's last store has issued in an earlier cycle than the load's dispatch, and executes later: `issueToExecuteDelay`.
    let executed = |issued: bool| {
        let mut rig = Rig::new(&plain());
        rig.dispatch(store(DATA, 8, 15).pc(0x100));
        rig.dispatch(load(DATA, 8, 10).pc(0x108));
        rig.run_to(30);
        rig.squash(1);
        let last = rig.dispatch(store(DATA + 512, 8, 60).pc(0x100));
        if issued {
            rig.ring.set_state(Seq(last), State::ISSUED);
        }
        let load = rig.dispatch(load(DATA + 640, 8, 50).pc(0x108));
        rig.run_to(100);
        rig.executed[load as usize]
    };
    assert_eq!((executed(false), executed(true)), (61, 50));
}

#[test]
fn violations_are_found_by_granules() {
    // 16 bytes by default: the load next to the store's bytes counts; with granules of 8 bytes it does not.
    let ops = [store(DATA, 8, 15), load(DATA + 8, 8, 10)];
    for (shift, found) in [(4, 1), (3, 0)] {
        let mut rig = Rig::new(&with(|c| c.LSQDepCheckShift = shift));
        ops.iter().for_each(|op| {
            rig.dispatch(*op);
        });
        rig.run_to(30);
        assert_eq!(rig.violations.len(), found, "granules of 2^{shift}");
    }
}

#[test]
fn loads_wait_for_a_fence() {
    // The fence executes at 20 and wakes the load, which issues then and executes at 21.
    let mut rig = Rig::new(&plain());
    rig.dispatch(load(DATA, 8, 10));
    rig.dispatch(fence(20));
    rig.dispatch(load(DATA, 8, 10));
    rig.dispatch(store(DATA, 8, 10));
    rig.run_to(60);
    assert_eq!(rig.done[1..], [12, 20, 23, 21]);
}

#[test]
fn a_fence_waits_for_what_the_write_combining_buffers_hold() {
    // The store is sent at 21 into a buffer; the fence at 30 sends the buffer to memory, which answers in 2 cycles.
    let mut store = store(DATA, 8, 10);
    store.flags |= UopFlags::NON_TEMPORAL;
    for (buffers, fence_done) in [(false, 30), (true, 32)] {
        let mut rig = if buffers { Rig::write_combining(&plain()) } else { Rig::new(&plain()) };
        rig.dispatch(store);
        rig.dispatch(fence(30));
        rig.commit(1, 20);
        rig.run_to(60);
        assert_eq!(rig.done[2], fence_done);
    }
}

#[test]
fn a_fences_own_work_overlaps_with_what_it_waits_for() {
    let fence_done = |cfg: &O3Config, before: &[Op], at| {
        let mut rig = Rig::new(cfg);
        for op in before {
            rig.dispatch(*op);
        }
        let fence = rig.dispatch(fence(at));
        rig.commit(fence - 1, 15);
        rig.run_to(100);
        rig.done[fence as usize]
    };
    // Dispatched in cycle 0.
    let latency = with(|c| c.lsq.fenceLatency = 30);
    assert_eq!([20, 30, 40].map(|at| fence_done(&latency, &[], at)), [30, 30, 40]);
    // The store is sent in 16 and written in 18.
    let after_stores = with(|c| c.lsq.fenceAfterStores = 9);
    assert_eq!([20, 30].map(|at| fence_done(&after_stores, &[store(DATA, 8, 10)], at)), [27, 30]);
    assert_eq!(fence_done(&after_stores, &[load(DATA, 8, 10)], 13), 13);
    // A barrier that is a part of an instruction takes nothing of its own.
    let mut part = fence(20);
    part.flags = UopFlags::READ_BARRIER | UopFlags::WRITE_BARRIER | UopFlags::FIRST;
    assert_eq!(done(&latency, &[part]), [20]);
}

#[test]
fn a_squashed_fence_holds_nobody() {
    let mut rig = Rig::new(&plain());
    rig.dispatch(load(DATA, 8, 10));
    rig.dispatch(fence(500));
    rig.dispatch(load(DATA, 8, 10));
    rig.run_to(20);
    rig.squash(1);
    rig.dispatch(load(DATA, 8, 10));
    rig.run_to(60);
    assert_eq!(rig.done, [0, 12, 23]);
}

#[test]
fn an_atomic_is_sent_when_it_executes() {
    assert_eq!(done(&plain(), &[amo(DATA, 10)]), [12]);
}

#[test]
fn a_prefetch_is_over_in_a_cycle_and_ignores_stores() {
    let cfg = plain();
    assert_eq!(done(&cfg, &[store(DATA, 8, 9), prefetch(DATA + 7, 10)]), [9, 11]);
}

#[test]
fn an_alias_is_found_by_the_low_bits_when_asked_for() {
    let check = |bits, at| {
        let cfg = with(|c| {
            c.lsq.aliasCheckBits = bits;
            c.lsq.aliasPenalty = 5;
        });
        done(&cfg, &[store(DATA, 8, 9), load(at, 8, 10)])[1]
    };
    assert_eq!(check(12, DATA + 4096), 17);
    assert_eq!(check(12, DATA + 4096 + 4), 17);
    assert_eq!(check(12, DATA + 4096 + 8), 12);
    assert_eq!(check(16, DATA + 4096), 12);
    assert_eq!(check(0, DATA + 4096), 12);
    // Not an alias: the bytes themselves.
    assert_eq!(check(12, DATA), 11);
}

#[test]
fn a_cache_without_a_free_register_refuses_until_one_is_free() {
    let after = |mshrs| {
        let mut rig = Rig::with_memory(&plain(), 20, mshrs);
        rig.dispatch(load(DATA, 8, 10));
        rig.dispatch(load(DATA + 64, 8, 12));
        rig.run_to(100);
        (rig.done[1], rig.executed[2], rig.done[2])
    };
    // The first line comes at tag (1) + memory (20) + response (1): 32. With one register the second load is refused
    // until the fill, is issued in the cycle after it (the retry comes a tick after an edge) and executes in the next.
    let (first, _, with_two) = after(2);
    assert_eq!((first, with_two), (32, 34));
    let (first, executed, with_one) = after(1);
    assert_eq!((first, with_one - executed), (32, 22));
    assert!((32..=34).contains(&executed), "executed at {executed}");
}

#[test]
fn an_emulated_access_stops_the_memory_pipeline() {
    let cfg = with(|c| {
        c.misaligned.emulate = true;
        c.misaligned.emulate_cycles = 50;
    });
    // 2 cycles and the firmware's 50; the next load waits until that is over.
    assert_eq!(done(&cfg, &[load(DATA + 1, 8, 10), load(DATA + 64, 8, 11)]), [62, 62]);
    let mut rig = Rig::new(&cfg);
    let odd = rig.dispatch(load(DATA + 1, 8, 10));
    let even = rig.dispatch(load(DATA, 8, 10));
    assert!(rig.lsq.only_when_oldest(Seq(odd), &rig.ring) && !rig.lsq.only_when_oldest(Seq(even), &rig.ring));
}

#[test]
fn gem5_replays_all_partly_covered_loads_when_the_oldest_ones_store_is_sent() {
    // The younger load's store is sent at 21, the older load's at 31.
    let executed = |together| {
        let quirks = Gem5Quirks { gem5ReplaysTogether: together, ..Gem5Quirks::NONE };
        let mut rig = Rig::new(&with(|c| c.quirks = quirks));
        rig.dispatch(store(DATA, 8, 10));
        rig.dispatch(store(DATA + 64, 8, 10));
        rig.dispatch(load(DATA + 65, 8, 11));
        rig.dispatch(load(DATA + 1, 8, 11));
        rig.commit(1, 20);
        rig.commit(2, 30);
        rig.run_to(100);
        [rig.executed[3], rig.executed[4]]
    };
    assert_eq!(executed(true), [33, 33]);
    assert_eq!(executed(false), [33, 23]);
}

#[test]
fn a_replayed_load_is_translated_again_only_with_the_quirk() {
    // Loads of four other pages take its page out of the TLB before its store is sent at 201.
    let done = |again| {
        let quirks = Gem5Quirks { gem5Retranslation: again, ..Gem5Quirks::NONE };
        let mut rig = Rig::new(&with(|c| c.quirks = quirks));
        rig.dispatch(store(DATA, 8, 10));
        rig.dispatch(load(DATA + 1, 8, 11).paged());
        (1..=4).for_each(|page| _ = rig.dispatch(load(DATA + 4096 * page, 8, 60).paged()));
        rig.commit(1, 200);
        rig.run_to(300);
        rig.done[2]
    };
    // A walk of 20 cycles, then it issues and executes.
    assert_eq!([done(false), done(true)], [205, 226]);
}
