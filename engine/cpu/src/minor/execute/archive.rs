//! Execute in relative form.

use breakeven_base::Cycle;

use super::{CommitOut, Execute, ExecuteStats, Outcome, Seq};
use crate::memo::archive::Archive;
use crate::minor::inst::InstRing;
use crate::minor::pipe::STREAMS;

impl Execute {
    pub fn archive(&mut self, a: &mut Archive) {
        let Self {
            input,
            in_flight,
            mem_in_units,
            stream,
            fresh,
            left_by,
            commit_from,
            scoreboard,
            units,
            lsq,
            next_issue,
            p: _,
            out: CommitOut { drained, rolled_back, event, resolved },
            stats: _,
        } = self;
        a.refuse(*drained || *rolled_back || event.is_some() || resolved.outcome != Outcome::Straight);
        if a.loads() {
            (*drained, *rolled_back, *event, resolved.outcome) = (false, false, None, Outcome::Straight);
        }
        input.archive(a, |a, bundle| bundle.archive(a));
        in_flight.archive(a);
        mem_in_units.archive(a, Archive::seq);
        a.number32(STREAMS, stream);
        if a.present(*fresh == Seq::MAX) {
            *fresh = Seq::MAX;
        } else {
            a.seq_in_flight(fresh);
        }
        a.one_of(left_by, &Outcome::ALL);
        a.cycle(commit_from);
        scoreboard.archive(a);
        units.archive(a);
        lsq.archive(a);
        a.seq(next_issue);
    }

    /// A hash of a few numbers that states of one relative form have in common.
    pub fn signature(&self, cycle: Cycle, ring: &InstRing) -> u64 {
        let oldest = self.oldest();
        let pc = if oldest < ring.tail { ring.get(oldest).pc } else { 0 };
        let ahead = |event: Cycle| if event == Cycle::MAX { u64::MAX } else { event.0.saturating_sub(cycle.0) };
        [
            pc,
            ring.tail - oldest,
            self.in_flight.len() as u64,
            self.next_issue.0.wrapping_sub(oldest.0),
            self.units.occupied().into(),
            ahead(self.lsq.next_event()),
            ahead(self.input.next()),
        ]
        .into_iter()
        .fold(0, |hash: u64, n| (hash.rotate_left(13) ^ n).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// Every count, in one order.
    pub fn for_each_count(&mut self, each: &mut impl FnMut(&mut u64)) {
        let ExecuteStats { insts, ops, discarded_ops, by_class } = &mut self.stats;
        [insts, ops, discarded_ops, &mut self.lsq.forwarded].into_iter().chain(by_class).for_each(each);
    }
}
