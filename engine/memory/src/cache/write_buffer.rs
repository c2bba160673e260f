//! Lines (and, without write-allocate, words) on their way to the level below.

use educe::Educe;

use crate::line::LineAddr;

#[derive(Clone, Copy, Debug)]
struct Entry {
    line: LineAddr,
    from: u64,
    /// The level below has taken it.
    until: u64,
}

/// The write buffer of one cache (gem5 `WriteQueue`). As gem5's it has reserve entries beyond its size, so that a write-back
/// that has begun always finds one. The cache is blocked while as many entries as its size are in use.
#[derive(Educe)]
#[educe(Clone)]
pub(crate) struct WriteBuffer {
    entries: Vec<Entry>,
    limit: usize,
}
impl WriteBuffer {
    pub fn new(limit: u32) -> Self {
        WriteBuffer { entries: Vec::with_capacity(limit as usize + 1), limit: limit as usize }
    }

    pub fn push(&mut self, line: LineAddr, from: u64, until: u64, now: u64) {
        self.entries.retain(|e| e.until > now);
        self.entries.push(Entry { line, from, until });
    }

    fn live(&self, now: u64) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(move |e| e.from <= now && e.until > now)
    }

    /// Whether a write to `line` can join one that has not been sent yet.
    pub fn holds(&self, line: LineAddr, now: u64) -> bool {
        self.live(now).any(|e| e.line == line)
    }

    /// Whether an entry is free whatever the time is. False: it depends on the time ([`WriteBuffer::full_until`]).
    #[inline]
    pub fn has_room(&self) -> bool {
        self.entries.len() < self.limit
    }

    /// When a full buffer has an entry free again; `None`: now.
    #[inline]
    pub fn full_until(&self, now: u64) -> Option<u64> {
        if self.entries.len() < self.limit || self.live(now).count() < self.limit {
            return None;
        }
        self.live(now).map(|e| e.until).min()
    }

    /// Entries without the reserve.
    pub fn entries(&self) -> u16 {
        u16::try_from(self.limit).unwrap_or(u16::MAX)
    }

    pub fn describe(&self, now: u64) -> String {
        format!("{} of {} write buffers in use", self.live(now).count(), self.limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_until_the_first_is_taken() {
        let line = |addr| LineAddr::of(addr, 64);
        let mut b = WriteBuffer::new(2);
        b.push(line(0x40), 10, 30, 0);
        b.push(line(0x80), 20, 40, 0);
        assert_eq!((b.full_until(15), b.full_until(25), b.full_until(30)), (None, Some(30), None));
        assert!(b.holds(line(0x80), 25) && !b.holds(line(0x80), 15) && !b.holds(line(0x80), 40));
    }
}
