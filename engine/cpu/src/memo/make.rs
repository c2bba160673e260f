//! Makes a segment's calls, and tells whether they come out as recorded.

use breakeven_base::{MemKind, PathEnd, Predecode, StepResult};
use breakeven_memory::{Request, TlbResult};

use super::answers::{Answers, LiveAnswer};
use super::calls::{fetch_request, mshr_of, packet_of, Call, Predecoding, Served};
use super::recorder::At;
use super::Memo;
use crate::outside::{DataPage, Outside, Packet};

/// What became of a call.
pub(super) enum Outcome {
    Same,
    /// [`Answers::given`](super::answers::Answers::given) has the answer.
    Other,
    /// A steady state must end before it ([`super::steady`]).
    NotMade,
    /// The segment is over.
    Over(u32),
}

impl Memo {
    /// Makes a call.
    #[inline(always)]
    pub(super) fn call<O: Outside>(&mut self, call: &Call, at: &At, cx: &mut O) -> Outcome {
        match *call {
            Call::Step { cycle, at: seq, drained, .. } => {
                self.recorder.answers.step.n = 0;
                let given =
                    LiveAnswer::Step(cx.step(at.seq(seq), at.now(cycle, drained), &mut self.recorder.answers.step));
                self.unless_microcode(call, given, at, cx)
            }
            Call::Access { .. } => self.access(call, at, cx),
            Call::DataTlb { .. } => self.data_tlb(call, at, cx),
            Call::Predict { seq, len, kind, pc, .. } => {
                self.outcome(call, LiveAnswer::Prediction(cx.predict(at.seq(seq), pc, len, kind)), at)
            }
            Call::Train { done } => {
                cx.train(at.seq(done));
                Outcome::Same
            }
            Call::Fetch { cycle, size, paddr, pc, .. } => {
                let given = LiveAnswer::Response(cx.fetch(at.tick(cycle), &fetch_request(paddr, size, pc)));
                self.outcome(call, given, at)
            }
            Call::FetchTranslate { vaddr, .. } => {
                self.outcome(call, LiveAnswer::Translated(cx.fetch_translate(vaddr)), at)
            }
            Call::InstTlb { cycle, page_shift, vaddr, .. } => {
                let asid = cx.asid();
                self.outcome(call, LiveAnswer::Tlb(cx.inst_tlb(at.tick(cycle), vaddr, page_shift, asid)), at)
            }
            Call::End { segment } => Outcome::Over(segment),
            _ => self.rare_call(call, at, cx),
        }
    }

    /// The calls of wrong paths and of misses.
    fn rare_call<O: Outside>(&mut self, call: &Call, at: &At, cx: &mut O) -> Outcome {
        match *call {
            Call::Pc { .. } => {
                let given = LiveAnswer::Pc(cx.pc());
                self.unless_microcode(call, given, at, cx)
            }
            Call::Fork { pc, .. } => {
                let given = LiveAnswer::Depth(cx.fork(pc));
                self.unless_microcode(call, given, at, cx)
            }
            Call::Rollback { depth } => {
                cx.rollback(depth);
                if cx.in_microcode() {
                    self.other(LiveAnswer::RolledBack)
                } else {
                    Outcome::Same
                }
            }
            Call::Redirect { pc } => {
                cx.redirect(pc);
                Outcome::Same
            }
            Call::Predecode { kind, flags, what } => {
                let pc = cx.pc();
                let in_microcode = cx.in_microcode();
                let step = &mut self.recorder.answers.step;
                step.n = 0;
                let predecoded = cx.predecode(step);
                if let Predecode::Described(now) = &predecoded {
                    let known = self.table.predecoded.get(what);
                    if kind == Predecoding::Described && flags == now.flags && known.describes(pc, now) && !in_microcode
                    {
                        return Outcome::Same;
                    }
                }
                let (kind, flags) = Predecoding::of(&predecoded, pc, step);
                self.unless_microcode(call, LiveAnswer::Predecoded(kind, flags), at, cx)
            }
            Call::Deferred { cycle, at: seq, .. } => {
                let step = &mut self.recorder.answers.step;
                step.n = 0;
                let is_done = cx.execute_deferred(at.seq(seq), at.now(cycle, false), step);
                let given = LiveAnswer::Step(if is_done { StepResult::Done } else { StepResult::Blocked });
                self.unless_microcode(call, given, at, cx)
            }
            Call::FlushWriteCombining { cycle, .. } => {
                self.outcome(call, LiveAnswer::Tick(cx.flush_write_combining(at.tick(cycle))), at)
            }
            Call::SendPending { cycle, .. } => {
                self.outcome(call, LiveAnswer::Sent(cx.send_pending(at.tick(cycle))), at)
            }
            Call::ResponseOf { cycle, seq, second, .. } => {
                let (seq, line) = (at.seq(seq), self.rules.line);
                let id = mshr_of(packet_of(self.references.of(seq), second, line), line);
                self.outcome(call, LiveAnswer::Served(cx.response_of(seq, at.tick(cycle), id)), at)
            }
            Call::Correct { seq, target, taken, from_commit } => {
                cx.correct(at.seq(seq), target, taken, from_commit);
                Outcome::Same
            }
            Call::SquashPredictions { after } => {
                cx.squash_predictions(at.seq(after));
                Outcome::Same
            }
            _ => Outcome::Same,
        }
    }

