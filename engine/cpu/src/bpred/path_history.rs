//! `PathHistoryBP` (ours; gem5 24.0 has none): the path of the last taken branches, told exactly, says where a branch goes.
//!
//! Processors since about 2013 choose among tables by ever longer histories, as [`super::tage`] does, and learn a call that is
//! repeated. TAGE's 7- to 9-bit tags let entries of one call evict one another for good. Here an entry is one context: 44 bits
//! of a hash of the branch and of the last `length` taken branches, so that two contexts do not meet. The longest context
//! that is known predicts. A misprediction enters the branch under every longer one, so that it is learned at once. No
//! random number is drawn.

use std::collections::VecDeque;
use std::fmt;

use super::counters::{table_size, CounterTable};
use super::direction::DirectionRecord;
use super::PathHistoryParams;
use breakeven_base::ConfigError;
use educe::Educe;

/// Tables, at most.
const TABLES: usize = 8;
/// Taken branches in the longest history, at most.
const LONGEST: u32 = 1 << 16;
/// A counter's range: three bits. Negative: not taken.
const COUNTER: (i8, i8) = (-4, 3);
/// Odd, with bits of both kinds everywhere.
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    /// 0: none.
    tag: u32,
    counter: i8,
}

/// Branches by one length of history.
#[derive(Debug, Educe)]
#[educe(Clone)]
struct Table {
    length: u64,
    /// The multiplier to the power of the length: by how much a branch has been multiplied when it leaves the history.
    leaving: u64,
    entries: Vec<Entry>,
}

impl Table {
    /// Where a branch is after the path of this hash, and its tag there.
    #[inline]
    fn place(&self, pc: u64, path: u64) -> (usize, u32) {
        let mut x = (path ^ pc.wrapping_mul(MULTIPLIER)).wrapping_mul(MULTIPLIER);
        x = (x ^ x >> 32).wrapping_mul(MULTIPLIER);
        (x as usize & (self.entries.len() - 1), (x >> 32) as u32 | 1)
    }

    #[inline]
    fn find(&self, pc: u64, path: u64) -> Option<i8> {
        let (at, tag) = self.place(pc, path);
        let entry = &self.entries[at];
        (entry.tag == tag).then_some(entry.counter)
    }
}

/// The taken branches so far: how many, and a hash of the last ones for each table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Path {
    hashes: [u64; TABLES],
    taken: u64,
}

#[derive(Educe)]
#[educe(Clone)]
pub struct PathHistoryBp {
    base: CounterTable,
    /// The shortest history first.
    tables: Vec<Table>,
    path: Path,
    /// Taken branches by their number, a power of two of them; 0 before the first.
    ring: Vec<u64>,
    /// The path before each branch in flight, the oldest first.
    in_flight: VecDeque<Path>,
    shift: u32,
}

impl PathHistoryBp {
    /// # Errors
    /// Sizes that are no powers of two, lengths that do not rise, none or more than eight of them.
    pub fn new(p: &PathHistoryParams, shift: u32, path: &str) -> Result<Self, ConfigError> {
        let wrong = |name: &str, what: String| Err(ConfigError::new(format!("{path}.{name}"), what));
        let lengths = &p.history_lengths;
        if lengths.is_empty() || lengths.len() > TABLES {
            return wrong("historyLengths", format!("{} lengths: 1 to {TABLES}", lengths.len()));
        }
        let rise = lengths.windows(2).all(|pair| pair[0] < pair[1]);
        if !rise || lengths.iter().any(|l| !(1..=LONGEST).contains(l)) {
            return wrong("historyLengths", format!("must rise from 1 at least to {LONGEST} at most"));
        }
        let size = table_size(path, "taggedTableSize", p.tagged_table_size)?;
        let tables = lengths.iter().map(|&length| Table {
            length: length.into(),
            leaving: MULTIPLIER.wrapping_pow(length),
            entries: vec![Entry::default(); size],
        });
        Ok(PathHistoryBp {
            base: CounterTable::new(path, "basePredictorSize", p.base_predictor_size, "basePredictorSize", 2)?,
            tables: tables.collect(),
            path: Path::default(),
            ring: vec![0; (lengths.last().map_or(0, |&l| l as usize) + 64).next_power_of_two()],
            in_flight: VecDeque::with_capacity(64),
            shift,
        })
    }

