//! Memoized execution of the pipeline, after FastSim (Schnarr and Larus, ASPLOS 1998): the same cycles, without running the
//! pipeline where it repeats itself.
//!
//! ```text
//!   state ---- segment: calls of the outside, with their answers ----> state ---> ...
//!                  |
//!                  +-- another answer: another segment
//! ```
//!
//! The words are FastSim's: a *configuration* is the pipeline's state ([`archive`]); its *actions* are the calls that it makes
//! of the outside ([`calls`]), kept in an action cache ([`table`]); *recording* fills that cache ([`recorder`]), *replay* makes
//! the calls again without the pipeline ([`replay`](mod@replay)).
//!
//! What a cycle does follows from the configuration and from the answers of the outside ([`crate::outside`]): caches, branch
//! predictor and front end, which are live in a replay, too. While every answer is the recorded one, the next configuration
//! is known. At the first other answer the pipeline is set to the configuration where the segment began. It runs up to that
//! call with the answers of this replay, and goes on, recording.
//!
//! Segments begin and end in cycles in which fetch takes a backward branch, or after which the pipeline is empty (in order:
//! in which fetch is set to another stream); in another loop sooner than in the same, so that each visit of a loop has the same
//! segments. In order they begin on the right path; a wrong path is within one. Addresses of references are not part of a
//! configuration: the replay compares how they overlap ([`overlap`]). Rare events discard the segment that is being recorded.
//! Where a loop's segments repeat, most of what is live may stand still, too ([`steady`], [`rounds`]).

mod answers;
pub mod archive;
mod boundary;
mod calls;
mod hits;
mod limits;
mod make;
mod memoizable;
mod moving;
mod overlap;
mod parts;
mod profit;
mod recorded;
mod recorder;
mod replay;
mod rounds;
mod signatures;
mod steady;
mod table;

use std::sync::Arc;

use breakeven_base::Cycle;

pub use boundary::Boundary;
pub use memoizable::Memoizable;

use crate::outside::Outside;
use crate::Budget;
use archive::{AddressRules, Base, Reference, Written};
use calls::{Call, References, WINDOW};
use limits::Limits;
use overlap::Groups;
use profit::Profit;
use recorded::RecordedOutside;
use recorder::{Mode, Recorder, MAX_CYCLES, MAX_UOPS};
use replay::Ended;
use signatures::Signatures;
use steady::Steady;
use table::{hash_of, Segment, Table, NONE};

/// Cycles that a segment has at least; the second, where it ends in another loop than it began in.
const MIN_CYCLES: u64 = 48;
const MIN_CYCLES_TO_ANOTHER: u64 = 16;
/// States of the same bytes and other overlaps.
const SIBLINGS: usize = 4;

/// How often what happened; for tests and measurements, not of the simulated machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct MemoStatistics {
    /// States looked up; those without a relative form; those met before.
    pub looked_up: u64,
    pub refused: u64,
    pub met: u64,
    /// Different states kept, segments recorded, segments replayed, instructions in them.
    pub states: u64,
    pub recorded: u64,
    pub replayed: u64,
    pub replayed_insts: u64,
    /// Segments of these without the calls of predictor or instruction side.
    pub steady: u64,
    /// ... and with their hits made together.
    pub in_rounds: u64,
    /// Segments that turned out otherwise on the way; recordings that could not be kept; how often all was forgotten.
    pub diverged: u64,
    pub discarded: u64,
    pub cleared: u64,
    /// How often looking up was stopped, since it did not pay.
    pub stopped: u64,
}

/// What the last replay has left.
#[derive(Debug, Default)]
struct Replayed {
    /// Segments whose counts are due.
    due: Vec<u32>,
    /// The cycle in which a slice ended between two segments, and their boundary.
    paused: Option<(Cycle, Boundary)>,
    /// A replay goes on from there.
    resumes: bool,
}

/// A pipeline's action cache, recorder and replay.
#[derive(Debug)]
pub struct Memo {
    on: bool,
    /// Two with the same token have pipelines of the same parameters.
    token: Arc<()>,
    rules: AddressRules,
    alias_bits: u32,
    table: Table,
    recorder: Recorder,
    references: References,
    groups: Groups,
    written: Written,
    replayed: Replayed,
    /// Instructions committed, those of the replay with them.
    insts: u64,
    signatures: Signatures,
    profit: Profit,
    steady: Steady,
    statistics: MemoStatistics,
}

