//! Fetch2: takes instructions out of fetched lines, executes them on the front end, predicts branches.
//! Fact source: gem5 24.0 `src/cpu/minor/fetch2.cc`.
//!
//! The front end executes an instruction when it is extracted. Where the prediction differs from the outcome, it is
//! forked onto the predicted path, and rolled back when the branch has been resolved in execute and the redirect arrives here.
//! After a serialising instruction gem5 fetches on and throws that work away: here too, on a fork.
//! An instruction whose result depends on time goes down the pipeline as a placeholder and is executed at commit. Behind
//! one that does not serialise, and behind a trap, nothing is extracted.

mod archive;
mod emit;

use breakeven_base::{Now, OpClass, Predecode, Step, StepResult, Uop, UopFlags, MAX_UOPS};

use super::activity::Activity;
use super::config::MinorConfig;
use super::inst::{DynInst, InstRing, Outcome, Placeholder, Seq};
use super::latch::{Bundle, BundleEnd, Channel, InputBuffer, Latch};
use super::lsq::When;
use super::pipe::{Line, PredictedBranch, ResolvedBranch};
use crate::memo::Boundary;
use crate::misaligned::AccessCosts;
use crate::outside::Outside;
use emit::leave;
pub use emit::{finish_step, push_step};

/// Why nothing is extracted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waiting {
    No,
    /// Behind a placeholder, until it has been executed.
    Drain,
    /// Behind a trap, or where speculation cannot go on: until the stream changes.
    StreamChange,
}

/// Counts of extracted instructions, by the flags that gem5's kinds go by ([`Fetch2Stats::kinds`]): counting must not branch.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fetch2Stats {
    by_flags: [u64; 16],
}

/// What does not change after construction.
#[derive(Clone, Copy, Debug)]
struct Params {
    width: u32,
    cycle_input: bool,
    /// `gem5BundleBubbles`.
    bubbles: bool,
    /// Wrong paths may be predecoded: nothing is asked of a reference before it leaves for the LSQ.
    deferred: bool,
    /// Else every branch is taken for one that is not taken.
    predicts: bool,
    /// Flags of what tells fetch something, though it is on a wrong path and has not been executed.
    tells_fetch: UopFlags,
    costs: AccessCosts,
    line_bytes: u32,
}

#[derive(Clone, Debug)]
pub struct Fetch2 {
    pub input: InputBuffer<Line>,
    p: Params,
    waiting: Waiting,
    stream: u32,
    /// The stream in which the last prediction was made.
    expected_stream: u32,
    prediction: u32,
    step: Step,
    /// `step` has been executed but lies across two lines, of which the second has not come.
    pending: bool,
    /// Where the instruction is of which further steps come; none: [`u64::MAX`].
    unfinished: u64,
    /// The last step continued an instruction and counts as one (the string engine's).
    counted_steps: bool,
    /// `step` is on a wrong path and has only been predecoded.
    predecoded: bool,
    /// In the present cycle a branch back has been predicted taken, or fetch has been set to another stream.
    pub turned: Option<Boundary>,
    pub stats: Fetch2Stats,
}

/// Extracted instructions by gem5's kinds; one instruction counts once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kinds {
    pub int: u64,
    pub fp: u64,
    pub load: u64,
    pub store: u64,
    pub amo: u64,
}

impl Fetch2Stats {
    /// Where [`UopFlags::FLOAT`] goes in an index, beside the three lowest flags.
    const FLOAT_SHIFT: u32 = 13;
    const LOW: UopFlags = UopFlags::LOAD.union(UopFlags::STORE).union(UopFlags::ATOMIC);
    const INDEX: u32 = Self::LOW.bits() | UopFlags::FLOAT.bits() >> Self::FLOAT_SHIFT;

    #[inline]
    fn count(&mut self, flags: UopFlags) {
        const { assert!(Self::INDEX == 15, "four flags are the index") };
        let float = (flags & UopFlags::FLOAT).bits() >> Self::FLOAT_SHIFT;
        self.by_flags[((flags & Self::LOW).bits() | float) as usize & 15] += 1;
    }

    pub fn kinds(&self) -> Kinds {
        let mut kinds = Kinds::default();
        for (flags, count) in (0u32..).zip(self.by_flags) {
            let kind = match UopFlags::from_bits_truncate(flags) {
                f if f.any(UopFlags::ATOMIC) => &mut kinds.amo,
                f if f.any(UopFlags::LOAD) => &mut kinds.load,
                f if f.any(UopFlags::STORE) => &mut kinds.store,
                f if f.is_empty() => &mut kinds.int,
                _ => &mut kinds.fp,
            };
            *kind += count;
        }
        kinds
    }
}

