//! Commit by itself, with the default delays: the other units hear of it a cycle later.

use breakeven_memory::MemorySystem;

use super::super::quirks::Gem5Quirks;
use super::super::unit_rig::{flagged, op, predictor, UnitRig};
use super::super::wires::Wire;
use super::*;
use crate::outside::Live;
use crate::testing::{memory, memory_config, MockBus, MockFe, PERIOD};
use crate::CoreCtx;
use breakeven_base::{Cycle, Tick, Uop};

struct Rig {
    unit: UnitRig,
    commit: Commit,
    lsq: Lsq,
    fe: MockFe,
    bus: MockBus,
    mem: MemorySystem,
}

impl Rig {
    fn new(cfg: &O3Config) -> Rig {
        let unit = UnitRig::new(cfg);
        Rig {
            commit: Commit::new(cfg, unit.io.ring.capacity()),
            lsq: Lsq::new(cfg, 64),
            fe: MockFe::new(vec![]),
            bus: MockBus::new(),
            mem: memory(memory_config(2, 2, 4)),
            unit,
        }
    }

    /// A micro-op that commit may take from `ready_at` on.
    fn done(&mut self, uop: Uop, ready_at: Cycle) -> Seq {
        let seq = self.unit.fetch(uop);
        self.unit.io.ring.set_state(seq, State::DONE);
        self.unit.io.ring.set_ready_at(seq, ready_at);
        seq
    }

    /// One cycle with what has been sent for it and `more`; the slots retired.
    fn tick_with(&mut self, more: impl FnOnce(&mut Wire)) -> u32 {
        let mut wire = self.unit.next();
        more(&mut wire);
        let now = self.unit.now;
        let when = When { cycle: now, tick: Tick(now.0 * PERIOD), period: PERIOD };
        let cx = &mut CoreCtx { fe: &mut self.fe, bus: &mut self.bus, mem: &mut self.mem };
        let mut cx = Live { cx, predictor: &mut predictor() };
        self.commit.tick(&mut self.unit.io, &self.lsq, &mut cx, &when, &wire.commit, wire.squash.is_some())
    }

    fn tick(&mut self) -> u32 {
        self.tick_with(|_| {})
    }
}

#[test]
fn micro_ops_retire_in_order_up_to_the_width_and_free_what_they_replaced() {
    let mut rig = Rig::new(&O3Config { commitWidth: 2, ..O3Config::default() });
    for _ in 0..3 {
        rig.done(op(1, 0), Cycle(0));
    }
    assert_eq!(rig.tick_with(|w| w.commit.arrived = 3), 2);
    let sent = rig.unit.sent(1);
    assert_eq!((sent.fetch.committed, sent.iew.committed, sent.rename.free_regs), (Seq(2), Seq(2), [2, 0, 0, 0]));
    assert_eq!(sent.rename.free_rob, Some((191, false)));
    assert_eq!(rig.tick(), 1);
    assert_eq!(rig.unit.sent(1).rename.free_rob, Some((192, true)));
    assert_eq!((rig.commit.stats.insts, rig.unit.io.ring.head()), (3, Seq(4)));
}

#[test]
fn the_oldest_holds_up_the_others_until_its_result_is_there() {
    let mut rig = Rig::new(&O3Config::default());
    rig.done(op(1, 0), Cycle(13));
    rig.done(op(2, 0), Cycle(0));
    assert_eq!(rig.commit.next_event(&rig.unit.io), Cycle::MAX, "not in the ROB yet");
    assert_eq!(rig.tick_with(|w| w.commit.arrived = 2), 0);
    assert_eq!(rig.commit.next_event(&rig.unit.io), Cycle(13));
    assert_eq!([rig.tick(), rig.tick()], [0, 2]);
}

#[test]
fn a_squash_takes_its_width_a_cycle_and_nothing_commits_meanwhile() {
    // Nine squashed micro-ops at four a cycle: one walk at once, two more cycles.
    for (squashed, retires_at) in [(1, 13), (4, 13), (5, 14), (9, 15)] {
        let mut rig = Rig::new(&O3Config { squashWidth: 4, ..O3Config::default() });
        let branch = rig.done(op(0, 0), Cycle(13));
        for _ in 0..squashed {
            rig.unit.fetch(op(1, 0));
        }
        rig.tick_with(|w| w.commit.arrived = 1 + squashed);
        let stamp = rig.unit.io.ring.stamp(branch);
        let squash = Squash { after: branch, stamp, cause: Cause::Mispredict };
        rig.tick_with(|w| w.commit.resolve = Some(squash));
        assert_eq!(rig.commit.status(), Status::RobSquashing);
        let sent = rig.unit.sent(1);
        assert!(sent.squash.is_some_and(|s| s.after == branch) && sent.iew.rob_squashing);
        rig.unit.io.ring.truncate(branch + 1);
        while rig.tick() == 0 {}
        assert_eq!((rig.unit.now, rig.commit.stats.squashed), (Cycle(retires_at), u64::from(squashed)), "{squashed}");
        assert_eq!(rig.unit.sent(1).rename.free_rob, Some((192, true)), "squashed entries leave with the branch");
    }
}

