//! What has been recorded: states, and the segments that lead from one to the next, as a tree of calls a state.

use std::collections::HashMap;

use breakeven_base::{Step, StepResult};

use super::archive::{Reference, Written, NUMBERS};
use super::boundary::Boundary;
use super::calls::{Call, Executed, RecordedReference};

pub const NONE: u32 = u32::MAX;

/// Bytes that the table may take; beyond, all is forgotten.
const LIMIT: usize = 48 << 20;
/// Bytes that an idle machine may keep between two runs.
const IDLE_LIMIT: usize = 1 << 20;

/// A state of the pipeline, where segments begin.
#[derive(Clone, Debug)]
pub struct Configuration {
    pub bytes: Box<[u8]>,
    /// The references in flight, with where they went when the state was recorded.
    pub references: Box<[Reference]>,
    pub asid: u16,
    /// Which store sets there are ([`Table::sets`]).
    pub sets: u32,
    /// Where it was last met.
    pub boundary: Boundary,
    /// The first call of its segments.
    pub first: u32,
    /// Another of the same bytes, whose references overlap otherwise.
    pub next: u32,
    /// Recordings from here that could not be kept.
    pub discarded: u32,
    /// Segments that were begun from here, and those that ended as recorded.
    pub begun: u32,
    pub ended: u32,
    /// How often they have been passed by since they have not paid.
    passed: u32,
}

/// Segments that do not pay are tried again after so many times.
const PASSES: u32 = 32;

/// What a segment comes to.
#[derive(Clone, Debug, Default)]
pub struct Segment {
    /// The state that follows.
    pub next: u32,
    pub seqs: u64,
    pub cycles: u64,
    pub insts: u64,
    /// By how much [`Base::numbers`](super::archive::Base) have grown; a squash takes places back.
    pub numbers: [u64; NUMBERS],
    /// By how much each count grows that does.
    pub counts: Box<[(u16, u32)]>,
    /// How often it has been replayed since the counts were brought up to date.
    pub replayed: u64,
    /// When it was last replayed ([`super::steady`]).
    pub seen: u64,
    /// The period of the steady state that it was last part of, in segments; 0: of none.
    pub steady_period: u32,
}

impl Configuration {
    /// Whether segments from here do not pay: replays of them mostly diverge. Now and then they are tried again, for a
    /// predictor that still learns makes segments diverge that later do not.
    pub fn is_unprofitable(&mut self) -> bool {
        let so = self.begun >= 8 && self.ended < self.begun / 2;
        self.passed += u32::from(so);
        if self.passed == PASSES {
            (self.begun, self.ended, self.passed) = (0, 0, 0);
        }
        so
    }

    /// Whether another segment from here is not worth recording: those before could not be kept.
    pub fn is_unrecordable(&self) -> bool {
        self.discarded >= 2
    }
}

/// The instructions of segments, each once, found by their PCs.
#[derive(Clone, Debug, Default)]
pub struct Instructions {
    known: Vec<Executed>,
    /// The last one of each bucket, and of each instruction the one before it in its bucket.
    last: Box<[u32]>,
    before: Vec<u32>,
}

/// Buckets of [`Instructions`]: a routine and the harness have some thousands.
const BUCKETS: u32 = 1 << 12;

impl Instructions {
    #[inline]
    pub fn get(&self, number: u32) -> &Executed {
        &self.known[number as usize]
    }

    /// Whether `number` is what has just been executed.
    #[inline]
    pub fn is(&mut self, number: u32, result: StepResult, step: &Step) -> bool {
        let known = &mut self.known[number as usize];
        let same = known.is(result, step);
        if same {
            known.decoded = step.decoded;
        }
        same
    }

    /// The number of what has just been executed; `None`: no segment holds such a step.
    pub fn number_of(&mut self, result: StepResult, step: &Step) -> Option<u32> {
        if self.last.is_empty() {
            self.last = vec![NONE; BUCKETS as usize].into_boxed_slice();
        }
        // The high bits of the product depend on all of the PC's.
        let bucket = (mix(0, step.pc) >> (u64::BITS - BUCKETS.trailing_zeros())) as usize;
        let mut number = self.last[bucket];
        while let Some(known) = self.known.get(number as usize) {
            if known.is(result, step) {
                return Some(number);
            }
            number = self.before[number as usize];
        }
        let what = Executed::of(result, step)?;
        self.before.push(std::mem::replace(&mut self.last[bucket], self.known.len() as u32));
        self.known.push(what);
        Some(self.known.len() as u32 - 1)
    }

    /// Bytes that they take.
    fn size(&self) -> usize {
        self.known.len() * (size_of::<Executed>() + 4) + size_of_val(&*self.last)
    }
}

#[derive(Clone, Debug, Default)]
pub struct Table {
    pub configurations: Vec<Configuration>,
    by_hash: HashMap<u64, u32>,
    pub calls: Vec<Call>,
    /// Of each call, another that differs in its answer.
    pub alternatives: Vec<u32>,
    /// Of the first call of each recording: where the references on the way to it went then.
    pub earlier_references: HashMap<u32, Box<[u64]>>,
    pub segments: Vec<Segment>,
    pub places: Vec<RecordedReference>,
    pub instructions: Instructions,
    /// Of wrong paths, not executed.
    pub predecoded: Instructions,
    sets: Vec<Box<[u32]>>,
    bytes: usize,
}

