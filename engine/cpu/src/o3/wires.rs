//! What the units send each other, with its delay: one record a cycle, written by the units for the cycle in which it
//! arrives. (gem5: the time buffers.)

use breakeven_base::Cycle;
use std::ops::AddAssign;

use super::config::MAX_DELAY;
use super::inst::InstRing;
use super::seq::Seq;
use crate::memo::archive::Archive;

/// What a stage tells the one before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stall {
    /// As before.
    #[default]
    Unchanged,
    Block,
    Unblock,
}

impl Stall {
    const ALL: [Stall; 3] = [Stall::Unchanged, Stall::Block, Stall::Unblock];

    /// What it makes of a stage that is stalled, or is not.
    #[inline]
    pub fn apply(self, stalled: &mut bool) {
        match self {
            Stall::Unchanged => {}
            Stall::Block => *stalled = true,
            Stall::Unblock => *stalled = false,
        }
    }
}

/// Why a squash is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A branch went elsewhere than predicted.
    Mispredict,
    /// A load read too early; it is itself fetched again.
    Violation,
    /// A trap, or an instruction after which everything is fetched again.
    Flush,
}

/// Everything younger than `after` is squashed. For everything but a violation `after` is the instruction that causes it, whose
/// outcome is known now.
#[derive(Clone, Copy, Debug)]
pub struct Squash {
    pub after: Seq,
    pub stamp: u32,
    pub cause: Cause,
}

impl Squash {
    /// The micro-op that asks for it: of two, the older one's counts.
    #[inline]
    pub fn by(&self) -> Seq {
        self.after + u64::from(self.cause == Cause::Violation)
    }
}

/// Micro-ops that leave dispatch, as rename counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dispatched {
    pub uops: u16,
    /// Those with a ROB entry of their own, with one of the load and of the store queue.
    pub rob: u16,
    pub loads: u16,
    pub stores: u16,
}

impl AddAssign for Dispatched {
    #[inline]
    fn add_assign(&mut self, more: Dispatched) {
        self.uops += more.uops;
        self.rob += more.rob;
        self.loads += more.loads;
        self.stores += more.stores;
    }
}

/// What reaches fetch in one cycle.
#[derive(Clone, Copy, Debug, Default)]
pub struct ToFetch {
    /// By decode.
    pub stall: Stall,
    /// Everything up to this has committed; 0: nothing has.
    pub committed: Seq,
}

/// What reaches decode.
#[derive(Clone, Copy, Debug, Default)]
pub struct ToDecode {
    /// Micro-ops from fetch.
    pub arrived: u16,
    /// By rename.
    pub stall: Stall,
}

/// What reaches rename.
#[derive(Clone, Copy, Debug, Default)]
pub struct ToRename {
    /// Micro-ops from decode.
    pub arrived: u16,
    /// By dispatch.
    pub stall: Stall,
    pub dispatched: Dispatched,
    /// Free entries of the issue, load and store queue.
    pub free_queues: Option<[u16; 3]>,
    /// Free entries of the ROB, and whether it is empty.
    pub free_rob: Option<(u16, bool)>,
    /// Registers of each class that commits have freed.
    pub free_regs: [u16; super::rename::REG_CLASSES],
    /// Everything up to this has retired; 0: nothing has.
    pub retired: Seq,
    pub rob_squashing: bool,
}

/// What reaches dispatch, issue and the load-store queue (gem5: IEW).
#[derive(Clone, Copy, Debug, Default)]
pub struct ToIew {
    /// Micro-ops from rename.
    pub arrived: u16,
    pub rob_squashing: bool,
    /// Everything up to this has committed; 0: nothing has.
    pub committed: Seq,
    /// This one is the oldest and may execute; 0: none.
    pub release: Seq,
}

/// What reaches commit.
#[derive(Clone, Copy, Debug, Default)]
pub struct ToCommit {
    /// Micro-ops from rename, for the ROB.
    pub arrived: u16,
    /// The squash that execution asks for.
    pub resolve: Option<Squash>,
}

