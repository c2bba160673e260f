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

/// An event of a micro-op that has been squashed. No micro-op has its stamp.
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

    /// As [`Event::archive`], of one that comes in the order of numbers: a void one keeps its turn, for it takes a write-back slot.
    /// All that are before the oldest have one turn.
    fn archive_in_turn(&mut self, a: &mut Archive, ring: &InstRing) {
        let mut turn = self.seq.max(ring.head() - 1);
        self.archive(a, ring);
        if *self == VOID {
            a.seq(&mut turn);
            self.seq = turn;
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
            event.archive_in_turn(a, ring);
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
    use crate::memo::archive::{AddressRules, Base, Written};

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

    /// A write-back takes so many events a cycle, void ones with them.
    #[test]
    fn void_events_keep_their_turn_in_relative_form() {
        let mut ring = InstRing::new(256);
        let event = |ring: &InstRing, seq| Event { seq: Seq(seq), stamp: ring.stamp(Seq(seq)) };
        (1..10).for_each(|seq| ring.fresh(Seq(seq)));
        // All of these have been squashed; others have their numbers now: of one that has committed, of one in flight, of one that
        // is still to be fetched.
        let void = [2, 5, 9].map(|seq| event(&ring, seq));
        (1..9).for_each(|seq| {
            ring.push();
            ring.fresh(Seq(seq));
        });
        ring.retire_to(Seq(3));
        let (now, at) = (Cycle(100), Cycle(100 + SPAN));
        let current = |seq| event(&ring, seq);
        let mut wheel = Wheel::new();
        void.into_iter().for_each(|event| wheel.push(now, at, event));
        wheel.push(now, at, current(6));
        let turns = |wheel: &mut Wheel| {
            [4, 5, 7].into_iter().for_each(|seq| wheel.push(now, at, current(seq)));
            let mut out = Vec::new();
            wheel.take(at, &mut out);
            out.iter().map(|e| e.seq < ring.tail() && ring.stamp(e.seq) == e.stamp).collect::<Vec<_>>()
        };
        let base = Base { seq: ring.head(), cycle: now, ..Base::default() };
        let rules = AddressRules { line: 64, granule: 1, costs: [1; 2], apart: 64, physical: false };
        let (mut state, mut again) = (Written::new(), Wheel::new());
        assert!(state.write(base, rules, |a| wheel.archive(a, &ring)));
        again.archive(&mut Archive::load(state.bytes(), &[], base, rules), &ring);
        let (first, second) = (turns(&mut wheel), turns(&mut again));
        assert_eq!(first, [false, true, false, true, true, true, false]);
        assert_eq!(second, first);
    }
}
