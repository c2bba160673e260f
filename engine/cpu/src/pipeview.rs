//! gem5's `O3PipeView` trace: one record a micro-op with the tick of each pipeline stage, which gem5's
//! `util/o3-pipeview.py` and Konata draw.
//!
//! ```text
//! O3PipeView:fetch:TICK:0xPC:MICROPC:SEQUENCE:DISASSEMBLY
//! O3PipeView:decode:TICK          and so rename, dispatch, complete
//! O3PipeView:issue:TICK[:UNIT:CYCLES]
//! O3PipeView:retire:TICK:store:TICK
//! ```
//!
//! UNIT and CYCLES are ours, and there only where they are asked for: the number of the functional unit that took the
//! micro-op, as the description lists them, and the cycles for which it takes no other. A stage that was not reached is
//! 0: `retire:0` is a micro-op on a wrong path. `store` is when a store has left the store queue, 0 for everything else.
//! Records come in the order in which micro-ops end, some 250 bytes each; SEQUENCE counts fetched micro-ops.
//! Fact source: gem5 24.0 `src/cpu/o3/dyn_inst.cc`, `util/o3-pipeview.py`.

use std::collections::VecDeque;
use std::fmt::Write;

use breakeven_base::Cycle;

/// Stages between fetch and retirement, in the order of the record.
const STAGES: [&str; 5] = ["decode", "rename", "dispatch", "issue", "complete"];

/// One micro-op in flight. Cycles are kept plus one, so that 0 is "never".
#[derive(Clone, Debug, Default)]
struct Record {
    /// Whether the slot holds one: those fetched outside the window have none.
    live: bool,
    /// The pipeline's number, and the one in the trace, which never repeats.
    seq: u64,
    number: u64,
    pc: u64,
    micro_pc: u8,
    fetch: Cycle,
    stages: [Cycle; STAGES.len()],
    retire: Cycle,
    /// The functional unit that took it; [`NO_UNIT`]. And for how many cycles it takes no other.
    unit: u8,
    busy: u32,
    text: String,
}

/// What needs no functional unit.
pub const NO_UNIT: u8 = u8::MAX;

/// What is traced: micro-ops fetched in the core cycles `first..last`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    pub first: u64,
    pub last: u64,
    /// Whether records tell the functional unit.
    pub units: bool,
}

/// Records micro-ops by their slot in the pipeline's ring.
#[derive(Clone, Debug)]
pub struct PipeView {
    window: Window,
    /// Ticks in a cycle.
    period: u64,
    slots: Vec<Record>,
    /// Stores that have retired and not yet been written.
    stores: VecDeque<Record>,
    /// Micro-ops fetched so far.
    fetched: u64,
    /// Number of the last one within its instruction.
    micro_pc: u8,
    out: String,
}

impl PipeView {
    /// For a ring of `slots` micro-ops and a clock of `period` ticks.
    #[must_use]
    pub fn new(slots: usize, period: u64, window: Window) -> Self {
        PipeView {
            window,
            period,
            slots: vec![Record::default(); slots],
            stores: VecDeque::new(),
            fetched: 0,
            micro_pc: 0,
            out: String::new(),
        }
    }

    /// Micro-op `seq` of the instruction at `pc` entered slot `slot`; `first` of that instruction, whose line of assembly is
    /// `text`. Whatever was in the slot was on a wrong path.
    pub fn fetched(&mut self, slot: usize, cycle: Cycle, seq: u64, pc: u64, first: bool, text: &str) {
        self.squashed(slot);
        self.fetched += 1;
        self.micro_pc = if first { 0 } else { self.micro_pc.saturating_add(1) };
        let live = (self.window.first..self.window.last).contains(&cycle.0);
        let Some(r) = self.slots.get_mut(slot) else { return };
        let mut line = std::mem::take(&mut r.text);
        line.clear();
        if live {
            // The fields are separated by colons, the records by line ends.
            line.extend(text.chars().map(|c| if c == ':' || c.is_control() { ' ' } else { c }));
        }
        let (number, micro_pc) = (self.fetched, self.micro_pc);
        *r = Record {
            live,
            seq,
            number,
            pc,
            micro_pc,
            fetch: cycle + 1,
            text: line,
            unit: NO_UNIT,
            ..Record::default()
        };
    }

    /// The micro-op in `slot` reached a stage; the last time counts (one that is issued again).
    fn reached(&mut self, slot: usize, stage: usize, cycle: Cycle) {
        if let Some(r) = self.slots.get_mut(slot) {
            r.stages[stage] = cycle + 1;
        }
    }
    pub fn decoded(&mut self, slot: usize, cycle: Cycle) {
        self.reached(slot, 0, cycle);
    }
    pub fn renamed(&mut self, slot: usize, cycle: Cycle) {
        self.reached(slot, 1, cycle);
    }
    pub fn dispatched(&mut self, slot: usize, cycle: Cycle) {
        self.reached(slot, 2, cycle);
    }
    /// `unit`: the functional unit that takes it, or [`NO_UNIT`], and for how many cycles it takes no other.
    pub fn issued(&mut self, slot: usize, cycle: Cycle, (unit, busy): (u8, u32)) {
        self.reached(slot, 3, cycle);
        if let Some(r) = self.slots.get_mut(slot) {
            (r.unit, r.busy) = (unit, busy);
        }
    }
    pub fn completed(&mut self, slot: usize, cycle: Cycle) {
        self.reached(slot, 4, cycle);
    }

