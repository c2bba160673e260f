//! Commit: takes micro-ops into the ROB, retires them in order, and starts squashes.
//! Fact source: gem5 24.0 `src/cpu/o3/commit.cc`, `rob.cc`.
//!
//! - Squashed micro-ops are marked `squashWidth` a cycle; until that is done nothing commits. They keep their places in the
//!   ROB until everything older has gone.
//! - A trap waits for all stores, then `trapLatency` cycles; then everything goes.
//! - What executes only when it is the oldest is told so when it is, and when all stores have been written.

use breakeven_base::{clone_by_field, Bus, FrontEnd, SysEffect, UopFlags};

use super::config::RenameRecovery;
use super::decode;
use super::fetch;
use super::inst::{note, state, Seq, Wait};
use super::rename::{Rename, REG_CLASSES};
use super::wires::{Cause, Squash, Wire};
use super::{Stopped, O3};
use crate::account::Reason;
use crate::when::When;
use crate::CoreCtx;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Status {
    #[default]
    Running,
    /// The ROB is being walked.
    RobSquashing,
    /// Everything goes next cycle.
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

#[derive(Debug)]
pub struct Commit {
    pub status: Status,
    /// Places of the ROB that are taken, squashed micro-ops included.
    used: u32,
    size: u32,
    /// Squashed micro-ops between each micro-op and the one before it in the ROB.
    squashed: Box<[u16]>,
    /// Those behind the youngest, and all others.
    squashed_behind: u32,
    squashed_between: u32,
    /// Still to be walked.
    to_walk: u32,
    /// When a trap's squash is due.
    trap_at: u64,
    /// Nothing younger is in the ROB.
    youngest: Seq,
    check_empty: bool,
    /// A squash is on its way to the other stages: what rename still sends is void.
    squash_until: u64,
    /// What is charged until the first micro-op after a squash has come.
    pub recovering: Option<Reason>,
    pub stats: CommitStats,
}

clone_by_field!(Commit {
    status,
    used,
    size,
    squashed,
    squashed_behind,
    squashed_between,
    to_walk,
    trap_at,
    youngest,
    check_empty,
    squash_until,
    recovering,
    stats,
});

impl Commit {
    pub fn new(size: u32, capacity: usize) -> Self {
        Commit {
            status: Status::Running,
            used: 0,
            size,
            squashed: vec![0; capacity].into_boxed_slice(),
            squashed_behind: 0,
            squashed_between: 0,
            to_walk: 0,
            trap_at: u64::MAX,
            youngest: 0,
            check_empty: true,
            squash_until: 0,
            recovering: None,
            stats: CommitStats::default(),
        }
    }

    /// The next cycle in which something is due here.
    pub fn next_event(&self) -> u64 {
        self.trap_at
    }

    pub fn describe(&self) -> String {
        format!("commit: {:?}, {} of {} ROB entries taken", self.status, self.used, self.size)
    }
}

impl O3 {
    /// One cycle of commit.
    pub(super) fn commit_tick<F: FrontEnd, B: Bus>(&mut self, cx: &mut CoreCtx<'_, F, B>, when: &When, wire: &Wire) {
        let now = when.cycle;
        if self.commit.status == Status::RobSquashing {
            self.moved = true;
            if self.commit.to_walk == 0 {
                self.commit.status = Status::Running;
            } else {
                self.commit.to_walk = self.commit.to_walk.saturating_sub(self.rules.squash_width);
                self.tell_rob_squashing(now);
            }
        }
        self.handle_squashes(now, wire);
        let (mut retired, mut stored) = (0, false);
        let mut changed = wire.squash.is_some() || self.commit.status == Status::RobSquashing;
        changed |= self.enter_rob(now, wire);
        if self.commit.status == Status::Running {
            (retired, stored) = self.retire(cx, when, &mut changed);
        }
        let empty = self.commit.used == 0;
        if changed {
            self.moved = true;
            self.commit.check_empty |= empty;
            let free = self.commit.size.saturating_sub(self.commit.used);
            self.wires.at(now + self.rules.commit_to_rename).free_rob = Some((free, false));
        }
        if self.commit.check_empty && empty && !stored && !self.lsq.has_stores_to_write() {
            self.moved = true;
            self.commit.check_empty = false;
            self.wires.at(now + self.rules.commit_to_rename).free_rob = Some((self.commit.size, true));
        }
        let reason = if retired < self.rules.commit_width { self.reason() } else { Reason::Retiring };
        self.account.cycle(retired, self.rules.commit_width, reason);
    }

    fn tell_rob_squashing(&mut self, now: u64) {
        self.wires.at(now + self.rules.commit_to_rename).rob_squashing_rename = true;
        self.wires.at(now + self.rules.commit_to_iew).rob_squashing_iew = true;
    }

    #[inline]
    fn handle_squashes(&mut self, now: u64, wire: &Wire) {
        if self.commit.trap_at <= now || self.commit.status == Status::FlushPending {
            self.commit.trap_at = u64::MAX;
            let after = self.at.head - 1;
            self.start_squash(Squash { after, stamp: 0, cause: Cause::Flush }, now);
        }
        if let Some(squash) = wire.resolve {
            let seq = squash.by();
            let alive = seq < self.path.tail && self.ring.stamp(seq) == squash.stamp;
            if alive && self.commit.status != Status::TrapPending && seq <= self.commit.youngest {
                self.commit.stats.mispredicts += u64::from(squash.cause == Cause::Mispredict);
                self.start_squash(squash, now);
            }
        }
    }

    #[cold]
    fn start_squash(&mut self, squash: Squash, now: u64) {
        self.moved = true;
        let n = self.leave_rob(squash.after);
        self.commit.stats.squashed += u64::from(n);
        self.commit.status = Status::RobSquashing;
        let at_once = self.rules.recovery == RenameRecovery::Checkpoint;
        if at_once {
            self.commit.used -= self.commit.squashed_behind;
            self.commit.squashed_behind = 0;
            self.commit.to_walk = 0;
        } else {
            self.commit.to_walk = n.saturating_sub(self.rules.squash_width);
        }
        self.commit.youngest = squash.after;
        self.commit.recovering =
            Some(if squash.cause == Cause::Violation { Reason::Replay } else { Reason::BadSpeculation });
        self.tell_rob_squashing(now);
        self.wires.at(now + self.rules.squash_delay).squash = Some(squash);
        self.commit.squash_until = now + self.rules.squash_delay;
    }

    /// The micro-ops younger than `after` become squashed behind it. How many places they have.
    pub(super) fn leave_rob(&mut self, after: Seq) -> u32 {
        let mut n = std::mem::take(&mut self.commit.squashed_behind);
        let from = (after + 1).max(self.at.head);
        for seq in from..self.at.rob_in {
            n += self.cost(seq) + self.take_squashed_before(seq);
        }
        self.at.rob_in = self.at.rob_in.min(from);
        self.commit.squashed_behind = n;
        n
    }

    /// The squashed micro-ops directly before `seq` in the ROB, which are its no more.
    #[inline]
    fn take_squashed_before(&mut self, seq: Seq) -> u32 {
        if self.commit.squashed_between == 0 {
            return 0;
        }
        let n = std::mem::take(&mut self.commit.squashed[self.ring.slot(seq)]).into();
        self.commit.squashed_between -= n;
        n
    }

    /// A squash that takes effect at once: its micro-ops' places are free.
    pub(super) fn free_squashed(&mut self) {
        self.commit.used -= self.commit.squashed_behind;
        self.commit.squashed_behind = 0;
        self.commit.check_empty = true;
    }

    /// Renamed micro-ops take their places.
    #[inline]
    fn enter_rob(&mut self, now: u64, wire: &Wire) -> bool {
        if wire.to_rob == 0 || self.commit.status == Status::TrapPending || now <= self.commit.squash_until {
            return false;
        }
        for _ in 0..wire.to_rob {
            let seq = self.at.rob_in;
            if self.commit.squashed_behind > 0 {
                let squashed = std::mem::take(&mut self.commit.squashed_behind);
                self.commit.squashed_between += squashed;
                #[allow(clippy::cast_possible_truncation)] // at most the ROB's size
                {
                    self.commit.squashed[self.ring.slot(seq)] = squashed as u16;
                }
            }
            self.commit.used += self.cost(seq);
            self.at.rob_in += 1;
        }
        self.commit.youngest = self.at.rob_in - 1;
        true
    }

    /// Retires up to `commitWidth` micro-ops. How many slots were used, and whether a store was among them.
    #[inline]
    fn retire<F: FrontEnd, B: Bus>(
        &mut self,
        cx: &mut CoreCtx<'_, F, B>,
        when: &When,
        changed: &mut bool,
    ) -> (u32, bool) {
        let now = when.cycle;
        let width = self.rules.commit_width;
        let (mut retired, mut stored) = (0, false);
        let first = self.at.head;
        let mut regs = [0; REG_CLASSES];
        while self.at.head < self.at.rob_in {
            let seq = self.at.head;
            let squashed = self.take_squashed_before(seq);
            if squashed > 0 {
                self.commit.used -= squashed;
                *changed = true;
            }
            let cost = self.cost(seq);
            if retired + cost > width {
                break;
            }
            let bits = self.ring.state(seq);
            if bits & state::DONE == 0 {
                self.release_oldest(seq, bits, retired, now);
                break;
            }
            if self.ring.ready_at(seq) > now {
                break;
            }
            let flags = self.ring.flags(seq);
            if flags.any(UopFlags::TRAP) {
                self.trap(seq, retired, now, cx);
                break;
            }
            self.account_for(seq, flags);
            Rename::frees(&self.ring, seq, &mut regs);
            stored |= flags.any(UopFlags::STORE);
            self.commit.used -= cost;
            retired += cost;
            self.at.head += 1;
            if let Some(trace) = &mut self.trace {
                trace.retired(self.ring.slot(seq), now, flags.any(UopFlags::STORE));
            }
            if flags.any(UopFlags::EFFECT | UopFlags::SQUASH_AFTER) && self.finish(seq, flags, cx) {
                break;
            }
        }
        if self.at.head == self.at.rob_in && self.commit.squashed_behind > 0 {
            self.free_squashed();
            *changed = true;
        }
        if self.at.head != first {
            *changed = true;
            self.last_commit = now;
            self.commit.recovering = None;
            let done = self.at.head - 1;
            self.wires.at(now + self.rules.commit_to_fetch).committed_to_fetch = done;
            self.wires.at(now + self.rules.retired_to_rename).retired_to_rename = done;
            self.wires.at(now + self.rules.commit_to_iew).committed_to_iew = done;
            let freed = &mut self.wires.at(now + self.rules.commit_to_rename).free_regs;
            for (f, n) in freed.iter_mut().zip(regs) {
                *f += n;
            }
        }
        (retired, stored)
    }

    /// The oldest has not been executed: perhaps it waits to be told.
    #[inline]
    fn release_oldest(&mut self, seq: Seq, bits: u8, retired: u32, now: u64) {
        if bits & (state::NON_SPEC | state::RELEASED) != state::NON_SPEC || retired > 0 {
            return;
        }
        if self.lsq.has_stores_to_write() {
            return;
        }
        self.moved = true;
        self.commit.stats.non_spec_stalls += 1;
        self.ring.set_state(seq, state::RELEASED);
        self.wires.at(now + self.rules.commit_to_iew).release = seq;
    }

    #[cold]
    fn trap<F: FrontEnd, B: Bus>(&mut self, seq: Seq, retired: u32, now: u64, cx: &mut CoreCtx<'_, F, B>) {
        if retired > 0 || self.lsq.has_stores_to_write() {
            self.moved |= retired > 0;
            return;
        }
        self.moved = true;
        self.commit.stats.traps += 1;
        self.commit.status = Status::TrapPending;
        self.commit.trap_at = now + self.rules.trap_latency + 1;
        // It leaves without having been an instruction; what is behind it is thrown away when the trap is due.
        self.commit.used -= self.cost(seq);
        self.at.head += 1;
        self.last_commit = now;
        // What ends the run, or a system call's effect.
        self.act(seq, cx);
    }

    #[inline]
    fn account_for(&mut self, seq: Seq, flags: UopFlags) {
        let s = &mut self.commit.stats;
        s.ops += 1;
        s.insts += u64::from(flags.any(UopFlags::LAST));
        s.by_class[self.ring.class(seq) as usize] += 1;
        s.branches += u64::from(flags.any(UopFlags::BRANCH));
    }

    /// Carries out a micro-op's effect, if it has one.
    #[cold]
    fn act<F: FrontEnd, B: Bus>(&mut self, seq: Seq, cx: &mut CoreCtx<'_, F, B>) {
        if self.ring.flags(seq).any(UopFlags::EFFECT) {
            match self.ring.effect(seq) {
                SysEffect::None => {}
                SysEffect::TlbFlush { vaddr } => cx.mem.tlb_flush(vaddr),
                SysEffect::FetchFlush => cx.mem.fetch_flush(),
                SysEffect::CacheFlush { at, line_cycles } => cx.mem.flush_caches(at, line_cycles),
                other => self.stopped = Some(Stopped::Effect(other)),
            }
        }
    }

    /// gem5 carries a pseudo-op out when it executes, which it does as the oldest: it and what commits with it count behind what
    /// it says of the statistics.
    #[cold]
    pub(super) fn act_at_once<F: FrontEnd, B: Bus>(&mut self, seq: Seq, flags: UopFlags, cx: &mut CoreCtx<'_, F, B>) {
        let at_commit =
            flags.any(UopFlags::TRAP) || flags.any(UopFlags::SERIALIZE_AFTER) && !self.rules.quirks.gem5PseudoOps;
        if flags.any(UopFlags::NON_SPECULATIVE) && !at_commit {
            self.act(seq, cx);
            self.ring.uop_mut(seq).flags.0 &= !UopFlags::EFFECT;
        }
    }

    /// What an instruction does when it has committed. Whether nothing more commits in this cycle.
    #[cold]
    fn finish<F: FrontEnd, B: Bus>(&mut self, seq: Seq, flags: UopFlags, cx: &mut CoreCtx<'_, F, B>) -> bool {
        self.act(seq, cx);
        if flags.any(UopFlags::SQUASH_AFTER) && flags.any(UopFlags::LAST) {
            self.commit.status = Status::FlushPending;
            return true;
        }
        self.stopped.is_some()
    }

    /// Why commit has an empty slot.
    #[inline]
    pub(super) fn reason(&self) -> Reason {
        if let Some(reason) = self.commit.recovering {
            return reason;
        }
        let head = self.at.head;
        if head < self.at.rob_in {
            let reason = self.reason_of_head(head);
            // A latency that the window hides holds nothing up while the front end delivers less than could be taken.
            let hidden = matches!(reason, Reason::Execution | Reason::Level1) && self.starved();
            return if hidden { self.reason_of_fetch() } else { reason };
        }
        match self.commit.status {
            Status::TrapPending | Status::FlushPending => return Reason::Serialize,
            _ => {}
        }
        if self.rename.status == decode::Status::SerializeStall {
            let for_stores = self.rename.waits_for_stores() && self.lsq.has_stores_to_write();
            return if for_stores { Reason::StoreQueue } else { Reason::Serialize };
        }
        self.reason_of_fetch()
    }

    /// Rename has taken everything there is, and less is on its way than it could take.
    fn starved(&self) -> bool {
        let on_its_way = self.at.decode - self.at.rename;
        self.rename.status == decode::Status::Running
            && self.at.rename == self.at.rename_in
            && on_its_way < u64::from(self.rules.rename_width) * self.rules.decode_to_rename
            && self.fetch.status != fetch::Status::Stopped
    }

    fn reason_of_fetch(&self) -> Reason {
        match self.fetch.status {
            fetch::Status::WaitCache | fetch::Status::Retry => Reason::FetchCache,
            fetch::Status::Translating => Reason::FetchTlb,
            fetch::Status::Stopped => Reason::Serialize,
            _ => Reason::FrontEnd,
        }
    }

    fn reason_of_head(&self, head: Seq) -> Reason {
        let bits = self.ring.state(head);
        if bits & state::DONE != 0 {
            return Reason::Execution;
        }
        if self.ring.note(head) & note::REPLAYED != 0 {
            return Reason::Replay;
        }
        if bits & state::NON_SPEC != 0 && bits & state::ISSUED == 0 {
            return if self.lsq.has_stores_to_write() { Reason::StoreQueue } else { Reason::Serialize };
        }
        match self.ring.wait(head) {
            Wait::Execution => Reason::Execution,
            Wait::Unit => Reason::Unit,
            Wait::Level1 => Reason::Level1,
            Wait::Level2 => Reason::Level2,
            Wait::Level3 => Reason::Level3,
            Wait::Memory => Reason::Memory,
            Wait::TlbWalk => Reason::TlbWalk,
            Wait::Split => Reason::Split,
            Wait::ForwardFail => Reason::ForwardFail,
            Wait::Replay => Reason::Replay,
            Wait::StoreQueue => Reason::StoreQueue,
            Wait::Serialize => Reason::Serialize,
        }
    }
}
