//! What the pipeline is answered that goes again through calls which a replay has made.

use breakeven_base::{FetchXlat, MemRef, Step, StepResult, Tick, UopFlags};
use breakeven_memory::{MissResponse, Response, TlbResult};

use super::calls::{Call, Predecoding};
use super::table::Table;
use crate::bpred::Prediction;

/// The answer to the call that turned out otherwise, which has been made.
#[derive(Clone, Copy, Debug)]
pub enum LiveAnswer {
    Step(StepResult),
    Pc(u64),
    Depth(u32),
    Translated(Option<FetchXlat>),
    Response(Response),
    Tlb(TlbResult),
    Tick(Tick),
    RolledBack,
    Served(Option<MissResponse>),
    Sent(Option<Tick>),
    Prediction(Prediction),
    /// The description is in [`Answers::step`].
    Predecoded(Predecoding, UopFlags),
}

/// What the calls of a segment that the pipeline goes through again are answered with.
#[derive(Clone, Debug, Default)]
pub struct Answers {
    /// The calls, from first to last of each run.
    pub path: Vec<(u32, u32)>,
    pub run: usize,
    pub at: u32,
    /// The references in flight where the segment began, and those of the steps since then: a number of a micro-op may be
    /// given again after a squash.
    pub in_flight: Vec<MemRef>,
    pub stepped: Vec<MemRef>,
    /// Steps' references that have been handed out.
    pub references: usize,
    /// The answer behind the calls, and what was executed for it.
    pub given: Option<LiveAnswer>,
    pub step: Step,
}

impl Answers {
    /// Where the references so far go, but for those that go nowhere.
    pub fn references(&self) -> impl Iterator<Item = &MemRef> {
        self.in_flight.iter().chain(&self.stepped).filter(|m| m.valid)
    }

    pub fn next(&mut self, table: &Table) -> Option<Call> {
        while let Some((from, to)) = self.path.get(self.run).copied() {
            let i = from + self.at;
            if i < to {
                self.at += 1;
                return table.calls.get(i as usize).copied();
            }
            self.run += 1;
            self.at = 0;
        }
        None
    }
}
