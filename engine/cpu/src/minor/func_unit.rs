//! Functional units: pipelines that stall when the instruction at their end cannot commit.
//! Fact source: gem5 24.0 `src/cpu/minor/func_unit.cc` and `SelfStallingPipeline` in `buffers.hh`.

use std::sync::Arc;

use breakeven_base::{Cycle, OpClass};
use educe::Educe;

use super::config::{has, FuConfig, FuTiming, MAX_UNITS};
use super::inst::Seq;
use crate::memo::archive::Archive;

/// The `MinorFUTiming` that counts for one class on one unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timing {
    /// By source operand: how early before its due time the value may be taken.
    pub relative: [u8; 3],
    pub extra_commit: u16,
    pub extra_assumed: u16,
    pub suppress: bool,
}

impl Timing {
    #[allow(clippy::cast_possible_truncation)] // saturated first
    fn new(t: &FuTiming) -> Timing {
        let last = t.srcRegsRelativeLats.last().copied().unwrap_or(0);
        let relative = [0, 1, 2].map(|i| t.srcRegsRelativeLats.get(i).copied().unwrap_or(last).min(255) as u8);
        Timing {
            relative,
            extra_commit: t.extraCommitLat.min(u32::from(u16::MAX)) as u16,
            extra_assumed: t.extraAssumedLat.min(u32::from(u16::MAX)) as u16,
            suppress: t.suppress,
        }
    }
}

/// A unit's state: one cache line of the host. No instruction is moved from stage to stage. The first one has the cycle in
/// which it comes to the end, so "at the end" and "stalled" are comparisons with the clock.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Unit {
    /// The cycle that brings the first instruction to the end, to be seen there from the next on; [`NEVER`]: it is empty.
    due: Cycle,
    first: Seq,
    next_insert: Cycle,
    /// Cycles for which it has been held up.
    held: u64,
    /// Those behind the first: a ring of `mask + 1` in the pool's `queue`, from `base` on.
    base: u32,
    mask: u32,
    head: u32,
    /// Instructions, the first included.
    len: u32,
    issue_lat: u32,
    op_lat: u32,
}

const NEVER: Cycle = Cycle::MAX;

impl Default for Unit {
    fn default() -> Self {
        Unit {
            due: NEVER,
            first: Seq::NONE,
            next_insert: Cycle::ZERO,
            held: 0,
            base: 0,
            mask: 0,
            head: 0,
            len: 0,
            issue_lat: 1,
            op_lat: 1,
        }
    }
}

impl Unit {
    /// The instructions in it, at least one. How long the first has been at the end counts for those behind it alone.
    fn archive(&mut self, queue: &mut [Queued], a: &mut Archive) {
        let Self { due, first, next_insert: _, held, base, mask, head, len, issue_lat: _, op_lat: _ } = self;
        a.u32(len);
        if *len == 1 && !a.loads() {
            let mut clamped = (*due).max(Cycle(a.base.cycle.0 - 1));
            a.cycle_then(&mut clamped);
        } else {
            a.cycle_then(due);
        }
        a.seq(first);
        for i in 0..len.saturating_sub(1) {
            let queued = &mut queue[(*base + ((*head + i) & *mask)) as usize];
            let mut at = queued.due + *held;
            a.cycle_then(&mut at);
            a.seq(&mut queued.seq);
            if a.loads() {
                queued.due = at;
            }
        }
    }
}

/// An instruction behind the first of its unit.
#[derive(Clone, Copy, Debug, Default)]
struct Queued {
    /// The cycle that brings it to the end, less `Unit::held`.
    due: Cycle,
    seq: Seq,
}

/// One class on one unit.
#[derive(Clone, Copy, Debug, Default)]
pub struct ForClass {
    pub timing: Timing,
    /// Units (this one included) on which sources are ready at the same time.
    pub alike: u32,
    /// Units whose results cannot be forwarded to this one.
    pub cant_forward: u32,
    pub op_lat: u32,
    /// From issue to the result.
    pub latency: u32,
}

/// A class on all the units that may get it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Eligible {
    pub units: u32,
    /// Sources are ready on all of them or on none: then only `relative` has to be looked at.
    pub alike: bool,
    pub relative: [u8; 3],
}

