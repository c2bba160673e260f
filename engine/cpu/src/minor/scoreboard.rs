//! When each register's newest value can be taken, and who writes it.
//! Fact source: gem5 24.0 `src/cpu/minor/scoreboard.cc`. gem5 looks `cantForwardFromFUIndices` up by the register's
//! number; here it is looked up by the unit that writes the register, as the parameter is documented.

use breakeven_base::{Cycle, Reg};

use super::func_unit::Timing;
use super::inst::{DynInst, Seq, NO_UNIT};
use crate::memo::archive::Archive;

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// The value is there from this cycle on: `returns`, or never while a writer's time is not known.
    known: Cycle,
    /// The youngest writer's time.
    returns: Cycle,
    writer: Seq,
    /// Writers in flight.
    results: u8,
    /// Of these, those whose time is not known beforehand.
    unpredictable: u8,
    unit: u8,
}

const FREE: Entry =
    Entry { known: Cycle::ZERO, returns: Cycle::ZERO, writer: Seq::NONE, results: 0, unpredictable: 0, unit: NO_UNIT };

impl Entry {
    #[inline]
    fn mark(&mut self, unit: u8, seq: Seq, returns: Cycle, unpredictable: bool) {
        self.unpredictable += u8::from(unpredictable);
        self.results += 1;
        self.returns = returns;
        self.known = if self.unpredictable == 0 { returns } else { Cycle::MAX };
        self.writer = seq;
        self.unit = unit;
    }

    #[inline]
    fn clear(&mut self, is_mem: bool) {
        if self.results <= 1 {
            *self = FREE;
            return;
        }
        self.results -= 1;
        if is_mem {
            self.unpredictable = self.unpredictable.saturating_sub(1);
            self.known = if self.unpredictable == 0 { self.returns } else { Cycle::MAX };
        }
    }
}

#[derive(Clone, Debug)]
pub struct Scoreboard {
    regs: [Entry; Reg::COUNT],
}

impl Scoreboard {
    pub fn new() -> Self {
        Scoreboard { regs: [FREE; Reg::COUNT] }
    }

    #[inline]
    fn entry(&mut self, reg: Reg) -> &mut Entry {
        &mut self.regs[reg.index() % Reg::COUNT]
    }

    /// The instruction has been issued: its results come at `returns`.
    #[inline]
    pub fn mark_dests(&mut self, inst: &DynInst, seq: Seq, returns: Cycle, unpredictable: bool) {
        let [first, second] = inst.uop.dst;
        if first.is_some() {
            self.entry(first).mark(inst.unit, seq, returns, unpredictable);
        }
        if second.is_some() {
            self.entry(second).mark(inst.unit, seq, returns, unpredictable);
        }
    }

    /// The state in relative form: the registers that have a writer in flight.
    #[allow(clippy::cast_possible_truncation)] // few registers
    pub fn archive(&mut self, a: &mut Archive) {
        if a.loads() {
            self.regs = [FREE; Reg::COUNT];
        }
        let mut next = 0;
        loop {
            let used = (next..Reg::COUNT).find(|i| self.regs[*i].results > 0);
            let mut index = used.unwrap_or(Reg::COUNT) as u8;
            a.u8(&mut index);
            let Some(entry) = self.regs.get_mut(usize::from(index)) else { return };
            let Entry { known, returns, writer, results, unpredictable, unit } = entry;
            a.u8(results);
            a.u8(unpredictable);
            a.u8(unit);
            a.cycle(returns);
            a.seq_in_flight(writer);
            *known = if *unpredictable == 0 { *returns } else { Cycle::MAX };
            next = usize::from(index) + 1;
        }
    }

    /// The instruction has left.
    #[inline]
    pub fn clear_dests(&mut self, inst: &DynInst) {
        let is_mem = inst.is_mem();
        let [first, second] = inst.uop.dst;
        if first.is_some() {
            self.entry(first).clear(is_mem);
        }
        if second.is_some() {
            self.entry(second).clear(is_mem);
        }
    }

