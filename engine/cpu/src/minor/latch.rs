//! What joins the stages: latches with an explicit delay, the input buffers behind them, and a ring of sequence numbers.

use super::config::{MAX_DELAY, MAX_QUEUE};
use super::inst::Seq;
use crate::memo::archive::Archive;
use breakeven_base::Cycle;

/// A latch: what is put in at cycle `c` can be seen from `c + delay` on (with delay 0, by the stages that are evaluated
/// later in the same cycle). At most one item goes in per cycle.
#[derive(Clone, Debug)]
pub struct Latch<T: Copy + Default> {
    /// When the first item can be seen; [`Cycle::MAX`]: there is none.
    next: Cycle,
    delay: u64,
    head: usize,
    len: usize,
    slots: [(Cycle, T); LATCH_SLOTS],
}

const LATCH_SLOTS: usize = MAX_DELAY as usize + 1;

impl<T: Copy + Default> Latch<T> {
    pub fn new(delay: u32) -> Self {
        const { assert!(LATCH_SLOTS.is_power_of_two(), "latches wrap by masking") };
        let delay = u64::from(delay.min(MAX_DELAY));
        Latch { next: Cycle::MAX, delay, head: 0, len: 0, slots: [(Cycle::ZERO, T::default()); LATCH_SLOTS] }
    }

    #[inline]
    pub fn put(&mut self, now: Cycle, item: T) {
        let seen = now + self.delay;
        if self.len == 0 {
            self.next = seen;
        }
        self.slots[(self.head + self.len) & (LATCH_SLOTS - 1)] = (seen, item);
        self.len += 1;
    }

    /// When the first item can be seen; [`Cycle::MAX`]: there is none.
    #[inline]
    pub fn next(&self) -> Cycle {
        self.next
    }

    /// Whether something has come out by `now`.
    #[inline]
    pub fn has(&self, now: Cycle) -> bool {
        self.next <= now
    }

    /// The state in relative form.
    pub fn archive(&mut self, a: &mut Archive, mut each: impl FnMut(&mut Archive, &mut T)) {
        let Self { next, delay: _, head, len, slots } = self;
        archive_timed(a, head, len, slots, &mut each);
        *next = if *len == 0 { Cycle::MAX } else { slots[*head & (LATCH_SLOTS - 1)].0 };
    }

    /// The item that has come out by `now`.
    #[inline]
    pub fn take(&mut self, now: Cycle) -> Option<T> {
        if self.next > now {
            return None;
        }
        let item = self.slots[self.head & (LATCH_SLOTS - 1)].1;
        self.head = (self.head + 1) & (LATCH_SLOTS - 1);
        self.len -= 1;
        self.next = if self.len == 0 { Cycle::MAX } else { self.slots[self.head].0 };
        Some(item)
    }
}

/// The items of a latch or of a channel, each with the cycle from which on it can be seen.
#[allow(clippy::cast_possible_truncation)] // few slots
fn archive_timed<T: Copy + Default, const N: usize>(
    a: &mut Archive,
    head: &mut usize,
    len: &mut usize,
    slots: &mut [(Cycle, T); N],
    each: &mut impl FnMut(&mut Archive, &mut T),
) {
    let mut n = *len as u8;
    a.u8(&mut n);
    if a.loads() {
        (*head, *len) = (0, usize::from(n).min(N));
    }
    for i in 0..*len {
        let (seen, item) = &mut slots[(*head + i) & (N - 1)];
        a.cycle(seen);
        each(a, item);
    }
}

/// A bounded first-in-first-out ring of at most `N` items; `N` is a power of two.
#[derive(Clone, Debug)]
pub struct Ring<T: Copy + Default, const N: usize> {
    slots: [T; N],
    head: usize,
    len: usize,
}

