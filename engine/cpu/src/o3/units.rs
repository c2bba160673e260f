//! The functional units: which is free for a class, and how long it stays taken.
//! Fact source: gem5 24.0 `src/cpu/o3/fu_pool.cc`: the units of a class are tried in turn from the one after that which was
//! taken last; a class has one latency, the longest of its units'. Branches are a group of their own where
//! `branchIssueWidth` (*ours*) limits them.

use breakeven_base::{Cycle, OpClass, Uop};

use super::fu_pool::FuDesc;
use super::inst::{DynInst, State};
use crate::memo::archive::Archive;
use crate::pipeview::NO_UNIT;

#[derive(Clone, Copy, Debug, Default)]
struct Class {
    /// A bit a unit that executes it.
    capable: u64,
    latency: u32,
    pipelined: bool,
    /// The units behind the one taken last.
    behind: u64,
    /// Classes with the same units are one group: when one of them finds no unit, none does.
    group: u8,
    /// No other group has any of its units: which of them is taken changes nothing.
    exclusive: bool,
}

#[derive(Clone, Debug)]
pub struct Units {
    /// Of each issue queue, the classes as its units execute them.
    classes: Box<[[Class; OpClass::COUNT]]>,
    /// A bit a queue that can take the class: those with a unit for it, or all where none has.
    queues: [u64; OpClass::COUNT],
    groups: usize,
    /// Branches that may start in a cycle (0: any number), and how many more in this one.
    branch_width: u32,
    branches: u32,
    /// Not to be had in this cycle.
    taken: u64,
    /// Not pipelined and at work, each until its cycle.
    at_work: u64,
    until: [Cycle; 64],
    next_release: Cycle,
    /// Which one was taken last, for the trace, and for how many cycles; [`NO_UNIT`]: none was needed.
    pub(super) last: (u8, u32),
}

/// A bit for each unit after `unit`, which is below 64.
#[inline]
fn behind(unit: u32) -> u64 {
    !1 << (unit & 63)
}

/// Puts those of `units` that are at work first, in the order in which they finish.
fn canonicalize(units: u64, at_work: &mut u64, until: &mut [Cycle; 64]) {
    let busy = *at_work & units;
    if busy == 0 {
        return;
    }
    let of = |bits: u64| (0..64).filter(move |unit| bits >> unit & 1 != 0);
    let mut ends: Vec<Cycle> = of(busy).map(|unit| until[unit]).collect();
    ends.sort_unstable();
    *at_work &= !units;
    for (unit, end) in of(units).zip(ends) {
        *at_work |= 1 << unit;
        until[unit] = end;
    }
}

/// A unit for a micro-op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grant {
    /// Cycles from the start of execution to the result.
    Latency(u32),
    Busy,
}

impl Units {
    /// `pools`: of each issue queue.
    pub fn new(pools: &[&[FuDesc]], branch_width: u32) -> Self {
        let mut classes = vec![[Class { pipelined: true, ..Class::default() }; OpClass::COUNT]; pools.len()];
        let mut unit = 0;
        for (queue, desc) in
            pools.iter().enumerate().flat_map(|(queue, pool)| pool.iter().map(move |desc| (queue, desc)))
        {
            for _ in 0..desc.count.min(64 - unit) {
                for op in &desc.opList {
                    let c = &mut classes[queue][op.opClass as usize];
                    c.capable |= 1 << unit;
                    c.latency = c.latency.max(op.opLat);
                    c.pipelined &= op.pipelined;
                    c.behind = behind(unit);
                }
                unit += 1;
            }
        }
        let mut groups: Vec<u64> = Vec::new();
        for c in classes.iter_mut().flatten() {
            let known = groups.iter().position(|g| *g == c.capable);
            #[allow(clippy::cast_possible_truncation)] // at most as many as classes
            {
                c.group = known.unwrap_or(groups.len()) as u8;
            }
            if known.is_none() {
                groups.push(c.capable);
            }
        }
        for c in classes.iter_mut().flatten() {
            c.exclusive = groups.iter().all(|g| *g == c.capable || g & c.capable == 0);
        }
        let every = !0 >> (64 - pools.len().clamp(1, 64));
        let queues = std::array::from_fn(|class| {
            let able = classes.iter().rev().fold(0, |bits, of| bits << 1 | u64::from(of[class].capable != 0));
            if able == 0 {
                every
            } else {
                able
            }
        });
        Units {
            queues,
            groups: groups.len() + if branch_width > 0 { pools.len() } else { 0 },
            classes: classes.into_boxed_slice(),
            branch_width,
            branches: branch_width,
            taken: 0,
            at_work: 0,
            until: [Cycle::ZERO; 64],
            next_release: Cycle::MAX,
            last: (NO_UNIT, 0),
        }
    }

    pub fn groups(&self) -> usize {
        self.groups
    }
    /// A bit for each issue queue that can take a micro-op of `class`.
    #[inline]
    pub fn queues(&self, class: OpClass) -> u64 {
        self.queues[class as usize]
    }
    /// The group of a micro-op in `queue`.
    #[inline]
    pub(super) fn group(&self, inst: &DynInst, queue: usize) -> usize {
        if inst.state.intersects(State::BRANCH) {
            self.groups - 1 - queue
        } else {
            usize::from(self.classes[queue][inst.uop.class as usize].group)
        }
    }

    /// A new cycle.
    #[inline]
    pub fn begin(&mut self, now: Cycle) {
        if self.next_release <= now {
            self.release(now);
        }
        self.taken = self.at_work;
        self.branches = self.branch_width;
    }

