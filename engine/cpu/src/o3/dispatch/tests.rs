//! Dispatch by itself, with the default delays: rename hears of it a cycle later.

use super::super::unit_rig::{flagged, op, queue, UnitRig};
use super::super::wires::{Dispatched, InFront};
use super::*;
use breakeven_base::{OpClass, Uop};

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

    fn tick(&mut self, wire: &ToIew) {
        self.dispatch.tick(&mut self.unit.io, &mut self.issue, &mut self.lsq, self.unit.now, wire, false);
    }
}

fn renamed(n: u16) -> ToIew {
    ToIew { arrived: n, ..ToIew::default() }
}

#[test]
fn the_width_goes_into_the_queues_and_the_rest_blocks_rename() {
    let mut rig = Rig::new(&O3Config { dispatchWidth: 2, ..O3Config::default() });
    let load = flagged(op(1, 0), UopFlags::LOAD);
    rig.unit.fetch_all([load, flagged(op(0, 0), UopFlags::STORE), load]);
    rig.tick(&renamed(3));
    let sent = rig.unit.sent(1);
    assert_eq!(sent.rename.dispatched, Dispatched { uops: 2, rob: 2, loads: 1, stores: 1 });
    assert_eq!((sent.rename.stall, rig.issue.free(), rig.lsq.free_loads()), (Stall::Block, 62, 31));
    rig.unit.now += 1;
    rig.tick(&ToIew::default());
    assert_eq!((rig.unit.sent(1).rename.dispatched.uops, rig.unit.sent(1).rename.stall), (1, Stall::Unblock));
}

#[test]
fn rename_counts_what_is_on_its_way_to_the_rob_until_the_robs_own_report_has_it() {
    // Renamed at 0, in the ROB at `to_rob`, reported `to_rob` + `commit` later; dispatched at `to_iew`, reported `back` later.
    for (to_rob, commit, to_iew, back, after) in
        [(1, 1, 2, 1, 1), (1, 2, 2, 1, 1), (1, 3, 2, 1, 2), (2, 5, 2, 1, 5), (1, 5, 4, 3, 3)]
    {
        let mut rig = Rig::new(&O3Config {
            renameToROBDelay: to_rob,
            commitToRenameDelay: commit,
            renameToIEWDelay: to_iew,
            iewToRenameDelay: back,
            ..O3Config::default()
        });
        rig.unit.fetch(op(1, 0));
        rig.tick(&renamed(1));
        let mut told = |what: fn(&Dispatched) -> u16| (1..9).find(|n| what(&rig.unit.sent(*n).rename.dispatched) > 0);
        assert_eq!(
            (told(|d| d.uops), told(|d| d.rob)),
            (Some(u64::from(back)), Some(after)),
            "{to_rob} {commit} {to_iew} {back}"
        );
    }
}

#[test]
fn a_full_issue_queue_blocks_until_an_entry_is_free() {
    let mut rig = Rig::new(&O3Config { numIQEntries: 2, ..O3Config::default() });
    rig.unit.fetch_all((0..3).map(|_| op(1, 0)));
    rig.tick(&renamed(3));
    assert_eq!((rig.issue.free(), rig.dispatch.next(), rig.dispatch.stats.iq_full), (0, Seq(3), 1));
    rig.unit.now += 1;
    rig.tick(&ToIew::default());
    assert_eq!((rig.dispatch.next(), rig.dispatch.stats.block_cycles), (Seq(3), 1));
    rig.unit.now += 1;
    let mut executes = super::super::wheel::Wheel::new();
    rig.issue.tick(&mut rig.unit.io, &mut executes, rig.unit.now);
    rig.tick(&ToIew::default());
    assert_eq!(rig.dispatch.next(), Seq(4));
}

#[test]
fn what_finds_its_queue_full_holds_what_is_behind_it() {
    let all = [OpClass::MemRead, OpClass::MemWrite, OpClass::FloatAdd];
    let cfg = O3Config { instQueues: vec![queue(1, &[OpClass::IntAlu]), queue(4, &all)], ..O3Config::default() };
    let mut rig = Rig::new(&cfg);
    let float = Uop { class: OpClass::FloatAdd, ..op(1, 0) };
    rig.unit.fetch_all([op(1, 0), float, op(1, 0), float]);
    rig.tick(&renamed(4));
    assert_eq!((rig.issue.free(), rig.dispatch.next(), rig.dispatch.stats.iq_full), (3, Seq(3), 1));
    assert_eq!(rig.unit.sent(1).rename.stall, Stall::Block);
    rig.unit.now += 1;
    let mut executes = super::super::wheel::Wheel::new();
    rig.issue.tick(&mut rig.unit.io, &mut executes, rig.unit.now);
    rig.tick(&ToIew::default());
    assert_eq!((rig.issue.free(), rig.dispatch.next()), (3, Seq(5)));
}

