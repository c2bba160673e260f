//! The segment that is being recorded.

use breakeven_base::{Now, Tick};

use super::answers::Answers;
use super::archive::{AddressRules, Base};
use super::calls::{seq_at, tick_at, Call};
use super::table::Table;
use crate::seq::Seq;

/// A segment of more cycles, calls or micro-ops is not kept.
pub const MAX_CYCLES: u64 = 16_384;
pub const MAX_UOPS: u64 = 1024;
const MAX_CALLS: usize = 8192;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    #[default]
    Off,
    /// The pipeline makes calls that a replay has made already, and gets the same answers.
    Answering,
    Recording,
}

/// What the pipeline had counted where a segment began.
#[derive(Clone, Debug, Default)]
pub struct Began {
    pub counts: Vec<u64>,
    /// [`Memoizable::unrecorded_changes`](super::Memoizable::unrecorded_changes).
    pub unrecorded: u64,
    pub insts: u64,
}

/// Where the front end stands by the calls of the segment so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct FrontEndAt {
    /// Its program counter, where they tell.
    pub pc: Option<u64>,
    /// Open forks, of a pipeline whose segments begin on the right path.
    pub depth: u32,
}

/// The segment under way.
#[derive(Clone, Debug, Default)]
pub struct Recorder {
    pub mode: Mode,
    pub base: Base,
    pub period: u64,
    pub asid: u16,
    pub rules: Option<AddressRules>,
    /// The state where it began.
    pub configuration: u32,
    pub answers: Answers,
    /// What is recorded begins here, as another of `other`'s (or the configuration's first).
    pub start: u32,
    pub places: usize,
    pub other: u32,
    /// It cannot be kept.
    pub discarded: bool,
    pub began: Began,
    pub front_end: FrontEndAt,
    /// The pipeline made another call than the recorded one: which, and which was recorded.
    pub mismatch: Option<String>,
}

impl Recorder {
    /// From now on a segment of `configuration` is recorded; where `path` has calls, they are answered first.
    pub fn start(&mut self, table: &Table) {
        self.start = table.calls.len() as u32;
        self.places = table.places.len();
        self.discarded = false;
        self.front_end = FrontEndAt::default();
        let answers = &mut self.answers;
        (answers.run, answers.at, answers.references) = (0, 0, 0);
        self.mode = if answers.path.is_empty() && answers.given.is_none() { Mode::Recording } else { Mode::Answering };
    }

    pub fn record(&mut self, table: &mut Table, call: Option<Call>) {
        if self.discarded {
            return;
        }
        match call {
            Some(call) if table.calls.len() - (self.start as usize) < MAX_CALLS => {
                table.push(call);
            }
            _ => self.discarded = true,
        }
    }

    /// The pipeline has not made the recorded call: a bug, which ends the run.
    #[cold]
    pub fn report_mismatch(&mut self, asked: &str, before: &str) {
        let text = || format!("{asked} where before {before}; with BREAKEVEN_MEMOIZE=off nothing is repeated");
        self.mismatch.get_or_insert_with(text);
        self.discarded = true;
    }
}

#[cfg(test)]
impl super::Memo {
    /// The next cycle that is recorded makes another call than before.
    pub fn contradict(&mut self) {
        self.recorder.report_mismatch("a call", "another one");
    }
}

/// The numbers of a call where its segment is replayed at `base`.
#[derive(Clone, Copy, Debug)]
pub struct At {
    pub base: Base,
    pub period: u64,
}

impl At {
    #[inline]
    pub fn seq(&self, seq: i32) -> Seq {
        seq_at(&self.base, seq)
    }
    #[inline]
    pub fn tick(&self, cycle: u32) -> Tick {
        tick_at(&self.base, self.period, cycle)
    }
    #[inline]
    pub fn now(&self, cycle: u32, drained: bool) -> Now {
        Now { tick: self.tick(cycle), cycle: self.base.cycle + u64::from(cycle), drained }
    }
}
