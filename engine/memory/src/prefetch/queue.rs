//! The prefetch queue: candidate lines that have not been sent yet (gem5 `QueuedPrefetcher`; all of one priority).

use breakeven_base::Tick;
use educe::Educe;

use crate::line::LineAddr;

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub line: LineAddr,
    /// Not sent before this instant.
    pub ready: Tick,
    /// Of the access that it was derived from.
    pub pc: u64,
}

/// Mixes a line's address: only whether a line is there is ever asked for, not an order.
#[derive(Clone, Copy, Debug, Default)]
struct LineHasher(u64);

impl Hasher for LineHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|b| self.write_u64(u64::from(*b)));
    }
    #[inline]
    fn write_u64(&mut self, n: u64) {
        let mixed = (self.0 ^ n).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ mixed >> 32;
    }
}

#[derive(Educe)]
#[educe(Clone)]
pub(crate) struct Queue {
    entries: VecDeque<Entry>,
    /// How many entries each line has: a prefetcher asks for each line it wants, at every access that it looks at.
    lines: HashMap<LineAddr, u32, BuildHasherDefault<LineHasher>>,
    limit: usize,
}
impl Queue {
    pub fn new(limit: u32) -> Self {
        let limit = limit.max(1) as usize;
        let lines = HashMap::with_capacity_and_hasher(limit + 1, BuildHasherDefault::default());
        Queue { entries: VecDeque::with_capacity(limit + 1), lines, limit }
    }

    pub fn head(&self) -> Option<&Entry> {
        self.entries.front()
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn pop(&mut self) -> Option<Entry> {
        let e = self.entries.pop_front()?;
        if let Some(n) = self.lines.get_mut(&e.line) {
            *n -= 1;
            if *n == 0 {
                self.lines.remove(&e.line);
            }
        }
        Some(e)
    }

    #[inline]
    pub fn holds(&self, line: LineAddr) -> bool {
        self.lines.contains_key(&line)
    }

    /// A full queue drops its oldest entry: whether it did.
    pub fn push(&mut self, e: Entry) -> bool {
        let full = self.entries.len() >= self.limit;
        if full {
            self.pop();
        }
        self.entries.push_back(e);
        *self.lines.entry(e.line).or_default() += 1;
        full
    }

    /// Takes `line` out: how many entries that were.
    pub fn remove(&mut self, line: LineAddr) -> usize {
        let before = self.entries.len();
        if self.lines.remove(&line).is_some() {
            self.entries.retain(|e| e.line != line);
        }
        before - self.entries.len()
    }

    pub fn audit(&self, filtered: bool) -> Result<(), String> {
        if self.entries.len() > self.limit {
            return Err(format!("{} prefetches queued of {}", self.entries.len(), self.limit));
        }
        let counted = self.lines.values().map(|n| *n as usize).sum::<usize>();
        if counted != self.entries.len() || self.entries.iter().any(|e| !self.holds(e.line)) {
            return Err(format!("{} prefetches queued, {counted} of them by line", self.entries.len()));
        }
        let twice = |i: usize, e: &Entry| self.entries.iter().skip(i + 1).any(|o| o.line == e.line);
        match self.entries.iter().enumerate().find(|(i, e)| filtered && twice(*i, e)) {
            Some((_, e)) => Err(format!("line {:#x} is queued twice", e.line)),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use breakeven_base::PhysAddr;

    fn line(n: u64) -> LineAddr {
        LineAddr::of(PhysAddr(64 * n), 64)
    }

    fn entry(n: u64) -> Entry {
        Entry { line: line(n), ready: Tick(n), pc: 0 }
    }

    proptest! {
        #[test]
        fn it_holds_the_lines_of_its_entries(steps in vec((0..4_u8, 0..6_u64), 1..80)) {
            let mut q = Queue::new(5);
            let mut plain = Vec::new();
            for (what, n) in steps {
                let line = line(n);
                match what {
                    0 => prop_assert_eq!(q.pop().map(|e| e.line), (!plain.is_empty()).then(|| plain.remove(0))),
                    1 => {
                        let before = plain.len();
                        plain.retain(|l| *l != line);
                        prop_assert_eq!(q.remove(line), before - plain.len());
                    }
                    _ => {
                        let full = plain.len() == 5;
                        if full {
                            plain.remove(0);
                        }
                        plain.push(line);
                        prop_assert_eq!(q.push(entry(n)), full);
                    }
                }
                prop_assert_eq!(q.audit(false), Ok(()));
                for line in (0..6).map(super::tests::line) {
                    prop_assert_eq!(q.holds(line), plain.contains(&line));
                }
            }
        }
    }

    #[test]
    fn the_oldest_is_dropped() {
        let mut q = Queue::new(2);
        assert_eq!([1, 2, 3].map(|n| q.push(entry(n))), [false, false, true]);
        assert!(!q.holds(line(1)) && q.holds(line(2)) && q.pop() == Some(entry(2)) && q.head() == Some(&entry(3)));
    }

    #[test]
    fn lines_are_taken_out() {
        let mut q = Queue::new(4);
        [1, 2, 1].into_iter().for_each(|n| _ = q.push(entry(n)));
        assert!(q.audit(false).is_ok() && q.audit(true).is_err());
        assert_eq!((q.remove(line(1)), q.remove(line(1)), q.len()), (2, 0, 1));
    }
}
