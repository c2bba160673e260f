//! The outside of a cycle that is recorded, or answered for from what was recorded.

use breakeven_base::{BranchKind, FetchXlat, Now, Predecode, Step, StepResult, Tick, UopFlags};
use breakeven_memory::{MissResponse, MshrId, Request, Response, Side, TlbResult};

use super::answers::LiveAnswer;
use super::calls::{
    after, mshr_of, packet_of, tick_at, Answered, Call, Predecoding, RecordedReference, References, Served, WINDOW,
};
use super::recorder::{FrontEndAt, Mode, Recorder, MAX_CYCLES, MAX_UOPS};
use super::table::Table;
use crate::bpred::{Prediction, TargetProvider};
use crate::outside::{DataPage, Outside, Packet};
use crate::seq::Seq;

impl Predecoding {
    /// The call that `step` is the answer to; `None`: no segment holds it.
    fn call(self, flags: UopFlags, table: &mut Table, step: &Step) -> Option<Call> {
        let what = match self {
            Predecoding::MustExecute => 0,
            _ => table.predecoded.number_of(self.result(), step)?,
        };
        Some(Call::Predecode { kind: self, flags, what })
    }
}

/// The outside, recorded or answered for.
pub struct RecordedOutside<'a, O: Outside> {
    pub live: &'a mut O,
    pub recorder: &'a mut Recorder,
    pub table: &'a mut Table,
    pub references: &'a mut References,
}

/// Where an answer comes from.
#[derive(Debug)]
enum Source {
    /// It was this call's.
    Recorded(Call),
    Live(LiveAnswer),
    Outside,
}

macro_rules! answer {
    // $from: the pattern of the recorded call and its answer; $given: of one given; $live: the call itself; then the record.
    ($self:ident, $call:pat => $answer:expr, $given:pat => $value:expr, $live:expr, $result:ident => $record:expr) => {{
        let $result = match $self.next_answer() {
            Source::Recorded($call) => return $answer,
            Source::Live($given) => $value,
            other @ (Source::Recorded(_) | Source::Live(_)) => {
                $self.recorder.report_mismatch(stringify!($live), &format!("{other:?}"));
                $live
            }
            Source::Outside => $live,
        };
        let call = $record;
        $self.record(call);
        $result
    }};
}

impl<O: Outside> RecordedOutside<'_, O> {
    #[inline]
    fn next_answer(&mut self) -> Source {
        if self.recorder.mode == Mode::Answering {
            if let Some(call) = self.recorder.answers.next(self.table) {
                return Source::Recorded(call);
            }
            self.recorder.mode = Mode::Recording;
            if let Some(given) = self.recorder.answers.given.take() {
                return Source::Live(given);
            }
        }
        Source::Outside
    }

    #[inline]
    fn record(&mut self, call: Option<Call>) {
        self.recorder.record(self.table, call);
    }

    /// Where a reference goes is known by its micro-op's number. What was put aside for a wrong path, and comes back, does
    /// not stand there: such a segment is not kept.
    fn expect(&mut self, known: bool) {
        self.recorder.discarded |= !known;
    }

    fn line(&self) -> u64 {
        self.recorder.rules.map_or(64, |rules| rules.line)
    }

    fn discard(&mut self) {
        if self.recorder.mode == Mode::Answering {
            self.recorder.report_mismatch("what no segment holds", "another call");
        }
        self.recorder.discarded = true;
    }

    /// Relative to where the segment began; far from there it is not kept.
    fn seq(&mut self, seq: Seq) -> i32 {
        let distance = seq.distance(self.recorder.base.seq);
        self.recorder.discarded |= distance.unsigned_abs() > WINDOW / 2;
        distance as i32
    }

    fn cycle(&mut self, now: Tick) -> u32 {
        let cycle = (now.0 - self.recorder.base.tick) / self.recorder.period;
        self.recorder.discarded |=
            cycle > MAX_CYCLES || tick_at(&self.recorder.base, self.recorder.period, cycle as u32) != now;
        cycle as u32
    }

    fn ask_fork(&mut self, pc: u64) -> u32 {
        answer!(self, Call::Fork { depth, .. } => depth, LiveAnswer::Depth(depth) => depth, self.live.fork(pc),
            depth => Some(Call::Fork { pc, depth }))
    }
    fn ask_pc(&mut self) -> u64 {
        answer!(self, Call::Pc { pc } => pc, LiveAnswer::Pc(pc) => pc, self.live.pc(), pc => Some(Call::Pc { pc }))
    }

    /// Describes a recorded step, with the references of this time.
    fn answer_step(&mut self, what: u32, out: &mut Step) -> StepResult {
        let what = self.table.instructions.get(what);
        for i in what.references() {
            let answers = &self.recorder.answers;
            out.mem[i] = answers.stepped.get(answers.references).copied().unwrap_or_default();
            self.recorder.answers.references += 1;
        }
        what.describe(out)
    }

    /// Cycle, place, instruction and references of a step.
    fn recorded_step(&mut self, at: Seq, now: Now, result: StepResult, step: &Step) -> Option<(u32, i32, u32, u32)> {
        let what = self.table.instructions.number_of(result, step);
        let (Some(what), Some(rules)) = (what, self.recorder.rules) else {
            self.recorder.discarded = true;
            return None;
        };
        let (cycle, distance) = (self.cycle(now.tick), self.seq(at));
        let places = self.table.places.len() as u32;
        let executed = self.table.instructions.get(what);
        self.recorder.discarded |= at + u64::from(executed.n) > self.recorder.base.seq + MAX_UOPS;
        for i in executed.references() {
            self.references.set(at + i as u64, step.mem[i].read_by_field());
            self.table.places.push(RecordedReference::of(&step.mem[i], &rules));
        }
        Some((cycle, distance, what, places))
    }
}

