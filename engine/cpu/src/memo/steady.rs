//! A loop's steady state: its segments repeat in a *period*, and after each period the branch predictor and the instruction side
//! (first-level cache and TLB) stand as before it. From then on their calls need not be made: their answers are known,
//! and what they count is multiplied ([`Outside::repeat`](crate::outside::Outside::repeat)). The front end executes, the data side
//! is asked, as in every replay.
//!
//! ```text
//!   segments ... | period | period | period | period ...        at the first other answer:
//!                                  ^        ^                   what was left out of whole periods is multiplied,
//!                           keep state   compare: from here on  that of the last, which is not whole, is made
//!                                        without their calls
//! ```
//!
//! A data access near the loop's code might change the instruction cache: the steady state ends before it.

use breakeven_base::{MemKind, PhysAddr, Tick};
use breakeven_memory::Request;

use super::archive::{AddressRules, Base};
use super::calls::Call;
use super::hits::Made;
use super::make::Outcome;
use super::parts::{is_near, Part};
use super::recorder::At;
use super::rounds::Rounds;
use super::table::NONE;
use super::{Limits, Memo};
use crate::outside::{Earlier, Outside, Repeats, Round};

/// Segments of a period, at most.
const LONGEST: u64 = 64;
const LAST: usize = LONGEST as usize + 1;
/// Segments that must have repeated before the state is kept; one period is enough at first where a segment has been in a steady
/// state before. Twice as many from one comparison to the next: a history may not yet be full of the loop.
const FEWEST: u64 = 4;
/// Behind so many, a predictor that still learns is not waited for any longer.
const PATIENT: u64 = 256;
/// Credit for comparisons, in replayed instructions (measured, `o3`): what one costs, what there is to begin with, and at most.
/// Half the instructions of a steady state are earned, and one of so many that are replayed with every call.
const COST: i64 = 96;
const BEGINNING: i64 = 8_192;
const MOST: i64 = 65_536;
const LIVE: u64 = 64;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Off,
    /// The state has been kept; so many segments are left of the period.
    Kept { left: u64 },
}

/// What is known of the segments just replayed.
#[derive(Debug, Default)]
pub(super) struct Steady {
    stage: Stage,
    /// Segments completed, and the last of them.
    completed: u64,
    last: Vec<u32>,
    /// Each of the last `run` segments is the one `period` before it.
    period: u64,
    run: u64,
    /// As many must have repeated before the next comparison.
    wanted: u64,
    /// What may be spent on comparisons, beyond the beginning.
    credit: i64,
    parts: Vec<Part>,
    earlier: Earlier,
    began: Base,
    /// Where the parts of the period under way began.
    pub bases: Vec<Base>,
    /// What is left out; the lines of the loop's code, in order, which data accesses must not come near; and what
    /// [`Outside::translations`] must say.
    pub left_out: Repeats,
    code: Vec<PhysAddr>,
    translations: Option<u64>,
    pub rounds: Rounds,
}

/// How a steady state ended.
pub(super) enum Left {
    /// Between two segments.
    Between,
    /// In a segment entered at `entry`, call `at` of the run from `from` has come out so.
    Within { from: u32, at: u32, outcome: Outcome, entry: u32 },
}

impl Steady {
    /// Other calls have been made in between.
    pub fn interrupt(&mut self) {
        (self.stage, self.period, self.run, self.wanted) = (Stage::Off, 0, 0, FEWEST);
    }

    /// The replay goes on after the end of a slice: what repeated still does, though the state may stand otherwise.
    pub fn resume(&mut self) {
        (self.stage, self.wanted) = (Stage::Off, FEWEST);
    }

    /// Whether `request` asks for the loop's code, or for what is no further than a line from it.
    #[inline]
    pub fn is_near_code(&self, request: &Request, line: u64) -> bool {
        self.left_out.inst_side
            && (request.kind == MemKind::PrefetchFetch
                || is_near(&self.code, request.paddr, u64::from(request.size), line))
    }

    /// `segment`, last seen `ago` segments before, has been completed. Whether the period goes on.
    fn note(&mut self, segment: u32, ago: u64) -> bool {
        let at = |n: u64| (n % LAST as u64) as usize;
        self.last.resize(LAST, NONE);
        let goes_on = (1..=LONGEST).contains(&self.period)
            && self.completed >= self.period
            && self.last[at(self.completed - self.period)] == segment;
        self.last[at(self.completed)] = segment;
        self.completed += 1;
        if goes_on {
            self.run += 1;
        } else {
            self.interrupt();
            self.period = ago;
        }
        goes_on
    }

