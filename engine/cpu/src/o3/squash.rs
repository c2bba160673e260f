//! A squash is a message that every unit answers: each drops its micro-ops from `next` on and restores its own state.

use super::fetch::{AtHead, Then};
use super::inst::Note;
use super::pipeline::Pipeline;
use super::seq::Seq;
use super::wires::{InFront, Squash};
use super::Stopped;
use crate::outside::Outside;
use crate::when::When;
use breakeven_base::Cycle;

impl Pipeline {
    /// The squash of a mispredicted branch, a memory-order violation or a flush reaches all units. Commit, which has started
    /// it, has dealt with the ROB.
    #[cold]
    pub(super) fn squash<X: Outside>(&mut self, cx: &mut X, squash: &Squash, now: Cycle) {
        // First what the units know of the micro-ops, while their slots still hold them.
        self.squash_units(squash.after, now);
        self.fetch.resume(squash, &mut self.io, cx, now);
    }

    fn squash_units(&mut self, after: Seq, now: Cycle) {
        self.io.activity.moved = true;
        let next = after + 1;
        // What is older than `next` still arrives: a placeholder is executed while micro-ops behind it are on their way.
        let kept = InFront {
            fetched: next.behind(self.decode.end()),
            decoded: next.behind(self.rename.end()),
            renamed: next.behind(self.dispatch.end()),
            to_rob: next.behind(self.commit.rob_end()),
        };
        let in_flight = self.io.wires.clear_front(now, kept);
        let renamed = self.rename.next();
        self.rename.squash(next, &self.io.ring);
        self.issue.squash(&mut self.io.ring, next, self.dispatch.next());
        let dropped = self.dispatch.squash(&mut self.io, next, renamed, &in_flight, now);
        self.rename.drop_dispatched(&dropped);
        self.lsq.squash(after);
        self.decode.squash(next);
        self.fetch.squash(next, self.rename.next(), &mut self.io);
    }

    /// Executes a placeholder, now that everything older has committed: as a micro-op it is left to [`execute::Execute::tick`] of
    /// this cycle, unless it waits, the run pauses, or it is fetched again as what it has turned out to be.
    #[cold]
    pub(super) fn execute_placeholder<X: Outside>(&mut self, seq: Seq, cx: &mut X, when: &When) {
        let now = when.cycle;
        self.io.activity.moved = true;
        if self.io.ring.note(seq).intersects(Note::PAUSES) && !self.lsq.drained() {
            self.execute.postpone(seq, now + 1, &self.io, now);
            return;
        }
        let AtHead::Squash(after, then) = self.fetch.execute_at_head(seq, self.rename.next(), &mut self.io, cx, when)
        else {
            return;
        };
        // At once, without a walk of the ROB: nothing in the pipeline has caused it.
        self.commit.squash_now(after, &self.io);
        cx.squash_predictions(after);
        self.squash_units(after, now);
        self.fetch.after_head(after, then, &mut self.io, cx, now);
        match then {
            Then::Pause => self.io.stopped = Some(Stopped::Paused),
            Then::Wait(at) => self.execute.postpone(seq, at, &self.io, now),
            Then::Resume | Then::Refetch | Then::Stop => {}
        }
    }
}