impl Clone for Memo {
    fn clone(&self) -> Self {
        let mut memo = Memo { token: Arc::clone(&self.token), ..Memo::new(self.rules, self.alias_bits) };
        memo.switch(self.on);
        memo
    }
    /// Recorded segments stay where the other pipeline has the same parameters.
    fn clone_from(&mut self, from: &Self) {
        if !Arc::ptr_eq(&self.token, &from.token) {
            *self = from.clone();
        }
        self.switch(from.on);
    }
}

impl Memo {
    pub fn new(rules: AddressRules, alias_bits: u32) -> Self {
        Memo {
            on: false,
            token: Arc::new(()),
            rules,
            alias_bits,
            table: Table::default(),
            recorder: Recorder::default(),
            references: References::default(),
            groups: Groups::default(),
            written: Written::default(),
            replayed: Replayed::default(),
            insts: 0,
            signatures: Signatures::default(),
            profit: Profit::default(),
            steady: Steady::default(),
            statistics: MemoStatistics::default(),
        }
    }

    pub fn statistics(&self) -> MemoStatistics {
        MemoStatistics { stopped: self.profit.spent, ..self.statistics }
    }

    pub fn switch(&mut self, on: bool) {
        self.stop();
        self.on = on;
        if on && !self.signatures.is_on() {
            self.references = References::new();
            self.written = Written::new();
            self.signatures = Signatures::new();
        }
    }

    /// The machine becomes idle: gives back most of the action cache's memory.
    pub fn release_memory(&mut self) {
        self.stop();
        self.table.trim();
        self.steady = Steady::default();
    }

    /// Drops the segment that is being recorded.
    pub fn stop(&mut self) {
        if std::mem::take(&mut self.recorder.mode) != Mode::Off {
            self.table.truncate(self.recorder.start, self.recorder.places);
        }
    }

    /// Whether the next cycle is recorded or answered for.
    #[inline]
    pub fn is_recording(&self) -> bool {
        self.recorder.mode != Mode::Off
    }

    /// Whether a run may end before the next cycle, though nothing forces it to: a pipeline that is answered does not stop before
    /// it has caught up with the calls that have been made.
    #[inline]
    pub fn may_stop(&self) -> bool {
        self.recorder.mode != Mode::Answering
    }

    /// The outside of a cycle that is recorded or answered for.
    pub fn recorded<'a, O: Outside>(&'a mut self, live: &'a mut O) -> RecordedOutside<'a, O> {
        RecordedOutside { live, recorder: &mut self.recorder, table: &mut self.table, references: &mut self.references }
    }

    /// Why the run cannot go on: the pipeline has not made the recorded calls.
    #[inline]
    pub fn mismatch(&mut self) -> Option<String> {
        self.recorder.mismatch.take()
    }

    /// Whether [`Memo::at_boundary`] is to be called where a segment may begin or end.
    #[inline]
    pub fn is_due(&mut self, pipe: &impl Memoizable, boundary: Boundary) -> bool {
        self.on
            && match self.recorder.mode {
                Mode::Off => self.profit.is_left(pipe.insts()) && self.signatures.is_worth_it(pipe.signature()),
                Mode::Recording => {
                    let began = self.table.configurations[self.recorder.configuration as usize].boundary;
                    let least = if boundary.is_another(began) { MIN_CYCLES_TO_ANOTHER } else { MIN_CYCLES };
                    pipe.cycle() >= self.recorder.base.cycle + least
                }
                Mode::Answering => false,
            }
    }

    /// A run begins: goes on with the replay that the end of the last slice cut, if the pipeline still stands there.
    pub fn begin_run<P: Memoizable, O: Outside>(&mut self, pipe: &mut P, cx: &mut O, budget: Budget) {
        self.stop();
        let Some((_, boundary)) = self.replayed.paused.take().filter(|(cycle, _)| *cycle == pipe.cycle()) else {
            return;
        };
        if self.on && self.profit.is_left(pipe.insts()) {
            self.replayed.resumes = true;
            self.at_boundary(pipe, cx, budget, boundary);
            self.replayed.resumes = false;
        }
    }