/// What fetch2 works on in one cycle besides its own state.
pub struct Fetch2Io<'a> {
    pub ring: &'a mut InstRing,
    /// The oldest micro-op in flight.
    pub oldest: Seq,
    pub predictions: &'a mut Latch<PredictedBranch>,
    pub next: &'a mut Channel<Bundle>,
    pub activity: &'a mut Activity,
}

impl Fetch2 {
    pub fn new(cfg: &MinorConfig, line_bytes: u32) -> Self {
        Fetch2 {
            input: InputBuffer::new(cfg.fetch2InputBufferSize),
            p: Params {
                width: cfg.decodeInputWidth,
                cycle_input: cfg.fetch2CycleInput,
                bubbles: cfg.quirks.gem5BundleBubbles,
                deferred: !AccessCosts::new(cfg.misaligned, cfg.vector_misaligned).emulate(),
                predicts: cfg.predictsBranches,
                tells_fetch: emit::MATTERS_TO_FETCH
                    & if cfg.predictsBranches { UopFlags::all() } else { !UopFlags::BRANCH },
                costs: AccessCosts::new(cfg.misaligned, cfg.vector_misaligned),
                line_bytes,
            },
            waiting: Waiting::No,
            stream: 0,
            expected_stream: 0,
            prediction: 0,
            step: Step::default(),
            pending: false,
            unfinished: u64::MAX,
            counted_steps: false,
            predecoded: false,
            turned: None,
            stats: Fetch2Stats::default(),
        }
    }

    /// The placeholder has been executed: extraction goes on where the front end now stands.
    pub fn drained(&mut self) {
        if self.waiting == Waiting::Drain {
            self.waiting = Waiting::No;
        }
    }

    /// Speculation has been rolled back in execute: what is extracted until the stream changes would be no path at all.
    pub fn halt(&mut self) {
        self.waiting = Waiting::StreamChange;
    }

    /// Learns what became of a branch.
    fn resolve<X: Outside>(&mut self, cx: &mut X, b: &ResolvedBranch) {
        if b.tried_to_predict {
            match b.outcome {
                Outcome::CorrectlyPredicted => cx.train(b.seq),
                Outcome::Unpredicted => {
                    cx.correct(b.seq, b.target, true, true);
                    cx.train(b.seq);
                }
                Outcome::BadlyPredicted => {
                    cx.correct(b.seq, b.target, false, true);
                    cx.train(b.seq);
                }
                Outcome::BadlyPredictedTarget => cx.correct(b.seq, b.target, true, true),
                Outcome::Straight | Outcome::Refetch => {}
            }
        }
        if b.changes_stream() {
            if b.fork != 0 {
                cx.rollback(b.fork - 1);
            }
            self.stream = b.stream;
            self.turned = Some(Boundary::Stream);
            self.waiting = Waiting::No;
            self.pending = false;
            self.unfinished = u64::MAX;
            self.input.clear();
        }
    }

    #[inline]
    fn is_stale(&self, line: &Line) -> bool {
        line.stream != self.stream || (self.expected_stream == line.stream && self.prediction != line.prediction)
    }

    /// Whether [`Fetch2::tick`] has something to do though nothing arrives: room behind it, or a line to throw away.
    #[inline]
    pub fn has_work(&self, room: bool) -> bool {
        self.input.front().is_some_and(|l| room || self.is_stale(l))
    }

    /// Nothing is extracted until something becomes of what has been.
    pub fn is_waiting(&self) -> bool {
        self.waiting != Waiting::No && !self.input.front().is_some_and(|l| self.is_stale(l))
    }

    /// One cycle.
    #[inline]
    pub fn tick<X: Outside>(
        &mut self,
        cx: &mut X,
        when: &When,
        arriving: Option<Line>,
        resolved: Option<&ResolvedBranch>,
        io: &mut Fetch2Io,
    ) {
        if let Some(line) = arriving {
            self.input.arrive(line);
        }
        if let Some(b) = resolved {
            self.resolve(cx, b);
        }
        // Even when there is no room behind, lines of an old prediction make way.
        while self.input.front().is_some_and(|l| self.is_stale(l)) {
            self.input.pop();
            if !self.p.cycle_input {
                break;
            }
        }
        if io.next.has_room() {
            let first = io.ring.tail;
            let extracted = self.extract(cx, when, io);
            if io.ring.tail != first {
                let ending = if cx.pc() == self.unfinished {
                    BundleEnd::Continued
                } else if extracted < self.p.width && self.p.bubbles {
                    BundleEnd::Bubble
                } else {
                    BundleEnd::Full
                };
                io.next.put(when.cycle, Bundle { next: first, end: io.ring.tail, ending });
                io.activity.mark(when.cycle);
            }
        }
        if self.waiting == Waiting::No && self.input.front().is_some() && io.next.has_room() {
            io.activity.wake();
        }
    }

