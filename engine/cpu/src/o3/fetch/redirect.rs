//! Redirections: by decode, which corrects a direct branch, and by squashes.

use breakeven_base::{BranchKind, Cycle, UopFlags};

use super::{Fetch, Status};
use crate::o3::inst::Note;
use crate::o3::io::Io;
use crate::o3::seq::Seq;
use crate::o3::wires::{Cause, Squash};
use crate::outside::Outside;

/// The last redirection.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Redirection {
    /// The cycle of it: fetch goes on in the next.
    pub at: Cycle,
    /// Decode's redirection that fetch has not acted upon: the branch and its target.
    pub correction: Option<(Seq, u64)>,
}

impl Fetch {
    /// Fetch leaves the right path for `pc`; without a fork left it stops until the branch resolves.
    pub(super) fn fork_or_stop<X: Outside>(&mut self, pc: u64, io: &Io, cx: &mut X) {
        if self.path.can_fork() {
            self.path.fork(cx, pc, &io.ring, true);
        } else {
            self.status = Status::Stopped;
        }
    }

    /// A redirection that arrives in cycle `at`: fetch goes on at `pc` in the next.
    pub(super) fn redirect(&mut self, pc: u64, at: Cycle) {
        // The cache answers before the stages take their turn.
        self.buffer.valid |= self.status == Status::WaitCache && self.at <= at;
        self.buffer.second_half = false;
        self.redirection.at = at;
        self.pc = pc;
        self.status = Status::Squashing;
        self.loops.stop();
        self.restart_targets();
        self.at = Cycle::MAX;
    }

    /// Decode corrects the direct branch `seq`, the youngest that it has decoded: fetch goes on at its target. `renamed`: the
    /// next micro-op to be renamed. A conditional branch may still turn out not to be taken.
    #[cold]
    pub fn correct<X: Outside>(&mut self, seq: Seq, renamed: Seq, io: &mut Io, cx: &mut X, now: Cycle) {
        let target = io.ring.flow(seq).target;
        self.path.restore_fork(cx, seq, &mut io.ring);
        self.squash(seq + 1, renamed, io);
        io.ring.flow_mut(seq).predicted = target;
        // A branch within its instruction leads nowhere else.
        let within = io.ring.flags(seq).any(UopFlags::MICRO_BRANCH);
        self.redirect(if within { io.ring.pc(seq) } else { target }, now + io.rules.delays.decode_to_fetch);
        // The predictor is trained when the redirection arrives.
        self.redirection.correction = Some((seq, target));
        if target != io.ring.flow(seq).next_pc {
            self.fork_or_stop(target, io, cx);
        }
    }

    /// Drops the micro-ops from `next` on from the fetch queue. `renamed`: the next micro-op to be renamed.
    pub fn squash(&mut self, next: Seq, renamed: Seq, io: &mut Io) {
        self.queue = self.queue.min(next);
        io.ring.truncate(next);
        self.decode_slots = renamed.until(self.queue).map(|seq| io.cost(seq)).sum();
    }

    /// A squash has reached all units: trains the predictor and goes on where execution really does.
    pub fn resume<X: Outside>(&mut self, squash: &Squash, io: &mut Io, cx: &mut X, now: Cycle) {
        let after = squash.after;
        if squash.cause != Cause::Violation {
            // The instruction's own outcome is known now: its fork goes too.
            self.path.restore_fork(cx, after, &mut io.ring);
        }
        // Of a flush or a violation it may have left long ago.
        match squash.cause {
            Cause::Mispredict => {
                let flow = io.ring.flow(after);
                let target = flow.next_pc;
                let len = if io.rules.quirks.gem5CompressedBranches { 4 } else { flow.len };
                let taken = flow.branch != BranchKind::Cond || target != io.ring.pc(after).wrapping_add(len.into());
                cx.correct(after, target, taken, true);
                io.ring.flow_mut(after).predicted = target;
            }
            Cause::Violation | Cause::Flush => cx.squash_predictions(after),
        }
        if squash.cause == Cause::Violation {
            let bits = io.ring.note(after + 1) | Note::REPLAYED;
            io.ring.set_note(after + 1, bits);
        }
        self.redirect_behind(after, io, cx, now);
    }

    /// Fetch goes on behind `after`: with what has been executed there already, or where the front end stands.
    pub fn redirect_behind<X: Outside>(&mut self, after: Seq, io: &mut Io, cx: &mut X, now: Cycle) {
        self.path.restore_fork(cx, after + 1, &mut io.ring);
        let mut pc = cx.pc();
        if io.ring.tail() < self.path.placed {
            pc = io.ring.pc(io.ring.tail());
            self.refetch(io);
        }
        // A correction by decode in the same cycle is of a younger branch.
        self.redirection.correction = None;
        self.redirect(pc, now);
    }
}
