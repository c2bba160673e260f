//! Squashes: what is thrown away, and where fetch goes on. What commit does with the ROB's entries is in `commit.rs`.

use breakeven_base::{Bus, FrontEnd};

use super::inst::{self, state, Seq};
use super::wires::{Cause, InFront, Squash};
use super::O3;
use crate::CoreCtx;

impl O3 {
    /// Throws away what `squash` says. Its places in the ROB are commit's affair.
    #[cold]
    pub(super) fn squash<F: FrontEnd, B: Bus>(&mut self, cx: &mut CoreCtx<'_, F, B>, squash: &Squash, now: u64) {
        self.moved = true;
        let after = squash.after;
        // First what the pipeline knows of them, while their slots still hold them.
        self.unwind(after, now);
        if squash.cause != Cause::Violation {
            // The instruction's own outcome is known now: the fork behind it goes too.
            self.path.restore_fork(cx.fe, after, &mut self.ring);
        }
        let target = self.ring.flow(after).next_pc;
        match squash.cause {
            Cause::Mispredict => {
                let flow = self.ring.flow(after);
                let taken = flow.branch != breakeven_base::BranchKind::Cond
                    || target != self.ring.pc(after).wrapping_add(flow.len.into())
                    || self.rules.quirks.gem5CompressedBranches && flow.len == 2;
                self.predictor.correct(after, target, taken, true);
                self.ring.flow_mut(after).predicted = target;
            }
            Cause::Violation | Cause::Flush => self.predictor.squash(after),
        }
        if squash.cause == Cause::Violation {
            let bits = self.ring.note(after + 1) | inst::note::REPLAYED;
            self.ring.set_note(after + 1, bits);
        }
        self.redirect_fetch(cx, after, now);
    }

    /// A squash without a cause in the pipeline (a placeholder has turned out otherwise): at once, and without a walk of the ROB.
    #[cold]
    pub(super) fn squash_now<F: FrontEnd, B: Bus>(&mut self, cx: &mut CoreCtx<'_, F, B>, after: Seq, now: u64) {
        self.unwind_now(after, now);
        self.redirect_fetch(cx, after, now);
    }

    pub(super) fn unwind_now(&mut self, after: Seq, now: u64) {
        self.moved = true;
        if self.leave_rob(after) > 0 {
            self.free_squashed();
        }
        self.predictor.squash(after);
        self.unwind(after, now);
    }

    /// Takes the micro-ops younger than `after` out of the pipeline.
    fn unwind(&mut self, after: Seq, now: u64) {
        let next = after + 1;
        self.return_squashed_credits(next, now);
        for seq in (next..self.at.rename).rev() {
            self.rename.undo(seq, &self.ring);
            if seq < self.at.dispatch {
                self.ring.forget(seq, self.at.head);
                let slot = self.ring.slot(seq);
                let bits = self.ring.state(seq);
                self.iq.clear_ready(slot, self.units.group(self.ring.class(seq)));
                if bits & state::IN_IQ != 0 {
                    self.iq.free += 1;
                    self.ring.clear_state(seq, state::IN_IQ);
                }
            }
        }
        self.lsq.squash(after, &self.ring);
        let p = &mut self.at;
        for place in [
            &mut p.dispatch,
            &mut p.iew_in,
            &mut p.rename,
            &mut p.rename_in,
            &mut p.decode,
            &mut p.decode_in,
            &mut p.queue,
        ] {
            *place = (*place).min(next);
        }
        self.path.tail = self.path.tail.min(next);
        self.count_waiting();
    }

    /// Fetch goes on behind `after`: with what has been executed there already, or where the front end stands.
    pub(super) fn redirect_fetch<F: FrontEnd, B: Bus>(&mut self, cx: &mut CoreCtx<'_, F, B>, after: Seq, now: u64) {
        self.path.restore_fork(cx.fe, after + 1, &mut self.ring);
        let mut pc = cx.fe.pc();
        if self.path.tail < self.path.placed {
            pc = self.ring.pc(self.path.tail);
            self.ring_again();
        }
        // What decode says in the same cycle is of younger ones: it goes unheard.
        self.fetch.correction = None;
        self.fetch.redirect(pc, now);
    }

    /// Micro-ops on their way between stages vanish; of those between rename and dispatch rename hears as they would have
    /// arrived. What is older than `next` still arrives: a placeholder is executed while those behind it come along.
    fn return_squashed_credits(&mut self, next: Seq, now: u64) {
        let back = self.rules.iew_to_rename;
        let mut squashed_credits = [(0, 0); 16];
        let mut n = 0;
        let p = &self.at;
        let kept = InFront {
            fetched: next.saturating_sub(p.decode_in),
            decoded: next.saturating_sub(p.rename_in),
            renamed: next.saturating_sub(p.iew_in),
            to_rob: next.saturating_sub(p.rob_in),
        };
        self.wires.clear_front(now, kept, |cycle, count| {
            if n < squashed_credits.len() {
                squashed_credits[n] = (cycle, count);
                n += 1;
            }
        });
        let mut from = self.at.dispatch.max(next);
        if from < self.at.iew_in {
            self.report_squashed(from, self.at.iew_in, now + back);
            from = self.at.iew_in;
        }
        for (cycle, count) in squashed_credits.into_iter().take(n) {
            let to = (from + u64::from(count)).min(self.at.rename);
            if from < to {
                self.report_squashed(from, to, cycle + back);
                from = to;
            }
        }
    }
}