#[test]
fn squashed_entries_stay_until_what_is_older_has_gone_unless_there_is_a_checkpoint() {
    for (recovery, free) in [(RenameRecovery::Walk, 188), (RenameRecovery::Checkpoint, 190)] {
        let mut rig = Rig::new(&O3Config { renameRecovery: recovery, ..O3Config::default() });
        let branch = rig.done(op(0, 0), Cycle(1000));
        rig.unit.fetch_all([op(1, 0), op(1, 0)]);
        rig.tick_with(|w| w.commit.arrived = 3);
        let squash = Squash { after: branch, stamp: rig.unit.io.ring.stamp(branch), cause: Cause::Mispredict };
        rig.tick_with(|w| w.commit.resolve = Some(squash));
        rig.unit.io.ring.truncate(branch + 1);
        // What rename sent before the squash arrived is void.
        assert_eq!(rig.tick_with(|w| w.commit.arrived = 5), 0);
        rig.unit.fetch(op(1, 0));
        rig.tick_with(|w| w.commit.arrived = 1);
        assert_eq!(rig.unit.sent(1).rename.free_rob, Some((free, false)), "{recovery:?}");
    }
}

#[test]
fn squashed_entries_are_free_as_the_walk_comes_by_them_but_in_gem5() {
    for (gem5, free) in [(true, [188; 4]), (false, [189, 190, 191, 191])] {
        let quirks = Gem5Quirks { gem5SquashedRobEntries: gem5, ..Gem5Quirks::NONE };
        let mut rig = Rig::new(&O3Config { squashWidth: 1, quirks, ..O3Config::default() });
        let branch = rig.done(op(0, 0), Cycle(1000));
        rig.unit.fetch_all([op(1, 0), op(1, 0), op(1, 0)]);
        rig.tick_with(|w| w.commit.arrived = 4);
        let squash = Squash { after: branch, stamp: rig.unit.io.ring.stamp(branch), cause: Cause::Mispredict };
        rig.tick_with(|w| w.commit.resolve = Some(squash));
        rig.unit.io.ring.truncate(branch + 1);
        let reported = [(); 4].map(|()| {
            let free = rig.unit.sent(1).rename.free_rob;
            rig.tick();
            free
        });
        // The fourth cycle ends the walk: commit goes on in it, and reports nothing new.
        let mut expected = free.map(|n| Some((n, false)));
        expected[3] = None;
        assert_eq!(reported, expected, "gem5: {gem5}");
    }
}

#[test]
fn what_enters_during_a_walk_keeps_the_squashed_entries_before_it_until_what_is_older_has_gone() {
    // With dispatch's stall long on its way to rename, a micro-op comes when three of six squashed ones have been walked.
    let cfg = O3Config { squashWidth: 1, quirks: Gem5Quirks::NONE, ..O3Config::default() };
    let mut rig = Rig::new(&cfg);
    let branch = rig.done(op(0, 0), Cycle(15));
    rig.unit.fetch_all([op(1, 0); 6]);
    rig.tick_with(|w| w.commit.arrived = 7);
    let squash = Squash { after: branch, stamp: rig.unit.io.ring.stamp(branch), cause: Cause::Mispredict };
    rig.tick_with(|w| w.commit.resolve = Some(squash));
    rig.unit.io.ring.truncate(branch + 1);
    rig.tick();
    rig.done(op(1, 0), Cycle(15));
    let found = [1, 0, 0, 0, 0, 0].map(|n| {
        let retired = rig.tick_with(|w| w.commit.arrived = n);
        (rig.unit.now.0, retired, rig.unit.sent(1).rename.free_rob.map(|(free, _)| free))
    });
    let walk = [14, 15, 16, 17].map(|cycle| (cycle, 0, Some(187)));
    assert_eq!(found, [&walk[..], &[(18, 2, Some(192)), (19, 0, None)]].concat()[..]);
}

#[test]
fn of_two_squashes_the_dead_ones_is_ignored() {
    let mut rig = Rig::new(&O3Config::default());
    let branch = rig.done(op(0, 0), Cycle(1000));
    rig.tick_with(|w| w.commit.arrived = 1);
    let stale = Squash { after: branch, stamp: rig.unit.io.ring.stamp(branch) + 1, cause: Cause::Mispredict };
    rig.tick_with(|w| w.commit.resolve = Some(stale));
    assert_eq!((rig.commit.status(), rig.commit.stats.mispredicts), (Status::Running, 0));
}

