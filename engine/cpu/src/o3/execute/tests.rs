//! Execution by itself: which results are written back in which cycle, and which squash goes to commit.

use breakeven_base::{Tick, Uop};
use breakeven_memory::MemorySystem;

use super::super::config::O3Config;
use super::super::seq::{Operand, Producer};
use super::super::unit_rig::{flagged, op, predictor, UnitRig};
use super::super::wires::Wire;
use super::*;
use crate::outside::Live;
use crate::testing::{memory, memory_config, MockBus, MockFe, PERIOD};
use crate::CoreCtx;

struct Rig {
    unit: UnitRig,
    issue: Issue,
    execute: Execute,
    lsq: Lsq,
    fe: MockFe,
    bus: MockBus,
    mem: MemorySystem,
}

impl Rig {
    fn new(cfg: &O3Config) -> Rig {
        let unit = UnitRig::new(cfg);
        Rig {
            issue: Issue::new(cfg, &unit.io.ring),
            execute: Execute::new(),
            lsq: Lsq::new(cfg, 64),
            fe: MockFe::new(vec![]),
            bus: MockBus::new(),
            mem: memory(memory_config(2, 2, 4)),
            unit,
        }
    }

    /// A micro-op that executes in cycle `at`.
    fn issued(&mut self, uop: Uop, at: u64) -> Seq {
        let seq = self.unit.fetch(uop);
        self.unit.io.ring.at_mut(seq).waiting = [Operand::NONE; 2];
        let event = self.unit.io.event_of(seq);
        self.execute.input.push(self.unit.now, Cycle(at), event);
        seq
    }

    /// One cycle: whether anything was executed, and what arrives in the next.
    fn tick(&mut self) -> (bool, Wire) {
        let now = self.unit.now;
        let when = When { cycle: now, tick: Tick(now.0 * PERIOD), period: PERIOD };
        let cx = &mut CoreCtx { fe: &mut self.fe, bus: &mut self.bus, mem: &mut self.mem };
        let mut cx = Live { cx, predictor: &mut predictor() };
        let executed = self.execute.tick(&mut self.unit.io, &mut self.issue, &mut self.lsq, &mut cx, &when);
        (executed, self.unit.next())
    }

    fn written(&self) -> Vec<Seq> {
        let ring = &self.unit.io.ring;
        ring.head().until(ring.tail()).filter(|seq| ring.state(*seq).intersects(State::WRITTEN)).collect()
    }
}

/// A branch that goes to `next_pc`; fetch went to 0x9000.
fn branch(rig: &mut Rig, at: u64, next_pc: u64) -> Seq {
    let seq = rig.issued(flagged(op(0, 0), UopFlags::BRANCH), at);
    let flow = rig.unit.io.ring.flow_mut(seq);
    (flow.predicted, flow.next_pc) = (0x9000, next_pc);
    seq
}

#[test]
fn results_are_written_back_up_to_the_width_and_the_rest_in_the_next_cycle() {
    let mut rig = Rig::new(&O3Config { wbWidth: 2, ..O3Config::default() });
    let seqs = [12, 12, 12, 13].map(|at| rig.issued(op(1, 0), at));
    let mut seen = Vec::new();
    while rig.unit.now < Cycle(15) {
        let now = rig.unit.now.0;
        let (executed, _) = rig.tick();
        seen.push((now, executed, rig.written().len()));
    }
    assert_eq!(seen, [(10, false, 0), (11, false, 0), (12, true, 2), (13, true, 4), (14, false, 4)]);
    // Commit may take them a cycle after it hears of them.
    assert_eq!(seqs.map(|seq| rig.unit.io.ring.ready_at(seq)), [14, 14, 15, 15].map(Cycle));
    assert_eq!((rig.execute.stats.executed, rig.execute.stats.written), (4, 4));
}

#[test]
fn a_dependent_may_issue_in_the_cycle_in_which_its_operand_is_written_back() {
    let mut rig = Rig::new(&O3Config::default());
    let first = rig.issued(op(1, 0), 11);
    let second = rig.unit.fetch(op(2, 1));
    let s = rig.unit.io.ring.at_mut(second);
    (s.waiting, s.pending) = ([Operand::NONE; 2], 0);
    s.sources = [Producer::new(first, 0), Producer::NONE, Producer::NONE];
    rig.issue.link_operands(&mut rig.unit.io.ring, second);
    rig.issue.insert(&mut rig.unit.io.ring, second, crate::o3::issue::Entry::Free(0), State::empty(), 0);
    rig.tick();
    assert!(!rig.issue.has_ready());
    rig.tick();
    assert!(rig.issue.has_ready());
}

#[test]
fn of_the_squashes_of_one_cycle_the_oldest_goes_to_commit() {
    let mut rig = Rig::new(&O3Config::default());
    branch(&mut rig, 12, 0x9000);
    let older = branch(&mut rig, 11, 0x8000_1000);
    branch(&mut rig, 11, 0x8000_2000);
    assert!(rig.tick().1.commit.resolve.is_none());
    let squash = rig.tick().1.commit.resolve;
    assert_eq!(squash.map(|s| (s.after, s.cause)), Some((older, Cause::Mispredict)));
    assert!(rig.tick().1.commit.resolve.is_none(), "as predicted");
    assert_eq!(rig.execute.stats.predicted_taken_wrong, 2);
}

#[test]
fn what_has_been_squashed_is_not_executed() {
    let mut rig = Rig::new(&O3Config::default());
    rig.issued(op(1, 0), 11);
    let squashed = branch(&mut rig, 11, 0x8000_1000);
    rig.tick();
    rig.unit.io.ring.truncate(squashed);
    assert!(rig.tick().1.commit.resolve.is_none());
    assert_eq!((rig.execute.stats.executed, rig.written()), (1, vec![Seq(1)]));
}

#[test]
fn a_placeholder_is_due_in_its_cycle_when_it_is_the_oldest_and_may_be_postponed() {
    let mut rig = Rig::new(&O3Config::default());
    let older = rig.issued(op(1, 0), 20);
    let waits = rig.issued(op(1, 0), 12);
    rig.unit.io.ring.set_note(waits, Note::WAITS);
    let due = |rig: &Rig, cycle| rig.execute.due_placeholder(&rig.unit.io, Cycle(cycle));
    assert_eq!(due(&rig, 12), None, "an older one is in flight");
    rig.unit.io.ring.retire_to(older + 1);
    assert_eq!([11, 12, 13].map(|cycle| due(&rig, cycle)), [None, Some(waits), None]);
    // Into the same bucket of the calendar's next turn, too.
    for (at, then) in [(12, 13), (30, 30), (12 + 256, 12 + 256)] {
        let now = rig.unit.now;
        rig.unit.now = Cycle(12);
        rig.execute.postpone(waits, Cycle(at), &rig.unit.io, Cycle(12));
        assert_eq!((due(&rig, 12), due(&rig, then)), (None, Some(waits)));
        rig.execute.input.remove(Cycle(then), rig.unit.io.event_of(waits));
        rig.execute.input.push(now, Cycle(12), rig.unit.io.event_of(waits));
    }
    assert_eq!(due(&rig, 12), Some(waits));
}
