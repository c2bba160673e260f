//! Commit: takes micro-ops into the ROB, retires them in order, and starts squashes.
//! Fact source: gem5 24.0 `src/cpu/o3/commit.cc`, `rob.cc`.
//!
//! - Squashed micro-ops are marked `squashWidth` a cycle; until that is done nothing commits. They keep their entries in the
//!   ROB until everything older has gone.
//! - A trap waits for all stores, then `trapLatency` cycles; then everything is squashed.
//! - A non-speculative micro-op is told to execute when it is the oldest and all stores have been written.

mod rob;

use breakeven_base::{Cycle, UopFlags};
use educe::Educe;

use super::config::{O3Config, RenameRecovery};
use super::effect;
use super::inst::{InstRing, State};
use super::io::Io;
use super::lsq::Lsq;
use super::rename::{count_registers, REG_CLASSES};
use super::seq::Seq;
use super::wires::{Cause, Squash, ToCommit};
use crate::account::Reason;
use crate::memo::archive::Archive;
use crate::outside::Outside;
use crate::when::When;
use rob::Rob;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Status {
    #[default]
    Running,
    /// The ROB is being walked.
    RobSquashing,
    /// Everything is squashed next cycle.
    FlushPending,
    TrapPending,
}

#[derive(Clone, Debug)]
pub struct CommitStats {
    pub insts: u64,
    pub ops: u64,
    pub by_class: [u64; breakeven_base::OpClass::COUNT],
    pub branches: u64,
    pub mispredicts: u64,
    pub squashed: u64,
    pub non_spec_stalls: u64,
    pub traps: u64,
}

impl Default for CommitStats {
    fn default() -> Self {
        CommitStats {
            insts: 0,
            ops: 0,
            by_class: [0; breakeven_base::OpClass::COUNT],
            branches: 0,
            mispredicts: 0,
            squashed: 0,
            non_spec_stalls: 0,
            traps: 0,
        }
    }
}

#[derive(Debug, Educe)]
#[educe(Clone)]
pub struct Commit {
    status: Status,
    rob: Rob,
    /// Squashed entries still to be walked.
    to_walk: u32,
    /// When a trap's squash is due.
    trap_at: Cycle,
    /// Nothing younger is in the ROB.
    youngest: Seq,
    /// Rename has not been told that the ROB is empty.
    check_empty: bool,
    /// A squash is on its way to the other stages until then: what rename still sends is void.
    squash_until: Cycle,
    /// A squash whose refill has not retired anything yet: what its cycles are charged to, and the youngest that it kept.
    refill: Option<(Reason, Seq)>,
    /// The cycle of the last commit, or of the last skip.
    last_commit: Cycle,
    pub stats: CommitStats,
}

impl Commit {
    pub fn new(cfg: &O3Config, capacity: usize) -> Self {
        Commit {
            status: Status::Running,
            rob: Rob::new(cfg.numROBEntries, capacity),
            to_walk: 0,
            trap_at: Cycle::MAX,
            youngest: Seq::NONE,
            check_empty: true,
            squash_until: Cycle::ZERO,
            refill: None,
            last_commit: Cycle::ZERO,
            stats: CommitStats::default(),
        }
    }

    #[inline]
    pub fn status(&self) -> Status {
        self.status
    }
    /// The next micro-op to enter the ROB.
    #[inline]
    pub fn rob_end(&self) -> Seq {
        self.rob.end()
    }
    #[inline]
    pub fn refill(&self) -> Option<(Reason, Seq)> {
        self.refill
    }
    #[inline]
    pub fn last_commit(&self) -> Cycle {
        self.last_commit
    }
    /// The state in relative form.
    pub fn archive(&mut self, a: &mut Archive, ring: &InstRing) {
        let Self { status, rob, to_walk, trap_at, youngest, check_empty, squash_until, refill, last_commit, stats: _ } =
            self;
        a.one_of(status, &[Status::Running, Status::RobSquashing, Status::FlushPending, Status::TrapPending]);
        rob.archive(a, ring);
        a.u32(to_walk);
        a.cycle(trap_at);
        a.seq(youngest);
        a.flag(check_empty);
        a.cycle(squash_until);
        let mut reason = refill.map_or(0, |(r, _)| r as u8 + 1);
        let mut after = refill.map_or(Seq::NONE, |(_, after)| after);
        a.u8(&mut reason);
        a.seq_in_flight(&mut after);
        *refill = usize::from(reason).checked_sub(1).and_then(|i| Reason::ALL.get(i)).map(|reason| (*reason, after));
        a.cycle_then(last_commit);
    }

    /// Cycles in which nothing can happen are skipped: they count for no deadlock.
    pub fn skip(&mut self, cycles: u64) {
        self.last_commit += cycles;
    }

    /// The next cycle in which something is due here.
    pub fn next_event(&self, io: &Io) -> Cycle {
        let head = io.ring.head();
        if head < self.rob.end() && io.ring.state(head).intersects(State::DONE) {
            return self.trap_at.min(io.ring.ready_at(head));
        }
        self.trap_at
    }

