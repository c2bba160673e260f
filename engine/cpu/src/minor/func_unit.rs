//! Functional units: pipelines that stall when what comes out at their end cannot commit.
//! Fact source: gem5 24.0 `src/cpu/minor/func_unit.cc` and `SelfStallingPipeline` in `buffers.hh`.

use std::sync::Arc;

use breakeven_base::OpClass;

use super::config::{FuConfig, FuTiming, MAX_UNITS};
use super::inst::Seq;

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

#[derive(Clone, Copy, Debug, Default)]
struct Unit {
    next_insert: u64,
    /// Cycles for which it has been held up.
    held: u64,
    /// Since when something is at its end.
    stalled_at: u64,
    /// Its instructions, oldest first: a ring of `mask + 1` in the pool's `queue`, from `base` on.
    base: u32,
    mask: u32,
    head: u32,
    len: u32,
    issue_lat: u32,
    op_lat: u32,
}

/// An instruction in a unit.
#[derive(Clone, Copy, Debug, Default)]
struct Queued {
    /// The cycle that brings it to the end, less `Unit::held`.
    due: u64,
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

/// All units of a core. Bit `i` of the sets is unit `i`.
#[derive(Clone, Debug)]
pub struct FuPool {
    occupied: u32,
    stalled: u32,
    pushed: u32,
    /// Units that cannot take an instruction every cycle.
    slow_issue: u32,
    len: usize,
    /// The cycle at which the next instruction comes to the end of any unit; `u64::MAX`: none moves.
    next_due: u64,
    /// The same by unit.
    due: [u64; MAX_UNITS],
    /// What is at the end of each unit; 0: nothing.
    fronts: [Seq; MAX_UNITS],
    units: [Unit; MAX_UNITS],
    queue: Box<[Queued]>,
    capable: [u32; OpClass::COUNT],
    /// By class, then unit.
    by_class: Arc<[[ForClass; MAX_UNITS]]>,
}

/// Each class on every unit, and the units that execute it.
fn by_class(configs: &[FuConfig]) -> (Arc<[[ForClass; MAX_UNITS]]>, [u32; OpClass::COUNT]) {
    let has = |list: &[OpClass], class: OpClass| list.is_empty() || list.contains(&class);
    let mut capable = [0; OpClass::COUNT];
    let mut table = vec![[ForClass::default(); MAX_UNITS]; OpClass::COUNT];
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
    (table.into(), capable)
}

impl FuPool {
    pub fn new(configs: &[FuConfig]) -> Self {
        let configs = &configs[..configs.len().min(MAX_UNITS)];
        let mut units = [Unit::default(); MAX_UNITS];
        let mut slots = 0;
        let mut slow_issue = 0;
        for (i, fu) in configs.iter().enumerate() {
            let size = (fu.opLat + 1).next_power_of_two();
            units[i] =
                Unit { issue_lat: fu.issueLat, base: slots, mask: size - 1, op_lat: fu.opLat, ..Unit::default() };
            slots += size;
            slow_issue |= u32::from(fu.issueLat > 1) << i;
        }
        let (by_class, capable) = by_class(configs);
        FuPool {
            occupied: 0,
            stalled: 0,
            pushed: 0,
            slow_issue,
            len: configs.len(),
            next_due: u64::MAX,
            due: [u64::MAX; MAX_UNITS],
            fronts: [0; MAX_UNITS],
            units,
            queue: vec![Queued::default(); slots as usize].into_boxed_slice(),
            capable,
            by_class,
        }
    }

    #[inline]
    fn unit(&self, unit: usize) -> &Unit {
        &self.units[unit % MAX_UNITS]
    }