impl<O: Outside> Outside for RecordedOutside<'_, O> {
    fn step(&mut self, at: Seq, now: Now, out: &mut Step) -> StepResult {
        let result = match self.next_answer() {
            Source::Recorded(Call::Step { what, .. }) => {
                let result = self.answer_step(what, out);
                self.recorder.front_end.pc = (result == StepResult::Done).then_some(out.next_pc);
                return result;
            }
            Source::Live(LiveAnswer::Step(result)) => {
                *out = self.recorder.answers.step;
                result
            }
            other @ (Source::Recorded(_) | Source::Live(_)) => {
                self.recorder.report_mismatch("a step", &format!("{other:?}"));
                self.live.step(at, now, out)
            }
            Source::Outside => self.live.step(at, now, out),
        };
        // In microcode the front end stands elsewhere than the step says, and replays end.
        let in_microcode = self.live.in_microcode();
        self.recorder.discarded |= in_microcode;
        self.recorder.front_end.pc = (result == StepResult::Done && !in_microcode).then_some(out.next_pc);
        debug_assert!(
            self.recorder.front_end.pc.is_none_or(|pc| pc == self.live.pc()),
            "the front end stands elsewhere"
        );
        if let Some((cycle, at, what, places)) = self.recorded_step(at, now, result, out) {
            self.record(Some(Call::Step { cycle, at, what, places, drained: now.drained }));
        }
        result
    }
    fn pc(&mut self) -> u64 {
        if let Some(pc) = self.recorder.front_end.pc {
            return pc;
        }
        let pc = self.ask_pc();
        self.recorder.front_end.pc = Some(pc);
        pc
    }
    fn fork(&mut self, pc: u64) -> u32 {
        let depth = self.ask_fork(pc);
        self.recorder.front_end = FrontEndAt { pc: None, depth };
        depth
    }
    fn rollback(&mut self, depth: u32) {
        self.recorder.front_end = FrontEndAt { pc: None, depth: depth.saturating_sub(1) };
        match self.next_answer() {
            Source::Recorded(Call::Rollback { .. }) => return,
            Source::Recorded(call) => return self.recorder.report_mismatch("rollback", &format!("{call:?}")),
            Source::Live(_) => {}
            Source::Outside => self.live.rollback(depth),
        }
        self.record(Some(Call::Rollback { depth }));
    }
    fn redirect(&mut self, pc: u64) {
        self.recorder.front_end.pc = None;
        match self.next_answer() {
            Source::Recorded(Call::Redirect { .. }) => return,
            Source::Recorded(call) => return self.recorder.report_mismatch("redirect", &format!("{call:?}")),
            Source::Live(_) | Source::Outside => {}
        }
        self.live.redirect(pc);
        self.record(Some(Call::Redirect { pc }));
    }
    fn depth(&mut self) -> u32 {
        self.recorder.front_end.depth
    }
    fn predecode(&mut self, out: &mut Step) -> Predecode<'_> {
        let pc = self.pc();
        self.recorder.front_end.pc = None;
        let source = self.next_answer();
        let Self { live, recorder, table, .. } = self;
        match source {
            Source::Recorded(Call::Predecode { kind, flags, what }) => {
                if kind == Predecoding::MustExecute {
                    return Predecode::MustExecute;
                }
                let known = table.predecoded.get(what);
                if kind == Predecoding::Blocked {
                    known.describe(out);
                }
                return kind.answer(&known.uops[..usize::from(known.n)], flags, known.len, known.branch.kind);
            }
            Source::Live(LiveAnswer::Predecoded(kind, flags)) => {
                let call = kind.call(flags, table, &recorder.answers.step);
                recorder.record(table, call);
                let step = &recorder.answers.step;
                if kind == Predecoding::Blocked {
                    *out = *step;
                }
                return kind.answer(&step.uops[..usize::from(step.n)], flags, step.len, step.branch.kind);
            }
            Source::Outside => {}
            other => recorder.report_mismatch("predecode", &format!("{other:?}")),
        }
        let answer = live.predecode(out);
        let mut step = Step::default();
        if matches!(answer, Predecode::Blocked) {
            step = *out;
        }
        let (kind, flags) = Predecoding::of(&answer, pc, &mut step);
        let call = kind.call(flags, table, &step);
        recorder.record(table, call);
        answer
    }
    fn execute_deferred(&mut self, at: Seq, now: Now, out: &mut Step) -> bool {
        let is_done = match self.next_answer() {
            Source::Recorded(Call::Deferred { what, .. }) => {
                self.answer_step(what, out);
                return true;
            }
            Source::Live(LiveAnswer::Step(result)) => {
                *out = self.recorder.answers.step;
                result == StepResult::Done
            }
            other @ (Source::Recorded(_) | Source::Live(_)) => {
                self.recorder.report_mismatch("a deferred step", &format!("{other:?}"));
                self.live.execute_deferred(at, now, out)
            }
            Source::Outside => self.live.execute_deferred(at, now, out),
        };
        if !is_done {
            self.recorder.discarded = true;
            return false;
        }
        if let Some((cycle, at, what, places)) = self.recorded_step(at, now, StepResult::Done, out) {
            self.record(Some(Call::Deferred { cycle, at, what, places }));
        }
        true
    }
    fn in_microcode(&mut self) -> bool {
        // No segment holds an instruction in microcode: replays look whether there is one.
        if self.recorder.mode == Mode::Answering {
            return false;
        }
        let so = self.live.in_microcode();
        self.recorder.discarded |= so;
        so
    }
    fn asid(&mut self) -> u16 {
        // Calls that depend on it look at it again when they are replayed.
        if self.recorder.mode == Mode::Answering {
            return self.recorder.asid;
        }
        let asid = self.live.asid();
        self.recorder.discarded |= asid != self.recorder.asid;
        asid
    }
    fn fetch_translate(&mut self, vaddr: u64) -> Option<FetchXlat> {
        answer!(self, Call::FetchTranslate { answer, .. } => answer, LiveAnswer::Translated(xlat) => xlat,
            self.live.fetch_translate(vaddr), answer => Some(Call::FetchTranslate { vaddr, answer }))
    }
    fn irq_deadline(&mut self) -> Tick {
        self.discard();
        self.live.irq_deadline()
    }
    fn disassemble(&mut self, pc: u64, out: &mut String) {
        self.discard();
        self.live.disassemble(pc, out);
    }

    fn fetch(&mut self, now: Tick, request: &Request) -> Response {
        answer!(self, Call::Fetch { answer, .. } => answer.response(now, request.paddr, self.line()), LiveAnswer::Response(r) => r,
        self.live.fetch(now, request), r => {
            let (cycle, &Request { size, paddr, pc, .. }) = (self.cycle(now), request);
            Answered::of_response(&r, now).map(|answer| Call::Fetch { cycle, size, paddr, pc, answer })
        })
    }
    fn access(&mut self, packet: Packet, now: Tick, request: &Request) -> Response {
        answer!(self, Call::Access { answer, .. } => answer.response(now, request.paddr, self.line()), LiveAnswer::Response(r) => r,
        self.live.access(packet, now, request), r => {
            self.expect(self.references.of(packet.seq).paddr_of(packet.sent) == request.paddr);
            let (cycle, seq, sent) = (self.cycle(now), self.seq(packet.seq), packet.sent);
            let &Request { size, may_wait, non_temporal, pc, .. } = request;
            Answered::of_response(&r, now)
                .map(|answer| Call::Access { cycle, seq, sent, size, may_wait, non_temporal, pc, answer })
        })
    }
    fn response_of(&mut self, seq: Seq, now: Tick, id: MshrId) -> Option<MissResponse> {
        let line = self.line();
        let m = *self.references.of(seq);
        let second = mshr_of(packet_of(&m, false, line), line) != id;
        let paddr = packet_of(&m, second, line);
        answer!(self, Call::ResponseOf { answer, .. } => answer.map(|served| served.response(id, paddr, now, line)),
        LiveAnswer::Served(r) => r, self.live.response_of(seq, now, id), r => {
            self.recorder.discarded |= mshr_of(paddr, line) != id;
            let (cycle, seq) = (self.cycle(now), self.seq(seq));
            let answer = r.map(|r| Served::of(&r, now, line));
            (answer != Some(None)).then_some(Call::ResponseOf { cycle, seq, second, answer: answer.flatten() })
        })
    }
    fn send_pending(&mut self, now: Tick) -> Option<Tick> {
        answer!(self, Call::SendPending { after, .. } => after.map(|after| now + u64::from(after)),
        LiveAnswer::Sent(next) => next, self.live.send_pending(now), next => {
            let cycle = self.cycle(now);
            let after = next.map(|at| after(at, now));
            (after != Some(None)).then_some(Call::SendPending { cycle, after: after.flatten() })
        })
    }
    fn data_levels(&mut self) -> u8 {
        self.live.data_levels()
    }
    fn flush_write_combining(&mut self, now: Tick) -> Tick {
        answer!(self, Call::FlushWriteCombining { answer, .. } => match answer.tlb(now) {
            TlbResult::Hit { at } | TlbResult::Miss { at } => at,
        }, LiveAnswer::Tick(at) => at,
        self.live.flush_write_combining(now), at => {
            let cycle = self.cycle(now);
            Answered::of_tlb(TlbResult::Hit { at }, now).map(|answer| Call::FlushWriteCombining { cycle, answer })
        })
    }
    fn inst_tlb(&mut self, now: Tick, vaddr: u64, page_shift: u8, asid: u16) -> TlbResult {
        answer!(self, Call::InstTlb { answer, .. } => answer.tlb(now), LiveAnswer::Tlb(r) => r,
        self.live.inst_tlb(now, vaddr, page_shift, asid), r => {
            let cycle = self.cycle(now);
            Answered::of_tlb(r, now).map(|answer| Call::InstTlb { cycle, page_shift, vaddr, answer })
        })
    }
    fn data_tlb(&mut self, now: Tick, page: DataPage, asid: u16, is_store: bool) -> TlbResult {
        answer!(self, Call::DataTlb { answer, .. } => answer.tlb(now), LiveAnswer::Tlb(r) => r,
        self.live.data_tlb(now, page, asid, is_store), r => {
            let m = self.references.of(page.seq);
            let beyond = if page.last { u64::from(m.size.max(1) - 1) } else { 0 };
            self.expect(m.vaddr.wrapping_add(beyond) == page.vaddr && m.page_shift == page.page_shift);
            let (cycle, seq, last) = (self.cycle(now), self.seq(page.seq), page.last);
            Answered::of_tlb(r, now).map(|answer| Call::DataTlb { cycle, seq, last, is_store, answer })
        })
    }
    fn walk(&mut self, side: Side, now: Tick, vaddr: u64, page_shift: u8, asid: u16) -> Tick {
        self.discard();
        self.live.walk(side, now, vaddr, page_shift, asid)
    }
    fn tlb_flush(&mut self, vaddr: Option<u64>) {
        self.discard();
        self.live.tlb_flush(vaddr);
    }
    fn fetch_flush(&mut self) {
        self.discard();
        self.live.fetch_flush();
    }
    fn flush_caches(&mut self, at: Tick, line_cycles: u8) {
        self.discard();
        self.live.flush_caches(at, line_cycles);
    }

    fn predict(&mut self, seq: Seq, pc: u64, len: u8, kind: BranchKind) -> Prediction {
        answer!(self,
        Call::Predict { taken, target, .. } => Prediction { taken, target, provider: TargetProvider::NoTarget },
        LiveAnswer::Prediction(p) => p, self.live.predict(seq, pc, len, kind), p => {
            let (taken, target) = (p.taken, p.target);
            let seq = self.seq(seq);
            Some(Call::Predict { seq, len, kind, taken, pc, target })
        })
    }
    fn train(&mut self, done: Seq) {
        match self.next_answer() {
            Source::Recorded(Call::Train { .. }) => return,
            Source::Recorded(call) => return self.recorder.report_mismatch("train", &format!("{call:?}")),
            Source::Live(_) | Source::Outside => {}
        }
        self.live.train(done);
        let done = self.seq(done);
        self.record(Some(Call::Train { done }));
    }
    fn correct(&mut self, seq: Seq, target: u64, taken: bool, from_commit: bool) {
        match self.next_answer() {
            Source::Recorded(Call::Correct { .. }) => return,
            Source::Recorded(call) => return self.recorder.report_mismatch("correct", &format!("{call:?}")),
            Source::Live(_) | Source::Outside => {}
        }
        self.live.correct(seq, target, taken, from_commit);
        let seq = self.seq(seq);
        self.record(Some(Call::Correct { seq, target, taken, from_commit }));
    }
    fn squash_predictions(&mut self, after: Seq) {
        match self.next_answer() {
            Source::Recorded(Call::SquashPredictions { .. }) => return,
            Source::Recorded(call) => return self.recorder.report_mismatch("squash_predictions", &format!("{call:?}")),
            Source::Live(_) | Source::Outside => {}
        }
        self.live.squash_predictions(after);
        let after = self.seq(after);
        self.record(Some(Call::SquashPredictions { after }));
    }
}
