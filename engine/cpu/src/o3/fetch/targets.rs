//! The fetch target queue of a decoupled front end (gem5 25.1's `decoupledFrontEnd`): the branch predictor runs ahead of
//! fetch.
//!
//! - A fetch target is a stretch of instructions up to a taken branch or to the end of a block of `fetchBufferSize` bytes.
//!   The predictor makes `maxTakenPredPerCycle` a cycle; behind a call, a return or an indirect jump it begins another cycle,
//!   `callReturnDelay` cycles later (*ours*).
//! - The latency of a hit in the instruction cache is hidden, except for the first block after a redirection. Misses, page
//!   walks and retries cost their full latency: they are not prefetched.
//! - The predictor runs at most `numFTQEntries` cycles ahead.
//!
//! The targets themselves are not kept: fetch finds each out when it gets there. What is kept is when it was made.

use breakeven_base::Cycle;

use crate::memo::archive::Archive;

/// When fetch can have its target.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Targets {
    /// Of the queue; 0: the front end is not decoupled.
    entries: u32,
    /// The target's first block has been asked for since the last redirection.
    running: bool,
    /// The block in which the target lies.
    block: u64,
    /// The first cycle in which fetch can take the target out of the queue.
    ready: Cycle,
    /// The targets before it that were made in the same cycle.
    before: u32,
}

impl Targets {
    pub fn new(entries: u32) -> Self {
        Targets { entries, ..Targets::default() }
    }

    #[inline]
    pub fn decoupled(&self) -> bool {
        self.entries > 0
    }
    #[inline]
    pub fn ready(&self) -> Cycle {
        self.ready
    }

    /// A redirection empties the queue.
    pub fn restart(&mut self) {
        *self = Targets::new(self.entries);
    }

    /// The predictor has long waited for a place in the queue: it made the target as late as that allows.
    fn bound(&mut self, now: Cycle) {
        let earliest = Cycle(now.0.saturating_sub(self.entries.into()));
        if self.ready < earliest {
            (self.ready, self.before) = (earliest, 0);
        }
    }

    /// The next target is made: in the same cycle while there are fewer than `per_cycle`; never behind a `late` one.
    fn next(&mut self, late: u32, per_cycle: u32, now: Cycle) {
        self.bound(now);
        if late == 0 && self.before + 1 < per_cycle {
            self.before += 1;
        } else {
            (self.ready, self.before) = (self.ready + 1 + u64::from(late), 0);
        }
    }

    /// A branch that is predicted taken ends the target; the next one begins in `block`, `late` cycles later than usual.
    pub fn taken(&mut self, block: u64, late: u32, per_cycle: u32, now: Cycle) {
        self.next(late, per_cycle, now);
        self.block = block;
    }

    /// The instruction cache, asked in cycle `now` for `block`, answers in `at`. `delayed`: it missed, or a page walk or a
    /// refusal came first. Returns when the block can be fetched.
    pub fn answered(&mut self, block: u64, delayed: bool, per_cycle: u32, at: Cycle, now: Cycle) -> Cycle {
        if delayed || !self.running {
            (self.ready, self.before) = (at, 0);
        } else if block != self.block {
            self.next(0, per_cycle, now);
        }
        self.running = true;
        self.block = block;
        self.ready.max(now + 1)
    }

    /// The state in relative form.
    pub fn archive(&mut self, a: &mut Archive) {
        self.bound(a.base.cycle);
        let Self { entries: _, running, block, ready, before } = self;
        a.flag(running);
        a.u64(block);
        a.cycle_then(ready);
        a.u32(before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What hits at once, one block after the other.
    fn straight(t: &mut Targets, blocks: std::ops::Range<u64>, now: Cycle) -> Vec<u64> {
        blocks.map(|block| t.answered(64 * block, false, 1, now + 3, now).0).collect()
    }

    #[test]
    fn the_first_block_pays_the_cache_and_the_next_ones_do_not() {
        let mut t = Targets::new(8);
        assert_eq!(t.answered(0, false, 1, Cycle(103), Cycle(100)), Cycle(103));
        assert_eq!(t.answered(64, false, 1, Cycle(106), Cycle(103)), Cycle(104));
        t.restart();
        assert_eq!(t.answered(128, false, 1, Cycle(108), Cycle(105)), Cycle(108));
    }

    #[test]
    fn the_predictor_runs_ahead_as_far_as_its_queue_reaches() {
        let mut t = Targets::new(4);
        t.answered(0, false, 1, Cycle(103), Cycle(100));
        // Fetch comes back long after: four targets have been made by then, the fifth needs a cycle.
        assert_eq!(straight(&mut t, 1..7, Cycle(200)), [201, 201, 201, 201, 201, 202]);
    }

    #[test]
    fn a_late_target_is_hidden_by_what_was_made_before() {
        let mut t = Targets::new(8);
        t.answered(0, false, 1, Cycle(103), Cycle(100));
        t.taken(640, 1, 1, Cycle(103));
        assert_eq!(t.ready(), Cycle(105));
        t.taken(0, 1, 1, Cycle(120));
        assert_eq!(t.ready(), Cycle(114), "made while fetch was elsewhere");
    }

    #[test]
    fn a_miss_is_waited_for() {
        let mut t = Targets::new(8);
        t.answered(0, false, 1, Cycle(103), Cycle(100));
        assert_eq!(t.answered(64, true, 1, Cycle(140), Cycle(103)), Cycle(140));
        assert_eq!(t.answered(128, false, 1, Cycle(143), Cycle(140)), Cycle(141));
    }

    #[test]
    fn two_a_cycle_are_made_and_a_late_one_begins_another() {
        let mut t = Targets::new(8);
        t.answered(0, false, 2, Cycle(103), Cycle(100));
        // Late: in order a jump, a call, a jump, a return, a jump, a jump, as `scripts/native_probes.py` has them.
        let ready = [0, 1, 0, 1, 0, 0].map(|late| {
            t.taken(0, late, 2, Cycle(103));
            t.ready().0
        });
        assert_eq!(ready, [103, 105, 105, 107, 107, 108]);
    }
}