    fn earn(&mut self, insts: i64) {
        self.credit = (self.credit + insts).min(MOST);
    }

    /// A steady state has saved as much as running so many `insts`.
    fn ended(&mut self, insts: i64) {
        self.earn(insts);
        self.left_out = Repeats::default();
    }

    /// Whether what is left out of translations is still right.
    #[inline]
    pub fn has_same_translations<O: Outside>(&self, cx: &mut O) -> bool {
        self.translations == cx.translations()
    }

    /// Puts together what the next round will use ([`Rounds::foresee`]).
    pub fn foresees_round(&mut self, rules: (&AddressRules, bool), asid: u16) -> bool {
        self.rounds.foresee(rules, asid, &self.code)
    }

    /// What is known of a loop's calls is void: they are numbered anew.
    pub fn forget(&mut self) {
        self.interrupt();
        self.parts.clear();
    }

    /// Leaves the parts of this period. What has been sorted out for a longer one is void.
    fn cut(&mut self) {
        if self.parts.len() as u64 > self.period {
            self.parts.truncate(self.period as usize);
            self.parts.iter_mut().for_each(|part| part.made.clear());
        }
    }

    /// Finds the lines of the loop's code.
    fn find_code(&mut self, calls: &[Call], line: u64) {
        let of_path = |path: &[(u32, u32)]| path.iter().flat_map(|(from, to)| *from..*to).collect::<Vec<u32>>();
        self.code.clear();
        for i in self.parts.iter().flat_map(|part| of_path(&part.path)) {
            if let Call::Fetch { paddr, size, .. } = calls[i as usize] {
                let last = paddr.wrapping_add(u64::from(size.max(1) - 1));
                self.code.extend([paddr, last].map(|at| at.align_down(line)));
            }
        }
        self.code.sort_unstable();
        self.code.dedup();
    }

    /// Sorts out which calls of the period are still made.
    fn leave_out(&mut self, calls: &[Call]) {
        let mut parts = std::mem::take(&mut self.parts);
        for part in &mut parts {
            let run = |&(from, to): &(u32, u32)| -> Vec<(u32, Call)> {
                (from..to).map(|i| (i, calls[i as usize])).filter(|(_, call)| !self.leaves_out(call)).collect()
            };
            part.made = part.path.iter().map(run).collect();
            part.left_out = self.left_out;
        }
        self.parts = parts;
    }

    fn leaves_out(&self, call: &Call) -> bool {
        match call {
            Call::Fetch { .. } | Call::InstTlb { .. } => self.left_out.inst_side,
            Call::FetchTranslate { .. } => self.left_out.translations,
            Call::Predict { .. } | Call::Train { .. } | Call::Correct { .. } | Call::SquashPredictions { .. } => {
                self.left_out.predictor
            }
            _ => false,
        }
    }
}

impl Memo {
    /// `segment` has been replayed with every call, from the configuration on that `entry` was found to be: whether the loop is
    /// in its steady state now.
    pub(super) fn completed_live<O: Outside>(
        &mut self,
        segment: u32,
        (entry, configuration): (u32, u32),
        calls: &[Call],
        cx: &mut O,
    ) -> bool {
        let steady = &mut self.steady;
        let known = &mut self.table.segments[segment as usize];
        let ago = steady.completed.wrapping_sub(std::mem::replace(&mut known.seen, steady.completed));
        steady.earn((known.insts / LIVE) as i64);
        let goes_on = steady.note(segment, ago);
        // A loop that comes again.
        let again = steady.wanted == FEWEST && u64::from(known.steady_period) == steady.period;
        if !goes_on && !again {
            return false;
        }
        match steady.stage {
            Stage::Off => {
                let least = if again { 0 } else { steady.wanted.max(2 * steady.period) };
                let is_due = steady.run >= least && steady.credit + BEGINNING >= COST;
                if steady.period <= LONGEST && is_due {
                    steady.wanted = 2 * steady.run.max(FEWEST);
                    steady.credit -= COST;
                    if cx.keep(&mut steady.earlier, Tick(self.recorder.base.tick)) {
                        steady.stage = Stage::Kept { left: steady.period };
                        steady.began = self.recorder.base;
                    }
                }
                false
            }
            Stage::Kept { left } => {
                let n = (steady.period - left) as usize;
                if steady.parts.get(n).is_none_or(|part| !part.is(segment, entry, configuration)) {
                    let path = self.recorder.answers.path.clone();
                    steady.parts.truncate(n);
                    steady.parts.push(Part { segment, entry, configuration, path, ..Part::default() });
                }
                steady.stage = Stage::Kept { left: left - 1 };
                left == 1 && self.is_steady(calls, cx)
            }
        }
    }

