//! Dispatch by itself, with the default delays: rename hears of it a cycle later.

use super::super::unit_rig::{flagged, op, UnitRig};
use super::super::wires::{Cause, InFront, Squash};
use super::*;

struct Rig {
    unit: UnitRig,
    issue: Issue,
    lsq: Lsq,
    dispatch: Dispatch,
}

impl Rig {
    fn new(cfg: &O3Config) -> Rig {
        let unit = UnitRig::new(cfg);
        let issue = Issue::new(cfg, &unit.io.ring);
        Rig { unit, issue, lsq: Lsq::new(cfg, 64), dispatch: Dispatch::new(cfg) }
    }

    fn tick(&mut self, wire: &Wire) {
        self.dispatch.tick(&mut self.unit.io, &mut self.issue, &mut self.lsq, self.unit.now, wire);
    }
}

fn renamed(n: u16) -> Wire {
    Wire { renamed: n, ..Wire::default() }
}

#[test]
fn the_width_goes_into_the_queues_and_the_rest_blocks_rename() {
    let mut rig = Rig::new(&O3Config { dispatchWidth: 2, ..O3Config::default() });
    let load = flagged(op(1, 0), UopFlags::LOAD);
    rig.unit.fetch_all([load, flagged(op(0, 0), UopFlags::STORE), load]);
    rig.tick(&renamed(3));
    let sent = rig.unit.sent(1);
    assert_eq!([sent.dispatched, sent.dispatched_rob, sent.to_load_queue, sent.to_store_queue], [2, 2, 1, 1]);
    assert_eq!((sent.stall_rename, rig.issue.free(), rig.lsq.free_loads()), (BLOCK, 62, 31));
    rig.unit.now += 1;
    rig.tick(&Wire::default());
    assert_eq!((rig.unit.sent(1).dispatched, rig.unit.sent(1).stall_rename), (1, UNBLOCK));
}

#[test]
fn a_full_issue_queue_blocks_until_an_entry_is_free() {
    let mut rig = Rig::new(&O3Config { numIQEntries: 2, ..O3Config::default() });
    rig.unit.fetch_all((0..3).map(|_| op(1, 0)));
    rig.tick(&renamed(3));
    assert_eq!((rig.issue.free(), rig.dispatch.next(), rig.dispatch.stats.iq_full), (0, 3, 1));
    rig.unit.now += 1;
    rig.tick(&Wire::default());
    assert_eq!((rig.dispatch.next(), rig.dispatch.stats.block_cycles), (3, 1));
    rig.unit.now += 1;
    let mut executes = super::super::wheel::Wheel::new();
    rig.issue.tick(&mut rig.unit.io, &mut executes, rig.unit.now);
    rig.tick(&Wire::default());
    assert_eq!(rig.dispatch.next(), 4);
}

#[test]
fn nothing_is_dispatched_while_the_rob_is_being_walked() {
    let mut rig = Rig::new(&O3Config::default());
    rig.unit.fetch(op(1, 0));
    rig.tick(&Wire { rob_squashing_iew: true, ..renamed(1) });
    assert_eq!((rig.dispatch.next(), rig.unit.sent(1).stall_rename), (1, BLOCK));
    rig.unit.now += 1;
    rig.tick(&Wire::default());
    assert_eq!((rig.dispatch.next(), rig.unit.sent(1).stall_rename), (2, UNBLOCK));
}

#[test]
fn credits_of_squashed_micro_ops_return_as_if_they_had_been_dispatched() {
    let mut rig = Rig::new(&O3Config { dispatchWidth: 1, ..O3Config::default() });
    let load = flagged(op(1, 0), UopFlags::LOAD);
    rig.unit.fetch_all((0..6).map(|_| load));
    rig.tick(&renamed(3));
    // One dispatched, two here, two arrive in the next cycle and one in the one after that.
    rig.unit.now += 1;
    let now = rig.unit.now;
    rig.unit.io.wires.at(now + 1).renamed = 2;
    rig.unit.io.wires.at(now + 2).renamed = 1;
    // Everything but the first two goes.
    let kept = InFront { fetched: 0, decoded: 0, renamed: 0, to_rob: 0 };
    let in_flight = rig.unit.io.wires.clear_front(now, kept);
    rig.dispatch.squash(&mut rig.unit.io, 3, 7, &in_flight, now);
    let sent: Vec<_> = (1..=3).map(|n| (rig.unit.sent(n).dispatched, rig.unit.sent(n).to_load_queue)).collect();
    assert_eq!(sent, [(1, 1), (2, 2), (1, 1)]);
    assert_eq!([rig.unit.sent(1).renamed, rig.unit.sent(2).renamed], [0, 0]);
    assert_eq!([rig.dispatch.next(), rig.dispatch.end()], [2, 3]);
}

#[test]
fn a_squash_unblocks_rename() {
    let mut rig = Rig::new(&O3Config { dispatchWidth: 1, ..O3Config::default() });
    rig.unit.fetch_all([op(1, 0), op(1, 0)]);
    rig.tick(&renamed(2));
    rig.unit.now += 1;
    let squash = Squash { after: 1, stamp: 0, cause: Cause::Flush };
    rig.tick(&Wire { squash: Some(squash), ..Wire::default() });
    assert_eq!((rig.unit.sent(1).stall_rename, rig.dispatch.stats.squash_cycles), (UNBLOCK, 1));
}

#[test]
fn commits_return_the_credits_a_cycle_later_and_gem5_merges_returns() {
    for (gem5, again) in [(false, true), (true, false)] {
        let mut cfg = O3Config::default();
        cfg.quirks.gem5CreditReturns = gem5;
        let mut rig = Rig::new(&cfg);
        let committed = Wire { committed_to_iew: 1, ..Wire::default() };
        let mut returns = |executed, wire: &Wire| rig.dispatch.credits_return(&rig.unit.io, &rig.lsq, executed, wire);
        assert!(!returns(false, &committed));
        // An execution in the next cycle gives reason to, too: gem5 forgets the commits' return then.
        assert!(returns(true, &Wire::default()));
        assert_eq!(returns(false, &Wire::default()), again);
    }
}
