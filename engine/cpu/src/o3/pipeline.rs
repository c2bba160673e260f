//! The units and what a cycle of them is.

mod counts;
mod memoizable;

use breakeven_base::units::Clock;
use breakeven_base::Cycle;
use educe::Educe;

use super::config::O3Config;
use super::inst::Progress;
use super::{commit, decode, dispatch, execute, fetch, io, issue, lsq, rename};
use crate::account::{Account, Reason};
use crate::memo::archive::Archive;
use crate::memo::Boundary;
use crate::outside::Outside;
use crate::when::When;
use counts::StageCounts;

/// All of an out-of-order core but its predictor.
#[derive(Debug, Educe)]
#[educe(Clone)]
pub struct Pipeline {
    pub clock: Clock,
    pub io: io::Io,
    pub fetch: fetch::Fetch,
    pub decode: decode::Decode,
    pub rename: rename::Rename,
    pub dispatch: dispatch::Dispatch,
    pub issue: issue::Issue,
    pub execute: execute::Execute,
    pub lsq: lsq::Lsq,
    pub commit: commit::Commit,
    pub account: Account,
    /// The cycle that comes next.
    pub cycle: Cycle,
    /// The units' counts before the present cycle, when a stalled unit retried in the last one and nothing else happened.
    pub retry_counts: Option<StageCounts>,
}

impl Pipeline {
    pub fn new(cfg: &O3Config, line_bytes: u32) -> Self {
        let io = io::Io::new(cfg);
        Pipeline {
            clock: cfg.clock,
            fetch: fetch::Fetch::new(cfg),
            decode: decode::Decode::new(),
            rename: rename::Rename::new(cfg),
            dispatch: dispatch::Dispatch::new(cfg),
            issue: issue::Issue::new(cfg, &io.ring),
            execute: execute::Execute::new(),
            lsq: lsq::Lsq::new(cfg, line_bytes),
            commit: commit::Commit::new(cfg, io.ring.capacity()),
            io,
            account: Account::new(),
            cycle: Cycle(1),
            retry_counts: None,
        }
    }

    #[inline]
    pub fn when(&self, cycle: Cycle) -> When {
        When { cycle, tick: self.clock.to_tick(cycle), period: self.clock.period() }
    }

    /// The state in relative form, between two cycles.
    pub(super) fn archive(&mut self, a: &mut Archive) {
        let Self {
            clock: _,
            io,
            fetch,
            decode,
            rename,
            dispatch,
            issue,
            execute,
            lsq,
            commit,
            account: _,
            cycle,
            retry_counts,
        } = self;
        *cycle = a.base.cycle;
        a.refuse(retry_counts.is_some());
        a.empty(retry_counts, None);
        rename.archive(a);
        fetch.archive(a);
        // Most of what is refused, is by now.
        io.archive(Progress { renamed: rename.next(), retired: rename.retired(), placed: fetch.path.placed }, a);
        if a.refused {
            return;
        }
        decode.archive(a);
        dispatch.archive(a);
        issue.archive(&io.ring, a);
        execute.archive(a, &io.ring);
        lsq.archive(a, &io.ring);
        commit.archive(a, &io.ring);
    }

