//! The store queue: when entries are free, what is on its way together, what joins a miss.

use super::*;
use breakeven_base::Cycle;

#[test]
fn the_store_queue_frees_entries_as_responses_come() {
    let mut rig = Rig::new(&with(|c| c.SQEntries = 2));
    rig.dispatch(store(DATA, 8, 5));
    rig.dispatch(store(DATA + 64, 8, 6));
    rig.commit(1, 10);
    rig.commit(2, 11);
    let mut free = vec![];
    for cycle in [10, 12, 13, 14] {
        rig.run_to(cycle);
        free.push(rig.lsq.free_stores());
    }
    // Heard at 10 and 11, sent at 11 and 12, answered at 13 and 14.
    assert_eq!(free, [0, 0, 1, 2]);
    assert!(rig.lsq.next_event() == Cycle::MAX && !rig.lsq.has_stores_to_write());
}

#[test]
fn stores_that_miss_leave_for_a_fill_buffer_when_asked_to() {
    // The cycles in which both entries are free and in which nothing is left to write.
    let freed_and_drained = |leave| {
        let cfg = with(|c| {
            c.needsTSO = true;
            c.SQEntries = 2;
            c.lsq.storesLeaveOnMiss = leave;
        });
        let mut rig = Rig::with_memory(&cfg, 20, 4);
        rig.dispatch(store(DATA, 8, 5));
        rig.dispatch(store(DATA + 8, 8, 6));
        rig.commit(2, 10);
        rig.run_to(10);
        let mut freed = 0;
        while !rig.lsq.drained() {
            rig.step();
            assert_eq!(rig.lsq.drained(), !rig.lsq.has_stores_to_write());
            if freed == 0 && rig.lsq.free_stores() == 2 {
                freed = rig.cycle;
            }
        }
        assert_eq!(rig.lsq.next_event(), Cycle::MAX);
        (freed, rig.cycle)
    };
    // Heard at 10, sent at 11; the line is there 1 + 20 + 1 cycles later.
    assert_eq!(freed_and_drained(false), (33, 33));
    assert_eq!(freed_and_drained(true), (12, 33));
}

#[test]
fn stores_wait_with_their_lines_miss_as_in_gem5() {
    let cfg = with(|c| c.quirks.gem5StoresJoinMisses = true);
    // Sent at 11, their miss leaves at 12. The memory answers 20 cycles later, when it is asked.
    let written = |stores: &[(u64, u16)]| {
        let mut rig = Rig::with_memory(&cfg, 20, 4);
        for (offset, size) in stores {
            rig.dispatch(store(DATA + offset, *size, 5));
        }
        rig.commit(stores.len() as u64, 10);
        rig.run_to(100);
        assert!(rig.lsq.drained() && rig.lsq.next_event() == Cycle::MAX);
        let mut cycles: Vec<_> = rig.written.iter().map(|(_, at)| *at).collect();
        cycles.dedup();
        cycles
    };
    let line: Vec<_> = (0..8).map(|n| (8 * n, 8)).collect();
    assert_eq!(written(&line[..7]), [33], "not whole: read");
    assert_eq!(written(&line), [13], "whole: claimed");
    let across = [(56, 16), (72, 16), (88, 16), (104, 16), (120, 8)];
    assert_eq!(written(&across), [33, 13], "the first one's second line is whole; it waits for both");
}