/// All units of a core. Bit `i` of the sets is unit `i`.
#[derive(Debug, Educe)]
#[educe(Clone)]
pub struct FuPool {
    occupied: u32,
    /// Units that cannot take an instruction every cycle.
    slow_issue: u32,
    len: usize,
    units: [Unit; MAX_UNITS],
    queue: Box<[Queued]>,
    capable: [u32; OpClass::COUNT],
    /// Of these, the ones that `suppress` does not keep from it.
    eligible: [Eligible; OpClass::COUNT],
    /// By class, then unit.
    by_class: ByClass,
}

type ByClass = Arc<[[ForClass; MAX_UNITS]; OpClass::COUNT]>;

/// Each class on every unit, and the units that execute it.
fn by_class(configs: &[FuConfig]) -> (ByClass, [u32; OpClass::COUNT]) {
    let mut capable = [0; OpClass::COUNT];
    let mut table = [[ForClass::default(); MAX_UNITS]; OpClass::COUNT];
    for &class in OpClass::ALL {
        let row = &mut table[class as usize];
        for (i, fu) in configs.iter().enumerate() {
            if class == OpClass::No_OpClass || has(&fu.opClasses, class) {
                capable[class as usize] |= 1 << i;
            }
            let timing = fu.timings.iter().find(|t| has(&t.opClasses, class)).map(Timing::new).unwrap_or_default();
            row[i] = ForClass {
                timing,
                alike: 0,
                cant_forward: fu.cantForwardFromFUIndices.iter().filter(|i| **i < 32).fold(0, |set, i| set | 1 << i),
                op_lat: fu.opLat,
                latency: fu.opLat + u32::from(timing.extra_commit) + u32::from(timing.extra_assumed),
            };
        }
        for i in 0..configs.len() {
            let sources = |k: usize| (row[k].timing.relative, row[k].cant_forward);
            row[i].alike = (0..configs.len()).filter(|k| sources(*k) == sources(i)).fold(0, |set, k| set | 1 << k);
        }
    }
    (Arc::new(table), capable)
}

impl FuPool {
    pub fn new(configs: &[FuConfig]) -> Self {
        let configs = &configs[..configs.len().min(MAX_UNITS)];
        let mut units = [Unit::default(); MAX_UNITS];
        let mut slots = 0;
        let mut slow_issue = 0;
        for (i, fu) in configs.iter().enumerate() {
            let size = (fu.opLat + 1).next_power_of_two();
            units[i] = Unit {
                // At most one instruction a cycle, whatever the latency.
                issue_lat: fu.issueLat.max(1),
                base: slots,
                mask: size - 1,
                op_lat: fu.opLat,
                ..Unit::default()
            };
            slots += size;
            slow_issue |= u32::from(fu.issueLat > 1) << i;
        }
        let (by_class, capable) = by_class(configs);
        let mut eligible = [Eligible::default(); OpClass::COUNT];
        for ((class, row), capable) in eligible.iter_mut().zip(by_class.iter()).zip(capable) {
            let suppressed = (0..MAX_UNITS).filter(|i| row[*i].timing.suppress).fold(0, |all, i| all | 1u32 << i);
            class.units = capable & !suppressed;
            if let Some(first) = row.get(class.units.trailing_zeros() as usize) {
                class.alike = class.units & !first.alike == 0 && first.cant_forward == 0;
                class.relative = first.timing.relative;
            }
        }
        FuPool {
            occupied: 0,
            slow_issue,
            len: configs.len(),
            units,
            queue: vec![Queued::default(); slots as usize].into_boxed_slice(),
            capable,
            eligible,
            by_class,
        }
    }

    #[inline]
    fn unit(&self, unit: u8) -> &Unit {
        &self.units[usize::from(unit) % MAX_UNITS]
    }

    /// Cycles from one instruction's entry to the next one's.
    pub fn issue_lat(&self, unit: u8) -> u32 {
        self.units[usize::from(unit) % MAX_UNITS].issue_lat
    }