    /// Packs instructions into one output while there are lines, room, and no prediction.
    fn extract<X: Outside>(&mut self, cx: &mut X, when: &When, io: &mut Fetch2Io) -> u32 {
        let mut extracted = 0;
        while extracted < self.p.width && self.waiting == Waiting::No {
            let Some(&line) = self.input.front() else { break };
            if !Self::has_room(io) {
                break;
            }
            if !self.is_stale(&line) {
                match self.extract_line(&line, &mut extracted, cx, when, io) {
                    LineEnd::Done => {}
                    LineEnd::Stays => break,
                    LineEnd::Redirected => {
                        self.input.clear();
                        break;
                    }
                }
            }
            self.input.pop();
            if !self.p.cycle_input {
                break;
            }
        }
        extracted
    }

    /// There is always room for what the queues can hold; this is for instructions of many micro-ops.
    #[inline]
    fn has_room(io: &mut Fetch2Io) -> bool {
        io.ring.make_room(io.oldest)
    }

    /// Takes instructions out of one line that is wanted.
    #[inline(always)]
    fn extract_line<X: Outside>(
        &mut self,
        line: &Line,
        extracted: &mut u32,
        cx: &mut X,
        when: &When,
        io: &mut Fetch2Io,
    ) -> LineEnd {
        let end = line.base.wrapping_add(u64::from(line.size));
        // Nothing is all on a line that could not be read.
        let last = if line.fault { 0 } else { end };
        loop {
            if !std::mem::take(&mut self.pending) {
                let pc = cx.pc();
                if !line.fault && (pc < line.base || pc >= end) && pc != self.unfinished {
                    if pc.wrapping_sub(end) < u64::from(MAX_INST_BYTES) {
                        return LineEnd::Done;
                    }
                    // The line is not where the front end stands: fetch there.
                    self.redirect(pc, when, io);
                    return LineEnd::Stays;
                }
                if !self.execute(last, cx, when, io) {
                    *extracted += 1;
                    if cx.pc() == end {
                        return LineEnd::Done;
                    }
                    if *extracted >= self.p.width || self.waiting != Waiting::No || !Self::has_room(io) {
                        return LineEnd::Stays;
                    }
                    continue;
                }
                let step_end = self.step.pc.wrapping_add(self.step.len.into());
                if step_end > end && self.step.len != 0 && !line.fault {
                    // The rest of the instruction is on the next line.
                    self.pending = true;
                    return LineEnd::Done;
                }
            }
            *extracted += u32::from(self.is_extracted());
            let predicted = self.emit(cx, when, io);
            if predicted || line.fault {
                if !predicted && self.waiting == Waiting::No {
                    self.redirect(cx.pc(), when, io);
                }
                return LineEnd::Redirected;
            }
            if cx.pc() == end {
                return LineEnd::Done;
            }
            // All of an instruction is extracted at once; of what counts by its steps, so many that the ring does not fill.
            let full = *extracted >= self.p.width && (cx.pc() != self.unfinished || self.counted_steps);
            if full || self.waiting != Waiting::No || !Self::has_room(io) {
                return LineEnd::Stays;
            }
        }
    }

    /// Whether `step` is an instruction of its own to this stage. What continues the last one (steps without FIRST) is
    /// extracted with it, as gem5's macro-instruction is; begun anew behind a branch within it, it is extracted again.
    #[inline(always)]
    fn is_extracted(&mut self) -> bool {
        let last = self.step.uops[usize::from(self.step.n).clamp(1, MAX_UOPS) - 1].flags;
        let goes_on = !last.any(UopFlags::LAST);
        let of = std::mem::replace(&mut self.unfinished, if goes_on { self.step.pc } else { u64::MAX });
        let first = self.step.uops[0].flags.any(UopFlags::FIRST);
        self.counted_steps = first && of == self.step.pc;
        first || of != self.step.pc
    }