    /// As [`PipeView::completed`], of one that has not been before.
    pub fn completed_first(&mut self, slot: usize, cycle: Cycle) {
        if self.slots.get(slot).is_some_and(|r| r.stages[4] == Cycle::ZERO) {
            self.completed(slot, cycle);
        }
    }

    /// The micro-op in `slot` committed; `store` when it is still to be written (then [`PipeView::stored`] follows).
    pub fn retired(&mut self, slot: usize, cycle: Cycle, store: bool) {
        let Some(r) = self.slots.get_mut(slot).filter(|r| r.live) else { return };
        r.retire = cycle + 1;
        r.live = false;
        if store {
            self.stores.push_back(r.clone());
        } else {
            write(&mut self.out, r, self.period, Cycle::ZERO, self.window.units);
        }
    }

    /// The store `seq` has been written.
    pub fn stored(&mut self, seq: u64, cycle: Cycle) {
        if let Some(i) = self.stores.iter().position(|r| r.seq == seq) {
            if let Some(r) = self.stores.remove(i) {
                write(&mut self.out, &r, self.period, cycle + 1, self.window.units);
            }
        }
    }

    /// The micro-op in `slot` was on a wrong path.
    pub fn squashed(&mut self, slot: usize) {
        if let Some(r) = self.slots.get_mut(slot).filter(|r| r.live) {
            r.live = false;
            write(&mut self.out, r, self.period, Cycle::ZERO, self.window.units);
        }
    }

    /// Writes out what nothing more will be heard of.
    pub fn finish(&mut self) {
        for slot in 0..self.slots.len() {
            self.squashed(slot);
        }
        for r in std::mem::take(&mut self.stores) {
            write(&mut self.out, &r, self.period, Cycle::ZERO, self.window.units);
        }
    }

    /// Forgets what has ended. `in_flight`: slot and number of each micro-op in the pipeline; false where one of them was
    /// fetched before the trace began.
    pub fn forget_ended(&mut self, in_flight: impl Iterator<Item = (usize, u64)>) -> bool {
        self.out.clear();
        self.stores.clear();
        let before = std::mem::take(&mut self.slots);
        self.slots = before.iter().map(|_| Record::default()).collect();
        let mut whole = true;
        for (slot, seq) in in_flight {
            match before.get(slot).filter(|r| r.live && r.seq == seq) {
                Some(record) => self.slots[slot] = record.clone(),
                None => whole = false,
            }
        }
        whole
    }

    /// The records so far, which are then forgotten.
    pub fn take(&mut self) -> String {
        std::mem::take(&mut self.out)
    }
}

