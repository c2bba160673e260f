//! gem5's `ReturnAddrStack`: a circular stack of return addresses that wraps when calls nest deeper than it holds.
//! Fact source: gem5 24.0 `src/cpu/pred/ras.cc`. Undoing a pop writes its entry back; undoing a push only moves the top: where
//! the stack had wrapped, the oldest address stays lost, and its return will be mispredicted.

use super::RasParams;
use breakeven_base::{ConfigError, StatSink, Unit};
use educe::Educe;

/// What one branch did to the stack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RasRecord {
    #[default]
    None,
    Pushed,
    /// This entry.
    Popped {
        entry: u64,
    },
}

/// No address was ever pushed there. No instruction lies at the last byte of the address space.
const EMPTY: u64 = u64::MAX;

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    pushes: u64,
    pops: u64,
    squashes: u64,
    used: u64,
    correct: u64,
    incorrect: u64,
}

#[derive(Debug, Educe)]
#[educe(Clone, PartialEq)]
pub struct ReturnAddrStack {
    entries: Vec<u64>,
    top: usize,
    #[educe(PartialEq(ignore))]
    counts: Counts,
}

impl ReturnAddrStack {
    /// # Errors
    /// `numEntries` must be 1 to 65536.
    pub fn new(p: &RasParams, path: &str) -> Result<Self, ConfigError> {
        if !(1..=1 << 16).contains(&p.num_entries) {
            return Err(ConfigError::new(
                format!("{path}.numEntries"),
                format!("{} entries: must be 1 to 65536", p.num_entries),
            ));
        }
        Ok(ReturnAddrStack { entries: vec![EMPTY; p.num_entries as usize], top: 0, counts: Counts::default() })
    }

    #[inline]
    fn up(&mut self) {
        self.top = if self.top + 1 == self.entries.len() { 0 } else { self.top + 1 };
    }

    #[inline]
    fn down(&mut self) {
        self.top = if self.top == 0 { self.entries.len() - 1 } else { self.top - 1 };
    }

    #[inline]
    pub fn push(&mut self, return_addr: u64) -> RasRecord {
        self.up();
        self.counts.pushes += 1;
        self.entries[self.top] = return_addr;
        RasRecord::Pushed
    }

    /// The predicted return address; `None` where nothing was ever pushed.
    #[inline]
    pub fn pop(&mut self) -> (Option<u64>, RasRecord) {
        let entry = self.entries[self.top];
        self.down();
        self.counts.pops += 1;
        ((entry != EMPTY).then_some(entry), RasRecord::Popped { entry })
    }

    /// Undoes the youngest operation that has not been undone.
    pub fn squash(&mut self, r: RasRecord) {
        match r {
            RasRecord::None => return,
            RasRecord::Pushed => {
                self.down();
                self.counts.pops += 1;
            }
            RasRecord::Popped { entry } => {
                self.up();
                self.entries[self.top] = entry;
                self.counts.pushes += 1;
            }
        }
        self.counts.squashes += 1;
    }

    /// A return that took its target from here commits.
    pub fn commit(&mut self, r: RasRecord, mispredicted: bool) {
        if matches!(r, RasRecord::Popped { .. }) {
            self.counts.used += 1;
            if mispredicted {
                self.counts.incorrect += 1;
            } else {
                self.counts.correct += 1;
            }
        }
    }

    #[must_use]
    pub fn used(&self) -> u64 {
        self.counts.used
    }

    #[must_use]
    pub fn incorrect(&self) -> u64 {
        self.counts.incorrect
    }

    pub fn stats(&self, s: &mut StatSink) {
        let c = &self.counts;
        s.count("pushes", c.pushes, Unit::Count, "Number of times a PC was pushed onto the RAS");
        s.count("pops", c.pops, Unit::Count, "Number of times a PC was popped from the RAS");
        s.count("squashes", c.squashes, Unit::Count, "Number of times a stack operation was squashed");
        s.count("used", c.used, Unit::Count, "Number of times the RAS was the provider");
        s.count("correct", c.correct, Unit::Count, "Number of times the RAS was the provider and right");
        s.count("incorrect", c.incorrect, Unit::Count, "Number of times the RAS was the provider and wrong");
    }

    pub fn for_each_count(&mut self, each: &mut impl FnMut(&mut u64)) {
        let Counts { pushes, pops, squashes, used, correct, incorrect } = &mut self.counts;
        [pushes, pops, squashes, used, correct, incorrect].into_iter().for_each(each);
    }

    pub fn reset_stats(&mut self) {
        self.counts = Counts::default();
    }
}
