//! The prefetch queue: candidate lines that have not been sent yet (gem5 `QueuedPrefetcher`; all of one priority).

use breakeven_base::Tick;
use educe::Educe;

use crate::line::LineAddr;

use std::collections::VecDeque;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub line: LineAddr,
    /// Not sent before this instant.
    pub ready: Tick,
    /// Of the access that it was derived from.
    pub pc: u64,
}

#[derive(Educe)]
#[educe(Clone)]
pub(crate) struct Queue {
    entries: VecDeque<Entry>,
    limit: usize,
}
impl Queue {
    pub fn new(limit: u32) -> Self {
        let limit = limit.max(1) as usize;
        Queue { entries: VecDeque::with_capacity(limit + 1), limit }
    }

    pub fn head(&self) -> Option<&Entry> {
        self.entries.front()
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn pop(&mut self) -> Option<Entry> {
        self.entries.pop_front()
    }

    pub fn holds(&self, line: LineAddr) -> bool {
        self.entries.iter().any(|e| e.line == line)
    }

    /// A full queue drops its oldest entry: whether it did.
    pub fn push(&mut self, e: Entry) -> bool {
        let full = self.entries.len() >= self.limit;
        if full {
            self.entries.pop_front();
        }
        self.entries.push_back(e);
        full
    }

    /// Takes `line` out: how many entries that were.
    pub fn remove(&mut self, line: LineAddr) -> usize {
        let before = self.entries.len();
        if self.holds(line) {
            self.entries.retain(|e| e.line != line);
        }
        before - self.entries.len()
    }

    pub fn audit(&self, filtered: bool) -> Result<(), String> {
        if self.entries.len() > self.limit {
            return Err(format!("{} prefetches queued of {}", self.entries.len(), self.limit));
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
    use super::*;

    fn line(n: u64) -> LineAddr {
        LineAddr::of(64 * n, 64)
    }

    fn entry(n: u64) -> Entry {
        Entry { line: line(n), ready: Tick(n), pc: 0 }
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