fn write(out: &mut String, r: &Record, period: u64, store: Cycle, units: bool) {
    // A tick of 0 means "never"; nothing is fetched in the very first cycle after reset.
    let tick = |c: Cycle| c.after(Cycle(1)).saturating_mul(period);
    // Writing to a string cannot fail.
    let _ = writeln!(
        out,
        "O3PipeView:fetch:{}:0x{:08x}:{}:{}:  {}",
        tick(r.fetch),
        r.pc,
        r.micro_pc,
        r.number,
        r.text.trim_start()
    );
    for (name, c) in STAGES.iter().zip(r.stages) {
        let _ = write!(out, "O3PipeView:{name}:{}", tick(c));
        if units && *name == "issue" && r.unit != NO_UNIT {
            let _ = write!(out, ":{}:{}", r.unit, r.busy);
        }
        out.push('\n');
    }
    let _ = writeln!(out, "O3PipeView:retire:{}:store:{}", tick(r.retire), tick(store));
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Window = Window { first: 0, last: u64::MAX, units: false };

    fn through(v: &mut PipeView, slot: usize, cycle: u64) {
        v.decoded(slot, Cycle(cycle + 1));
        v.renamed(slot, Cycle(cycle + 2));
        v.dispatched(slot, Cycle(cycle + 3));
        v.issued(slot, Cycle(cycle + 4), (2, 1));
        v.completed(slot, Cycle(cycle + 5));
    }

    #[test]
    fn a_record_reads_as_gem5_writes_it() {
        let mut v = PipeView::new(4, 500, ALL);
        v.fetched(1, Cycle(10), 7, 0x8000_0000, true, "00c58533 add x10, x11, x12");
        through(&mut v, 1, 10);
        assert_eq!(v.take(), "", "not before it ends");
        v.retired(1, Cycle(20), false);
        assert_eq!(
            v.take(),
            "O3PipeView:fetch:5000:0x80000000:0:1:  00c58533 add x10, x11, x12\nO3PipeView:decode:5500\n\
             O3PipeView:rename:6000\nO3PipeView:dispatch:6500\nO3PipeView:issue:7000\nO3PipeView:complete:7500\n\
             O3PipeView:retire:10000:store:0\n"
        );
        v.retired(1, Cycle(21), false);
        assert_eq!(v.take(), "", "once");
    }

    #[test]
    fn the_unit_is_told_where_it_is_asked_for() {
        let mut v = PipeView::new(4, 1, Window { units: true, ..ALL });
        // The last one was eliminated at rename: it never issues.
        for (slot, unit) in [(0, Some(2)), (1, Some(NO_UNIT)), (2, None)] {
            v.fetched(slot, Cycle(5), slot as u64, 0x10, true, "nop");
            if let Some(unit) = unit {
                v.issued(slot, Cycle(7), (unit, 12));
            }
            v.retired(slot, Cycle(9), false);
        }
        let text = v.take();
        let issued: Vec<_> = text.lines().filter(|line| line.contains(":issue:")).collect();
        assert_eq!(issued, ["O3PipeView:issue:7:2:12", "O3PipeView:issue:7", "O3PipeView:issue:0"]);
    }

    #[test]
    fn a_squashed_one_never_retires_and_a_store_waits_for_its_write() {
        let mut v = PipeView::new(4, 1, ALL);
        v.fetched(0, Cycle(5), 1, 0x10, true, "sd: a\nb");
        v.fetched(1, Cycle(5), 2, 0x14, false, "j");
        v.decoded(1, Cycle(6));
        v.retired(0, Cycle(9), true);
        v.squashed(1);
        // The slot is used again before the store is done.
        v.fetched(0, Cycle(12), 9, 0x20, true, "nop");
        let squashed = v.take();
        assert!(squashed.starts_with("O3PipeView:fetch:5:0x00000014:1:2:  j\nO3PipeView:decode:6\n"), "{squashed}");
        assert!(squashed.ends_with("O3PipeView:retire:0:store:0\n"), "{squashed}");
        v.stored(1, Cycle(30));
        v.stored(1, Cycle(31));
        let store = v.take();
        assert!(store.starts_with("O3PipeView:fetch:5:0x00000010:0:1:  sd  a b\n"), "{store}");
        assert!(store.ends_with("O3PipeView:retire:9:store:30\n"), "{store}");
        assert_eq!(store.lines().count(), 7);
    }

    #[test]
    fn what_has_ended_is_forgotten_and_what_is_in_flight_goes_on() {
        let mut v = PipeView::new(4, 1, ALL);
        for (slot, seq) in [(0, 1), (1, 2), (2, 3)] {
            v.fetched(slot, Cycle(5), seq, 0x10 * seq, true, "nop");
        }
        v.retired(0, Cycle(9), true);
        // The third was squashed without a word; the fourth was fetched before the trace.
        assert!(v.forget_ended([(1, 2)].into_iter()));
        v.stored(1, Cycle(12));
        assert_eq!(v.take(), "", "neither the store that waits nor the wrong path");
        v.retired(1, Cycle(13), false);
        assert!(v.take().starts_with("O3PipeView:fetch:5:0x00000020:0:2:  nop\n"));
        v.fetched(2, Cycle(14), 3, 0x30, true, "nop");
        assert!(!v.forget_ended([(2, 3), (3, 4)].into_iter()));
        assert!(!v.forget_ended([(2, 7)].into_iter()), "another micro-op's record");
    }

    #[test]
    fn the_window_is_about_fetching() {
        let mut v = PipeView::new(2, 1, Window { first: 10, last: 12, units: false });
        for (cycle, wanted) in [(9, false), (10, true), (11, true), (12, false)] {
            v.fetched(0, Cycle(cycle), cycle, 0, true, "");
            v.retired(0, Cycle(cycle + 20), false);
            assert_eq!(!v.take().is_empty(), wanted, "fetched at {cycle}");
        }
        v.fetched(0, Cycle(11), 1, 0, true, "");
        v.retired(0, Cycle(12), true);
        v.finish();
        assert!(v.take().ends_with("retire:12:store:0\n"));
        // One that vanished without a word, and one that is still in flight at the end.
        v.fetched(0, Cycle(11), 5, 0x40, true, "");
        v.fetched(0, Cycle(11), 5, 0x40, true, "");
        assert!(v.take().contains("0x00000040:0:6:"));
        v.finish();
        assert!(v.take().contains("0x00000040:0:7:"));
        v.fetched(99, Cycle(11), 1, 0, true, ""); // no such slot: nothing
        v.retired(99, Cycle(11), false);
    }
}
