//! The unit that joins the predictors.
//! Fact source: gem5 24.0 `src/cpu/pred/bpred_unit.cc`: the BTB is looked up for every branch; the return stack, then the
//! indirect predictor override it; a branch without a target is predicted not taken, whatever its direction; the BTB
//! learns the target of a taken branch when its misprediction is found out, unless the indirect predictor has it.

mod steady;

use std::collections::VecDeque;

use super::btb::SimpleBtb;
use super::direction::{Direction, DirectionRecord};
use super::indirect::{IndirectRecord, SimpleIndirectPredictor};
use super::ras::{RasRecord, ReturnAddrStack};
use super::{check_shift, BranchPredictorParams};
use breakeven_base::{BranchKind, ConfigError, StatSink, Unit};
use educe::Educe;

/// Predictions in flight: far more than a pipeline holds. On Minor, as in gem5, those behind an instruction after which
/// fetch starts anew stay until a later branch commits, and a guest need not have one.
const MOST_IN_FLIGHT: usize = 1 << 16;

/// What fetch goes on with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prediction {
    pub taken: bool,
    /// The predicted next program counter: the target, or the fall-through.
    pub target: u64,
    pub provider: TargetProvider,
}

/// Who gave the target (gem5's `TargetProvider`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum TargetProvider {
    #[default]
    NoTarget,
    Btb,
    Ras,
    Indirect,
}

impl TargetProvider {
    const NAMES: [&'static str; 4] = ["NoTarget", "BTB", "RAS", "Indirect"];
}

/// gem5's `BranchType`, in its order; the names of the vectors' elements.
const TYPE_NAMES: [&str; 9] = [
    "NoBranch",
    "Return",
    "CallDirect",
    "CallIndirect",
    "DirectCond",
    "DirectUncond",
    "IndirectCond",
    "IndirectUncond",
    "total",
];
const TYPES: usize = 8;

/// By [`BranchKind`]; counting a branch must not branch.
const BRANCH_TYPES: [u8; TYPES] = {
    let mut types = [0; TYPES];
    types[BranchKind::Return as usize] = 1;
    types[BranchKind::Call as usize] = 2;
    types[BranchKind::IndirectCall as usize] = 3;
    types[BranchKind::Cond as usize] = 4;
    types[BranchKind::Jump as usize] = 5;
    types[BranchKind::Indirect as usize] = 7;
    types
};

#[inline]
fn branch_type(kind: BranchKind) -> usize {
    usize::from(BRANCH_TYPES[kind as usize % TYPES]) % TYPES
}

/// One branch in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Record {
    seq: u64,
    pc: u64,
    target: u64,
    direction: DirectionRecord,
    ras: RasRecord,
    indirect: IndirectRecord,
    kind: BranchKind,
    provider: TargetProvider,
    len: u8,
    btb_hit: bool,
    taken: bool,
    mispredicted: bool,
}

/// By gem5's type of branch.
#[derive(Clone, Copy, Debug, Default)]
struct ByType {
    lookups: [u64; TYPES],
    squashes: [u64; TYPES],
    corrected: [u64; TYPES],
    early_resteers: [u64; TYPES],
    committed: [u64; TYPES],
    mispredicted: [u64; TYPES],
}

