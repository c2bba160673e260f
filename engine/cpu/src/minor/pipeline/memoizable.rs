//! An in-order pipeline as memoized execution sees it.

use breakeven_base::{Cycle, MemRef};

use super::{Latches, Pipeline, Time, Watchdog};
use crate::memo::archive::{Archive, Base, Written};
use crate::memo::Memoizable;
use crate::seq::Seq;

impl Pipeline {
    /// The state in relative form, between two cycles.
    fn archive(&mut self, a: &mut Archive) {
        let Self {
            time: Time { clock: _, cycle, running, idles: _, started: _, ticked: _ },
            fetch1,
            fetch2,
            decode,
            execute,
            latches: Latches { f1_to_f2, f2_to_f1, e_to_f1 },
            ring,
            activity,
            watchdog: Watchdog { ops_seen, last_commit },
            ledger: _,
            trace: _,
        } = self;
        *cycle = a.base.cycle;
        a.flag(running);
        fetch2.archive(a);
        ring.archive(a);
        // Most of what is refused, is by now.
        if a.refused {
            return;
        }
        fetch1.archive(a);
        decode.archive(a);
        execute.archive(a);
        f1_to_f2.archive(a, |a, line| line.archive(a));
        f2_to_f1.archive(a, |a, branch| branch.archive(a));
        e_to_f1.archive(a, |a, branch| branch.archive(a));
        activity.archive(a);
        a.refuse(!a.loads() && *ops_seen != execute.stats.ops);
        a.empty(ops_seen, execute.stats.ops);
        a.cycle_then(last_commit);
    }
}

impl Memoizable for Pipeline {
    const ON_WRONG_PATHS: bool = false;

    fn base(&self) -> Base {
        let when = self.when(self.time.cycle);
        let numbers = [self.execute.stream().into(), self.fetch2.prediction().into(), 0];
        Base { seq: self.execute.oldest(), cycle: when.cycle, tick: when.tick.0, numbers }
    }
    fn cycle(&self) -> Cycle {
        self.time.cycle
    }
    fn period(&self) -> u64 {
        self.time.clock.period()
    }
    fn insts(&self) -> u64 {
        self.execute.stats.insts
    }
    fn youngest(&self) -> Seq {
        self.ring.tail
    }
    /// An account looks at every cycle, too.
    fn is_traced(&self) -> bool {
        self.trace.is_some() || self.ledger.is_some()
    }
    fn signature(&self) -> u64 {
        self.execute.signature(self.time.cycle, &self.ring)
    }
    fn shape(&self) -> u64 {
        self.ring.shape(self.execute.oldest(), self.signature())
    }
    fn save(&mut self, to: &mut Written) -> bool {
        to.write(self.base(), self.execute.lsq.address_rules(), |a| self.archive(a))
    }
    fn load(&mut self, bytes: &[u8], references: &[MemRef], base: Base) {
        let mut a = Archive::load(bytes, references, base, self.execute.lsq.address_rules());
        self.archive(&mut a);
        debug_assert!(a.left() == 0 && !a.refused, "a state is read as it was written");
    }
    fn for_each_count(&mut self, each: &mut impl FnMut(&mut u64)) {
        self.execute.for_each_count(each);
        self.fetch2.for_each_count(each);
        [&mut self.fetch1.lines, &mut self.time.ticked].into_iter().for_each(each);
    }
}
