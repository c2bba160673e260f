//! Issue by itself: which micro-ops start in which cycle.

use super::super::fu_pool::IqInsertionPolicy;
use super::super::unit_rig::{flagged, op, queue, UnitRig};
use super::*;
use crate::o3::seq::Operand;
use breakeven_base::{Cycle, OpClass, Uop};

fn unit(cfg: &O3Config) -> (UnitRig, Issue, Wheel) {
    let rig = UnitRig::new(cfg);
    let issue = Issue::new(cfg, &rig.io.ring);
    (rig, issue, Wheel::new())
}

fn class(class: OpClass) -> Uop {
    Uop { class, ..op(1, 0) }
}

/// Dispatches a micro-op whose first operand comes from `from` (none: it is there).
fn insert(rig: &mut UnitRig, issue: &mut Issue, uop: Uop, from: Option<Seq>) -> Seq {
    let seq = rig.fetch(uop);
    let s = rig.io.ring.at_mut(seq);
    (s.waiting, s.pending) = ([Operand::NONE; 2], 0);
    s.sources = [from.map_or(Producer::NONE, |from| Producer::new(from, 0)), Producer::NONE, Producer::NONE];
    issue.link_operands(&mut rig.io.ring, seq);
    let entry = issue.room_for(&rig.io.ring, seq).expect("room");
    issue.insert(&mut rig.io.ring, seq, entry, State::empty(), 0);
    seq
}

/// The micro-ops that execute in `cycle`.
fn executing(executes: &mut Wheel, cycle: Cycle) -> Vec<Seq> {
    let mut due = Vec::new();
    if executes.has(cycle) {
        executes.take(cycle, &mut due);
    }
    due.iter().map(|e| e.seq).collect()
}

fn tick(rig: &mut UnitRig, issue: &mut Issue, executes: &mut Wheel) {
    issue.tick(&mut rig.io, executes, rig.now);
    rig.now += 1;
}

#[test]
fn the_oldest_ready_micro_ops_issue_up_to_the_width() {
    let (mut rig, mut issue, mut executes) = unit(&O3Config { issueWidth: 2, ..O3Config::default() });
    for _ in 0..3 {
        insert(&mut rig, &mut issue, op(1, 0), None);
    }
    tick(&mut rig, &mut issue, &mut executes);
    assert_eq!(issue.free(), 63, "an entry is free when its micro-op has issued");
    tick(&mut rig, &mut issue, &mut executes);
    // Issued at 10 and 11, executed a cycle later.
    assert_eq!(
        [executing(&mut executes, Cycle(11)), executing(&mut executes, Cycle(12))],
        [vec![Seq(1), Seq(2)], vec![Seq(3)]]
    );
}

#[test]
fn a_dependent_issues_after_its_producer_has_written_back() {
    let (mut rig, mut issue, mut executes) = unit(&O3Config::default());
    let first = insert(&mut rig, &mut issue, class(OpClass::IntMult), None);
    let second = insert(&mut rig, &mut issue, op(2, 1), Some(first));
    tick(&mut rig, &mut issue, &mut executes);
    assert!(!issue.has_ready(), "the second waits");
    // Three cycles of latency: executes at 10 + 1 + 3 - 1.
    assert_eq!(executing(&mut executes, Cycle(13)), [first]);
    rig.now = Cycle(13);
    issue.wake(&mut rig.io.ring, first);
    tick(&mut rig, &mut issue, &mut executes);
    assert_eq!(executing(&mut executes, Cycle(14)), [second]);
}

#[test]
fn a_class_without_a_free_unit_is_passed_over() {
    let (mut rig, mut issue, mut executes) = unit(&O3Config::default());
    // Two units multiply and divide; a division takes its unit for 20 cycles.
    for c in [OpClass::IntDiv, OpClass::IntMult, OpClass::IntMult, OpClass::IntAlu] {
        insert(&mut rig, &mut issue, class(c), None);
    }
    tick(&mut rig, &mut issue, &mut executes);
    assert_eq!(executing(&mut executes, Cycle(11)), [Seq(4)], "younger, but it has a unit");
    assert_eq!((issue.stats.fu_busy, rig.io.ring.wait(Seq(3))), (1, Wait::Unit));
    tick(&mut rig, &mut issue, &mut executes);
    assert_eq!(
        [executing(&mut executes, Cycle(13)), executing(&mut executes, Cycle(14))],
        [vec![Seq(2)], vec![Seq(3)]]
    );
    assert_eq!(executing(&mut executes, Cycle(30)), [Seq(1)]);
}

#[test]
fn a_squash_frees_entries_and_takes_operands_out_of_their_producers_lists() {
    let (mut rig, mut issue, mut executes) = unit(&O3Config::default());
    let first = insert(&mut rig, &mut issue, class(OpClass::IntMult), None);
    let kept = insert(&mut rig, &mut issue, op(2, 1), Some(first));
    insert(&mut rig, &mut issue, op(3, 1), Some(first));
    insert(&mut rig, &mut issue, op(4, 0), None);
    tick(&mut rig, &mut issue, &mut executes);
    assert_eq!(issue.free(), 62, "two wait");
    issue.squash(&mut rig.io.ring, Seq(3), Seq(5));
    rig.io.ring.truncate(Seq(3));
    assert_eq!(issue.free(), 63);
    issue.wake(&mut rig.io.ring, first);
    assert!(issue.has_ready());
    rig.now = Cycle(13);
    tick(&mut rig, &mut issue, &mut executes);
    assert_eq!((executing(&mut executes, Cycle(14)), issue.has_ready()), (vec![kept], false));
}