impl<T: Copy + Default, const N: usize> Ring<T, N> {
    pub fn new() -> Self {
        const { assert!(N.is_power_of_two(), "rings wrap by masking") };
        Ring { slots: [T::default(); N], head: 0, len: 0 }
    }
    #[inline]
    fn slot(&self, i: usize) -> usize {
        (self.head + i) & (N - 1)
    }
    /// The caller has made sure that there is room.
    #[inline]
    pub fn push(&mut self, item: T) {
        debug_assert!(self.len < N, "a ring overflows");
        let at = self.slot(self.len);
        self.slots[at] = item;
        self.len += 1;
    }
    #[inline]
    pub fn front(&self) -> Option<&T> {
        if self.len > 0 {
            Some(&self.slots[self.slot(0)])
        } else {
            None
        }
    }
    #[inline]
    pub fn get(&self, i: usize) -> Option<&T> {
        if i < self.len {
            Some(&self.slots[self.slot(i)])
        } else {
            None
        }
    }
    /// Replaces the `i`-th item, which exists.
    #[inline]
    pub fn set(&mut self, i: usize, item: T) {
        debug_assert!(i < self.len, "no such item");
        let at = self.slot(i);
        self.slots[at] = item;
    }
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        let item = *self.front()?;
        self.head = self.slot(1);
        self.len -= 1;
        Some(item)
    }
    /// Removes the first item, which exists. An empty ring starts again at slot 0, so that fewer of the host's cache lines are
    /// written.
    #[inline]
    pub fn drop_front(&mut self) {
        debug_assert!(self.len > 0, "nothing to drop");
        self.len -= 1;
        self.head = if self.len == 0 { 0 } else { self.slot(1) };
    }
    /// Takes out the `i`-th item; the order of the rest stays.
    pub fn remove(&mut self, i: usize) {
        for j in i..self.len.saturating_sub(1) {
            let (to, from) = (self.slot(j), self.slot(j + 1));
            self.slots[to] = self.slots[from];
        }
        self.len = self.len.saturating_sub(1);
    }
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
    pub fn clear(&mut self) {
        self.len = 0;
    }
    /// The state in relative form.
    #[allow(clippy::cast_possible_truncation)] // few slots
    pub fn archive<'a>(&mut self, a: &mut Archive<'a>, mut each: impl FnMut(&mut Archive<'a>, &mut T)) {
        let mut n = self.len as u16;
        a.u16(&mut n);
        if a.loads() {
            (self.head, self.len) = (0, usize::from(n).min(N));
        }
        for i in 0..self.len {
            let at = self.slot(i);
            each(a, &mut self.slots[at]);
        }
    }
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        (0..self.len).map(|i| &self.slots[self.slot(i)])
    }
}

/// Slots behind an input buffer: `MAX_QUEUE`, and what a replayed instruction may take beside what was reserved.
const BUFFER_SLOTS: usize = 2 * MAX_QUEUE as usize;

/// The input buffer of a stage. The stage before reserves a slot when it sends something on its way through the latch.
#[derive(Clone, Debug)]
pub struct InputBuffer<T: Copy + Default> {
    queue: Ring<T, BUFFER_SLOTS>,
    /// Queued and under way.
    held: usize,
    capacity: usize,
}

impl<T: Copy + Default> InputBuffer<T> {
    pub fn new(capacity: u32) -> Self {
        InputBuffer { queue: Ring::new(), held: 0, capacity: capacity.min(MAX_QUEUE) as usize }
    }
    #[inline]
    pub fn can_reserve(&self) -> bool {
        self.held < self.capacity
    }
    #[inline]
    pub fn reserve(&mut self) {
        self.held += 1;
    }
    /// What was reserved will not come.
    #[inline]
    pub fn free_reservation(&mut self) {
        self.held = self.held.saturating_sub(1);
    }
    /// The item comes for which a slot was reserved.
    #[inline]
    pub fn arrive(&mut self, item: T) {
        self.queue.push(item);
    }
    #[inline]
    pub fn front(&self) -> Option<&T> {
        self.queue.front()
    }
    #[inline]
    pub fn pop(&mut self) {
        if self.queue.pop().is_some() {
            self.free_reservation();
        }
    }
    #[inline]
    pub fn clear(&mut self) {
        self.held = self.held.saturating_sub(self.queue.len());
        self.queue.clear();
    }
    /// The state in relative form.
    #[allow(clippy::cast_possible_truncation)] // few slots
    pub fn archive(&mut self, a: &mut Archive, each: impl FnMut(&mut Archive, &mut T)) {
        let Self { queue, held, capacity: _ } = self;
        queue.archive(a, each);
        let mut n = *held as u16;
        a.u16(&mut n);
        *held = n.into();
    }
    /// (queued, under way, capacity)
    pub fn load(&self) -> (usize, usize, usize) {
        (self.queue.len(), self.held - self.queue.len(), self.capacity)
    }
}

