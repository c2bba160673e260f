//! Replay: makes a segment's calls. While the answers are the recorded ones, the pipeline does not run.

use breakeven_base::{MemKind, StepResult};
use breakeven_memory::Request;

use super::answers::LiveAnswer;
use super::calls::{fetch_request, mshr_of, packet_of, Answered, Call, Predecoding, Served};
use super::recorder::At;
use super::table::NONE;
use super::{Limits, Memo};
use crate::outside::{DataPage, Outside, Packet};

/// Where a replay ends.
#[derive(Clone, Copy, Debug)]
pub enum Ended {
    /// At a state from which nothing is known, or nothing that applies.
    AtConfiguration,
    /// Within a segment: this call was answered otherwise. The recorder has the way up to it, and the answer.
    Within { other: u32 },
}

impl Memo {
    /// Replays from the recorder's state on. What is deferred: the counts of the segments replayed ([`Memo::apply_counts`]).
    pub(super) fn replay<O: Outside>(&mut self, cx: &mut O, limits: &Limits) -> Ended {
        loop {
            let configuration = self.recorder.configuration;
            let first = self.table.configurations[configuration as usize].first;
            if first == NONE || !limits.has_room(&self.recorder.base, self.insts) || !self.select_configuration(cx) {
                return Ended::AtConfiguration;
            }
            let first = self.table.configurations[self.recorder.configuration as usize].first;
            if first == NONE || self.table.configurations[self.recorder.configuration as usize].is_unprofitable() {
                return Ended::AtConfiguration;
            }
            let outcome = self.replay_segment(first, cx);
            let n = &mut self.table.configurations[self.recorder.configuration as usize];
            n.begun += 1;
            n.ended += u32::from(outcome.is_ok());
            let segment = match outcome {
                Ok(segment) => segment,
                Err(other) => return Ended::Within { other },
            };
            let s = &mut self.table.segments[segment as usize];
            if s.replayed == 0 {
                self.replayed.push(segment);
            }
            s.replayed += 1;
            let base = &mut self.recorder.base;
            base.seq += s.seqs;
            base.cycle += s.cycles;
            base.tick += s.cycles * self.recorder.period;
            for (number, grown) in base.numbers.iter_mut().zip(s.numbers) {
                *number = number.wrapping_add(grown);
            }
            self.insts += s.insts;
            self.statistics.replayed_insts += s.insts;
            self.statistics.replayed += 1;
            self.recorder.configuration = s.next;
        }
    }

    /// Whether the references in flight overlap as they did at the recorder's state, or at another of the same bytes, which the
    /// recorder stands at then.
    fn select_configuration<O: Outside>(&mut self, cx: &mut O) -> bool {
        let mut configuration = self.recorder.configuration;
        if self.table.configurations[configuration as usize].asid != cx.asid() {
            return false;
        }
        let from = configuration;
        loop {
            if self.applies(configuration) {
                self.recorder.configuration = configuration;
                return true;
            }
            configuration = self.table.configurations[configuration as usize].next;
            if configuration == NONE || configuration == from {
                return false;
            }
        }
    }

    pub(super) fn applies(&mut self, configuration: u32) -> bool {
        let n = &self.table.configurations[configuration as usize];
        self.groups.start(&self.rules, self.alias_bits);
        self.recorder.answers.in_flight.clear();
        self.recorder.answers.stepped.clear();
        let base = self.recorder.base.seq;
        n.references.iter().all(|r| {
            let now = self.references.of(base.at_distance(r.seq.into()));
            self.recorder.answers.in_flight.push(*now);
            !r.mem.valid || self.groups.add(self.rules.place_of(&r.mem), self.rules.place_of(now), now.size)
        })
    }

    /// Whether the references so far overlap as they did on the way to call `other`, when that was recorded.
    fn applies_to(&mut self, other: u32) -> bool {
        self.groups.start(&self.rules, self.alias_bits);
        let Some(then) = self.table.earlier_references.get(&other) else { return false };
        then.len() == self.recorder.answers.references().count()
            && then
                .iter()
                .zip(self.recorder.answers.references())
                .all(|(then, now)| self.groups.add(*then, self.rules.place_of(now), now.size))
    }

    /// Makes the calls of a segment from `first` on. `Err`: the last call that was answered otherwise than recorded.
    fn replay_segment<O: Outside>(&mut self, first: u32, cx: &mut O) -> Result<u32, u32> {
        let at = At { base: self.recorder.base, period: self.recorder.period };
        self.recorder.answers.path.clear();
        let (mut from, mut i) = (first, first);
        loop {
            match self.call(i, &at, cx) {
                Outcome::Same => i += 1,
                Outcome::Over(segment) => return Ok(segment),
                Outcome::Other(given) => {
                    let microcode = cx.in_microcode();
                    let mut other = i;
                    loop {
                        let next = self.table.alternatives[other as usize];
                        if next == NONE {
                            self.recorder.answers.path.push((from, i));
                            self.recorder.answers.given = Some(given);
                            return Err(other);
                        }
                        other = next;
                        let call = self.table.calls[other as usize];
                        if !microcode
                            && self.is_answered(&call, &given, &at)
                            && self.applies_to(other)
                            && self.references_match(&call, &at)
                        {
                            break;
                        }
                    }
                    self.recorder.answers.path.push((from, i));
                    (from, i) = (other, other + 1);
                }
            }
        }
    }