/// What arrives in one cycle, by who receives it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wire {
    pub fetch: ToFetch,
    pub decode: ToDecode,
    pub rename: ToRename,
    pub iew: ToIew,
    pub commit: ToCommit,
    /// To every unit.
    pub squash: Option<Squash>,
}

// Copied each cycle; what is longer is copied by a call.
const _: () = assert!(std::mem::size_of::<Wire>() <= 128);

impl Squash {
    /// In relative form; void where the micro-op that asks for it has been squashed itself.
    fn archive(squash: &mut Option<Squash>, a: &mut Archive, ring: &InstRing) {
        if !a.present(squash.is_some()) {
            *squash = None;
            return;
        }
        let mut s = squash.unwrap_or(Squash { after: Seq::NONE, stamp: 0, cause: Cause::Flush });
        a.seq(&mut s.after);
        a.one_of(&mut s.cause, &[Cause::Mispredict, Cause::Violation, Cause::Flush]);
        let by = s.by();
        // A flush is asked for by what has committed; nobody looks at its stamp.
        let flush = s.cause == Cause::Flush;
        a.refuse(!flush && by < ring.head());
        let alive = a.present(!flush && by < ring.tail() && ring.stamp(by) == s.stamp);
        // No micro-op in flight has stamp 0.
        s.stamp = if alive { ring.stamp(by) } else { 0 };
        *squash = Some(s);
    }
}

impl Wire {
    fn archive(&mut self, a: &mut Archive, ring: &InstRing) {
        let Self { fetch, decode, rename, iew, commit, squash } = self;
        let ToFetch { stall: stall_fetch, committed: committed_to_fetch } = fetch;
        let ToDecode { arrived: fetched, stall: stall_decode } = decode;
        let ToRename {
            arrived: decoded,
            stall: stall_rename,
            dispatched: Dispatched { uops, rob, loads, stores },
            free_queues,
            free_rob,
            free_regs,
            retired,
            rob_squashing: rob_squashing_rename,
        } = rename;
        let ToIew { arrived: renamed, rob_squashing: rob_squashing_iew, committed: committed_to_iew, release } = iew;
        let ToCommit { arrived: to_rob, resolve } = commit;
        [fetched, decoded, renamed, to_rob].into_iter().for_each(|n| a.u16(n));
        [stall_fetch, stall_decode, stall_rename].into_iter().for_each(|stall| a.one_of(stall, &Stall::ALL));
        [uops, rob, loads, stores].into_iter().for_each(|n| a.u16(n));
        if a.present(free_queues.is_some()) {
            free_queues.get_or_insert_default().iter_mut().for_each(|n| a.u16(n));
        }
        if a.present(free_rob.is_some()) {
            let (free, empty) = free_rob.get_or_insert_default();
            a.u16(free);
            a.flag(empty);
        }
        free_regs.iter_mut().for_each(|n| a.u16(n));
        [committed_to_fetch, retired, committed_to_iew, release].into_iter().for_each(|seq| a.seq_or_none(seq));
        a.flag(rob_squashing_rename);
        a.flag(rob_squashing_iew);
        Squash::archive(resolve, a, ring);
        Squash::archive(squash, a, ring);
    }
}

pub const LENGTH: usize = 2 * (MAX_DELAY as usize + 1);

#[derive(Clone, Debug)]
pub struct Wires {
    ring: [Wire; LENGTH],
    /// The last cycle for which anything has been written.
    last: Cycle,
}

