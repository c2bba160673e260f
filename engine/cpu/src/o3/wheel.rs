//! A calendar of what happens to micro-ops at known cycles: a bucket a cycle for the near future, a heap for the far one.

use breakeven_base::Cycle;
use educe::Educe;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::inst::InstRing;
use super::seq::Seq;
use crate::memo::archive::Archive;

/// A micro-op; void when the slot's stamp has changed meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Event {
    pub seq: Seq,
    pub stamp: u32,
}

/// An event of a micro-op that has been squashed.
const VOID: Event = Event { seq: Seq(u64::MAX), stamp: 0 };

impl Event {
    /// In relative form; the micro-ops in flight stand in `ring` already.
    fn archive(&mut self, a: &mut Archive, ring: &InstRing) {
        if a.present(self.seq < ring.tail() && ring.stamp(self.seq) == self.stamp) {
            a.seq(&mut self.seq);
            self.stamp = ring.stamp(self.seq);
        } else {
            *self = VOID;
        }
    }
}

/// A list of events in relative form.
pub fn archive_events(events: &mut Vec<Event>, a: &mut Archive, ring: &InstRing) {
    let mut copy = std::mem::take(events);
    a.list(&mut copy, VOID, |a, event| event.archive(a, ring));
    *events = copy;
}

pub const SPAN: u64 = 256;

#[derive(Debug, Educe)]
#[educe(Clone)]
pub struct Wheel {
    buckets: Box<[Vec<Event>; SPAN as usize]>,
    /// A bit a bucket that has events.
    taken: [u64; (SPAN / 64) as usize],
    far: BinaryHeap<Reverse<(Cycle, Event)>>,
}

#[inline]
#[allow(clippy::cast_possible_truncation)] // a remainder
fn bucket(cycle: Cycle) -> usize {
    (cycle.0 % SPAN) as usize
}

impl Wheel {
    pub fn new() -> Self {
        Wheel {
            buckets: Box::new(std::array::from_fn(|_| Vec::with_capacity(4))),
            taken: [0; (SPAN / 64) as usize],
            far: BinaryHeap::with_capacity(64),
        }
    }

    /// `at` is not before `now`; at `now` only while that cycle's events have not been taken.
    #[inline(always)]
    pub fn push(&mut self, now: Cycle, at: Cycle, event: Event) {
        if at - now < SPAN {
            let b = bucket(at);
            self.buckets[b].push(event);
            self.taken[b / 64] |= 1 << (b % 64);
        } else {
            self.push_far(at, event);
        }
    }

    #[cold]
    fn push_far(&mut self, at: Cycle, event: Event) {
        self.far.push(Reverse((at, event)));
    }

    /// Whether [`Wheel::take`] would give anything.
    #[inline]
    pub fn has(&self, now: Cycle) -> bool {
        let b = bucket(now);
        self.taken[b / 64] >> (b % 64) & 1 != 0 || self.far.peek().is_some_and(|Reverse((at, _))| *at <= now)
    }

    /// Moves this cycle's events into `out`, which is empty, in the order in which they were pushed.
    #[inline]
    pub fn take(&mut self, now: Cycle, out: &mut Vec<Event>) {
        let b = bucket(now);
        std::mem::swap(&mut self.buckets[b], out);
        self.taken[b / 64] &= !(1 << (b % 64));
        while let Some(Reverse((at, event))) = self.far.peek().copied() {
            if at > now {
                break;
            }
            self.far.pop();
            out.push(event);
        }
    }

    /// Whether [`Wheel::take`] would give the event.
    #[cold]
    pub fn holds(&self, now: Cycle, event: Event) -> bool {
        self.buckets[bucket(now)].contains(&event) || self.far.iter().any(|Reverse((at, e))| *at <= now && *e == event)
    }

    /// Takes the event out of this cycle's.
    #[cold]
    pub fn remove(&mut self, now: Cycle, event: Event) {
        let b = bucket(now);
        self.buckets[b].retain(|e| *e != event);
        if self.buckets[b].is_empty() {
            self.taken[b / 64] &= !(1 << (b % 64));
        }
        self.far.retain(|Reverse((at, e))| *at > now || *e != event);
    }