    /// Makes call `i`.
    #[inline(always)]
    fn call<O: Outside>(&mut self, i: u32, at: &At, cx: &mut O) -> Outcome {
        let call = self.table.calls[i as usize];
        match call {
            Call::Step { cycle, at: seq, drained, .. } => {
                self.recorder.answers.step.n = 0;
                let given =
                    LiveAnswer::Step(cx.step(at.seq(seq), at.now(cycle, drained), &mut self.recorder.answers.step));
                self.unless_microcode(&call, given, at, cx)
            }
            Call::Access { .. } => self.access(&call, at, cx),
            Call::DataTlb { cycle, seq, last, is_store, .. } => {
                let m = self.references.of(at.seq(seq));
                let beyond = if last { u64::from(m.size.max(1) - 1) } else { 0 };
                let page =
                    DataPage { seq: at.seq(seq), vaddr: m.vaddr.wrapping_add(beyond), page_shift: m.page_shift, last };
                let asid = cx.asid();
                let given = LiveAnswer::Tlb(cx.data_tlb(at.tick(cycle), page, asid, is_store));
                if asid != self.recorder.asid {
                    return Outcome::Other(given);
                }
                self.outcome(&call, given, at)
            }
            Call::Predict { seq, len, kind, pc, .. } => {
                self.outcome(&call, LiveAnswer::Prediction(cx.predict(at.seq(seq), pc, len, kind)), at)
            }
            Call::Train { done } => {
                cx.train(at.seq(done));
                Outcome::Same
            }
            Call::Fetch { cycle, size, paddr, pc, .. } => {
                let given = LiveAnswer::Response(cx.fetch(at.tick(cycle), &fetch_request(paddr, size, pc)));
                self.outcome(&call, given, at)
            }
            Call::FetchTranslate { vaddr, .. } => {
                self.outcome(&call, LiveAnswer::Translated(cx.fetch_translate(vaddr)), at)
            }
            Call::InstTlb { cycle, page_shift, vaddr, .. } => {
                let asid = cx.asid();
                self.outcome(&call, LiveAnswer::Tlb(cx.inst_tlb(at.tick(cycle), vaddr, page_shift, asid)), at)
            }
            Call::Pc { .. } => {
                let given = LiveAnswer::Pc(cx.pc());
                self.unless_microcode(&call, given, at, cx)
            }
            Call::Fork { pc, .. } => {
                let given = LiveAnswer::Depth(cx.fork(pc));
                self.unless_microcode(&call, given, at, cx)
            }
            Call::Rollback { depth } => {
                cx.rollback(depth);
                if cx.in_microcode() {
                    Outcome::Other(LiveAnswer::RolledBack)
                } else {
                    Outcome::Same
                }
            }
            Call::Redirect { pc } => {
                cx.redirect(pc);
                Outcome::Same
            }
            Call::Predecode { .. } => {
                let pc = cx.pc();
                let step = &mut self.recorder.answers.step;
                step.n = 0;
                let mut described = *step;
                let predecoded = cx.predecode(step);
                let (kind, flags) = Predecoding::of(&predecoded, pc, &mut described);
                if kind == Predecoding::Described {
                    self.recorder.answers.step = described;
                }
                self.unless_microcode(&call, LiveAnswer::Predecoded(kind, flags), at, cx)
            }
            Call::Deferred { cycle, at: seq, .. } => {
                let step = &mut self.recorder.answers.step;
                step.n = 0;
                let is_done = cx.execute_deferred(at.seq(seq), at.now(cycle, false), step);
                let given = LiveAnswer::Step(if is_done { StepResult::Done } else { StepResult::Blocked });
                self.unless_microcode(&call, given, at, cx)
            }
            Call::FlushWriteCombining { cycle, .. } => {
                self.outcome(&call, LiveAnswer::Tick(cx.flush_write_combining(at.tick(cycle))), at)
            }
            Call::SendPending { cycle, .. } => {
                self.outcome(&call, LiveAnswer::Sent(cx.send_pending(at.tick(cycle))), at)
            }
            Call::ResponseOf { cycle, seq, second, .. } => {
                let (seq, line) = (at.seq(seq), self.rules.line);
                let id = mshr_of(packet_of(self.references.of(seq), second, line), line);
                self.outcome(&call, LiveAnswer::Served(cx.response_of(seq, at.tick(cycle), id)), at)
            }
            Call::Correct { seq, target, taken, from_commit } => {
                cx.correct(at.seq(seq), target, taken, from_commit);
                Outcome::Same
            }
            Call::SquashPredictions { after } => {
                cx.squash_predictions(at.seq(after));
                Outcome::Same
            }
            Call::End { segment } => Outcome::Over(segment),
        }
    }