impl Wires {
    pub fn new() -> Self {
        Wires { ring: [Wire::default(); LENGTH], last: Cycle::ZERO }
    }
    /// What arrives at `cycle`, at most [`MAX_DELAY`] ahead (twice that for what is under way through two stages).
    #[inline]
    #[allow(clippy::cast_possible_truncation)] // a remainder
    pub fn at(&mut self, cycle: Cycle) -> &mut Wire {
        self.last = self.last.max(cycle);
        &mut self.ring[(cycle.0 % LENGTH as u64) as usize]
    }
    /// Takes what arrives now.
    #[inline]
    #[allow(clippy::cast_possible_truncation)] // a remainder
    pub fn take(&mut self, cycle: Cycle) -> Wire {
        if cycle > self.last {
            return Wire::default();
        }
        std::mem::take(&mut self.ring[(cycle.0 % LENGTH as u64) as usize])
    }
    /// What arrives at `now` or later does so `cycles` later, a multiple of [`LENGTH`].
    pub fn put_off(&mut self, now: Cycle, cycles: u64) {
        debug_assert!(cycles % LENGTH as u64 == 0, "wires are put off by whole turns");
        if self.busy(now) {
            self.last += cycles;
        }
    }
    /// Whether anything arrives at `cycle` or later.
    #[inline]
    pub fn busy(&self, cycle: Cycle) -> bool {
        self.last >= cycle
    }
    /// What is under way, in relative form; the micro-ops in flight stand in `ring` already.
    pub fn archive(&mut self, a: &mut Archive, ring: &InstRing) {
        let now = a.base.cycle;
        if a.loads() {
            *self = Wires::new();
        }
        let mut n = (self.last + 1).after(now);
        a.u64(&mut n);
        self.last = Cycle((now + n).0.saturating_sub(1));
        for cycle in (now.0..now.0 + n).map(Cycle) {
            self.ring[(cycle.0 % LENGTH as u64) as usize].archive(a, ring);
        }
    }

    /// Decode drops what fetch has sent it.
    pub fn clear_fetched(&mut self, now: Cycle) {
        for cycle in now.up_to(self.last) {
            self.at(cycle).decode.arrived = 0;
        }
    }
    /// A squash: of the micro-ops on their way to a stage only the first `kept` still arrive there. Returns those that
    /// would have reached dispatch.
    pub fn clear_front(&mut self, now: Cycle, mut kept: InFront) -> Arrivals {
        let mut dropped = Arrivals::default();
        for cycle in now.up_to(self.last) {
            let wire = self.at(cycle);
            keep(&mut wire.decode.arrived, &mut kept.fetched);
            keep(&mut wire.rename.arrived, &mut kept.decoded);
            keep(&mut wire.commit.arrived, &mut kept.to_rob);
            let renamed = keep(&mut wire.iew.arrived, &mut kept.renamed);
            if renamed > 0 {
                dropped.push(cycle, renamed);
            }
        }
        dropped
    }
}

/// Numbers of micro-ops by the cycle of their arrival.
#[derive(Clone, Copy, Debug, Default)]
pub struct Arrivals {
    list: [(Cycle, u16); MAX_DELAY as usize + 1],
    len: usize,
}

impl Arrivals {
    fn push(&mut self, cycle: Cycle, count: u16) {
        if let Some(free) = self.list.get_mut(self.len) {
            *free = (cycle, count);
            self.len += 1;
        }
    }
    pub fn iter(&self) -> impl Iterator<Item = (Cycle, u16)> + '_ {
        self.list[..self.len].iter().copied()
    }
}

/// Micro-ops that a squash leaves on their way to decode, rename, dispatch and the ROB.
#[derive(Clone, Copy, Debug)]
pub struct InFront {
    pub fetched: u64,
    pub decoded: u64,
    pub renamed: u64,
    pub to_rob: u64,
}

/// Takes what exceeds `left` away from `count`, and returns it.
#[allow(clippy::cast_possible_truncation)] // at most `count`
fn keep(count: &mut u16, left: &mut u64) -> u16 {
    let stays = (*left).min(u64::from(*count)) as u16;
    *left -= u64::from(stays);
    let gone = *count - stays;
    *count = stays;
    gone
}
