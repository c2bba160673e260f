//! Replay: makes the calls of one segment after the other. While the answers are the recorded ones, the pipeline does not run.

use super::calls::Call;
use super::make::Outcome;
use super::recorder::At;
use super::steady::Left;
use super::table::NONE;
use super::{Limits, Memo};
use crate::outside::{Outside, Repeats};

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
        if self.replayed.resumes {
            self.steady.resume();
        } else {
            self.steady.interrupt();
        }
        let calls = std::mem::take(&mut self.table.calls);
        let ended = self.replay_calls(&calls, cx, limits);
        self.table.calls = calls;
        ended
    }

    fn replay_calls<O: Outside>(&mut self, calls: &[Call], cx: &mut O, limits: &Limits) -> Ended {
        loop {
            let mut entry = self.recorder.configuration;
            let first = self.table.configurations[entry as usize].first;
            // A guest may make calls that take the host long in a loop that is replayed.
            let goes_on = limits.has_room(&self.recorder.base, self.insts) && !cx.slice_is_over();
            if first == NONE || !goes_on || !self.select_configuration(cx) {
                return Ended::AtConfiguration;
            }
            let configuration = self.recorder.configuration;
            let n = &mut self.table.configurations[configuration as usize];
            let first = n.first;
            if first == NONE || n.is_unprofitable() {
                return Ended::AtConfiguration;
            }
            self.recorder.answers.path.clear();
            let mut outcome = self.replay_segment(calls, first, first, cx);
            loop {
                let n = &mut self.table.configurations[self.recorder.configuration as usize];
                n.begun += 1;
                n.ended += u32::from(outcome.is_ok());
                let segment = match outcome {
                    Ok(segment) => segment,
                    Err(other) => return Ended::Within { other },
                };
                let configuration = self.recorder.configuration;
                self.completed(segment);
                if !self.completed_live(segment, (entry, configuration), calls, cx) {
                    break;
                }
                outcome = match self.replay_steady(calls, cx, limits) {
                    Left::Between => break,
                    Left::Within { from, at, outcome, entry: of } => {
                        entry = of;
                        self.resume(calls, (from, at), outcome, cx)
                    }
                };
            }
        }
    }

    /// `segment` has been replayed.
    pub(super) fn completed(&mut self, segment: u32) {
        let s = &mut self.table.segments[segment as usize];
        if s.replayed == 0 {
            self.replayed.due.push(segment);
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
    pub(super) fn applies_to(&mut self, other: u32) -> bool {
        self.groups.start(&self.rules, self.alias_bits);
        let Some(then) = self.table.earlier_references.get(&other) else { return false };
        then.len() == self.recorder.answers.references().count()
            && then
                .iter()
                .zip(self.recorder.answers.references())
                .all(|(then, now)| self.groups.add(*then, self.rules.place_of(now), now.size))
    }

    /// Makes the calls of a segment from `i` on, of the run from `from`. `Err`: the last call that was answered otherwise than
    /// recorded.
    fn replay_segment<O: Outside>(
        &mut self,
        calls: &[Call],
        mut from: u32,
        mut i: u32,
        cx: &mut O,
    ) -> Result<u32, u32> {
        let at = At { base: self.recorder.base, period: self.recorder.period };
        loop {
            if matches!(calls[i as usize], Call::Step { .. }) {
                let end = self.steps(|n| calls.get(i as usize + n), &at, cx);
                i += end.done as u32;
                if end.other {
                    from = self.alternative(calls, (from, i), &at, cx)?;
                    i = from + 1;
                    continue;
                }
            }
            match self.call(&calls[i as usize], &at, cx) {
                Outcome::Same => i += 1,
                Outcome::Over(segment) => {
                    self.recorder.answers.path.push((from, i));
                    return Ok(segment);
                }
                Outcome::Other => {
                    from = self.alternative(calls, (from, i), &at, cx)?;
                    i = from + 1;
                }
                Outcome::NotMade => self.steady.left_out = Repeats::default(),
            }
        }
    }

    /// Goes on with a segment that a steady state has ended in, at call `i` of the run from `from`.
    fn resume<O: Outside>(
        &mut self,
        calls: &[Call],
        (from, i): (u32, u32),
        outcome: Outcome,
        cx: &mut O,
    ) -> Result<u32, u32> {
        if !matches!(outcome, Outcome::Other) {
            return self.replay_segment(calls, from, i, cx);
        }
        let at = At { base: self.recorder.base, period: self.recorder.period };
        let other = self.alternative(calls, (from, i), &at, cx)?;
        self.replay_segment(calls, other, other + 1, cx)
    }

    /// Call `i` of the run from `from` has been answered otherwise: the call of another segment that was answered so.
    fn alternative<O: Outside>(
        &mut self,
        calls: &[Call],
        (from, i): (u32, u32),
        at: &At,
        cx: &mut O,
    ) -> Result<u32, u32> {
        let microcode = cx.in_microcode();
        let given = self.recorder.answers.given.take();
        self.recorder.answers.path.push((from, i));
        let mut other = i;
        loop {
            let next = self.table.alternatives[other as usize];
            if next == NONE {
                self.recorder.answers.given = given;
                return Err(other);
            }
            other = next;
            let call = &calls[other as usize];
            if !microcode
                && given.is_some_and(|given| self.is_answered(call, &given, at))
                && self.applies_to(other)
                && self.references_match(call, at)
            {
                return Ok(other);
            }
        }
    }
}