/// A latch and the input buffer behind it in one: an item has its place in the buffer from when it is sent, and can be seen
/// after the latch's delay. For stages whose latch nothing else reads.
#[derive(Clone, Debug)]
pub struct Channel<T: Copy + Default> {
    /// When the first item can be seen; [`Cycle::MAX`]: there is none.
    next: Cycle,
    delay: u64,
    head: usize,
    len: usize,
    capacity: usize,
    slots: [(Cycle, T); BUFFER_SLOTS],
}

impl<T: Copy + Default> Channel<T> {
    pub fn new(delay: u32, capacity: u32) -> Self {
        Channel {
            next: Cycle::MAX,
            delay: u64::from(delay.min(MAX_DELAY)),
            head: 0,
            len: 0,
            capacity: capacity.min(MAX_QUEUE) as usize,
            slots: [(Cycle::ZERO, T::default()); BUFFER_SLOTS],
        }
    }
    /// Cycles from one stage to the other.
    pub fn delay(&self) -> u64 {
        self.delay
    }
    #[inline]
    fn slot(&self, i: usize) -> usize {
        const { assert!(BUFFER_SLOTS.is_power_of_two(), "channels wrap by masking") };
        (self.head + i) & (BUFFER_SLOTS - 1)
    }
    #[inline]
    pub fn has_room(&self) -> bool {
        self.len < self.capacity
    }
    /// The caller has made sure that there is room.
    #[inline]
    pub fn put(&mut self, now: Cycle, item: T) {
        let seen = now + self.delay;
        if self.len == 0 {
            self.next = seen;
        }
        let at = self.slot(self.len);
        self.slots[at] = (seen, item);
        self.len += 1;
    }
    /// Puts an item in behind those that can be seen, to be seen at once.
    pub fn put_seen(&mut self, now: Cycle, item: T) {
        let mut i = self.len;
        while i > 0 && self.slots[self.slot(i - 1)].0 > now {
            let (to, from) = (self.slot(i), self.slot(i - 1));
            self.slots[to] = self.slots[from];
            i -= 1;
        }
        let at = self.slot(i);
        self.slots[at] = (now, item);
        self.len += 1;
        self.next = self.slots[self.slot(0)].0;
    }
    /// When the first item can be seen; [`Cycle::MAX`]: there is none.
    #[inline]
    pub fn next(&self) -> Cycle {
        self.next
    }
    /// Whether something can be seen.
    #[inline]
    pub fn has(&self, now: Cycle) -> bool {
        self.next <= now
    }
    #[inline]
    pub fn front(&self, now: Cycle) -> Option<&T> {
        self.has(now).then(|| &self.slots[self.head & (BUFFER_SLOTS - 1)].1)
    }
    #[inline]
    pub fn front_mut(&mut self, now: Cycle) -> Option<&mut T> {
        self.has(now).then(|| &mut self.slots[self.head & (BUFFER_SLOTS - 1)].1)
    }
    /// The first item, which exists, leaves.
    #[inline]
    pub fn pop(&mut self) {
        debug_assert!(self.len > 0, "nothing to take");
        self.len -= 1;
        // As in `Ring::drop_front`.
        (self.head, self.next) = if self.len == 0 {
            (0, Cycle::MAX)
        } else {
            let head = self.slot(1);
            (head, self.slots[head].0)
        };
    }
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
    /// The state in relative form.
    pub fn archive(&mut self, a: &mut Archive, mut each: impl FnMut(&mut Archive, &mut T)) {
        let Self { next, delay: _, head, len, capacity: _, slots } = self;
        archive_timed(a, head, len, slots, &mut each);
        *next = if *len == 0 { Cycle::MAX } else { slots[*head & (BUFFER_SLOTS - 1)].0 };
    }
    /// (held, capacity)
    pub fn load(&self) -> (usize, usize) {
        (self.len, self.capacity)
    }
}

