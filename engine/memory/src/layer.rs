//! Something that serves one packet at a time: a layer of a crossbar, the port of a memory.
//!
//! Requests are resolved when they are made, so a response far in the future is booked before one that comes earlier.
//! A layer therefore keeps the intervals that are taken and fills the gaps between them. What comes out of a cache's write
//! buffer has low priority: a request that is there before it starts goes first, and it moves into the next gap.

use educe::Educe;

/// A packet's slot on a layer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Slot {
    pub start: u64,
    /// Ticks from there to the crossbar's next clock edge.
    pub offset: u64,
}

impl Slot {
    /// Where there is no crossbar.
    pub fn at(start: u64) -> Self {
        Slot { start, offset: 0 }
    }
}

#[derive(Clone, Copy)]
struct Taken {
    from: u64,
    until: u64,
    low_priority: bool,
}

#[derive(Default, Educe)]
#[educe(Clone)]
pub(crate) struct Layer {
    /// Taken, in order, disjoint.
    busy: Vec<Taken>,
    /// Ticks taken so far.
    pub occupancy: u64,
}
impl Layer {
    /// Takes the first gap from `at` on that is long enough: `end(start)` is when a packet that starts at `start` is
    /// through. Nothing before `floor` will be asked for again. The start.
    pub fn book(&mut self, at: u64, floor: u64, low_priority: bool, end: impl Fn(u64) -> u64) -> u64 {
        let over = self.busy.iter().take_while(|b| b.until <= floor).count();
        self.busy.drain(..over);
        let start = self.first_gap(at, low_priority, &end);
        let until = end(start);
        if until > start {
            self.occupancy += until - start;
            self.take(Taken { from: start, until, low_priority });
        }
        start
    }

    /// The start of the first gap for a packet that is there at `at`; what has not started then and low_priority is no hindrance
    /// to one that does not.
    fn first_gap(&self, at: u64, low_priority: bool, end: impl Fn(u64) -> u64) -> u64 {
        let mut start = at;
        for b in self.busy.iter().filter(|b| low_priority || !b.low_priority || b.from < at) {
            if end(start) <= b.from {
                break;
            }
            start = start.max(b.until);
        }
        start
    }

    /// Enters `t`; what it meets there moves behind it.
    fn take(&mut self, t: Taken) {
        let mut place = self.busy.partition_point(|b| b.from < t.from);
        self.busy.insert(place, t);
        place += 1;
        while self.busy.get(place).is_some_and(|b| b.from < t.until) {
            let b = self.busy.remove(place);
            let length = b.until - b.from;
            let from = self.first_gap(t.until, true, |s| s + length);
            let to = self.busy.partition_point(|o| o.from < from);
            self.busy.insert(to, Taken { from, until: from + length, ..b });
        }
    }

    pub fn describe(&self, now: u64) -> String {
        match self.busy.iter().filter(|b| b.until > now).count() {
            0 => "idle".to_owned(),
            n => format!("{n} packets booked, the last until {}", self.busy.last().map_or(0, |b| b.until)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_early_packet_slips_in_before_a_late_one() {
        let mut l = Layer::default();
        assert_eq!(l.book(100, 0, false, |s| s + 10), 100);
        assert_eq!(l.book(5, 0, false, |s| s + 10), 5);
        assert_eq!(l.book(95, 0, false, |s| s + 10), 110);
        assert_eq!(l.book(5, 0, false, |s| s + 10), 15);
        assert_eq!(l.book(0, 120, false, |s| s + 10), 0);
        assert_eq!(l.occupancy, 50);
    }

    #[test]
    fn a_write_back_that_has_not_started_yields() {
        let mut l = Layer::default();
        let spans = |l: &Layer| l.busy.iter().map(|b| (b.from, b.until)).collect::<Vec<_>>();
        assert_eq!([l.book(100, 0, true, |s| s + 30), l.book(100, 0, true, |s| s + 30)], [100, 130]);
        assert_eq!(l.book(110, 0, false, |s| s + 10), 130, "behind the one under way, before the other");
        assert_eq!(spans(&l), [(100, 130), (130, 140), (140, 170)]);
        assert_eq!(l.book(85, 0, false, |s| s + 20), 85);
        assert_eq!(spans(&l), [(85, 105), (130, 140), (140, 170), (170, 200)]);
        assert_eq!(l.book(85, 0, true, |s| s + 30), 200, "they do not yield to each other");
    }
}