#[test]
fn a_non_speculative_micro_op_is_released_when_it_is_the_oldest() {
    let mut rig = Rig::new(&O3Config::default());
    rig.done(op(1, 0), Cycle(12));
    let seq = rig.unit.fetch(op(1, 0));
    rig.unit.io.ring.set_state(seq, State::NON_SPEC);
    rig.tick_with(|w| w.commit.arrived = 2);
    assert_eq!((rig.tick(), rig.unit.sent(1).iew.release), (1, Seq::NONE), "not in the cycle in which another retires");
    assert_eq!((rig.tick(), rig.unit.sent(1).iew.release), (0, seq));
    assert_eq!((rig.tick(), rig.unit.sent(1).iew.release), (0, Seq::NONE), "once");
}

#[test]
fn a_system_instruction_is_released_in_the_cycle_in_which_it_becomes_the_oldest_but_in_gem5() {
    let released = |gem5, flags| {
        let quirks = Gem5Quirks { gem5NonSpeculativeDrains: gem5, ..Gem5Quirks::NONE };
        let mut rig = Rig::new(&O3Config { quirks, ..O3Config::default() });
        rig.done(op(1, 0), Cycle(12));
        let seq = rig.unit.fetch(flagged(op(1, 0), UopFlags::NON_SPECULATIVE | flags));
        rig.unit.io.ring.set_state(seq, State::NON_SPEC);
        rig.tick_with(|w| w.commit.arrived = 2);
        while !rig.unit.sent(1).iew.release.is_some() {
            rig.tick();
        }
        rig.unit.now.0
    };
    let system = UopFlags::SERIALIZE_AFTER;
    assert_eq!([true, false].map(|gem5| released(gem5, system)), [13, 12]);
    // The others' order is architecture.
    for ordered in [UopFlags::LOAD, UopFlags::WRITE_BARRIER, UopFlags::EFFECT] {
        assert_eq!(released(false, ordered | system), 13, "{ordered:?}");
    }
}

#[test]
fn a_trap_is_taken_in_the_cycle_in_which_it_becomes_the_oldest_but_in_gem5() {
    for (gem5, taken) in [(true, 13), (false, 12)] {
        let quirks = Gem5Quirks { gem5TrapsDrain: gem5, ..Gem5Quirks::NONE };
        let mut rig = Rig::new(&O3Config { trapLatency: 5, quirks, ..O3Config::default() });
        rig.done(op(1, 0), Cycle(12));
        rig.done(flagged(op(0, 0), UopFlags::TRAP), Cycle(0));
        rig.tick_with(|w| w.commit.arrived = 2);
        while rig.commit.status() != Status::TrapPending {
            rig.tick();
        }
        let due = rig.commit.next_event(&rig.unit.io);
        assert_eq!((rig.unit.now, due, rig.commit.stats.insts), (Cycle(taken), Cycle(taken + 5 + 1), 1));
    }
}

#[test]
fn the_rob_is_reported_empty_when_it_is_but_in_gem5() {
    // gem5 waits for the store that has just retired.
    for (gem5, reported) in [(true, (192, false)), (false, (192, true))] {
        let quirks = Gem5Quirks { gem5RobEmptyDrains: gem5, ..Gem5Quirks::NONE };
        let mut rig = Rig::new(&O3Config { quirks, ..O3Config::default() });
        rig.done(flagged(op(0, 0), UopFlags::STORE), Cycle(0));
        assert_eq!(rig.tick_with(|w| w.commit.arrived = 1), 1);
        assert_eq!(rig.unit.sent(1).rename.free_rob, Some(reported));
    }
}

#[test]
fn a_trap_flushes_after_its_latency() {
    let mut rig = Rig::new(&O3Config { trapLatency: 5, ..O3Config::default() });
    rig.done(flagged(op(0, 0), UopFlags::TRAP), Cycle(0));
    rig.unit.fetch(op(1, 0));
    assert_eq!(rig.tick_with(|w| w.commit.arrived = 2), 0);
    assert_eq!((rig.commit.status(), rig.commit.next_event(&rig.unit.io)), (Status::TrapPending, Cycle(11 + 5 + 1)));
    while rig.unit.sent(1).squash.is_none() {
        rig.tick();
    }
    assert_eq!((rig.unit.now, rig.commit.stats.insts, rig.commit.stats.traps), (Cycle(17), 0, 1));
}