    /// The youngest instruction in flight that writes one of the sources.
    #[inline]
    pub fn wait_for(&self, inst: &DynInst) -> Seq {
        inst.uop.src.iter().map(|r| self.regs[r.index() % Reg::COUNT].writer).max().unwrap_or(Seq::NONE)
    }

    /// The next instant after `now` at which one of the sources is there.
    pub fn next_return(&self, inst: &DynInst, now: Cycle) -> Cycle {
        let returns = inst.uop.src.iter().map(|r| self.regs[r.index() % Reg::COUNT].returns);
        returns.filter(|r| *r > now).min().unwrap_or(Cycle::MAX)
    }

    /// No source keeps the instruction from being issued to a unit with this timing from then on; it may be earlier than that.
    pub fn ready_from(&self, inst: &DynInst, timing: &Timing) -> Cycle {
        let known = |i: usize| self.regs[inst.uop.src[i].index() % Reg::COUNT].known;
        let early = |i: usize| Cycle(known(i).0.saturating_sub(timing.relative[i].into()));
        early(0).max(early(1)).max(early(2))
    }

    /// As [`Scoreboard::can_issue`], where every unit forwards.
    #[inline]
    pub fn are_ready(&self, inst: &DynInst, relative: [u8; 3], now: Cycle) -> bool {
        let known = |i: usize| self.regs[inst.uop.src[i].index() % Reg::COUNT].known;
        let ready = |i: usize| known(i) <= now + u64::from(relative[i]);
        ready(0) & ready(1) & ready(2)
    }

    /// Whether all sources can be taken by an instruction that is issued at `now` to a unit with this timing.
    #[inline]
    pub fn can_issue(&self, inst: &DynInst, timing: &Timing, cant_forward: u32, now: Cycle) -> bool {
        if cant_forward == 0 {
            return self.are_ready(inst, timing.relative, now);
        }
        let entry = |i: usize| &self.regs[inst.uop.src[i].index() % Reg::COUNT];
        (0..3).all(|i| {
            let e = entry(i);
            let forwards = e.unit == NO_UNIT || cant_forward >> (e.unit & 31) & 1 == 0;
            e.known <= now + if forwards { u64::from(timing.relative[i]) } else { 0 }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use breakeven_base::Uop;

    fn adds(dst: u8, src: u8) -> DynInst {
        DynInst {
            uop: Uop { src: [Reg(src), Reg::NONE, Reg::NONE], dst: [Reg(dst), Reg::NONE], ..Uop::default() },
            ..DynInst::default()
        }
    }

    #[test]
    fn a_source_may_be_taken_its_relative_latency_early() {
        let mut s = Scoreboard::new();
        let t = Timing { relative: [2; 3], ..Timing::default() };
        s.mark_dests(&adds(5, 0), Seq(1), Cycle(13), false);
        assert!(!s.can_issue(&adds(6, 5), &t, 0, Cycle(10)));
        assert!(s.can_issue(&adds(6, 5), &t, 0, Cycle(11)));
        assert!(s.can_issue(&adds(6, 7), &t, 0, Cycle(0)));
        s.clear_dests(&adds(5, 0));
        assert!(s.can_issue(&adds(6, 5), &t, 0, Cycle(0)));
    }

    #[test]
    fn no_forwarding_from_a_listed_unit() {
        let mut s = Scoreboard::new();
        let t = Timing { relative: [2; 3], ..Timing::default() };
        s.mark_dests(&DynInst { unit: 3, ..adds(5, 0) }, Seq(1), Cycle(13), false);
        assert!(!s.can_issue(&adds(6, 5), &t, 1 << 3, Cycle(12)));
        assert!(s.can_issue(&adds(6, 5), &t, 1 << 3, Cycle(13)));
        assert!(s.can_issue(&adds(6, 5), &t, 1 << 2, Cycle(11)));
    }

    #[test]
    fn the_register_stays_busy_until_its_last_writer_has_left() {
        let mut s = Scoreboard::new();
        s.mark_dests(&adds(5, 0), Seq(1), Cycle(13), true);
        s.mark_dests(&adds(5, 0), Seq(2), Cycle(14), false);
        s.clear_dests(&adds(5, 0));
        assert_eq!(s.wait_for(&adds(6, 5)), Seq(2));
    }
}