    /// A hash of the cycles of the near future that have events.
    pub fn shape(&self, now: Cycle) -> u64 {
        let (word, bit) = (bucket(now) / 64, bucket(now) % 64);
        let words = self.taken.len();
        // Words that begin with the present cycle.
        let from = |i: usize| {
            let (low, high) = (self.taken[(word + i) % words], self.taken[(word + i + 1) % words]);
            low >> bit | high.checked_shl(64 - bit as u32).unwrap_or(0)
        };
        (0..words).fold(0, |hash: u64, i| (hash.rotate_left(5) ^ from(i)).wrapping_mul(0x517c_c1b7_2722_0a95))
    }

    /// The events from the next cycle on, in relative form. `current`: the micro-op is still in flight; `stamp`: what it has.
    pub fn archive(&mut self, a: &mut Archive, ring: &InstRing) {
        let now = a.base.cycle;
        let Self { buckets, taken, far } = self;
        if a.loads() {
            buckets.iter_mut().for_each(Vec::clear);
            *taken = [0; (SPAN / 64) as usize];
            far.clear();
        }
        let mut filled: Vec<u64> = Vec::new();
        if !a.loads() {
            for (word, bits) in taken.iter().enumerate() {
                let mut bits = *bits;
                while bits != 0 {
                    let b = word as u64 * 64 + u64::from(bits.trailing_zeros());
                    filled.push(b.wrapping_sub(now.0) % SPAN);
                    bits &= bits - 1;
                }
            }
            filled.sort_unstable();
        }
        a.list(&mut filled, 0, Archive::u64);
        for ahead in filled {
            let b = bucket(now + ahead);
            archive_events(&mut buckets[b], a, ring);
            taken[b / 64] |= 1 << (b % 64);
        }
        let mut later: Vec<(Cycle, Event)> = Vec::new();
        if !a.loads() {
            later.extend(far.iter().map(|Reverse(item)| *item));
            later.sort_unstable();
        }
        a.list(&mut later, (Cycle::ZERO, VOID), |a, (at, event)| {
            a.cycle(at);
            event.archive(a, ring);
        });
        if a.loads() {
            far.extend(later.into_iter().map(Reverse));
        }
    }

    /// The first cycle from `now` on that has events; [`Cycle::MAX`]: none.
    pub fn next(&self, now: Cycle) -> Cycle {
        let far = self.far.peek().map_or(Cycle::MAX, |Reverse((at, _))| *at);
        let start = bucket(now);
        for i in 0..=self.taken.len() {
            let word = (start / 64 + i) % self.taken.len();
            let mut bits = self.taken[word];
            if i == 0 {
                bits &= u64::MAX << (start % 64);
            } else if i == self.taken.len() {
                bits &= !(u64::MAX << (start % 64));
            }
            if bits != 0 {
                let b = word * 64 + bits.trailing_zeros() as usize;
                let ahead = (b + SPAN as usize - start) % SPAN as usize;
                return far.min(now + ahead as u64);
            }
        }
        far
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_in_their_cycle_and_in_order() {
        let mut w = Wheel::new();
        let e = |seq| Event { seq: Seq(seq), stamp: 0 };
        for (at, seq) in [(1000, 1), (130, 2), (130, 3), (101, 4), (100 + SPAN, 5)] {
            w.push(Cycle(100), Cycle(at), e(seq));
        }
        let mut seen = Vec::new();
        let mut now = Cycle(100);
        while w.next(now) != Cycle::MAX {
            now = w.next(now);
            let mut out = Vec::new();
            assert!(w.has(now));
            w.take(now, &mut out);
            seen.extend(out.iter().map(|e| (now.0, e.seq.0)));
        }
        assert_eq!(seen, [(101, 4), (130, 2), (130, 3), (100 + SPAN, 5), (1000, 1)]);
    }
}
