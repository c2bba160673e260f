//! What flows between the stages besides micro-ops: fetched lines, predictions, resolved branches.

use super::inst::{Outcome, Seq};
use crate::memo::archive::Archive;

/// Which of [`Base::numbers`](crate::memo::archive::Base) count streams, and predictions.
pub const STREAMS: usize = 0;
pub const PREDICTIONS: usize = 1;

/// A fetched line on its way from fetch1 to fetch2.
#[derive(Clone, Copy, Debug, Default)]
pub struct Line {
    pub base: u64,
    pub size: u32,
    pub stream: u32,
    pub prediction: u32,
    /// The address could not be translated: nothing can be extracted, the front end will raise the fault.
    pub fault: bool,
}

/// Fetch2 tells fetch1 to go on elsewhere within the same stream.
#[derive(Clone, Copy, Debug, Default)]
pub struct PredictedBranch {
    pub stream: u32,
    pub prediction: u32,
    pub target: u64,
}

/// Execute tells the fetch stages what became of a branch, or that they must go on elsewhere.
#[derive(Clone, Copy, Debug, Default)]
pub struct ResolvedBranch {
    pub outcome: Outcome,
    /// The stream from now on.
    pub stream: u32,
    pub prediction: u32,
    pub target: u64,
    pub seq: Seq,
    pub tried_to_predict: bool,
    /// Fork of the front end to roll back to, plus one; 0: none.
    pub fork: u32,
}

impl ResolvedBranch {
    #[inline]
    pub fn changes_stream(&self) -> bool {
        self.outcome.changes_stream()
    }
}

// In relative form.

impl Line {
    pub fn archive(&mut self, a: &mut Archive) {
        let Self { base, size, stream, prediction, fault } = self;
        a.u64(base);
        a.u32(size);
        a.number32(STREAMS, stream);
        a.number32(PREDICTIONS, prediction);
        a.flag(fault);
    }
}

impl PredictedBranch {
    pub fn archive(&mut self, a: &mut Archive) {
        let Self { stream, prediction, target } = self;
        a.number32(STREAMS, stream);
        a.number32(PREDICTIONS, prediction);
        a.u64(target);
    }
}

impl ResolvedBranch {
    pub fn archive(&mut self, a: &mut Archive) {
        let Self { outcome, stream, prediction, target, seq, tried_to_predict, fork } = self;
        a.one_of(outcome, &Outcome::ALL);
        a.number32(STREAMS, stream);
        a.number32(PREDICTIONS, prediction);
        a.u64(target);
        a.seq(seq);
        a.flag(tried_to_predict);
        a.u32(fork);
    }
}
