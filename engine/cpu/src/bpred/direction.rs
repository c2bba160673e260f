//! What the direction predictors have in common: the history snapshot of each prediction, and the dispatch.
//!
//! The protocol is gem5's: `lookup` for a conditional branch, `update_histories` for every branch once its predicted
//! direction is known, then in the end either `update` (it commits), or `squash` (it was on a wrong path); a
//! mispredicted branch gets `correct` first and commits later.

use super::bimode::BiModeBp;
use super::gshare::GshareBp;
use super::local::LocalBp;
use super::path_history::PathHistoryBp;
use super::tage::Tage;
use super::tournament::TournamentBp;
use super::{DirectionParams, SharedParams};
use breakeven_base::{ConfigError, StatSink};

/// State of the histories just before one prediction, and what the tables said. Each predictor uses its part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DirectionRecord {
    /// Global history before the branch (TAGE: the branch's number, by which the predictor finds its own record).
    pub global: u64,
    /// Local history before the branch (tournament).
    pub local: u64,
    /// An unconditional branch: it is in the global history only.
    pub uncond: bool,
    pub local_taken: bool,
    pub global_taken: bool,
    /// Which table decided (tournament: the global one; bi-mode: the taken one).
    pub chosen: bool,
    pub predicted: bool,
}

/// One of the direction predictors.
#[derive(Debug)]
pub enum Direction {
    Local(LocalBp),
    Tournament(TournamentBp),
    BiMode(BiModeBp),
    Gshare(GshareBp),
    PathHistory(Box<PathHistoryBp>),
    /// TAGE, and L-TAGE, which is one with a loop predictor.
    Tage(Box<Tage>),
}

macro_rules! each {
    ($self:expr, $p:ident => $e:expr) => {
        match $self {
            Direction::Local($p) => $e,
            Direction::Tournament($p) => $e,
            Direction::BiMode($p) => $e,
            Direction::Gshare($p) => $e,
            Direction::PathHistory($p) => $e,
            Direction::Tage($p) => $e,
        }
    };
}

impl Clone for Direction {
    fn clone(&self) -> Self {
        match self {
            Direction::Local(p) => Direction::Local(p.clone()),
            Direction::Tournament(p) => Direction::Tournament(p.clone()),
            Direction::BiMode(p) => Direction::BiMode(p.clone()),
            Direction::Gshare(p) => Direction::Gshare(p.clone()),
            Direction::PathHistory(p) => Direction::PathHistory(p.clone()),
            Direction::Tage(p) => Direction::Tage(p.clone()),
        }
    }
    fn clone_from(&mut self, from: &Self) {
        match (self, from) {
            (Direction::Local(to), Direction::Local(from)) => to.clone_from(from),
            (Direction::Tournament(to), Direction::Tournament(from)) => to.clone_from(from),
            (Direction::BiMode(to), Direction::BiMode(from)) => to.clone_from(from),
            (Direction::Gshare(to), Direction::Gshare(from)) => to.clone_from(from),
            (Direction::PathHistory(to), Direction::PathHistory(from)) => to.as_mut().clone_from(from),
            (Direction::Tage(to), Direction::Tage(from)) => to.clone_from(from),
            (to, from) => *to = from.clone(),
        }
    }
}

impl Direction {
    /// # Errors
    /// A table size or counter width that cannot be built, named below `path`.
    pub fn new(params: &DirectionParams, shared: &SharedParams, path: &str) -> Result<Self, ConfigError> {
        let shift = shared.inst_shift_amt;
        Ok(match params {
            DirectionParams::Local(p) => Direction::Local(LocalBp::new(p, shift, path)?),
            DirectionParams::Tournament(p) => Direction::Tournament(TournamentBp::new(p, shift, path)?),
            DirectionParams::BiMode(p) => Direction::BiMode(BiModeBp::new(p, shift, path)?),
            DirectionParams::Gshare(p) => Direction::Gshare(GshareBp::new(p, shift, path)?),
            DirectionParams::PathHistory(p) => Direction::PathHistory(Box::new(PathHistoryBp::new(p, shift, path)?)),
            DirectionParams::Tage(p) => Direction::Tage(Box::new(Tage::new(p, &format!("{path}.tage"), None)?)),
            DirectionParams::Ltage(p) => {
                let loops = (&p.loop_predictor, shift, &*format!("{path}.loop_predictor"));
                Direction::Tage(Box::new(Tage::new(&p.tage, &format!("{path}.tage"), Some(loops))?))
            }
        })
    }

    /// Predicts a conditional branch; changes nothing that predictions depend on.
    #[inline]
    #[must_use]
    pub fn lookup(&mut self, pc: u64) -> DirectionRecord {
        each!(self, p => p.lookup(pc))
    }

    /// The record of an unconditional branch.
    #[inline]
    #[must_use]
    pub fn unconditional(&self) -> DirectionRecord {
        let global = each!(self, p => p.history());
        DirectionRecord {
            global,
            uncond: true,
            local_taken: true,
            global_taken: true,
            chosen: true,
            predicted: true,
            ..DirectionRecord::default()
        }
    }

    /// Speculatively shifts the final predicted direction into the histories.
    #[inline]
    pub fn update_histories(&mut self, pc: u64, taken: bool, r: &DirectionRecord) {
        each!(self, p => p.push_history(pc, taken, r));
    }

    /// The branch was mispredicted, everything younger has been squashed: histories become what they would have been.
    #[inline]
    pub fn correct(&mut self, pc: u64, taken: bool, r: &DirectionRecord) {
        each!(self, p => { p.restore(pc, r); p.push_history(pc, taken, r) });
    }

    /// The branch was on a wrong path: histories as before its prediction.
    #[inline]
    pub fn squash(&mut self, pc: u64, r: &DirectionRecord) {
        each!(self, p => p.restore(pc, r));
    }

    /// The branch commits: the tables learn.
    #[inline]
    pub fn update(&mut self, pc: u64, taken: bool, r: &DirectionRecord) {
        each!(self, p => p.train(pc, taken, r));
    }

    /// Whether tables and histories are the same; never of TAGE, which draws a number for each branch.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Direction::Local(a), Direction::Local(b)) => a == b,
            (Direction::Tournament(a), Direction::Tournament(b)) => a == b,
            (Direction::BiMode(a), Direction::BiMode(b)) => a == b,
            (Direction::Gshare(a), Direction::Gshare(b)) => a == b,
            _ => false,
        }
    }

    /// Visits the statistics of the predictors that have some of their own.
    pub fn stats(&self, s: &mut StatSink) {
        if let Direction::Tage(t) = self {
            t.stats(s);
        }
    }

    pub fn reset_stats(&mut self) {
        if let Direction::Tage(t) = self {
            t.reset_stats();
        }
    }
}