/// Some micro-ops next to each other in the instruction ring, on their way between stages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bundle {
    pub next: Seq,
    pub end: Seq,
    pub ending: BundleEnd,
}

/// What follows a bundle's last micro-op.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BundleEnd {
    #[default]
    Full,
    /// The bundle is narrower than the buffer. gem5 fills it with bubbles: where the last micro-op uses up a cycle's width, the
    /// bundle is popped only when the bubble is passed, in the next cycle; `next` is `end` until then.
    Bubble,
    /// The instruction continues in the next bundle. In gem5 both are one bundle.
    Continued,
}

impl Bundle {
    /// In relative form.
    pub fn archive(&mut self, a: &mut Archive) {
        let Self { next, end, ending } = self;
        a.seq(next);
        a.seq(end);
        a.one_of(ending, &[BundleEnd::Full, BundleEnd::Bubble, BundleEnd::Continued]);
    }
}

impl Channel<Bundle> {
    /// Takes the first `width` micro-ops that can be seen, of which there is at least one; with `several` from more than one
    /// item. Items follow one another in the instruction ring, so what is taken is one stretch.
    #[inline(always)]
    pub fn take_uops(&mut self, now: Cycle, width: u64, several: bool) -> Bundle {
        let at = self.slot(0);
        let first = &mut self.slots[at].1;
        let mut taken = Bundle { next: first.next, end: first.next + width, ending: BundleEnd::Full };
        if taken.end < first.end {
            first.next = taken.end;
            return taken;
        }
        let mut room = width;
        loop {
            let at = self.slot(0);
            let first = &mut self.slots[at].1;
            let n = room.min(first.end - first.next);
            first.next += n;
            taken.end = first.next;
            room -= n;
            if first.next == first.end {
                if room == 0 && first.ending == BundleEnd::Bubble {
                    return taken;
                }
                let goes_on = first.ending == BundleEnd::Continued;
                self.pop();
                if !several || !self.has(now) {
                    if room != 0 && !goes_on {
                        taken.ending = BundleEnd::Bubble;
                    }
                    return taken;
                }
            }
            if room == 0 {
                return taken;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_latch_shows_an_item_after_its_delay() {
        let mut l = Latch::new(2);
        l.put(Cycle(10), 'a');
        l.put(Cycle(11), 'b');
        assert_eq!(l.take(Cycle(11)), None);
        assert!(l.has(Cycle(12)) && !l.has(Cycle(11)));
        assert_eq!(l.take(Cycle(12)), Some('a'));
        assert_eq!(l.take(Cycle(12)), None);
        assert_eq!(l.take(Cycle(13)), Some('b'));
        assert!(!l.has(Cycle(99)));
    }

    #[test]
    fn a_channel_holds_room_for_what_is_under_way() {
        let mut c = Channel::new(2, 2);
        c.put(Cycle(10), 'a');
        c.put(Cycle(11), 'c');
        assert!(!c.has_room() && !c.has(Cycle(11)) && c.front(Cycle(12)) == Some(&'a'));
        c.pop();
        assert_eq!(c.front(Cycle(12)), None);
        // What is seen at once goes before what is still under way.
        c.put_seen(Cycle(12), 'b');
        assert_eq!(c.front(Cycle(12)), Some(&'b'));
        c.pop();
        assert_eq!(c.front(Cycle(13)), Some(&'c'));
        c.pop();
        assert!(c.is_empty() && c.has_room());
    }

    #[test]
    fn what_is_under_way_fills_a_buffer_too() {
        let mut b = InputBuffer::new(2);
        b.reserve();
        b.arrive(1);
        b.reserve();
        assert!(!b.can_reserve());
        b.pop();
        assert!(b.can_reserve());
        b.free_reservation();
        assert_eq!(b.load(), (0, 0, 2));
    }

    #[test]
    fn a_ring_keeps_its_order_when_one_leaves() {
        let mut r = Ring::<i32, 4>::new();
        for i in 0..4 {
            r.push(i);
        }
        r.pop();
        r.push(4);
        r.remove(1);
        assert_eq!(r.iter().copied().collect::<Vec<_>>(), [1, 3, 4]);
    }
}
