//! Makes a round of hits ([`super::rounds`]): its steps, those of a known path together, then its hits together.

use std::ops::Range;

use breakeven_base::{PathEnd, StepResult, Tick};

use super::answers::LiveAnswer;
use super::calls::Call;
use super::make::Outcome;
use super::parts::Part;
use super::recorder::At;
use super::rounds::{Front, FrontCall};
use super::{Limits, Memo};
use crate::outside::Outside;

/// What became of a round.
pub(super) enum Made {
    Whole,
    /// It is to be made with all its calls.
    Not,
    /// Up to this part, and the call in it that came out otherwise. All calls before it have been made.
    Until {
        part: usize,
        ended: Option<(u32, Outcome)>,
    },
}

impl Memo {
    /// Makes the round of parts `which`.
    pub(super) fn round_of_hits<O: Outside>(
        &mut self,
        parts: &[Part],
        which: Range<usize>,
        cx: &mut O,
        limits: &Limits,
    ) -> Made {
        if !self.will_hit(&parts[which.clone()], cx) {
            self.steady.rounds.refused();
            return Made::Not;
        }
        let fronts = std::mem::take(&mut self.steady.rounds.fronts);
        let made = self.steps_of_round(parts, which.clone(), &fronts, (cx, limits));
        self.steady.rounds.fronts = fronts;
        if matches!(made, Made::Whole) {
            cx.use_all(&self.steady.rounds.uses);
            self.steady.rounds.made();
            self.statistics.in_rounds += which.len() as u64;
        }
        made
    }

    /// Whether all accesses of the next round hit, if its references go where they should.
    fn will_hit<O: Outside>(&mut self, parts: &[Part], cx: &mut O) -> bool {
        let cycles: u64 = parts.iter().map(|part| self.table.segments[part.segment as usize].cycles).sum();
        let base = &self.recorder.base;
        let during = Tick(base.tick)..Tick(base.tick + cycles * self.recorder.period);
        let rules = (&self.rules, self.alias_bits != 0);
        self.steady.foresees_round(rules, self.recorder.asid) && cx.all_hit(&self.steady.rounds.uses, &during)
    }

    fn steps_of_round<O: Outside>(
        &mut self,
        parts: &[Part],
        which: Range<usize>,
        fronts: &[Front],
        (cx, limits): (&mut O, &Limits),
    ) -> Made {
        for (n, front) in which.clone().zip(fronts) {
            let part = &parts[n];
            let begins = self.recorder.configuration == part.entry
                && self.recorder.asid == cx.asid()
                && limits.has_room(&self.recorder.base, self.insts)
                && !cx.slice_is_over();
            if !begins {
                self.data_calls(parts, which.start..n, cx);
                return Made::Until { part: n, ended: None };
            }
            self.recorder.configuration = part.configuration;
            self.recorder.answers.path.clear();
            let at = At { base: self.recorder.base, period: self.recorder.period };
            if let Err((call, stop)) = self.front_calls(front, &at, cx) {
                return Made::Until { part: n, ended: Some(self.stop_at(parts, which.start..n, (call, stop), cx)) };
            }
            self.completed_steady(part);
        }
        Made::Whole
    }