    pub fn describe(&self) -> String {
        format!("commit: {:?}, {}", self.status, self.rob.describe())
    }

    /// One cycle. In: micro-ops from rename, the squash that execution asks for. Out: what has committed, freed registers and
    /// ROB entries, the squash for all units; returns the slots retired.
    pub fn tick<X: Outside>(
        &mut self,
        io: &mut Io,
        lsq: &Lsq,
        cx: &mut X,
        when: &When,
        wire: &ToCommit,
        squashed: bool,
    ) -> u32 {
        let now = when.cycle;
        if self.status == Status::RobSquashing {
            io.activity.moved = true;
            if self.to_walk == 0 {
                self.status = Status::Running;
            } else {
                self.walk(io);
                report_rob_squashing(io, now);
            }
        }
        self.handle_squashes(io, now, wire);
        let (mut retired, mut stored) = (0, false);
        let mut changed = squashed || self.status == Status::RobSquashing;
        changed |= self.enter_rob(io, now, wire);
        if self.status == Status::Running {
            (retired, stored) = self.retire(io, lsq, cx, when, &mut changed);
        }
        let empty = self.rob.is_empty();
        if changed {
            io.activity.moved = true;
            self.check_empty |= empty;
            io.wires.at(now + io.rules.delays.commit_to_rename).rename.free_rob = Some((self.rob.free(), false));
        }
        let waits = io.rules.quirks.gem5RobEmptyDrains && (stored || lsq.has_stores_to_write());
        if self.check_empty && empty && !waits {
            io.activity.moved = true;
            self.check_empty = false;
            io.wires.at(now + io.rules.delays.commit_to_rename).rename.free_rob = Some((self.rob.size(), true));
        }
        retired
    }

    #[inline]
    fn handle_squashes(&mut self, io: &mut Io, now: Cycle, wire: &ToCommit) {
        if self.trap_at <= now || self.status == Status::FlushPending {
            self.trap_at = Cycle::MAX;
            let after = io.ring.head() - 1;
            self.start_squash(io, Squash { after, stamp: 0, cause: Cause::Flush }, now);
        }
        if let Some(squash) = wire.resolve {
            let seq = squash.by();
            let alive = seq < io.ring.tail() && io.ring.stamp(seq) == squash.stamp;
            if alive && self.status != Status::TrapPending && seq <= self.youngest {
                self.stats.mispredicts += u64::from(squash.cause == Cause::Mispredict);
                self.start_squash(io, squash, now);
            }
        }
    }

    #[cold]
    fn start_squash(&mut self, io: &mut Io, squash: Squash, now: Cycle) {
        io.activity.moved = true;
        let n = self.rob.squash(squash.after, io);
        self.stats.squashed += u64::from(n);
        self.status = Status::RobSquashing;
        if io.rules.recovery == RenameRecovery::Checkpoint {
            self.rob.free_squashed();
            self.to_walk = 0;
        } else {
            self.to_walk = n;
            self.walk(io);
        }
        self.youngest = squash.after;
        let reason = match squash.cause {
            Cause::Mispredict => Reason::BadSpeculation,
            Cause::Violation => Reason::Replay,
            Cause::Flush => Reason::Serialize,
        };
        self.refill = Some((reason, squash.after));
        report_rob_squashing(io, now);
        io.wires.at(now + io.rules.delays.squash).squash = Some(squash);
        self.squash_until = now + io.rules.delays.squash;
    }

    /// A cycle's walk through the squashed entries, youngest first.
    fn walk(&mut self, io: &Io) {
        let n = self.to_walk.min(io.rules.widths.squash);
        self.to_walk -= n;
        if !io.rules.quirks.gem5SquashedRobEntries {
            self.rob.free_youngest(n);
        }
    }

    /// A squash that takes effect at once, without a walk of the ROB.
    pub fn squash_now(&mut self, after: Seq, io: &Io) {
        if self.rob.squash(after, io) > 0 {
            self.rob.free_squashed();
            self.check_empty = true;
        }
    }

    /// Renamed micro-ops take their entries.
    #[inline]
    fn enter_rob(&mut self, io: &Io, now: Cycle, wire: &ToCommit) -> bool {
        if wire.arrived == 0 || self.status == Status::TrapPending || now <= self.squash_until {
            return false;
        }
        for _ in 0..wire.arrived {
            self.rob.push(io);
        }
        self.youngest = self.rob.end() - 1;
        true
    }