    /// Between two cycles: ends the segment that is recorded, and replays what is known from here on, or begins to record.
    pub fn at_boundary<P: Memoizable, O: Outside>(
        &mut self,
        pipe: &mut P,
        cx: &mut O,
        budget: Budget,
        boundary: Boundary,
    ) {
        if pipe.is_traced() {
            return self.stop();
        }
        if !P::ON_WRONG_PATHS && cx.depth() != 0 {
            return;
        }
        if cx.in_microcode() {
            return if self.is_recording() { self.stop() } else { self.give_up() };
        }
        if !self.is_recording() && !self.replayed.resumes && !self.signatures.recurs(pipe.shape()) {
            return self.give_up();
        }
        self.statistics.looked_up += 1;
        if self.is_recording() && self.must_discard(pipe) {
            self.statistics.discarded += 1;
            if let Some(configuration) = self.table.configurations.get_mut(self.recorder.configuration as usize) {
                configuration.discarded += 1;
            }
            self.stop();
        }
        let base = pipe.base();
        let far = |r: &Reference| i64::from(r.seq) < -(WINDOW as i64 / 4);
        let is_saved = pipe.save(&mut self.written);
        self.profit.looked_up(self.written.bytes().len());
        if self.is_recording() {
            self.profit.recorded(pipe.insts().saturating_sub(self.recorder.began.insts));
        }
        if !is_saved || self.written.references.iter().any(far) {
            self.statistics.refused += 1;
            if !self.is_recording() {
                self.give_up();
            }
            return;
        }
        if self.table.is_full() {
            self.statistics.cleared += 1;
            self.recorder.mode = Mode::Off;
            self.table.clear();
            self.steady.forget();
        }
        let asid = cx.asid();
        let sets = self.table.sets(pipe.learned());
        let hash = hash_of(self.written.bytes(), asid, sets);
        let first = self.table.find(hash, self.written.bytes(), asid, sets);
        for r in &self.written.references {
            self.references.set(base.seq.at_distance(r.seq.into()), r.mem);
        }
        let began = std::mem::replace(&mut self.recorder.base, base);
        let is_new = first == NONE;
        let configuration = self.configuration_of(first, hash, asid, sets);
        if self.is_recording() {
            self.keep(pipe, &began, configuration);
        }
        let Some(met) = self.table.configurations.get_mut(configuration as usize) else {
            return self.give_up();
        };
        met.boundary = boundary;
        self.statistics.met += u64::from(!is_new);
        (self.recorder.configuration, self.recorder.period, self.recorder.asid) = (configuration, pipe.period(), asid);
        (self.recorder.rules, self.insts) = (Some(self.rules), pipe.insts());
        self.go_on(pipe, cx, budget);
    }

    /// Whether the segment under way cannot be kept.
    fn must_discard(&self, pipe: &impl Memoizable) -> bool {
        let (began, now) = (&self.recorder.base, pipe.base());
        self.recorder.discarded
            || pipe.unrecorded_changes() != self.recorder.began.unrecorded
            || now.cycle - began.cycle > MAX_CYCLES
            || now.seq - began.seq > MAX_UOPS
            || pipe.youngest() - began.seq > MAX_UOPS + WINDOW / 4
    }

    /// Nothing is known from here on.
    fn give_up(&mut self) {
        self.signatures.failed();
    }

    /// The state that has just been saved, of the states from `first` on that have its bytes; a new one, if none applies.
    fn configuration_of(&mut self, first: u32, hash: u64, asid: u16, sets: u32) -> u32 {
        let (mut configuration, mut siblings) = (first, 0);
        while configuration != NONE {
            if self.applies(configuration) {
                return configuration;
            }
            siblings += 1;
            configuration = self.table.configurations[configuration as usize].next;
        }
        if siblings >= SIBLINGS {
            return NONE;
        }
        self.statistics.states += 1;
        self.table.insert(hash, &self.written, asid, sets, first)
    }

    /// The segment that began at `began` ends here, at `next`.
    fn keep(&mut self, pipe: &mut impl Memoizable, began: &Base, next: u32) {
        self.recorder.mode = Mode::Off;
        if next == NONE {
            return self.table.truncate(self.recorder.start, self.recorder.places);
        }
        let mut counts = Vec::new();
        let mut fits = true;
        let mut i = 0;
        pipe.for_each_count(&mut |count| {
            let grown = count.wrapping_sub(self.recorder.began.counts[i]);
            fits &= u32::try_from(grown).is_ok();
            if grown != 0 {
                counts.push((i as u16, grown as u32));
            }
            i += 1;
        });
        if !fits {
            return self.table.truncate(self.recorder.start, self.recorder.places);
        }
        let now = &self.recorder.base;
        let segment = Segment {
            next,
            seqs: now.seq - began.seq,
            cycles: now.cycle - began.cycle,
            insts: pipe.insts() - self.recorder.began.insts,
            numbers: std::array::from_fn(|i| now.numbers[i].wrapping_sub(began.numbers[i])),
            counts: counts.into_boxed_slice(),
            replayed: 0,
            seen: 0,
            steady_period: 0,
        };
        let segment = self.table.add_segment(segment);
        self.table.push(Call::End { segment });
        self.statistics.recorded += 1;
        let start = self.recorder.start;
        if self.recorder.other == NONE {
            self.table.configurations[self.recorder.configuration as usize].first = start;
        } else {
            self.table.alternatives[self.recorder.other as usize] = start;
        }
    }