fn mix(hash: u64, word: u64) -> u64 {
    (hash.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95)
}

pub fn hash_of(bytes: &[u8], asid: u16, sets: u32) -> u64 {
    let mut rest = bytes;
    let mut hash = mix(bytes.len() as u64, u64::from(asid) << 32 | u64::from(sets));
    while let Some((word, others)) = rest.split_first_chunk() {
        hash = mix(hash, u64::from_le_bytes(*word));
        rest = others;
    }
    for byte in rest {
        hash = mix(hash, u64::from(*byte));
    }
    hash ^ hash >> 32
}

impl Table {
    /// The table has grown over its limit.
    pub fn is_full(&self) -> bool {
        self.size() > LIMIT
    }

    /// Bytes that it takes.
    fn size(&self) -> usize {
        let calls = self.calls.len() * (size_of::<Call>() + 4) + self.places.len() * size_of::<RecordedReference>();
        self.bytes + calls + self.instructions.size() + self.predecoded.size()
    }

    /// Forgets all if it has grown beyond what an idle machine may keep: a study has hundreds of them.
    pub fn trim(&mut self) {
        if self.size() > IDLE_LIMIT {
            self.clear();
        }
    }

    pub fn clear(&mut self) {
        *self = Table::default();
    }

    /// The number of these store sets in the table.
    pub fn sets(&mut self, sets: &[u32]) -> u32 {
        let known = self.sets.iter().rposition(|s| **s == *sets);
        known.unwrap_or_else(|| {
            self.bytes += size_of_val(sets);
            self.sets.push(sets.into());
            self.sets.len() - 1
        }) as u32
    }

    /// The first state of these bytes.
    pub fn find(&self, hash: u64, bytes: &[u8], asid: u16, sets: u32) -> u32 {
        let configuration = self.by_hash.get(&hash).copied().unwrap_or(NONE);
        match self.configurations.get(configuration as usize) {
            Some(n) if *n.bytes == *bytes && n.asid == asid && n.sets == sets => configuration,
            _ => NONE,
        }
    }

    /// Enters a state. `first`: the first of the same bytes, if there is one.
    pub fn insert(&mut self, hash: u64, state: &Written, asid: u16, sets: u32, first: u32) -> u32 {
        let (bytes, references) = (state.bytes(), &*state.references);
        self.bytes += bytes.len() + size_of_val(references) + size_of::<Configuration>() + 16;
        let configuration = self.configurations.len() as u32;
        let mut next = NONE;
        if let Some(known) = self.configurations.get_mut(first as usize) {
            next = std::mem::replace(&mut known.next, configuration);
        } else {
            self.by_hash.insert(hash, configuration);
        }
        let (bytes, references) = (bytes.into(), references.into());
        self.configurations.push(Configuration {
            bytes,
            references,
            asid,
            sets,
            boundary: Boundary::Stream,
            first: NONE,
            next,
            discarded: 0,
            begun: 0,
            ended: 0,
            passed: 0,
        });
        configuration
    }

    /// Adds a call; its number.
    pub fn push(&mut self, call: Call) -> u32 {
        self.calls.push(call);
        self.alternatives.push(NONE);
        self.calls.len() as u32 - 1
    }

    /// Takes back what has been recorded from `calls` on.
    pub fn truncate(&mut self, calls: u32, places: usize) {
        self.earlier_references.remove(&calls);
        self.calls.truncate(calls as usize);
        self.alternatives.truncate(calls as usize);
        self.places.truncate(places);
    }

    /// A recording begins, behind references that went to `way`.
    pub fn begin(&mut self, way: Box<[u64]>) {
        self.bytes += size_of_val(&*way) + 48;
        self.earlier_references.insert(self.calls.len() as u32, way);
    }

    pub fn add_segment(&mut self, segment: Segment) -> u32 {
        self.bytes += size_of::<Segment>() + size_of_val(&*segment.counts);
        self.segments.push(segment);
        self.segments.len() as u32 - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instruction_has_one_number_whatever_else_is_in_its_bucket() {
        let mut instructions = Instructions::default();
        let at = |pc: u64, next_pc: u64| Step { pc, next_pc, n: 1, len: 4, ..Step::default() };
        let steps: Vec<Step> = (0..3 * u64::from(BUCKETS)).map(|i| at(4 * i, 4 * i + 4)).collect();
        let numbers: Vec<_> = steps.iter().map(|s| instructions.number_of(StepResult::Done, s)).collect();
        assert!(numbers.iter().enumerate().all(|(i, n)| *n == Some(i as u32)));
        let again: Vec<_> = steps.iter().map(|s| instructions.number_of(StepResult::Done, s)).collect();
        assert_eq!(again, numbers);
        // A branch taken is another one than a branch not taken.
        let taken = instructions.number_of(StepResult::Done, &at(4, 64)).unwrap();
        assert_eq!((taken, instructions.get(taken).next_pc), (3 * BUCKETS, 64));
        assert_eq!(instructions.number_of(StepResult::Paused, &at(4, 4)), None);
    }

    #[test]
    fn an_idle_machine_keeps_little() {
        let mut table = Table::default();
        table.sets(&[1, 2]);
        table.trim();
        assert_eq!(table.sets.len(), 1, "what is small stays");
        table.sets(&vec![3; IDLE_LIMIT / size_of::<u32>()]);
        table.trim();
        assert_eq!((table.sets.len(), table.size()), (0, 0));
    }
}