    /// Makes the calls of the front end; the one that makes the round end there, and why.
    #[inline(always)]
    fn front_calls<'f, O: Outside>(
        &mut self,
        front: &'f Front,
        at: &At,
        cx: &mut O,
    ) -> Result<(), (&'f FrontCall, Stop)> {
        let mut next = 0;
        while let Some(call) = front.calls.get(next) {
            if call.run > 0 {
                let end = self.run_path(front, next, at, cx);
                next += end.done;
                if end.other {
                    return Err((&front.calls[next], self.other_on_path(&front.calls[next])));
                }
                if end.done == call.run as usize {
                    continue;
                }
            }
            let call = &front.calls[next];
            if let Some(stop) = self.front_call(call, at, cx) {
                return Err((call, stop));
            }
            next += 1;
        }
        Ok(())
    }

    /// Makes the steps from call `first` on together. What translations say does not change in them.
    #[inline(always)]
    fn run_path<O: Outside>(&mut self, front: &Front, first: usize, at: &At, cx: &mut O) -> PathEnd {
        let run = first..first + front.calls[first].run as usize;
        let calls = &front.calls[run.clone()];
        let Memo { references, steady, rules, recorder, .. } = self;
        let path = &front.path[run];
        cx.run_path(
            &mut recorder.answers.step,
            |n| path.get(n).copied(),
            |n, mems| {
                let (call, mut slot) = (&calls[n], calls[n].slot);
                let mut is_as_foreseen = true;
                for (uop, mem) in call.uops.clone().zip(mems) {
                    let mem = mem.read_by_field();
                    references.set(at.seq(call.seq) + uop as u64, mem);
                    is_as_foreseen &= steady.rounds.is_as_foreseen(slot, &mem, rules);
                    slot += 1;
                }
                is_as_foreseen
            },
        )
    }

    /// A step of a path has come out otherwise, or its reference went elsewhere.
    #[cold]
    fn other_on_path(&mut self, front: &FrontCall) -> Stop {
        let Call::Step { what, .. } = front.call else { return Stop::OtherStep(StepResult::Done) };
        if self.table.instructions.is(what, StepResult::Done, &self.recorder.answers.step) {
            Stop::Elsewhere
        } else {
            Stop::OtherStep(StepResult::Done)
        }
    }

    /// Makes a call of the front end; what makes the round end there.
    #[inline(always)]
    fn front_call<O: Outside>(&mut self, front: &FrontCall, at: &At, cx: &mut O) -> Option<Stop> {
        let Call::Step { cycle, at: seq, what, drained, .. } = front.call else {
            return match self.call(&front.call, at, cx) {
                Outcome::Same => (!self.steady.has_same_translations(cx)).then_some(Stop::Behind),
                other => Some(Stop::Other(other)),
            };
        };
        let seq = at.seq(seq);
        self.recorder.answers.step.n = 0;
        let result = cx.step(seq, at.now(cycle, drained), &mut self.recorder.answers.step);
        let step = &self.recorder.answers.step;
        if cx.in_microcode() || !self.table.instructions.is(what, result, step) {
            return Some(Stop::OtherStep(result));
        }
        let instruction = self.table.instructions.get(what);
        for uop in instruction.references() {
            self.references.set(seq + uop as u64, step.mem[uop].read_by_field());
        }
        let mems = instruction.references().map(|uop| self.references.of(seq + uop as u64));
        if !self.steady.rounds.are_as_foreseen(front.slot, mems, &self.rules) {
            return Some(Stop::Elsewhere);
        }
        // What has just been executed may have changed what translations say.
        (!self.steady.has_same_translations(cx)).then_some(Stop::Behind)
    }

    /// Makes the calls before the one where the round stops, behind the parts `whole`; which that is, and what it came to.
    #[cold]
    fn stop_at<O: Outside>(
        &mut self,
        parts: &[Part],
        whole: Range<usize>,
        (front, stop): (&FrontCall, Stop),
        cx: &mut O,
    ) -> (u32, Outcome) {
        let n = whole.end;
        self.data_calls(parts, whole, cx);
        let number = front.number;
        let end = if matches!(stop, Stop::Behind) { number + 1 } else { number };
        self.calls_of_part(&parts[n], end, cx);
        match stop {
            Stop::Behind => (number + 1, Outcome::NotMade),
            Stop::Other(outcome) => (number, outcome),
            Stop::OtherStep(result) => (number, self.other(LiveAnswer::Step(result))),
            Stop::Elsewhere => {
                let at = At { base: self.recorder.base, period: self.recorder.period };
                if self.references_match(&front.call, &at) {
                    (number + 1, Outcome::NotMade)
                } else {
                    (number, self.other(LiveAnswer::Step(StepResult::Done)))
                }
            }
        }
    }

    /// Makes the calls of the data side of parts `which`, whose steps have been made.
    fn data_calls<O: Outside>(&mut self, parts: &[Part], which: Range<usize>, cx: &mut O) {
        let bases = std::mem::take(&mut self.steady.bases);
        for (part, base) in parts.iter().zip(&bases).take(which.end).skip(which.start) {
            let at = At { base: *base, period: self.recorder.period };
            for (_, call) in part.made.iter().flatten() {
                self.data_call(call, &at, cx);
            }
        }
        self.steady.bases = bases;
    }

    /// The same of the part that the recorder stands at, before call `end`; what is known of its references is as if its steps
    /// had been made one by one.
    fn calls_of_part<O: Outside>(&mut self, part: &Part, end: u32, cx: &mut O) {
        let at = At { base: self.recorder.base, period: self.recorder.period };
        let mut alike = self.applies(part.configuration);
        for (run, (made, &(from, _))) in part.made.iter().zip(&part.path).enumerate() {
            if run > 0 && from < end {
                alike &= self.applies_to(from);
            }
            for (_, call) in made.iter().take_while(|(number, _)| *number < end) {
                self.data_call(call, &at, cx);
                alike &= self.known_references_match(call, &at);
            }
        }
        if !alike {
            self.recorder.report_mismatch("references of a round", "they overlapped otherwise");
        }
    }

    fn data_call<O: Outside>(&mut self, call: &Call, at: &At, cx: &mut O) {
        let outcome = match call {
            Call::Access { .. } => self.access(call, at, cx),
            Call::DataTlb { .. } => self.data_tlb(call, at, cx),
            _ => return,
        };
        if !matches!(outcome, Outcome::Same) {
            self.recorder.report_mismatch("a hit", &format!("{call:?}"));
        }
    }
}

/// Why a round stops at a call.
enum Stop {
    /// This came out.
    Other(Outcome),
    OtherStep(StepResult),
    /// A step's references go elsewhere.
    Elsewhere,
    /// The call has been made, and the next must not be left out.
    Behind,
}