    fn round(&self) -> Round {
        let (began, now) = (&self.steady.began, &self.recorder.base);
        Round { end: Tick(now.tick), seqs: now.seq - began.seq, code: self.steady.code.clone() }
    }

    /// A period has passed since the state was kept.
    fn is_steady<O: Outside>(&mut self, calls: &[Call], cx: &mut O) -> bool {
        let steady = &mut self.steady;
        steady.stage = Stage::Off;
        steady.cut();
        if steady.parts.iter().any(|part| part.made.is_empty()) {
            steady.find_code(calls, self.rules.line);
        }
        let round = self.round();
        let steady = &mut self.steady;
        let repeats = cx.repeats(&steady.earlier, &round);
        let waits = !repeats.predictor && steady.earlier.has_predictor() && steady.run < PATIENT;
        if waits || !(repeats.predictor || repeats.inst_side) {
            return false;
        }
        steady.left_out = repeats;
        steady.translations = cx.translations();
        for part in &steady.parts {
            self.table.segments[part.segment as usize].steady_period = steady.period as u32;
        }
        let is_known = steady.parts.iter().all(|part| !part.made.is_empty() && part.left_out == repeats);
        if !is_known {
            steady.leave_out(calls);
        }
        let may_wait = |(_, call): &(u32, Call)| matches!(call, Call::Access { may_wait: true, .. });
        let waits = steady.parts.iter().any(|part| part.made.iter().flatten().any(may_wait));
        steady.rounds.restart();
        if repeats.inst_side && cx.counts_data_hits(waits) {
            let known = (&self.table, &self.references, &self.rules);
            // The one that the first of the run repeated, too.
            let periods = steady.run / steady.period + 1;
            steady.rounds.begin((&steady.parts, is_known), known, (periods, round.seqs, self.recorder.base.seq));
        } else {
            steady.rounds.forget();
        }
        true
    }

    /// Replays whole segments in the steady state, as long as it lasts.
    pub(super) fn replay_steady<O: Outside>(&mut self, calls: &[Call], cx: &mut O, limits: &Limits) -> Left {
        let limits = &limits.in_steady_state();
        let round = self.round();
        let parts = std::mem::take(&mut self.steady.parts);
        let (mut periods, mut n, insts) = (0, 0, self.insts);
        self.steady.bases.clear();
        let ended = loop {
            if n == parts.len() {
                (periods, n) = (periods + 1, 0);
                self.steady.bases.clear();
            }
            if let Some(len) = self.steady.rounds.begins_at(n, parts.len()) {
                match self.round_of_hits(&parts, n..n + len, cx, limits) {
                    Made::Whole => {
                        n += len;
                        continue;
                    }
                    Made::Until { part, ended } => {
                        n = part;
                        break ended;
                    }
                    Made::Not => {}
                }
            }
            let part = &parts[n];
            if !self.begins_at(part, cx, limits) {
                break None;
            }
            let at = At { base: self.recorder.base, period: self.recorder.period };
            self.recorder.answers.path.clear();
            let other = self.first_other(part, &at, cx);
            if other.is_some() {
                break other;
            }
            self.completed_steady(part);
            n += 1;
            let steady = &mut self.steady;
            steady.rounds.made_with_calls(n, &self.references, &self.rules, &steady.bases);
        };
        let left_out = self.steady.left_out;
        cx.repeat(&mut self.steady.earlier, &round, left_out, periods);
        for (part, base) in parts.iter().zip(std::mem::take(&mut self.steady.bases)) {
            self.make_up(calls, (&part.path, None), base, cx);
        }
        self.recorder.answers.path.clear();
        let left = match ended {
            None => Left::Between,
            Some((i, outcome)) => {
                let from = self.make_up(calls, (&parts[n].path, Some(i)), self.recorder.base, cx);
                Left::Within { from, at: i, outcome, entry: parts[n].entry }
            }
        };
        self.steady.ended((self.insts - insts) as i64 / 2);
        self.steady.parts = parts;
        left
    }