    pub fn len(&self) -> usize {
        self.len
    }
    /// Units that execute `class`.
    #[inline]
    pub fn capable(&self, class: OpClass) -> u32 {
        self.capable[class as usize]
    }
    #[inline]
    pub fn for_class(&self, unit: usize, class: OpClass) -> &ForClass {
        &self.by_class[class as usize][unit % MAX_UNITS]
    }
    /// Units that are neither stalled nor got an instruction this cycle.
    #[inline]
    pub fn open(&self) -> u32 {
        !(self.stalled | self.pushed)
    }
    #[inline]
    pub fn can_insert(&self, unit: usize, now: u64) -> bool {
        now >= self.unit(unit).next_insert
    }
    #[inline]
    pub fn stalled(&self) -> u32 {
        self.stalled
    }
    /// Some instruction moves on by itself.
    #[inline]
    pub fn moving(&self) -> bool {
        self.occupied & !self.stalled != 0
    }
    #[inline]
    pub fn push(&mut self, unit: usize, seq: Seq, now: u64) {
        let i = unit % MAX_UNITS;
        let u = &mut self.units[i];
        // This cycle's move is its first.
        let due = now + u64::from(u.op_lat) - 1;
        self.queue[(u.base + ((u.head + u.len) & u.mask)) as usize] = Queued { due: due - u.held, seq };
        if u.len == 0 {
            self.due[i] = due;
            self.next_due = self.next_due.min(due);
        }
        u.len += 1;
        u.next_insert = now + u64::from(u.issue_lat);
        self.occupied |= 1 << i;
        self.pushed |= 1 << i;
    }
    /// What is at the end of a unit; 0: nothing.
    #[inline]
    pub fn front(&self, unit: u8) -> Seq {
        self.fronts[usize::from(unit) % MAX_UNITS]
    }
    /// What is at the unit's end has been taken: from this cycle on it moves again.
    #[inline]
    pub fn unstall(&mut self, unit: u8, now: u64) {
        let i = usize::from(unit) % MAX_UNITS;
        let u = &mut self.units[i];
        self.stalled &= !(1 << i);
        self.fronts[i] = 0;
        u.held += now - 1 - u.stalled_at;
        u.head = (u.head + 1) & u.mask;
        u.len -= 1;
        if u.len == 0 {
            self.occupied &= !(1 << i);
        } else {
            self.due[i] = self.queue[(u.base + u.head) as usize].due + u.held;
            self.next_due = self.next_due.min(self.due[i]);
        }
    }

    /// One cycle: everything moves on that is not held up at its end.
    #[inline]
    pub fn advance(&mut self, now: u64) {
        let held = self.stalled & !self.pushed & self.slow_issue;
        if held != 0 {
            self.hold(held, 1);
        }
        self.pushed = 0;
        if self.next_due <= now {
            self.arrive(now);
        }
    }

    /// What is due is at the end of its unit.
    fn arrive(&mut self, now: u64) {
        let mut todo = self.occupied & !self.stalled;
        let mut next = u64::MAX;
        while todo != 0 {
            let i = todo.trailing_zeros() as usize % MAX_UNITS;
            todo &= todo - 1;
            if self.due[i] > now {
                next = next.min(self.due[i]);
                continue;
            }
            let u = &mut self.units[i];
            u.stalled_at = now;
            self.fronts[i] = self.queue[(u.base + u.head) as usize].seq;
            self.stalled |= 1 << i;
        }
        self.next_due = next;
    }

    /// Stalled cycles do not count towards the issue latency.
    fn hold(&mut self, units: u32, cycles: u64) {
        for (i, u) in self.units.iter_mut().enumerate() {
            if units >> i & 1 == 1 && u.next_insert != 0 {
                u.next_insert += cycles;
            }
        }
    }

    /// `cycles` pass in which nothing moves.
    pub fn skip(&mut self, cycles: u64) {
        self.hold(self.stalled & self.slow_issue, cycles);
    }

    /// What every occupied unit holds, for the deadlock report.
    pub fn describe(&self) -> String {
        let mut parts = Vec::new();
        for (i, u) in self.units.iter().enumerate().filter(|(_, u)| u.len > 0) {
            let stalled = if self.stalled >> i & 1 == 1 { ", stalled" } else { "" };
            parts.push(format!("unit {i}: {} in {} cycles{stalled}", u.len, u.op_lat));
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
        p.push(0, 7, 0);
        for now in 0..3 {
            assert_eq!(p.front(0), 0, "cycle {now}");
            p.advance(now);
        }
        assert_eq!(p.front(0), 7);
        assert_eq!(p.stalled(), 1);
        p.advance(3);
        assert_eq!(p.front(0), 7);
        p.unstall(0, 4);
        p.advance(4);
        assert_eq!(p.front(0), 0);
        assert!(!p.moving());
    }

    #[test]
    fn what_is_behind_a_stalled_one_is_held_up_with_it() {
        let mut p = FuPool::new(&default_fu_pool());
        p.push(0, 7, 0);
        p.advance(0);
        p.advance(1);
        p.push(0, 8, 2);
        p.advance(2);
        assert_eq!(p.front(0), 7);
        (3..9).for_each(|now| p.advance(now));
        p.unstall(0, 9);
        for now in 9..11 {
            assert_eq!(p.front(0), 0, "cycle {now}");
            p.advance(now);
        }
        assert_eq!(p.front(0), 8);
    }

    #[test]
    fn a_divider_takes_the_next_after_its_issue_latency() {
        let mut p = FuPool::new(&default_fu_pool());
        let divider = p.capable(OpClass::IntDiv).trailing_zeros() as usize;
        p.push(divider, 1, 100);
        p.advance(100);
        assert!(!p.can_insert(divider, 108));
        assert!(p.can_insert(divider, 109));
    }

    #[test]
    fn relative_latencies_repeat_the_last() {
        let t = Timing::new(&FuTiming { srcRegsRelativeLats: vec![3, 1], ..FuTiming::default() });
        assert_eq!(t.relative, [3, 1, 1]);
    }
}