    /// Units that execute `class`.
    #[inline]
    pub fn capable(&self, class: OpClass) -> u32 {
        self.capable[class as usize]
    }
    /// Units that may get an instruction of `class`.
    #[inline]
    pub fn eligible(&self, class: OpClass) -> &Eligible {
        &self.eligible[class as usize]
    }
    /// A class on every unit.
    #[inline]
    pub fn for_class(&self, class: OpClass) -> &[ForClass; MAX_UNITS] {
        &self.by_class[class as usize]
    }
    /// Whether the unit can take an instruction: it is not stalled, and its issue latency is over.
    #[inline]
    pub fn can_insert(&self, unit: usize, now: Cycle) -> bool {
        let u = &self.units[unit % MAX_UNITS];
        u.due >= now && u.next_insert <= now
    }
    /// The first cycle in which a unit's first instruction is at its end.
    #[inline]
    pub fn end_from(&self, unit: u8) -> Cycle {
        Cycle(self.unit(unit).due.0.saturating_add(1))
    }
    /// Whether a unit's first instruction is at its end in cycle `now`: it came there in an earlier one.
    #[inline]
    pub fn at_end(&self, unit: u8, now: Cycle) -> bool {
        self.unit(unit).due < now
    }
    /// The first instruction of a unit, wherever it is, or none.
    #[inline]
    pub fn first(&self, unit: u8) -> Seq {
        self.unit(unit).first
    }
    /// Whether all of these units are stalled at the end of cycle `now`.
    pub fn all_stalled(&self, units: u32, now: Cycle) -> bool {
        (0..self.len).all(|i| units >> i & 1 == 0 || self.units[i].due <= now)
    }
    /// At the end of cycle `now`: some instruction moves on by itself.
    pub fn moving(&self, now: Cycle) -> bool {
        self.occupied != 0 && !self.all_stalled(self.occupied, now)
    }
    #[inline]
    pub fn push(&mut self, unit: usize, seq: Seq, now: Cycle) {
        let i = unit % MAX_UNITS;
        let u = &mut self.units[i];
        // This cycle's move is its first.
        let due = now + u64::from(u.op_lat) - 1;
        u.next_insert = now + u64::from(u.issue_lat);
        u.len += 1;
        if u.len == 1 {
            u.due = due;
            u.first = seq;
            self.occupied |= 1 << i;
        } else {
            self.queue[(u.base + ((u.head + u.len - 2) & u.mask)) as usize] = Queued { due: due - u.held, seq };
        }
    }
    /// What is at the unit's end has been taken: from this cycle on it moves again.
    #[inline]
    pub fn unstall(&mut self, unit: u8, now: Cycle) {
        let i = usize::from(unit) % MAX_UNITS;
        let u = &mut self.units[i];
        u.held += now - 1 - u.due;
        u.len -= 1;
        if u.len == 0 {
            u.due = NEVER;
            u.first = Seq::NONE;
            self.occupied &= !(1 << i);
        } else {
            let next = self.queue[(u.base + u.head) as usize];
            u.head = (u.head + 1) & u.mask;
            u.due = next.due + u.held;
            u.first = next.seq;
        }
    }

    /// One cycle: everything moves on that is not held up at its end.
    #[inline]
    pub fn advance(&mut self, now: Cycle) {
        let slow = self.occupied & self.slow_issue;
        if slow != 0 {
            self.hold(slow, now, 1);
        }
    }

    /// Cycles in which a unit is stalled do not count towards its issue latency.
    fn hold(&mut self, units: u32, now: Cycle, cycles: u64) {
        let mut todo = units;
        while todo != 0 {
            let u = &mut self.units[todo.trailing_zeros() as usize % MAX_UNITS];
            todo &= todo - 1;
            if u.due < now {
                u.next_insert += cycles;
            }
        }
    }

    /// The first cycle after `now` that brings a unit's first instruction to its end; [`Cycle::MAX`]: none is on its way there.
    pub fn next_end(&self, now: Cycle) -> Cycle {
        let mut next = NEVER;
        let mut todo = self.occupied;
        while todo != 0 {
            let due = self.units[todo.trailing_zeros() as usize % MAX_UNITS].due;
            todo &= todo - 1;
            if due > now {
                next = next.min(due);
            }
        }
        next
    }

    /// The first cycle after `now` in which a unit could take another instruction, if nothing leaves it until then.
    pub fn insertable_from(&self, unit: usize, now: Cycle) -> Cycle {
        let u = &self.units[unit % MAX_UNITS];
        if u.due > now {
            u.next_insert.max(now + 1)
        } else {
            NEVER
        }
    }

    /// `cycles` pass after `now` in which nothing leaves a unit and nothing comes to the end of one.
    pub fn skip_still(&mut self, now: Cycle, cycles: u64) {
        self.hold(self.occupied & self.slow_issue, now + 1, cycles);
    }

    /// `cycles` pass in which nothing moves: all that is in a unit is at its end.
    pub fn skip(&mut self, cycles: u64) {
        self.hold(self.occupied & self.slow_issue, NEVER, cycles);
    }

    /// Units with something in them.
    pub fn occupied(&self) -> u32 {
        self.occupied
    }