    pub(super) fn completed_steady(&mut self, part: &Part) {
        self.steady.bases.push(self.recorder.base);
        self.completed(part.segment);
        self.statistics.steady += 1;
        self.table.segments[part.segment as usize].seen = self.steady.completed;
        self.steady.note(part.segment, 0);
    }

    /// Makes the calls of `part`; the first that comes out otherwise, or must not be made in a steady state.
    fn first_other<O: Outside>(&mut self, part: &Part, at: &At, cx: &mut O) -> Option<(u32, Outcome)> {
        let mut before = None;
        for (run, &(from, to)) in part.made.iter().zip(&part.path) {
            if let Some(diverged) = before {
                // From here on places are those of another visit.
                let groups = self.groups.clone();
                if !self.applies_to(from) {
                    self.groups = groups;
                    return Some((diverged, Outcome::NotMade));
                }
            }
            let mut next = 0;
            while let Some((i, call)) = run.get(next) {
                if matches!(call, Call::Step { .. }) {
                    let end = self.steps(|n| run.get(next + n).map(|(_, call)| call), at, cx);
                    next += end.done;
                    if end.other {
                        return Some((run[next].0, Outcome::Other));
                    }
                    if end.done > 0 {
                        continue;
                    }
                }
                next += 1;
                let outcome = match call {
                    Call::Access { .. } => self.access(call, at, cx),
                    Call::DataTlb { .. } => self.data_tlb(call, at, cx),
                    _ => {
                        let outcome = self.call(call, at, cx);
                        // What has just been executed may have changed what translations say.
                        if matches!(outcome, Outcome::Same) && !self.steady.has_same_translations(cx) {
                            return Some((i + 1, Outcome::NotMade));
                        }
                        outcome
                    }
                };
                if !matches!(outcome, Outcome::Same) {
                    return Some((*i, outcome));
                }
            }
            before = Some(to);
        }
        None
    }

    /// Whether `part` may begin where the recorder stands.
    fn begins_at<O: Outside>(&mut self, part: &Part, cx: &mut O, limits: &Limits) -> bool {
        let begins = self.recorder.configuration == part.entry
            && self.table.configurations[part.configuration as usize].asid == cx.asid()
            && limits.has_room(&self.recorder.base, self.insts)
            && !cx.slice_is_over()
            && self.applies(part.configuration);
        if begins {
            self.recorder.configuration = part.configuration;
        }
        begins
    }

    /// Makes the calls that were left out of a segment that began at `base`, up to call `end`; the run that has that call.
    fn make_up<O: Outside>(
        &mut self,
        calls: &[Call],
        (path, end): (&[(u32, u32)], Option<u32>),
        base: Base,
        cx: &mut O,
    ) -> u32 {
        let at = At { base, period: self.recorder.period };
        for &(from, to) in path {
            let last = end.filter(|end| (from..=to).contains(end));
            for i in from..last.unwrap_or(to) {
                let call = &calls[i as usize];
                // A translation has no effect.
                let is_due = self.steady.leaves_out(call) && !matches!(call, Call::FetchTranslate { .. });
                if is_due && !matches!(self.call(call, &at, cx), Outcome::Same) {
                    self.recorder.report_mismatch("the same in a steady state", &format!("{call:?}"));
                }
            }
            if last.is_some() {
                return from;
            }
            self.recorder.answers.path.push((from, to));
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_sorted_out_for_a_longer_period_is_void() {
        let sorted = |segment| Part { segment, made: vec![Vec::new()], ..Part::default() };
        let mut steady = Steady { parts: vec![sorted(1), sorted(2), sorted(3)], period: 3, ..Steady::default() };
        steady.cut();
        assert!(steady.parts.len() == 3 && steady.parts.iter().all(|part| !part.made.is_empty()));
        // The first segment by itself.
        steady.period = 1;
        steady.cut();
        assert!(steady.parts.len() == 1 && steady.parts[0].made.is_empty());
    }
}