    /// Retires up to `commitWidth` micro-ops. How many slots were used, and whether a store was among them.
    #[inline]
    fn retire<X: Outside>(
        &mut self,
        io: &mut Io,
        lsq: &Lsq,
        cx: &mut X,
        when: &When,
        changed: &mut bool,
    ) -> (u32, bool) {
        let now = when.cycle;
        let width = io.rules.widths.commit;
        let (mut retired, mut stored, mut traps) = (0, false, false);
        let first = io.ring.head();
        let end = self.rob.end();
        let mut seq = first;
        let mut regs = [0; REG_CLASSES];
        let (mut insts, mut branches) = (0, 0);
        while seq < end {
            *changed |= self.rob.free_squashed_before(seq, io);
            let cost = io.cost(seq);
            if retired + cost > width {
                break;
            }
            let bits = io.ring.state(seq);
            if !bits.intersects(State::DONE) {
                self.release_oldest(io, lsq, seq, bits, retired, now);
                break;
            }
            if io.ring.ready_at(seq) > now {
                break;
            }
            let flags = io.ring.flags(seq);
            if flags.any(UopFlags::TRAP) {
                traps = true;
                break;
            }
            self.stats.by_class[io.ring.class(seq) as usize] += 1;
            insts += u64::from(flags.any(UopFlags::LAST));
            branches += u64::from(flags.any(UopFlags::BRANCH));
            count_registers(&io.ring, seq, &mut regs);
            stored |= flags.any(UopFlags::STORE);
            retired += cost;
            seq += 1;
            if flags.any(UopFlags::EFFECT | UopFlags::SQUASH_AFTER) && self.finish(io, seq - 1, flags, cx) {
                break;
            }
        }
        if seq != first {
            self.stats.ops += seq - first;
            self.stats.insts += insts;
            self.stats.branches += branches;
            self.rob.free_entries(retired);
            io.traced(first..seq, |trace, ring, seq| {
                trace.retired(ring.slot(seq).0, now, ring.flags(seq).any(UopFlags::STORE));
            });
            io.ring.retire_to(seq);
        }
        if traps {
            self.trap(io, lsq, seq, retired, now, cx);
        }
        if io.ring.head() == self.rob.end() && self.rob.free_squashed() {
            self.check_empty = true;
            *changed = true;
        }
        if io.ring.head() != first {
            *changed = true;
            self.last_commit = now;
            let done = io.ring.head() - 1;
            self.refill = self.refill.filter(|&(_, after)| done <= after);
            io.wires.at(now + io.rules.delays.commit_to_fetch).fetch.committed = done;
            io.wires.at(now + io.rules.delays.retired_to_rename).rename.retired = done;
            io.wires.at(now + io.rules.delays.commit_to_iew).iew.committed = done;
            let freed = &mut io.wires.at(now + io.rules.delays.commit_to_rename).rename.free_regs;
            for (f, n) in freed.iter_mut().zip(regs) {
                *f += n;
            }
        }
        (retired, stored)
    }

    /// The oldest has not been executed: a non-speculative one is told to, once.
    #[inline]
    fn release_oldest(&mut self, io: &mut Io, lsq: &Lsq, seq: Seq, bits: State, retired: u32, now: Cycle) {
        if bits & (State::NON_SPEC | State::RELEASED) != State::NON_SPEC {
            return;
        }
        if (io.rules.quirks.gem5NonSpeculativeDrains || is_ordered(io.ring.flags(seq)))
            && (retired > 0 || lsq.has_stores_to_write())
        {
            return;
        }
        io.activity.moved = true;
        self.stats.non_spec_stalls += 1;
        io.ring.set_state(seq, State::RELEASED);
        io.wires.at(now + io.rules.delays.commit_to_iew).iew.release = seq;
    }

    #[cold]
    fn trap<X: Outside>(&mut self, io: &mut Io, lsq: &Lsq, seq: Seq, retired: u32, now: Cycle, cx: &mut X) {
        if io.rules.quirks.gem5TrapsDrain && (retired > 0 || lsq.has_stores_to_write()) {
            io.activity.moved |= retired > 0;
            return;
        }
        io.activity.moved = true;
        self.stats.traps += 1;
        self.status = Status::TrapPending;
        self.trap_at = now + io.rules.delays.trap + 1;
        // It leaves without having been an instruction; what is behind it is squashed when the trap is due.
        self.rob.free_entries(io.cost(seq));
        io.ring.retire_to(seq + 1);
        self.last_commit = now;
        // What ends the run, or a system call's effect.
        effect::act(io, seq, cx);
    }

    /// What an instruction does when it has committed. Whether nothing more commits in this cycle.
    #[cold]
    fn finish<X: Outside>(&mut self, io: &mut Io, seq: Seq, flags: UopFlags, cx: &mut X) -> bool {
        effect::act(io, seq, cx);
        if flags.any(UopFlags::SQUASH_AFTER) && flags.any(UopFlags::LAST) {
            self.status = Status::FlushPending;
            return true;
        }
        io.stopped.is_some()
    }
}

/// Whether a non-speculative micro-op is ordered behind older stores by the architecture: all but system instructions that
/// access no memory and act on nothing outside the core.
fn is_ordered(flags: UopFlags) -> bool {
    const ACTS: UopFlags =
        UopFlags::MEM.union(UopFlags::READ_BARRIER).union(UopFlags::WRITE_BARRIER).union(UopFlags::EFFECT);
    flags.any(ACTS) || !flags.any(UopFlags::SERIALIZE_AFTER)
}

fn report_rob_squashing(io: &mut Io, now: Cycle) {
    io.wires.at(now + io.rules.delays.commit_to_rename).rename.rob_squashing = true;
    io.wires.at(now + io.rules.delays.commit_to_iew).iew.rob_squashing = true;
}

#[cfg(test)]
mod tests;