    /// The state in relative form.
    pub fn archive(&mut self, a: &mut Archive) {
        let Self { occupied, slow_issue, len, units, queue, capable: _, eligible: _, by_class: _ } = self;
        a.u32(occupied);
        for (i, unit) in units.iter_mut().enumerate().take(*len) {
            let is_used = *occupied >> i & 1 != 0;
            if a.loads() {
                (unit.due, unit.first, unit.len) = (NEVER, Seq::NONE, 0);
                (unit.next_insert, unit.held, unit.head) = (Cycle::ZERO, 0, 0);
            }
            if is_used || *slow_issue >> i & 1 != 0 {
                a.cycle(&mut unit.next_insert);
            }
            if is_used {
                unit.archive(queue, a);
            }
        }
    }

    /// What every occupied unit holds, for the deadlock report.
    pub fn describe(&self) -> String {
        let mut parts = Vec::new();
        for (i, u) in self.units.iter().enumerate().filter(|(_, u)| u.len > 0) {
            parts.push(format!(
                "unit {i}: {} in {} cycles, the first at its end from cycle {} on",
                u.len,
                u.op_lat,
                u.due + 1
            ));
        }
        if parts.is_empty() {
            "all empty".to_owned()
        } else {
            parts.join("; ")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::config::default_fu_pool;
    use super::*;

    #[test]
    fn an_instruction_comes_out_after_the_latency_and_stalls_the_unit() {
        let mut p = FuPool::new(&default_fu_pool());
        p.push(0, Seq(7), Cycle(0));
        for now in 0..3 {
            assert!(!p.at_end(0, Cycle(now)), "cycle {now}");
            p.advance(Cycle(now));
        }
        assert!(p.at_end(0, Cycle(3)) && p.first(0) == Seq(7));
        assert!(p.all_stalled(1, Cycle(2)) && !p.can_insert(0, Cycle(3)));
        p.advance(Cycle(3));
        assert!(p.at_end(0, Cycle(4)));
        p.unstall(0, Cycle(4));
        p.advance(Cycle(4));
        assert!(!p.at_end(0, Cycle(5)) && p.first(0) == Seq::NONE);
        assert!(!p.moving(Cycle(4)));
    }

    #[test]
    fn what_is_behind_a_stalled_one_is_held_up_with_it() {
        let mut p = FuPool::new(&default_fu_pool());
        p.push(0, Seq(7), Cycle(0));
        p.advance(Cycle(0));
        p.advance(Cycle(1));
        p.push(0, Seq(8), Cycle(2));
        p.advance(Cycle(2));
        assert!(p.at_end(0, Cycle(3)) && p.first(0) == Seq(7));
        (3..9).for_each(|now| p.advance(Cycle(now)));
        p.unstall(0, Cycle(9));
        assert!(p.moving(Cycle(8)));
        for now in 9..11 {
            assert!(!p.at_end(0, Cycle(now)), "cycle {now}");
            p.advance(Cycle(now));
        }
        assert!(p.at_end(0, Cycle(11)) && p.first(0) == Seq(8));
    }

    #[test]
    fn a_divider_takes_the_next_after_its_issue_latency() {
        let mut p = FuPool::new(&default_fu_pool());
        let divider = p.capable(OpClass::IntDiv).trailing_zeros() as usize;
        p.push(divider, Seq(1), Cycle(100));
        (100..109).for_each(|now| p.advance(Cycle(now)));
        assert!(!p.can_insert(divider, Cycle(108)));
        assert!(!p.can_insert(divider, Cycle(109)), "it is stalled");
        #[allow(clippy::cast_possible_truncation)] // at most 32 units
        p.unstall(divider as u8, Cycle(109));
        assert!(p.can_insert(divider, Cycle(109)));
    }

    #[test]
    fn the_issue_latency_stands_still_while_the_unit_is_stalled() {
        let slow = FuConfig { opLat: 2, issueLat: 9, ..default_fu_pool()[0].clone() };
        let mut p = FuPool::new(&[slow]);
        p.push(0, Seq(1), Cycle(100));
        // At its end from 102 on; cycles 102 to 104 are stalled.
        (100..105).for_each(|now| p.advance(Cycle(now)));
        p.unstall(0, Cycle(105));
        assert!(!p.can_insert(0, Cycle(111)) && p.can_insert(0, Cycle(112)));
    }

    #[test]
    fn relative_latencies_repeat_the_last() {
        let t = Timing::new(&FuTiming { srcRegsRelativeLats: vec![3, 1], ..FuTiming::default() });
        assert_eq!(t.relative, [3, 1, 1]);
    }
}