    /// All that a branch needs of the past is kept beside it here.
    pub(super) fn history(&self) -> u64 {
        0
    }

    /// The longest table that knows the branch after `path`, and its counter.
    #[inline]
    fn longest(&self, pc: u64, path: &Path) -> Option<(usize, i8)> {
        let known = |(i, table): (usize, &Table)| Some((i, table.find(pc, path.hashes[i])?));
        self.tables.iter().enumerate().rev().find_map(known)
    }

    #[inline]
    pub(super) fn lookup(&self, pc: u64) -> DirectionRecord {
        let longest = self.longest(pc, &self.path);
        let predicted = longest.map_or_else(|| self.base.taken(pc >> self.shift), |(_, counter)| counter >= 0);
        DirectionRecord { predicted, ..DirectionRecord::default() }
    }

    #[inline]
    pub(super) fn push_history(&mut self, pc: u64, taken: bool, _r: &DirectionRecord) {
        self.in_flight.push_back(self.path);
        if !taken {
            return;
        }
        let longest = self.tables.last().map_or(0, |t| t.length);
        // A wrong path must not overwrite what the histories before it still hold.
        if self.ring.len() as u64 <= longest + self.in_flight.len() as u64 {
            self.widen();
        }
        let Path { hashes, taken } = &mut self.path;
        let mask = self.ring.len() as u64 - 1;
        let branch = (pc >> self.shift) + 1;
        for (hash, table) in hashes.iter_mut().zip(&self.tables) {
            let gone = self.ring[(taken.wrapping_sub(table.length) & mask) as usize];
            let moved = hash.wrapping_mul(MULTIPLIER).wrapping_add(branch);
            *hash = moved.wrapping_sub(gone.wrapping_mul(table.leaving));
        }
        self.ring[(*taken & mask) as usize] = branch;
        *taken += 1;
    }

    /// Twice as much room for branches in flight.
    #[cold]
    fn widen(&mut self) {
        let old = std::mem::take(&mut self.ring);
        let (from, to) = (old.len() as u64 - 1, old.len() as u64 * 2 - 1);
        self.ring = vec![0; old.len() * 2];
        for number in self.path.taken.saturating_sub(old.len() as u64)..self.path.taken {
            self.ring[(number & to) as usize] = old[(number & from) as usize];
        }
    }

    /// The youngest branch in flight never entered.
    #[inline]
    pub(super) fn restore(&mut self, _pc: u64, _r: &DirectionRecord) {
        if let Some(before) = self.in_flight.pop_back() {
            self.path = before;
        }
    }

    /// The oldest branch in flight commits.
    pub(super) fn train(&mut self, pc: u64, taken: bool, r: &DirectionRecord) {
        let Some(before) = self.in_flight.pop_front() else { return };
        if r.uncond {
            return;
        }
        let longest = self.longest(pc, &before).map(|(i, _)| i);
        self.base.train(pc >> self.shift, taken);
        if let Some(i) = longest {
            let table = &mut self.tables[i];
            let (at, _) = table.place(pc, before.hashes[i]);
            let counter = &mut table.entries[at].counter;
            *counter = if taken { (*counter + 1).min(COUNTER.1) } else { (*counter - 1).max(COUNTER.0) };
        }
        if r.predicted != taken {
            let longer = longest.map_or(0, |i| i + 1);
            for (table, &path) in self.tables.iter_mut().zip(&before.hashes).skip(longer) {
                let (at, tag) = table.place(pc, path);
                table.entries[at] = Entry { tag, counter: if taken { 0 } else { -1 } };
            }
        }
    }
}

/// Only what predictions depend on: the ring holds leftovers of branches that were undone.
impl fmt::Debug for PathHistoryBp {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("PathHistoryBp")
            .field("base", &self.base)
            .field("tables", &self.tables)
            .field("path", &self.path)
            .field("in_flight", &self.in_flight)
            .finish_non_exhaustive()
    }
}