#[test]
fn what_must_be_the_oldest_waits_for_its_release() {
    let (mut rig, mut issue, mut executes) = unit(&O3Config::default());
    let seq = rig.fetch(op(1, 0));
    rig.io.ring.at_mut(seq).pending = 0;
    issue.insert(&mut rig.io.ring, seq, Entry::Free(0), State::NON_SPEC, 1);
    assert!(!issue.has_ready());
    issue.release(&mut rig.io, seq);
    assert!(!issue.has_ready(), "commit has not released it");
    rig.io.ring.set_state(seq, State::RELEASED);
    issue.release(&mut rig.io, seq);
    tick(&mut rig, &mut issue, &mut executes);
    assert_eq!(executing(&mut executes, Cycle(11)), [seq]);
}

/// Additions in two queues of an entry and two, with an adder each; loads in the second.
fn by_kind() -> O3Config {
    let both = [OpClass::IntAlu, OpClass::MemRead, OpClass::MemWrite];
    O3Config { instQueues: vec![queue(1, &[OpClass::IntAlu]), queue(2, &both)], ..O3Config::default() }
}

fn load() -> Uop {
    flagged(class(OpClass::MemRead), UopFlags::LOAD)
}

/// What would be dispatched next, `uop` or it and those fused with it, finds this entry.
fn room(rig: &mut UnitRig, issue: &Issue, uop: Uop) -> Option<Entry> {
    let seq = rig.fetch(uop);
    issue.room_for(&rig.io.ring, seq)
}

#[test]
fn the_first_queue_that_can_execute_it_and_has_room_takes_a_micro_op() {
    let (mut rig, mut issue, _) = unit(&by_kind());
    assert_eq!(room(&mut rig, &issue, load()), Some(Entry::Free(1)));
    assert_eq!(room(&mut rig, &issue, class(OpClass::FloatDiv)), Some(Entry::Free(0)), "no queue has a unit for it");
    insert(&mut rig, &mut issue, op(1, 0), None);
    assert_eq!(room(&mut rig, &issue, op(1, 0)), Some(Entry::Free(1)));
    insert(&mut rig, &mut issue, op(1, 0), None);
    insert(&mut rig, &mut issue, op(1, 0), None);
    assert_eq!((room(&mut rig, &issue, load()), issue.free()), (None, 0));
}

#[test]
fn the_queue_with_the_fewest_entries_taken_takes_a_micro_op() {
    let mut cfg = O3Config { iqInsertionPolicy: IqInsertionPolicy::LeastLoaded, ..by_kind() };
    cfg.instQueues[0].numEntries = 2;
    let (mut rig, mut issue, _) = unit(&cfg);
    let chosen: Vec<_> = (0..4)
        .map(|_| {
            let seq = insert(&mut rig, &mut issue, op(1, 0), None);
            issue.queue.queue(rig.io.ring.slot(seq))
        })
        .collect();
    assert_eq!(chosen, [0, 1, 0, 1]);
}

#[test]
fn a_queue_issues_to_its_own_units() {
    let cfg = O3Config { instQueues: vec![queue(2, &[OpClass::IntAlu]), by_kind().instQueues.remove(1)], ..by_kind() };
    let (mut rig, mut issue, mut executes) = unit(&cfg);
    for _ in 0..3 {
        insert(&mut rig, &mut issue, op(1, 0), None);
    }
    tick(&mut rig, &mut issue, &mut executes);
    assert_eq!(executing(&mut executes, Cycle(11)), [Seq(1), Seq(3)], "the second waits for the first queue's unit");
    assert_eq!((issue.queue.choose(1), issue.free()), (Some(0), 3));
}

#[test]
fn fused_micro_ops_share_an_entry_of_a_queue_that_can_execute_both() {
    let (mut rig, mut issue, mut executes) = unit(&O3Config { microFusion: true, ..by_kind() });
    let fused = |rig: &mut UnitRig, uop| {
        let seq = rig.fetch(uop);
        rig.io.ring.set_note(seq, Note::FUSED_NO_SLOT);
        seq
    };
    let first = rig.fetch(op(1, 0));
    let load = fused(&mut rig, load());
    for (seq, entry) in [(first, Entry::Free(1)), (load, Entry::OfPrevious(1))] {
        assert_eq!(issue.room_for(&rig.io.ring, seq), Some(entry), "the first queue has no unit for the load");
        issue.insert(&mut rig.io.ring, seq, entry, State::empty(), 0);
    }
    assert_eq!(issue.free(), 2);
    tick(&mut rig, &mut issue, &mut executes);
    assert_eq!(issue.free(), 2, "a load keeps the entry until it writes back");
    issue.leave(&mut rig.io.ring, load);
    assert_eq!(issue.free(), 3);
    let late = fused(&mut rig, op(1, 0));
    assert_eq!(issue.room_for(&rig.io.ring, late), Some(Entry::Free(0)), "the one before it has left");
}

#[test]
fn a_load_may_give_its_entry_back_when_it_issues() {
    for (at_issue, free) in [(false, 63), (true, 64)] {
        let cfg = O3Config { loadsLeaveAtIssue: at_issue, ..O3Config::default() };
        let (mut rig, mut issue, mut executes) = unit(&cfg);
        let seq = insert(&mut rig, &mut issue, load(), None);
        tick(&mut rig, &mut issue, &mut executes);
        assert_eq!(issue.free(), free);
        issue.leave(&mut rig.io.ring, seq);
        assert_eq!(issue.free(), 64);
    }
}