    #[cold]
    fn release(&mut self, now: Cycle) {
        self.next_release = Cycle::MAX;
        let mut bits = self.at_work;
        while bits != 0 {
            let unit = bits.trailing_zeros() as usize;
            bits &= bits - 1;
            if self.until[unit] <= now {
                self.at_work &= !(1 << unit);
            } else {
                self.next_release = self.next_release.min(self.until[unit]);
            }
        }
    }

    /// Takes a unit of `queue`.
    #[inline]
    pub(super) fn take(&mut self, inst: &DynInst, queue: usize, now: Cycle) -> Grant {
        let Uop { class, latency, .. } = inst.uop;
        if !inst.state.intersects(State::BRANCH) {
            return self.take_class(class, queue, latency, now);
        }
        if self.branches == 0 {
            return Grant::Busy;
        }
        let grant = self.take_class(class, queue, latency, now);
        self.branches -= u32::from(grant != Grant::Busy);
        grant
    }

    /// A class that no unit executes needs none (gem5 `NoCapableFU`). `own`: the micro-op's latency, 0: the class's.
    #[inline]
    fn take_class(&mut self, class: OpClass, queue: usize, own: u8, now: Cycle) -> Grant {
        let c = &mut self.classes[queue][class as usize];
        if c.capable == 0 {
            self.last = (NO_UNIT, 0);
            return Grant::Latency(u32::from(own).max(1));
        }
        let free = c.capable & !self.taken;
        if free == 0 {
            return Grant::Busy;
        }
        let next = free & c.behind;
        let unit = if next != 0 { next.trailing_zeros() } else { free.trailing_zeros() };
        c.behind = behind(unit);
        self.taken |= 1 << unit;
        let latency = if own != 0 { u32::from(own) } else { c.latency };
        #[allow(clippy::cast_possible_truncation)] // below 64
        {
            self.last = (unit as u8, if c.pipelined { 1 } else { latency });
        }
        if !c.pipelined && latency > 1 {
            self.at_work |= 1 << unit;
            let until = now + u64::from(latency);
            self.until[unit as usize] = until;
            self.next_release = self.next_release.min(until);
        }
        Grant::Latency(latency)
    }

    /// The state in relative form, between two cycles.
    pub fn archive(&mut self, a: &mut Archive) {
        let Self {
            classes,
            queues: _,
            groups: _,
            branch_width: _,
            branches: _,
            taken: _,
            at_work,
            until,
            next_release,
            last: _,
        } = self;
        for Class { capable, latency: _, pipelined: _, behind, group: _, exclusive } in classes.iter_mut().flatten() {
            if *exclusive {
                // Those at work first, by when they have finished.
                canonicalize(*capable, at_work, until);
            } else if *capable != 0 {
                let mut first = behind.trailing_zeros() as u8;
                a.u8(&mut first);
                *behind = u64::MAX.checked_shl(first.into()).unwrap_or(0);
            }
        }
        a.u64(at_work);
        for (unit, until) in until.iter_mut().enumerate() {
            if *at_work >> unit & 1 != 0 {
                a.cycle(until);
            }
        }
        a.cycle(next_release);
    }

    pub fn describe(&self) -> String {
        format!("units at work: {}", self.at_work.count_ones())
    }
}

#[cfg(test)]
mod tests {
    use super::super::fu_pool::default_fu_pool;
    use super::*;

    #[test]
    fn a_divider_is_taken_until_it_has_finished() {
        let mut u = Units::new(&[&default_fu_pool()], 0);
        u.begin(Cycle(10));
        assert_eq!(u.take_class(OpClass::IntDiv, 0, 0, Cycle(10)), Grant::Latency(20));
        assert_eq!(u.take_class(OpClass::IntMult, 0, 0, Cycle(10)), Grant::Latency(3));
        assert_eq!(u.take_class(OpClass::IntMult, 0, 0, Cycle(10)), Grant::Busy);
        u.begin(Cycle(11));
        assert_eq!(u.take_class(OpClass::IntMult, 0, 0, Cycle(11)), Grant::Latency(3));
        assert_eq!(u.take_class(OpClass::IntDiv, 0, 0, Cycle(11)), Grant::Busy);
        u.begin(Cycle(30));
        assert_eq!(u.take_class(OpClass::IntDiv, 0, 0, Cycle(30)), Grant::Latency(20));
        assert_eq!(u.take_class(OpClass::IntDiv, 0, 7, Cycle(30)), Grant::Latency(7));
        assert_eq!(u.take_class(OpClass::No_OpClass, 0, 0, Cycle(30)), Grant::Latency(1));
    }

    #[test]
    fn so_many_branches_start_in_a_cycle() {
        let mut u = Units::new(&[&default_fu_pool()], 2);
        let add = DynInst { uop: Uop { class: OpClass::IntAlu, ..Uop::default() }, ..DynInst::default() };
        let branch = DynInst { state: State::BRANCH, ..add };
        assert_ne!(u.group(&add, 0), u.group(&branch, 0));
        u.begin(Cycle(10));
        let grants = [&branch, &branch, &branch, &add].map(|uop| u.take(uop, 0, Cycle(10)));
        assert_eq!(grants, [Grant::Latency(1), Grant::Latency(1), Grant::Busy, Grant::Latency(1)]);
        u.begin(Cycle(11));
        assert_eq!(u.take(&branch, 0, Cycle(11)), Grant::Latency(1));
    }
}