    /// Has the front end execute or describe the next instruction, into `step`. False: what there is to send of it has been
    /// sent, for it was simple enough (it ends at `end` or before) or could not be executed, or nothing more comes for now.
    #[inline(always)]
    fn execute<X: Outside>(&mut self, end: u64, cx: &mut X, when: &When, io: &mut Fetch2Io) -> bool {
        let now = Now { tick: when.tick, cycle: when.cycle, drained: false };
        self.predecoded = false;
        if cx.depth() != 0 {
            if self.p.deferred {
                let pc = cx.pc();
                match cx.predecode(&mut self.step) {
                    Predecode::Described(s) => {
                        let whole = pc.wrapping_add(s.len.into()) <= end;
                        if whole && self.emit_predecoded(pc, &s, io) {
                            return false;
                        }
                        self.step.describe(pc, &s);
                        self.predecoded = true;
                        return true;
                    }
                    Predecode::Blocked => {
                        self.pass_blocked(cx, io);
                        return false;
                    }
                    Predecode::MustExecute => {}
                }
            }
            io.ring.execute_deferred(cx, when, Seq::MAX);
        }
        self.step.n = 0;
        let result = cx.step(io.ring.tail, now, &mut self.step);
        if result != StepResult::Done {
            self.pass_unexecuted(result, cx, io);
        }
        result == StepResult::Done
    }

    /// What becomes of an instruction that the front end has not executed.
    #[cold]
    fn pass_unexecuted<X: Outside>(&mut self, result: StepResult, cx: &mut X, io: &mut Fetch2Io) {
        self.unfinished = u64::MAX;
        match result {
            StepResult::Done => {}
            StepResult::Blocked => self.pass_blocked(cx, io),
            StepResult::NeedsDrain => self.send_placeholder(cx, io),
            StepResult::Paused => {
                self.waiting = Waiting::Drain;
                io.ring.push(DynInst { placeholder: Placeholder::Pauses, ..self.unexecuted(cx.pc()) });
            }
        }
    }

    /// An instruction that is carried along without having been executed.
    fn unexecuted(&self, pc: u64) -> DynInst {
        let flags = UopFlags::FIRST | UopFlags::LAST;
        let uop = if self.step.n == 1 { self.step.uops[0] } else { Uop { class: OpClass::IntAlu, ..Uop::default() } };
        let uop = Uop { flags, ..uop };
        DynInst { uop, stream: self.stream, prediction: self.prediction, pc, ..DynInst::default() }
    }

    /// Sends on an instruction that cannot be executed yet. Behind one that serialises (what follows will be fetched again
    /// anyhow) speculation goes on; else fetch waits.
    fn send_placeholder<X: Outside>(&mut self, cx: &mut X, io: &mut Fetch2Io) {
        let mut inst = DynInst { placeholder: Placeholder::Waits, ..self.unexecuted(cx.pc()) };
        if self.step.n == 1 && self.step.uops[0].flags.any(UopFlags::SERIALIZE_AFTER) {
            inst.fork = leave(cx, io.ring, inst.pc.wrapping_add(self.step.len.into()));
        } else {
            self.waiting = Waiting::Drain;
        }
        io.ring.push(inst);
    }

    /// On a wrong path something was met that must not be executed there. A pipeline does not know that yet: the instruction
    /// goes on its way, without effect, and fetch goes on behind it.
    #[inline(never)]
    fn pass_blocked<X: Outside>(&mut self, cx: &mut X, io: &mut Fetch2Io) {
        self.unfinished = u64::MAX;
        if self.step.n != 1 || self.step.len == 0 {
            self.waiting = Waiting::StreamChange;
            return;
        }
        let inst = self.unexecuted(cx.pc());
        leave(cx, io.ring, inst.pc.wrapping_add(self.step.len.into()));
        io.ring.push(inst);
    }

    /// Sends fetch1 elsewhere; all lines that are here or under way are void.
    fn redirect(&mut self, target: u64, when: &When, io: &mut Fetch2Io) {
        self.expected_stream = self.stream;
        self.prediction = self.prediction.wrapping_add(1);
        io.predictions.put(when.cycle, PredictedBranch { stream: self.stream, prediction: self.prediction, target });
        io.activity.mark(when.cycle);
        self.input.clear();
    }

    /// For the deadlock report.
    pub fn describe(&self) -> String {
        let (queued, coming, of) = self.input.load();
        format!("lines: {queued} queued, {coming} under way, of {of}; waiting: {:?}", self.waiting)
    }
}

/// How the extraction from a line ended.
enum LineEnd {
    /// Nothing more is in it.
    Done,
    /// It goes on in a later cycle, or the line has been cleared away already.
    Stays,
    /// Fetch goes on elsewhere.
    Redirected,
}

/// No instruction is longer (x86's limit, rounded up).
const MAX_INST_BYTES: u32 = 16;