#[test]
fn loads_hear_of_their_data_when_their_miss_has_left_as_in_gem5() {
    let run = |wait, ops: &[Op]| {
        let mut rig = Rig::with_memory(&with(|c| c.quirks.gem5StoresJoinMisses = wait), 20, 4);
        ops.iter().for_each(|op| _ = rig.dispatch(*op));
        rig.run_to(100);
        rig.commit(ops.len() as u64, 101);
        rig.run_to(150);
        assert!(rig.lsq.drained() && rig.lsq.next_event() == Cycle::MAX);
        rig.done[1..].to_vec()
    };
    let line = [load(DATA, 8, 10), load(DATA + 8, 8, 10), load(DATA + 16, 8, 12), load(DATA, 8, 50)];
    let split = [load(DATA + 60, 8, 10), load(DATA + 64, 8, 11), load(DATA + 124, 8, 30)];
    // More lines than registers: some loads are refused.
    let many: Vec<_> = (0..6).map(|n| load(DATA + 64 * n + 60, 8, 10)).collect();
    for ops in [&line[..], &split, &many] {
        assert_eq!(run(true, ops), run(false, ops));
    }
    // One that is squashed before hears nothing; the one in its place has its own data.
    let mut rig = Rig::with_memory(&with(|c| c.quirks.gem5StoresJoinMisses = true), 20, 4);
    rig.dispatch(load(DATA, 8, 10));
    rig.run_to(10);
    rig.squash(0);
    rig.dispatch(load(DATA + 640, 8, 15));
    rig.run_to(100);
    assert_eq!(rig.done, [0, 37]);
}

#[test]
fn a_store_that_hits_is_written_after_those_that_left_before_it() {
    let written = |leave| {
        let cfg = with(|c| {
            c.needsTSO = true;
            c.lsq.storesLeaveOnMiss = leave;
        });
        let mut rig = Rig::with_memory(&cfg, 20, 4);
        for vaddr in [DATA + 64, DATA, DATA + 64] {
            rig.dispatch(store(vaddr, 8, 5));
        }
        rig.commit(1, 10);
        rig.commit(3, 40);
        rig.run_to(100);
        rig.written.iter().map(|(_, at)| *at).collect::<Vec<_>>()
    };
    assert_eq!(written(false), [33, 63, 63]);
    assert_eq!(written(true), written(false));
}

/// Three stores that commit together; the first crosses a line, which costs 5 cycles.
fn three_stores(change: impl FnOnce(&mut O3Config)) -> Vec<u64> {
    let cfg = with(|c| {
        c.misaligned.line_cross_store = 5;
        change(c);
    });
    let mut rig = Rig::with_memory(&cfg, 10, 0);
    for vaddr in [DATA + 60, DATA + 128, DATA + 192] {
        rig.dispatch(store(vaddr, 8, 5));
    }
    rig.commit(3, 10);
    rig.run_to(100);
    rig.written.iter().map(|(_, at)| *at).collect()
}

#[test]
fn stores_in_flight_weakly_ordered_and_under_tso() {
    // Sent at 11, answered at 21; the crossing one 5 cycles later.
    assert_eq!(three_stores(|_| ()), [26, 21, 21]);
    // In order: nobody before the first.
    assert_eq!(three_stores(|c| c.needsTSO = true), [26, 26, 26]);
    // One at a time, as gem5: each is sent when the one before it has been answered.
    let one = |c: &mut O3Config| {
        c.needsTSO = true;
        c.lsq.tsoStoresInFlight = 1;
    };
    assert_eq!(three_stores(one), [26, 36, 46]);
    // In order, one a cycle: with one port the access go at 11, 12, 13, 14.
    let narrow = |c: &mut O3Config| {
        c.needsTSO = true;
        c.cacheStorePorts = 1;
    };
    assert_eq!(three_stores(narrow), [27, 28, 29]);
}

#[test]
fn a_refused_store_goes_before_the_loads_of_the_cycle_in_which_the_cache_unblocks_as_in_gem5_only() {
    // One register, taken by the load at 10; the store is refused at 21, and the cache takes accesses again when another
    // load executes.
    let run = |first, at| {
        let mut rig = Rig::with_memory(&with(|c| c.quirks.gem5RefusedStoreFirst = first), 20, 1);
        rig.dispatch(store(DATA + 64, 8, 9));
        rig.dispatch(load(DATA, 8, 10));
        rig.dispatch(load(DATA + 128, 8, at));
        rig.commit(1, 20);
        rig.run_to(150);
        (rig.written[0].1, rig.done[3])
    };
    // The cache unblocks at 32: whoever is first takes the register, and the other's line comes a miss later.
    assert_eq!((run(true, 32), run(false, 32)), ((54, 77), (76, 54)));
    for other in [31, 33] {
        assert_eq!((run(true, other), run(false, other)), ((54, 77), (54, 77)), "{other}");
    }
}