    /// What an answer comes to. Always inlined: a call's kind is known where it is made.
    #[inline(always)]
    fn outcome(&mut self, call: &Call, given: LiveAnswer, at: &At) -> Outcome {
        if self.is_answered(call, &given, at) && self.references_match(call, at) {
            Outcome::Same
        } else {
            Outcome::Other(given)
        }
    }

    /// The same for a call of the front end: no segment holds an instruction in microcode.
    #[inline(always)]
    fn unless_microcode<O: Outside>(&mut self, call: &Call, given: LiveAnswer, at: &At, cx: &mut O) -> Outcome {
        if cx.in_microcode() {
            return Outcome::Other(given);
        }
        self.outcome(call, given, at)
    }

    #[inline]
    fn access<O: Outside>(&mut self, call: &Call, at: &At, cx: &mut O) -> Outcome {
        let Call::Access { cycle, seq, sent, size, may_wait, non_temporal, pc, .. } = *call else {
            return Outcome::Same;
        };
        let m = self.references.of(at.seq(seq));
        let paddr = m.paddr_of(sent);
        let (kind, uncacheable): (MemKind, bool) = (m.kind, m.uncacheable);
        let request = Request { paddr, size, kind, uncacheable, non_temporal, pc, may_wait };
        let now = at.tick(cycle);
        let response = cx.access(Packet { seq: at.seq(seq), sent }, now, &request);
        self.outcome(call, LiveAnswer::Response(response), at)
    }

    /// Whether what has been answered is what `call` has recorded. Of a step: but for its references
    /// ([`Memo::references_match`]).
    #[inline(always)]
    fn is_answered(&self, call: &Call, given: &LiveAnswer, at: &At) -> bool {
        match (*call, given) {
            (Call::Predecode { kind, flags, what }, LiveAnswer::Predecoded(now, now_flags)) => {
                let step = &self.recorder.answers.step;
                kind == *now
                    && flags == *now_flags
                    && (kind == Predecoding::MustExecute || self.table.predecoded.get(what).is(kind.result(), step))
            }
            (Call::Step { what, .. } | Call::Deferred { what, .. }, LiveAnswer::Step(result)) => {
                self.table.instructions.get(what).is(*result, &self.recorder.answers.step)
            }
            (
                Call::Access { cycle, answer, .. } | Call::Fetch { cycle, answer, .. },
                LiveAnswer::Response(response),
            ) => Answered::of_response(response, at.tick(cycle)) == Some(answer),
            (Call::DataTlb { cycle, answer, .. } | Call::InstTlb { cycle, answer, .. }, LiveAnswer::Tlb(result)) => {
                Answered::of_tlb(*result, at.tick(cycle)) == Some(answer)
            }
            (Call::Predict { taken, target, .. }, LiveAnswer::Prediction(p)) => p.taken == taken && p.target == target,
            (Call::FetchTranslate { answer, .. }, LiveAnswer::Translated(xlat)) => answer == *xlat,
            (Call::Pc { pc }, LiveAnswer::Pc(now)) => pc == *now,
            (Call::Fork { depth, .. }, LiveAnswer::Depth(now)) => depth == *now,
            (Call::SendPending { cycle, after }, LiveAnswer::Sent(next)) => {
                next.map(|next| super::calls::after(next, at.tick(cycle))) == after.map(Some)
            }
            (Call::ResponseOf { cycle, answer, .. }, LiveAnswer::Served(served)) => {
                served.map(|r| Served::of(&r, at.tick(cycle), self.rules.line)) == answer.map(Some)
            }
            (Call::FlushWriteCombining { cycle, answer }, LiveAnswer::Tick(end)) => {
                let end = breakeven_memory::TlbResult::Hit { at: *end };
                Answered::of_tlb(end, at.tick(cycle)) == Some(answer)
            }
            _ => false,
        }
    }

    /// Adds the references of `call`, if it is a step. False: they are of another class than when it was recorded, or overlap
    /// otherwise.
    #[inline(always)]
    fn references_match(&mut self, call: &Call, at: &At) -> bool {
        let (Call::Step { at: seq, what, places, .. } | Call::Deferred { at: seq, what, places, .. }) = *call else {
            return true;
        };
        let seq = at.seq(seq);
        let before = self.recorder.answers.stepped.len();
        let places = &self.table.places[places as usize..];
        for (uop, then) in self.table.instructions.get(what).references().zip(places) {
            let mem = self.recorder.answers.step.mem[uop].read_by_field();
            self.references.set(seq + uop as u64, &mem);
            let alike = then.class == self.rules.class_of(&mem)
                && (then.class == 0 || self.groups.add(then.place, self.rules.place_of(&mem), mem.size));
            if !alike {
                self.recorder.answers.stepped.truncate(before);
                return false;
            }
            self.recorder.answers.stepped.push(mem);
        }
        true
    }
}

/// What became of a call.
enum Outcome {
    Same,
    Other(LiveAnswer),
    /// The segment is over.
    Over(u32),
}