/// Of conditional branches; `incorrect` counts every kind, as gem5's does.
#[derive(Clone, Copy, Debug, Default)]
struct CondCounts {
    predicted: u64,
    predicted_taken: u64,
    incorrect: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct BtbCounts {
    lookups: u64,
    updates: u64,
    hits: u64,
    mispredicted: u64,
    /// Predicted taken and not in the BTB.
    taken_misses: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct IndirectCounts {
    lookups: u64,
    hits: u64,
    misses: u64,
    mispredicted: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    by_type: ByType,
    target_provider: [u64; 4],
    target_wrong: [u64; 4],
    cond: CondCounts,
    btb: BtbCounts,
    indirect: IndirectCounts,
    incorrect: u64,
    not_taken_mispredicted: u64,
    taken_mispredicted: u64,
}

/// A branch prediction unit; see the module's text for the protocol.
#[derive(Debug, Educe)]
#[educe(Clone)]
pub struct BranchPredictor {
    direction: Direction,
    btb: SimpleBtb,
    ras: Option<ReturnAddrStack>,
    indirect: Option<SimpleIndirectPredictor>,
    requires_btb_hit: bool,
    in_flight: VecDeque<Record>,
    counts: Counts,
}

impl BranchPredictor {
    /// The predictor of the core at `core_path`, which cannot do without; `errors` are those of the core so far.
    ///
    /// # Errors
    /// These and the predictor's.
    pub fn of_core(
        params: Option<&BranchPredictorParams>,
        core_path: &str,
        mut errors: Vec<ConfigError>,
    ) -> Result<Self, Vec<ConfigError>> {
        let path = format!("{core_path}.branchPred");
        let built = match params {
            Some(p) => BranchPredictor::new(p, &path),
            None => Err(ConfigError::new(
                path,
                "is Null; this core predicts branches: give it a predictor, e.g. TournamentBP()",
            )),
        };
        match built {
            Ok(predictor) if errors.is_empty() => Ok(predictor),
            built => {
                errors.extend(built.err());
                Err(errors)
            }
        }
    }

    /// `path` is the predictor's in the description; errors name what lies below it.
    ///
    /// # Errors
    /// A table that cannot be built.
    pub fn new(p: &BranchPredictorParams, path: &str) -> Result<Self, ConfigError> {
        check_shift(path, p.shared.inst_shift_amt)?;
        Ok(BranchPredictor {
            direction: Direction::new(&p.direction, &p.shared, path)?,
            btb: SimpleBtb::new(&p.btb, &format!("{path}.btb"))?,
            ras: p.ras.as_ref().map(|r| ReturnAddrStack::new(r, &format!("{path}.ras"))).transpose()?,
            indirect: match &p.indirect {
                Some(i) => Some(SimpleIndirectPredictor::new(i, &format!("{path}.indirectBranchPred"))?),
                None => None,
            },
            requires_btb_hit: p.shared.requires_btb_hit,
            in_flight: VecDeque::with_capacity(64),
            counts: Counts::default(),
        })
    }

    /// Predicts the branch of `kind` and `len` bytes at `pc`. `seq` is above that of every branch in flight.
    pub fn predict(&mut self, seq: u64, pc: u64, len: u8, kind: BranchKind) -> Prediction {
        debug_assert!(self.in_flight.back().is_none_or(|r| r.seq < seq), "sequence numbers rise");
        self.counts.by_type.lookups[branch_type(kind)] += 1;
        let conditional = kind == BranchKind::Cond;
        let direction = if conditional { self.direction.lookup(pc) } else { self.direction.unconditional() };
        if conditional {
            self.counts.cond.predicted += 1;
            self.counts.cond.predicted_taken += u64::from(direction.predicted);
        }

        let mut target = None;
        let mut provider = TargetProvider::NoTarget;
        self.counts.btb.lookups += 1;
        let btb = self.btb.lookup(pc);
        self.counts.btb.hits += u64::from(btb.is_some());
        if btb.is_some() && direction.predicted {
            target = btb;
            provider = TargetProvider::Btb;
        }
        let fall_through = pc.wrapping_add(u64::from(len));
        let mut ras = RasRecord::None;
        if btb.is_some() || !self.requires_btb_hit {
            let (from_ras, record) = self.ask_ras(kind, fall_through);
            ras = record;
            if from_ras.is_some() {
                target = from_ras;
                provider = TargetProvider::Ras;
            }
            let from_indirect = self.ask_indirect(kind, pc);
            if from_indirect.is_some() {
                target = from_indirect;
                provider = TargetProvider::Indirect;
            }
        }
        self.counts.target_provider[provider as usize] += 1;

        let taken = target.is_some();
        let target = target.unwrap_or(fall_through);
        self.direction.update_histories(pc, taken, &direction);
        let indirect = match &mut self.indirect {
            Some(i) => i.record(is_indirect(kind), taken, target),
            None => IndirectRecord::default(),
        };
        if self.in_flight.len() == MOST_IN_FLIGHT {
            self.commit_oldest();
        }
        self.in_flight.push_back(Record {
            seq,
            pc,
            target,
            direction,
            ras,
            indirect,
            kind,
            provider,
            len,
            btb_hit: btb.is_some(),
            taken,
            mispredicted: false,
        });
        Prediction { taken, target, provider }
    }

    fn ask_ras(&mut self, kind: BranchKind, return_addr: u64) -> (Option<u64>, RasRecord) {
        match (&mut self.ras, kind) {
            (Some(ras), BranchKind::Call | BranchKind::IndirectCall) => (None, ras.push(return_addr)),
            (Some(ras), BranchKind::Return) => ras.pop(),
            _ => (None, RasRecord::None),
        }
    }

    fn ask_indirect(&mut self, kind: BranchKind, pc: u64) -> Option<u64> {
        let predictor = self.indirect.as_mut().filter(|_| is_indirect(kind))?;
        let target = predictor.lookup(pc);
        self.counts.indirect.lookups += 1;
        if target.is_some() {
            self.counts.indirect.hits += 1;
        } else {
            self.counts.indirect.misses += 1;
        }
        target
    }

    /// Everything up to and including `done_seq` has committed.
    pub fn update(&mut self, done_seq: u64) {
        while self.in_flight.front().is_some_and(|r| r.seq <= done_seq) {
            self.commit_oldest();
        }
    }

    /// Not inlined: most updates commit one branch or none, and the loop would read the tables' places beforehand.
    #[inline(never)]
    fn commit_oldest(&mut self) {
        let Some(r) = self.in_flight.front() else { return };
        let t = branch_type(r.kind);
        self.counts.by_type.committed[t] += 1;
        self.counts.by_type.mispredicted[t] += u64::from(r.mispredicted);
        self.direction.update(r.pc, r.taken, &r.direction);
        if let Some(ras) = &mut self.ras {
            ras.commit(r.ras, r.mispredicted);
        }
        self.in_flight.pop_front();
    }

    /// All branches in flight have numbers that are so much higher.
    #[cfg(test)]
    pub fn shift(&mut self, by: u64) {
        self.in_flight.iter_mut().for_each(|r| r.seq += by);
    }

    /// Everything younger than `seq` never was: histories, stack and path as before those predictions.
    pub fn squash(&mut self, seq: u64) {
        while let Some(r) = self.in_flight.back().copied().filter(|r| r.seq > seq) {
            self.in_flight.pop_back();
            self.counts.by_type.squashes[branch_type(r.kind)] += 1;
            if let Some(ras) = &mut self.ras {
                ras.squash(r.ras);
            }
            if let Some(i) = &mut self.indirect {
                i.squash(&r.indirect);
            }
            self.direction.squash(r.pc, &r.direction);
        }
    }

    /// The branch `seq` was mispredicted: it goes to `target` (`taken`) or falls through to it. Squashes what is younger.
    /// `from_commit` is false when an earlier stage than execute finds it (gem5's early resteer).
    pub fn correct(&mut self, seq: u64, target: u64, taken: bool, from_commit: bool) {
        self.counts.cond.incorrect += 1;
        self.squash(seq);
        let Some(r) = self.in_flight.back_mut() else { return };
        let t = branch_type(r.kind);
        let c = &mut self.counts;
        c.by_type.corrected[t] += 1;
        c.target_wrong[r.provider as usize] += u64::from(r.target != target);
        c.incorrect += 1;
        c.by_type.early_resteers[t] += u64::from(!from_commit);
        c.indirect.mispredicted += u64::from(is_indirect(r.kind));
        if taken {
            c.not_taken_mispredicted += 1;
        } else {
            c.taken_mispredicted += 1;
        }
        r.mispredicted = true;
        r.taken = taken;
        r.target = target;
        self.direction.correct(r.pc, taken, &r.direction);
        if let Some(i) = &mut self.indirect {
            r.indirect = i.correct(r.pc, &r.indirect, taken, target);
        }
        if let Some(ras) = &mut self.ras {
            // Only where the BTB hid the branch was the stack not asked.
            match (r.kind, r.ras) {
                (BranchKind::Call | BranchKind::IndirectCall, RasRecord::None) => {
                    r.ras = ras.push(r.pc.wrapping_add(u64::from(r.len)));
                }
                (BranchKind::Return, RasRecord::None) => r.ras = ras.pop().1,
                _ => {}
            }
        }
        // Not when it commits, as later versions do: the mispredictions measured on Minor, where the loop's branch shares
        // its entry with the return behind it, come out only so.
        if taken && (self.requires_btb_hit || self.indirect.is_none() || !is_indirect(r.kind)) {
            c.btb.updates += 1;
            self.btb.update(r.pc, target);
        }
        if taken && !r.btb_hit {
            c.btb.mispredicted += 1;
            c.btb.taken_misses += u64::from(r.direction.predicted);
            self.btb.count_mispredict();
        }
    }

    /// Branches predicted and neither committed nor squashed.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.in_flight.len()
    }

    /// Conditional branches predicted so far (gem5 `condPredicted`).
    #[must_use]
    pub fn cond_predicted(&self) -> u64 {
        self.counts.cond.predicted
    }

    /// Mispredictions found so far (gem5 `condIncorrect`, which counts every kind).
    #[must_use]
    pub fn cond_incorrect(&self) -> u64 {
        self.counts.cond.incorrect
    }

    /// Visits gem5's statistics.
    pub fn stats(&self, s: &mut StatSink) {
        let c = &self.counts;
        by_type(s, "lookups_0", &c.by_type.lookups, "Number of BP lookups");
        by_type(s, "squashes_0", &c.by_type.squashes, "Number of branches squashed as an earlier one was mispredicted");
        by_type(s, "corrected_0", &c.by_type.corrected, "Number of branches corrected but not yet committed");
        by_type(s, "earlyResteers_0", &c.by_type.early_resteers, "Number of branches corrected before commit");
        by_type(s, "committed_0", &c.by_type.committed, "Number of branches finally committed");
        by_type(s, "mispredicted_0", &c.by_type.mispredicted, "Number of committed branches that were mispredicted");
        for (i, name) in TargetProvider::NAMES.iter().enumerate() {
            let what = "Number of targets each provider provided";
            s.count(&format!("targetProvider_0::{name}"), c.target_provider[i], Unit::Count, what);
            let what = "Number of times the provider's target was wrong";
            s.count(&format!("targetWrong_0::{name}"), c.target_wrong[i], Unit::Count, what);
        }
        let lookups = c.by_type.lookups.iter().sum();
        let ratio = if c.btb.lookups == 0 { f64::NAN } else { c.btb.hits as f64 / c.btb.lookups as f64 };
        for (name, value, desc) in [
            ("lookups", lookups, "Number of BP lookups"),
            ("condPredicted", c.cond.predicted, "Number of conditional branches predicted"),
            ("condPredictedTaken", c.cond.predicted_taken, "Number of conditional branches predicted as taken"),
            ("condIncorrect", c.cond.incorrect, "Number of branches incorrect, of any kind"),
            ("incorrect", c.incorrect, "Number of branches incorrect"),
            ("BTBLookups", c.btb.lookups, "Number of BTB lookups"),
            ("BTBUpdates", c.btb.updates, "Number of BTB updates"),
            ("BTBHits", c.btb.hits, "Number of BTB hits"),
            ("BTBMispredicted", c.btb.mispredicted, "Number of mispredictions for want of a BTB entry"),
            ("predTakenBTBMiss", c.btb.taken_misses, "Number of branches predicted taken but missed in the BTB"),
            ("NotTakenMispredicted", c.not_taken_mispredicted, "Number of mispredicted branches that were taken"),
            ("TakenMispredicted", c.taken_mispredicted, "Number of mispredicted branches that were not taken"),
            ("indirectLookups", c.indirect.lookups, "Number of indirect predictor lookups"),
            ("indirectHits", c.indirect.hits, "Number of indirect target hits"),
            ("indirectMisses", c.indirect.misses, "Number of indirect misses"),
            ("indirectMispredicted", c.indirect.mispredicted, "Number of mispredicted indirect branches"),
        ] {
            s.count(name, value, Unit::Count, desc);
        }
        s.real("BTBHitRatio", ratio, Unit::Ratio, "BTB hits per lookup");
        if let Some(ras) = &self.ras {
            s.count("RASUsed", ras.used(), Unit::Count, "Number of times the RAS was used to get a target");
            s.count("RASIncorrect", ras.incorrect(), Unit::Count, "Number of incorrect RAS predictions");
            s.scope("ras", |s| ras.stats(s));
        }
        self.direction.stats(s);
        s.scope("btb", |s| self.btb.stats(s));
        if let Some(i) = &self.indirect {
            s.scope("indirectBranchPred", |s| i.stats(s));
        }
    }

    pub fn reset_stats(&mut self) {
        self.counts = Counts::default();
        self.direction.reset_stats();
        self.btb.reset_stats();
        if let Some(ras) = &mut self.ras {
            ras.reset_stats();
        }
        if let Some(i) = &mut self.indirect {
            i.reset_stats();
        }
    }
}

/// Through a register and no return: what the indirect predictor is for.
fn is_indirect(kind: BranchKind) -> bool {
    matches!(kind, BranchKind::Indirect | BranchKind::IndirectCall)
}

fn by_type(s: &mut StatSink, name: &str, counts: &[u64; TYPES], desc: &'static str) {
    let total = counts.iter().sum();
    for (t, value) in TYPE_NAMES.iter().zip(counts.iter().chain([&total])) {
        s.count(&format!("{name}::{t}"), *value, Unit::Count, desc);
    }
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
