//! Functional units: pipelines that stall when what comes out at their end cannot commit.
//! Fact source: gem5 24.0 `src/cpu/minor/func_unit.cc` and `SelfStallingPipeline` in `buffers.hh`.

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

#[derive(Clone, Debug)]
struct Unit {
    /// A ring of `depth + 1`: the push slot and one for each cycle of latency.
    slots: Box<[Seq]>,
    /// The push slot.
    at: usize,
    occupancy: u32,
    next_insert: u64,
    issue_lat: u64,
    op_lat: u32,
    /// Bit set of units that cannot forward to this one.
    cant_forward: u32,
}

impl Unit {
    #[inline]
    fn front_slot(&self) -> usize {
        if self.at + 1 == self.slots.len() { 0 } else { self.at + 1 }
    }
}

/// All units of a core. Bit `i` of the sets is unit `i`.
#[derive(Clone, Debug)]
pub struct FuPool {
    /// What is at the end of each unit; 0: nothing.
    fronts: [Seq; MAX_UNITS],
    units: Vec<Unit>,
    timings: Vec<[Timing; OpClass::COUNT]>,
    capable: [u32; OpClass::COUNT],
    occupied: u32,
    stalled: u32,
    pushed: u32,
    /// Units that cannot take an instruction every cycle.
    slow_issue: u32,
}

impl FuPool {
    pub fn new(configs: &[FuConfig]) -> Self {
        let mut pool = FuPool {
            fronts: [0; MAX_UNITS],
            units: Vec::new(),
            timings: Vec::new(),
            capable: [0; OpClass::COUNT],
            occupied: 0,
            stalled: 0,
            pushed: 0,
            slow_issue: 0,
        };
        for (i, fu) in configs.iter().enumerate() {
            let mut timings = [Timing::default(); OpClass::COUNT];
            for &class in OpClass::ALL {
                let has = |list: &[OpClass]| list.is_empty() || list.contains(&class);
                if class == OpClass::No_OpClass || has(&fu.opClasses) {
                    pool.capable[class as usize] |= 1 << i;
                }
                if let Some(t) = fu.timings.iter().find(|t| has(&t.opClasses)) {
                    timings[class as usize] = Timing::new(t);
                }
            }
            pool.slow_issue |= u32::from(fu.issueLat > 1) << i;
            pool.timings.push(timings);
            pool.units.push(Unit {
                slots: vec![0; fu.opLat as usize + 1].into_boxed_slice(),
                at: 0,
                occupancy: 0,
                next_insert: 0,
                issue_lat: u64::from(fu.issueLat),
                op_lat: fu.opLat,
                cant_forward: fu.cantForwardFromFUIndices.iter().filter(|i| **i < 32).fold(0, |set, i| set | 1 << i),
            });
        }
        pool
    }

    pub fn len(&self) -> usize {
        self.units.len()
    }
    /// Units that execute `class`.
    #[inline]
    pub fn capable(&self, class: OpClass) -> u32 {
        self.capable[class as usize]
    }
    #[inline]
    pub fn timing(&self, unit: usize, class: OpClass) -> &Timing {
        &self.timings[unit][class as usize]
    }
    #[inline]
    pub fn op_lat(&self, unit: usize) -> u32 {
        self.units[unit].op_lat
    }
    #[inline]
    pub fn cant_forward(&self, unit: usize) -> u32 {
        self.units[unit].cant_forward
    }
    /// Units that are neither stalled nor got an instruction this cycle.
    #[inline]
    pub fn open(&self) -> u32 {
        !(self.stalled | self.pushed)
    }
    #[inline]
    pub fn can_insert(&self, unit: usize, now: u64) -> bool {
        now >= self.units[unit].next_insert
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
    pub fn push(&mut self, unit: usize, seq: Seq) {
        let u = &mut self.units[unit];
        u.slots[u.at] = seq;
        u.occupancy += 1;
        self.occupied |= 1 << unit;
        self.pushed |= 1 << unit;
    }
    /// What is at the end of a unit; 0: nothing.
    #[inline]
    pub fn front(&self, unit: u8) -> Seq {
        self.fronts[usize::from(unit) % MAX_UNITS]
    }
    /// What is at the unit's end has been taken.
    #[inline]
    pub fn unstall(&mut self, unit: u8) {
        self.stalled &= !(1 << unit);
    }

    /// One cycle: everything moves on that is not held up at its end.
    #[inline]
    pub fn advance(&mut self, now: u64) {
        let held = self.stalled & !self.pushed & self.slow_issue;
        if held != 0 {
            self.hold(held, 1);
        }
        let mut todo = self.occupied & !self.stalled;
        while todo != 0 {
            let i = todo.trailing_zeros() as usize;
            let bit = 1 << i;
            todo &= todo - 1;
            let u = &mut self.units[i];
            if self.pushed & bit != 0 && u.next_insert <= now {
                u.next_insert = now + u.issue_lat;
            }
            if self.fronts[i] != 0 {
                u.occupancy -= 1;
                if u.occupancy == 0 {
                    self.occupied &= !bit;
                }
            }
            u.at = u.front_slot();
            let front = u.front_slot();
            u.slots[u.at] = 0;
            self.fronts[i] = u.slots[front];
            if self.fronts[i] != 0 {
                self.stalled |= bit;
            }
        }
        self.pushed = 0;
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
        for (i, u) in self.units.iter().enumerate().filter(|(_, u)| u.occupancy > 0) {
            let stalled = if self.stalled >> i & 1 == 1 { ", stalled" } else { "" };
            parts.push(format!("unit {i}: {} in {} cycles{stalled}", u.occupancy, u.op_lat));
        }
        if parts.is_empty() { "all empty".to_owned() } else { parts.join("; ") }
    }
}

#[cfg(test)]
mod tests {
    use super::super::config::default_fu_pool;
    use super::*;

    #[test]
    fn an_instruction_comes_out_after_the_latency_and_stalls_the_unit() {
        let mut p = FuPool::new(&default_fu_pool());
        p.push(0, 7);
        for now in 0..3 {
            assert_eq!(p.front(0), 0, "cycle {now}");
            p.advance(now);
        }
        assert_eq!(p.front(0), 7);
        assert_eq!(p.stalled(), 1);
        p.advance(3);
        assert_eq!(p.front(0), 7);
        p.unstall(0);
        p.advance(4);
        assert_eq!(p.front(0), 0);
        assert!(!p.moving());
    }

    #[test]
    fn a_divider_takes_the_next_after_its_issue_latency() {
        let mut p = FuPool::new(&default_fu_pool());
        let divider = p.capable(OpClass::IntDiv).trailing_zeros() as usize;
        p.push(divider, 1);
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