    /// One cycle. A unit sees what others sent at least a cycle ago; within a cycle the order is gem5's.
    pub fn tick<X: Outside>(&mut self, cx: &mut X, when: &When) {
        let now = when.cycle;
        let was_empty = self.io.ring.is_empty();
        let mut wire = self.io.wires.take(now);
        // 1. What the memory side brings up to the start of this cycle.
        if self.lsq.next_event() <= now {
            self.lsq.events(cx, when, &mut self.io.ring, &mut self.execute.from_lsq);
            self.execute.receive(&mut self.io, &mut self.issue, now);
        }
        // 2. A squash reaches all units. What arrives in this very cycle is younger and goes, too.
        if let Some(squash) = wire.squash {
            self.dispatch.arrive(wire.iew.arrived);
            self.squash(cx, &squash, now);
            (wire.decode.arrived, wire.rename.arrived, wire.iew.arrived, wire.commit.arrived) = (0, 0, 0, 0);
        }
        let squashed = wire.squash.is_some();
        // 3. The front end, in order.
        self.fetch.tick(&mut self.io, cx, when, &wire.fetch, squashed);
        if let Some(branch) = self.decode.tick(&mut self.io, now, &wire.decode, squashed) {
            self.fetch.correct(branch, self.rename.next(), &mut self.io, cx, now);
        }
        let renamed = self.rename.tick(&mut self.io, now, &wire.rename, squashed);
        self.fetch.slots_renamed(renamed);
        self.dispatch.tick(&mut self.io, &mut self.issue, &mut self.lsq, now, &wire.iew, squashed);
        // 4. The front end executes a placeholder that is the oldest, which may squash what is younger at once; execution and
        // write-back, which wakes dependents; issue.
        let placeholder = self.execute.due_placeholder(&self.io, now);
        if let Some(seq) = placeholder {
            self.execute_placeholder(seq, cx, when);
        }
        let executed =
            self.execute.tick(&mut self.io, &mut self.issue, &mut self.lsq, cx, when) || placeholder.is_some();
        if self.issue.has_ready() {
            self.issue.tick(&mut self.io, &mut self.execute.input, now);
        }
        // 5. Committed stores go to the cache; loads and stores that have committed leave; credits return.
        let credits = self.dispatch.credits_return(&self.io, &self.lsq, executed, &wire.iew, squashed);
        if self.lsq.next_event() <= now {
            self.lsq.tick(cx, when, &mut self.io.ring, &mut self.execute.from_lsq);
            self.execute.receive(&mut self.io, &mut self.issue, now);
        }
        if wire.iew.committed.is_some() {
            self.lsq.commit(wire.iew.committed);
            self.io.activity.moved = true;
        }
        // They count the loads that have just left.
        if credits {
            self.dispatch.return_credits(&mut self.io, &self.issue, &self.lsq, now);
        }
        if wire.iew.release.is_some() {
            self.issue.release(&mut self.io, wire.iew.release);
        }
        debug_assert!(self.commit.rob_end() <= self.rename.next(), "what has not been renamed is in the ROB");
        // 6. Commit, and what its empty slots are charged to.
        let retired = self.commit.tick(&mut self.io, &self.lsq, cx, when, &wire.commit, squashed);
        if !was_empty && self.io.ring.is_empty() {
            self.io.activity.boundary = Some(Boundary::Empty);
        }
        let width = self.io.rules.widths.commit;
        let reason = if retired < width { self.reason() } else { Reason::Retiring };
        self.account.cycle(retired, width, reason);
    }

    /// Nothing has moved: unless something is still on its way between the units, goes to the next cycle in which anything can.
    /// Where a stalled unit retries, two such cycles show what each of them counts.
    /// False: nothing will ever happen again.
    pub fn skip(&mut self, max_cycles: u64) -> bool {
        if self.io.wires.busy(self.cycle) || self.issue.has_ready() || self.execute.has_arrived() {
            self.retry_counts = None;
            return true;
        }
        let counted = self.retry_counts.take();
        if self.io.activity.stalled_retry && counted.is_none() {
            self.retry_counts = Some(self.stage_counts());
            return true;
        }
        let next = self
            .execute
            .next_event(self.cycle)
            .min(self.lsq.next_event())
            .min(self.fetch.next_event())
            .min(self.commit.next_event(&self.io));
        if next == Cycle::MAX {
            return false;
        }
        let next = next.min(Cycle(max_cycles.saturating_add(1)));
        if next > self.cycle {
            let idle = next - self.cycle;
            if let Some(before) = counted.filter(|_| self.io.activity.stalled_retry) {
                self.count_again(&before, idle);
            } else if self.fetch.status() == fetch::Status::Running {
                self.count_still(idle);
            }
            self.account.idle(idle, self.io.rules.widths.commit, self.reason());
            self.commit.skip(idle);
            self.cycle = next;
        }
        true
    }

    /// So many cycles pass in which nothing happens, while nothing is in flight; whole turns of the wires.
    pub fn stand_still(&mut self, cycles: u64) {
        self.account.idle(cycles, self.io.rules.widths.commit, self.reason());
        self.commit.skip(cycles);
        self.io.wires.put_off(self.cycle, cycles);
        self.cycle += cycles;
        self.retry_counts = None;
    }

    /// What each queue waits for, one a line.
    pub fn describe(&self) -> Vec<String> {
        let ring = &self.io.ring;
        let head = ring.head();
        let mut oldest = String::from("nothing in flight");
        if head < ring.tail() {
            oldest = format!(
                "oldest {head} at {:#x}, {}, state {:?}, waits for {:?}",
                ring.pc(head),
                ring.class(head).name(),
                ring.state(head),
                ring.wait(head)
            );
        }
        vec![
            oldest,
            self.fetch.describe(),
            self.decode.describe(),
            self.rename.describe(),
            self.dispatch.describe(),
            self.issue.describe(),
            self.commit.describe(),
            format!("lsq: {}", self.lsq.describe()),
        ]
    }
}
