//! Lines (and, without write-allocate, words) on their way to the level below.

use breakeven_base::Tick;
use educe::Educe;

use crate::line::LineAddr;

#[derive(Clone, Copy, Debug)]
struct Entry {
    line: LineAddr,
    from: Tick,
    /// The level below has taken it.
    until: Tick,
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

    pub fn push(&mut self, line: LineAddr, from: Tick, until: Tick, now: Tick) {
        self.entries.retain(|e| e.until > now);
        self.entries.push(Entry { line, from, until });
    }

    fn live(&self, now: Tick) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(move |e| e.from <= now && e.until > now)
    }

    /// Whether a write to `line` can join one that has not been sent yet.
    pub fn holds(&self, line: LineAddr, now: Tick) -> bool {
        self.live(now).any(|e| e.line == line)
    }

    /// Whether an entry is free whatever the time is. False: it depends on the time ([`WriteBuffer::full_until`]).
    #[inline]
    pub fn has_room(&self) -> bool {
        self.entries.len() < self.limit
    }

    /// When a full buffer has an entry free again; `None`: now.
    #[inline]
    pub fn full_until(&self, now: Tick) -> Option<Tick> {
        if self.entries.len() < self.limit || self.live(now).count() < self.limit {
            return None;
        }
        self.live(now).map(|e| e.until).min()
    }

    /// Entries without the reserve.
    pub fn entries(&self) -> u16 {
        u16::try_from(self.limit).unwrap_or(u16::MAX)
    }

    pub fn describe(&self, now: Tick) -> String {
        format!("{} of {} write buffers in use", self.live(now).count(), self.limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use breakeven_base::PhysAddr;

    #[test]
    fn full_until_the_first_is_taken() {
        let line = |addr| LineAddr::of(PhysAddr(addr), 64);
        let mut b = WriteBuffer::new(2);
        b.push(line(0x40), Tick(10), Tick(30), Tick(0));
        b.push(line(0x80), Tick(20), Tick(40), Tick(0));
        assert_eq!(
            (b.full_until(Tick(15)), b.full_until(Tick(25)), b.full_until(Tick(30))),
            (None, Some(Tick(30)), None)
        );
        assert!(b.holds(line(0x80), Tick(25)) && !b.holds(line(0x80), Tick(15)) && !b.holds(line(0x80), Tick(40)));
    }
}