    /// Makes the steps from the first of `calls` on, as long as the front end runs them as a path. The one that came out
    /// otherwise is answered for with what [`Memo::call`] would say of it.
    #[inline(always)]
    pub(super) fn steps<'c, O: Outside>(
        &mut self,
        calls: impl Fn(usize) -> Option<&'c Call>,
        at: &At,
        cx: &mut O,
    ) -> PathEnd {
        let Memo { references, recorder, table, groups, rules, .. } = self;
        let Answers { step, stepped, .. } = &mut recorder.answers;
        let path = |n| match calls(n) {
            Some(Call::Step { what, drained: false, .. }) => table.instructions.get(*what).on_path(),
            _ => None,
        };
        let end = cx.run_path(step, path, |n, mems| {
            let Some(Call::Step { at: seq, places, what, .. }) = calls(n) else { return false };
            let (seq, before) = (at.seq(*seq), stepped.len());
            let uops = table.instructions.get(*what).references();
            let mut alike = true;
            for ((uop, mem), then) in uops.zip(mems).zip(&table.places[*places as usize..]) {
                let mem = mem.read_by_field();
                references.set(seq + uop as u64, mem);
                alike = alike
                    && then.class == rules.class_of(&mem)
                    && (then.class == 0 || groups.add(then.place, rules.place_of(&mem), mem.size));
                stepped.push(mem);
            }
            if !alike {
                stepped.truncate(before);
            }
            alike
        });
        if end.other {
            recorder.answers.given = Some(LiveAnswer::Step(StepResult::Done));
        }
        end
    }

    /// What an answer comes to. Always inlined: a call's kind is known where it is made.
    #[inline(always)]
    fn outcome(&mut self, call: &Call, given: LiveAnswer, at: &At) -> Outcome {
        if self.is_answered(call, &given, at) && self.references_match(call, at) {
            Outcome::Same
        } else {
            self.other(given)
        }
    }

    #[cold]
    pub(super) fn other(&mut self, given: LiveAnswer) -> Outcome {
        self.recorder.answers.given = Some(given);
        Outcome::Other
    }

    /// The same for a call of the front end: no segment holds an instruction in microcode.
    #[inline(always)]
    fn unless_microcode<O: Outside>(&mut self, call: &Call, given: LiveAnswer, at: &At, cx: &mut O) -> Outcome {
        if cx.in_microcode() {
            return self.other(given);
        }
        self.outcome(call, given, at)
    }

    #[inline(always)]
    pub(super) fn data_tlb<O: Outside>(&mut self, call: &Call, at: &At, cx: &mut O) -> Outcome {
        let Call::DataTlb { cycle, seq, last, is_store, .. } = *call else { return Outcome::Same };
        let m = self.references.of(at.seq(seq));
        let beyond = if last { u64::from(m.size.max(1) - 1) } else { 0 };
        let page = DataPage { seq: at.seq(seq), vaddr: m.vaddr.wrapping_add(beyond), page_shift: m.page_shift, last };
        let asid = cx.asid();
        let given = LiveAnswer::Tlb(cx.data_tlb(at.tick(cycle), page, asid, is_store));
        if asid != self.recorder.asid {
            return self.other(given);
        }
        self.outcome(call, given, at)
    }

    #[inline(always)]
    pub(super) fn access<O: Outside>(&mut self, call: &Call, at: &At, cx: &mut O) -> Outcome {
        let Call::Access { cycle, seq, sent, size, may_wait, non_temporal, pc, .. } = *call else {
            return Outcome::Same;
        };
        let m = self.references.of(at.seq(seq));
        let paddr = m.paddr_of(sent);
        let (kind, uncacheable): (MemKind, bool) = (m.kind, m.uncacheable);
        let request = Request { paddr, size, kind, uncacheable, non_temporal, pc, may_wait };
        if self.steady.is_near_code(&request, self.rules.line) {
            return Outcome::NotMade;
        }
        let now = at.tick(cycle);
        let response = cx.access(Packet { seq: at.seq(seq), sent }, now, &request);
        self.outcome(call, LiveAnswer::Response(response), at)
    }

    /// Whether what has been answered is what `call` has recorded. Of a step: but for its references
    /// ([`Memo::references_match`]).
    #[inline(always)]
    pub(super) fn is_answered(&mut self, call: &Call, given: &LiveAnswer, at: &At) -> bool {
        match (call, given) {
            (Call::Predecode { kind, flags, what }, LiveAnswer::Predecoded(now, now_flags)) => {
                let step = &self.recorder.answers.step;
                kind == now
                    && flags == now_flags
                    && (*kind == Predecoding::MustExecute || self.table.predecoded.is(*what, kind.result(), step))
            }
            (Call::Step { what, .. } | Call::Deferred { what, .. }, LiveAnswer::Step(result)) => {
                self.table.instructions.is(*what, *result, &self.recorder.answers.step)
            }
            (
                Call::Access { cycle, answer, .. } | Call::Fetch { cycle, answer, .. },
                LiveAnswer::Response(response),
            ) => answer.is_response(response, at.tick(*cycle)),
            (Call::DataTlb { cycle, answer, .. } | Call::InstTlb { cycle, answer, .. }, LiveAnswer::Tlb(result)) => {
                answer.is_tlb(*result, at.tick(*cycle))
            }
            (Call::Predict { taken, target, .. }, LiveAnswer::Prediction(p)) => {
                p.taken == *taken && p.target == *target
            }
            (Call::FetchTranslate { answer, .. }, LiveAnswer::Translated(xlat)) => answer == xlat,
            (Call::Pc { pc }, LiveAnswer::Pc(now)) => pc == now,
            (Call::Fork { depth, .. }, LiveAnswer::Depth(now)) => depth == now,
            (Call::SendPending { cycle, after }, LiveAnswer::Sent(next)) => {
                next.map(|next| super::calls::after(next, at.tick(*cycle))) == after.map(Some)
            }
            (Call::ResponseOf { cycle, answer, .. }, LiveAnswer::Served(served)) => {
                served.map(|r| Served::of(&r, at.tick(*cycle), self.rules.line)) == answer.map(Some)
            }
            (Call::FlushWriteCombining { cycle, answer }, LiveAnswer::Tick(end)) => {
                answer.is_tlb(TlbResult::Hit { at: *end }, at.tick(*cycle))
            }
            _ => false,
        }
    }

    /// Adds the references of `call`, if it is a step. False: they are of another class than when it was recorded, or overlap
    /// otherwise.
    #[inline(always)]
    pub(super) fn references_match(&mut self, call: &Call, at: &At) -> bool {
        let (Call::Step { at: seq, what, .. } | Call::Deferred { at: seq, what, .. }) = *call else { return true };
        for uop in self.table.instructions.get(what).references() {
            let mem = self.recorder.answers.step.mem[uop].read_by_field();
            self.references.set(at.seq(seq) + uop as u64, mem);
        }
        self.known_references_match(call, at)
    }

    /// The same where the step has been made before.
    #[inline(always)]
    pub(super) fn known_references_match(&mut self, call: &Call, at: &At) -> bool {
        let (Call::Step { at: seq, what, places, .. } | Call::Deferred { at: seq, what, places, .. }) = *call else {
            return true;
        };
        let seq = at.seq(seq);
        let before = self.recorder.answers.stepped.len();
        let places = &self.table.places[places as usize..];
        for (uop, then) in self.table.instructions.get(what).references().zip(places) {
            let mem = self.references.of(seq + uop as u64);
            let alike = then.class == self.rules.class_of(mem)
                && (then.class == 0 || self.groups.add(then.place, self.rules.place_of(mem), mem.size));
            if !alike {
                self.recorder.answers.stepped.truncate(before);
                return false;
            }
            self.recorder.answers.stepped.push(*mem);
        }
        true
    }
}