#[test]
fn nothing_is_dispatched_while_the_rob_is_being_walked() {
    let mut rig = Rig::new(&O3Config::default());
    rig.unit.fetch(op(1, 0));
    rig.tick(&ToIew { rob_squashing: true, ..renamed(1) });
    assert_eq!((rig.dispatch.next(), rig.unit.sent(1).rename.stall), (Seq(1), Stall::Block));
    rig.unit.now += 1;
    rig.tick(&ToIew::default());
    assert_eq!((rig.dispatch.next(), rig.unit.sent(1).rename.stall), (Seq(2), Stall::Unblock));
}

/// Six loads: one dispatched, two in dispatch, two that arrive in the next cycle and one in the cycle after that. A squash drops
/// all but the first two. Returns what rename takes off its counts at once, too.
fn four_loads_squashed(gem5: bool) -> (Rig, Dispatched) {
    let mut cfg = O3Config { dispatchWidth: 1, ..O3Config::default() };
    cfg.quirks.gem5SquashedCredits = gem5;
    let mut rig = Rig::new(&cfg);
    let load = flagged(op(1, 0), UopFlags::LOAD);
    rig.unit.fetch_all((0..6).map(|_| load));
    rig.tick(&renamed(3));
    rig.unit.now += 1;
    let now = rig.unit.now;
    rig.unit.io.wires.at(now + 1).iew.arrived = 2;
    rig.unit.io.wires.at(now + 2).iew.arrived = 1;
    let kept = InFront { fetched: 0, decoded: 0, renamed: 0, to_rob: 0 };
    let in_flight = rig.unit.io.wires.clear_front(now, kept);
    let dropped = rig.dispatch.squash(&mut rig.unit.io, Seq(3), Seq(7), &in_flight, now);
    (rig, dropped)
}

#[test]
fn gem5s_credits_of_squashed_micro_ops_return_as_if_they_had_been_dispatched() {
    let (mut rig, dropped) = four_loads_squashed(true);
    assert_eq!(dropped, Dispatched::default());
    let sent: Vec<_> =
        (1..=3).map(|n| (rig.unit.sent(n).rename.dispatched.uops, rig.unit.sent(n).rename.dispatched.loads)).collect();
    assert_eq!(sent, [(1, 1), (2, 2), (1, 1)]);
    assert_eq!([rig.unit.sent(1).iew.arrived, rig.unit.sent(2).iew.arrived], [0, 0]);
    assert_eq!([rig.dispatch.next(), rig.dispatch.end()], [Seq(2), Seq(3)]);
}

#[test]
fn rename_takes_squashed_micro_ops_off_its_counts_at_once_but_in_gem5() {
    let (mut rig, dropped) = four_loads_squashed(false);
    assert_eq!(dropped, Dispatched { uops: 4, rob: 4, loads: 4, stores: 0 });
    assert_eq!([1, 2, 3].map(|n| rig.unit.sent(n).rename.dispatched), [Dispatched::default(); 3]);
}

#[test]
fn a_squash_unblocks_rename() {
    let mut rig = Rig::new(&O3Config { dispatchWidth: 1, ..O3Config::default() });
    rig.unit.fetch_all([op(1, 0), op(1, 0)]);
    rig.tick(&renamed(2));
    rig.unit.now += 1;
    rig.dispatch.tick(&mut rig.unit.io, &mut rig.issue, &mut rig.lsq, rig.unit.now, &ToIew::default(), true);
    assert_eq!((rig.unit.sent(1).rename.stall, rig.dispatch.stats.squash_cycles), (Stall::Unblock, 1));
}

#[test]
fn commits_return_the_credits_a_cycle_later_and_gem5_merges_returns() {
    for (gem5, again) in [(false, true), (true, false)] {
        let mut cfg = O3Config::default();
        cfg.quirks.gem5CreditReturns = gem5;
        let mut rig = Rig::new(&cfg);
        let committed = ToIew { committed: Seq(1), ..ToIew::default() };
        let mut returns =
            |executed, wire: &ToIew| rig.dispatch.credits_return(&rig.unit.io, &rig.lsq, executed, wire, false);
        assert!(!returns(false, &committed));
        // An execution in the next cycle gives reason to, too: gem5 forgets the commits' return then.
        assert!(returns(true, &ToIew::default()));
        assert_eq!(returns(false, &ToIew::default()), again);
    }
}

#[test]
fn what_arrives_waits_for_the_skid_buffer_in_gem5_only() {
    for (gem5, dispatched) in [(true, 1), (false, 2)] {
        let mut cfg = O3Config { dispatchWidth: 2, ..O3Config::default() };
        cfg.quirks.gem5SkidBufferFirst = gem5;
        let mut rig = Rig::new(&cfg);
        rig.unit.fetch_all((0..4).map(|_| op(1, 0)));
        rig.tick(&renamed(3));
        rig.unit.now += 1;
        rig.tick(&renamed(1));
        assert_eq!(rig.unit.sent(1).rename.dispatched.uops, dispatched);
    }
}