    /// Goes on from the recorder's state, where the pipeline stands: replays what is known, then records.
    fn go_on<O: Outside>(&mut self, pipe: &mut impl Memoizable, cx: &mut O, budget: Budget) {
        let numbers = pipe.base().numbers;
        let limits = Limits::new(budget, pipe.forgets_at().map(|(i, grown)| (i, numbers[i].saturating_add(grown))));
        let (began, before) = (self.recorder.base, self.statistics.replayed);
        let ended = self.replay(cx, &limits);
        if self.statistics.replayed > before {
            self.profit.replayed(self.insts - pipe.insts());
            self.signatures.succeeded();
        }
        self.apply_counts(pipe);
        let within = matches!(ended, Ended::Within { .. });
        if !within && self.recorder.base != began {
            self.take_in_flight();
        }
        if within || self.recorder.base != began {
            let configuration = &self.table.configurations[self.recorder.configuration as usize];
            let base = &self.recorder.base;
            pipe.load(&configuration.bytes, &self.recorder.answers.in_flight, *base);
        }
        match ended {
            Ended::Within { other } => {
                self.statistics.diverged += 1;
                let calls = self.recorder.answers.path.iter().map(|(from, to)| u64::from(to - from)).sum();
                self.profit.set_back(calls);
                self.recorder.other = other;
                self.record(pipe);
                let configuration = &mut self.table.configurations[self.recorder.configuration as usize];
                self.recorder.discarded = configuration.is_unprofitable() || configuration.is_unrecordable();
            }
            Ended::AtConfiguration => {
                if !limits.has_room(&self.recorder.base, self.insts) || cx.slice_is_over() {
                    let configuration = &self.table.configurations[self.recorder.configuration as usize];
                    self.replayed.paused = Some((self.recorder.base.cycle, configuration.boundary));
                }
                let records = self.record_from_configuration(pipe, &limits);
                // Behind a replay this says nothing against the state that was looked up.
                if !records && self.statistics.replayed == before {
                    self.give_up();
                }
            }
        }
    }

    /// The references in flight at the recorder's state.
    fn take_in_flight(&mut self) {
        let base = self.recorder.base.seq;
        let references = &self.table.configurations[self.recorder.configuration as usize].references;
        let mems = references.iter().map(|r| *self.references.of(base.at_distance(r.seq.into())));
        self.recorder.answers.in_flight.clear();
        self.recorder.answers.in_flight.extend(mems);
    }

    /// Records from the recorder's state on, if nothing is known from it.
    /// Whether it does.
    fn record_from_configuration(&mut self, pipe: &mut impl Memoizable, limits: &Limits) -> bool {
        (self.recorder.answers.given, self.recorder.other) = (None, NONE);
        self.recorder.answers.path.clear();
        let met = self.applies(self.recorder.configuration);
        let configuration = &mut self.table.configurations[self.recorder.configuration as usize];
        let is_due = configuration.first == NONE && !configuration.is_unrecordable();
        if !met || !is_due || !limits.has_room(&self.recorder.base, self.insts) {
            return false;
        }
        // The places of the segment are those of this visit, and so are those of the state from now on.
        for r in &mut configuration.references {
            r.mem = *self.references.of(self.recorder.base.seq.at_distance(r.seq.into()));
        }
        self.record(pipe);
        true
    }

    fn record(&mut self, pipe: &mut impl Memoizable) {
        let way = self.recorder.answers.references().map(|m| self.rules.place_of(m)).collect();
        self.recorder.began.counts.clear();
        let counts = &mut self.recorder.began.counts;
        pipe.for_each_count(&mut |count| counts.push(*count));
        self.recorder.began.insts = pipe.insts();
        self.recorder.began.unrecorded = pipe.unrecorded_changes();
        self.recorder.start(&self.table);
        self.table.begin(way);
    }

    /// Brings the counts up to date.
    fn apply_counts(&mut self, pipe: &mut impl Memoizable) {
        if self.replayed.due.is_empty() {
            return;
        }
        let mut grown = std::mem::take(&mut self.recorder.began.counts);
        grown.clear();
        for segment in self.replayed.due.drain(..) {
            let s = &mut self.table.segments[segment as usize];
            let times = std::mem::take(&mut s.replayed);
            for (i, by) in &s.counts {
                let i = usize::from(*i);
                if grown.len() <= i {
                    grown.resize(i + 1, 0);
                }
                grown[i] += u64::from(*by) * times;
            }
        }
        let mut each = grown.iter();
        pipe.for_each_count(&mut |count| *count += each.next().copied().unwrap_or(0));
        self.recorder.began.counts = grown;
    }
}
