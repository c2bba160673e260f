//! Something that serves one packet at a time: a layer of a crossbar, the port of a memory.
//!
//! Latencies are computed when a request is made, so a late response may be booked before an early one. A layer therefore
//! keeps a list of busy intervals and fills the gaps between them. A request has priority over packets that wait in a
//! cache's write buffer, unless that buffer is full. Packets that lose their interval to it are booked again behind it, in
//! order of arrival. Write buffers of several caches count as one buffer.

use breakeven_base::Tick;
use educe::Educe;

/// A packet's slot on a layer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Slot {
    pub start: Tick,
    /// Ticks from there to the crossbar's next clock edge.
    pub offset: u64,
}

impl Slot {
    /// Where there is no crossbar.
    pub fn at(start: Tick) -> Self {
        Slot { start, offset: 0 }
    }
}

#[derive(Clone, Copy)]
struct Booking {
    from: Tick,
    until: Tick,
    /// When it arrived.
    arrived: Tick,
    /// [`crate::packet::Pkt::write_buffers`].
    write_buffers: u16,
}

#[derive(Default, Educe)]
#[educe(Clone)]
pub(crate) struct Layer {
    /// Booked intervals, in order, disjoint; those before `over` are over.
    busy: Vec<Booking>,
    over: usize,
    /// Write-backs among the others.
    write_backs: usize,
    /// Those that a packet moves, while they are moved.
    displaced: Vec<Booking>,
    /// Busy ticks so far.
    pub occupancy: u64,
}
impl Layer {
    /// Takes the first gap from `at` on that is long enough: `end(start)` is when a packet that starts at `start` is
    /// through. Nothing before `floor` will be asked for again. The start.
    pub fn book(&mut self, at: Tick, floor: Tick, write_buffers: u16, end: impl Fn(Tick) -> Tick) -> Tick {
        self.forget(floor);
        let (start, behind) = self.first_gap(self.over, at, write_buffers > 0, &end);
        let until = end(start);
        if until > start {
            self.occupancy += until - start;
            self.take(Booking { from: start, until, arrived: at, write_buffers }, behind);
        }
        start
    }

    /// Drops intervals that end by `floor`. The list is moved up only from time to time.
    fn forget(&mut self, floor: Tick) {
        const MOVE_UP_AT: usize = 64;
        while let Some(b) = self.busy.get(self.over).filter(|b| b.until <= floor) {
            self.write_backs -= usize::from(b.write_buffers > 0);
            self.over += 1;
        }
        if self.over == self.busy.len() || self.over >= MOVE_UP_AT {
            self.busy.drain(..self.over);
            self.over = 0;
        }
    }

    /// The start of the first gap for a packet that is there at `at`, and the interval behind the gap. Write-backs
    /// (`low_priority`) that have not started then do not delay other packets, unless their write buffer is full.
    /// Intervals before `first` end by `at`.
    fn first_gap(&self, first: usize, at: Tick, low_priority: bool, end: impl Fn(Tick) -> Tick) -> (Tick, usize) {
        let mut start = at;
        for (i, b) in self.busy.iter().enumerate().skip(first) {
            if b.until <= at {
                continue;
            }
            if !low_priority
                && b.write_buffers > 0
                && b.from >= at
                && self.fewer_waiting(usize::from(b.write_buffers), i, start)
            {
                continue;
            }
            if end(start) <= b.from {
                return (start, i);
            }
            start = start.max(b.until);
        }
        (start, self.busy.len())
    }

    /// Whether fewer than `buffers` write-backs have arrived by `now` and start from the `first` interval on.
    fn fewer_waiting(&self, buffers: usize, first: usize, now: Tick) -> bool {
        let waiting = |b: &&Booking| b.write_buffers > 0 && b.arrived <= now;
        self.write_backs < buffers || self.busy.iter().skip(first).filter(waiting).count() < buffers
    }

    /// Enters `t` into the gap before the interval `behind`. Write-backs that have not started then are booked again
    /// behind it, in order of arrival.
    fn take(&mut self, t: Booking, behind: usize) {
        let earlier = self.busy[self.over..behind].iter().rev().take_while(|b| b.from >= t.from).count();
        let place = behind - earlier;
        self.write_backs += usize::from(t.write_buffers > 0);
        if t.write_buffers > 0 || self.busy.get(place).is_none_or(|b| b.write_buffers == 0) {
            self.busy.insert(place, t);
            return;
        }
        let mut displaced = std::mem::take(&mut self.displaced);
        displaced.extend(self.busy.iter().skip(place).filter(|b| b.write_buffers > 0));
        let mut i = 0;
        self.busy.retain(|b| {
            i += 1;
            i <= place || b.write_buffers == 0
        });
        self.busy.insert(place, t);
        displaced.sort_unstable_by_key(|b| (b.arrived, b.from));
        for b in displaced.drain(..) {
            let length = b.until - b.from;
            let (from, behind) = self.first_gap(place + 1, b.arrived.max(t.until), true, |s| s + length);
            self.busy.insert(behind, Booking { from, until: from + length, ..b });
        }
        self.displaced = displaced;
    }

    pub fn describe(&self, now: Tick) -> String {
        match self.busy.iter().skip(self.over).filter(|b| b.until > now).count() {
            0 => "idle".to_owned(),
            n => format!("{n} packets booked, the last until {}", self.busy.last().map_or(Tick::ZERO, |b| b.until)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn book(l: &mut Layer, at: u64, floor: u64, write_buffers: u16, length: u64) -> u64 {
        l.book(Tick(at), Tick(floor), write_buffers, |s| s + length).0
    }

    #[test]
    fn an_early_packet_slips_in_before_a_late_one() {
        let mut l = Layer::default();
        assert_eq!(book(&mut l, 100, 0, 0, 10), 100);
        assert_eq!(book(&mut l, 5, 0, 0, 10), 5);
        assert_eq!(book(&mut l, 95, 0, 0, 10), 110);
        assert_eq!(book(&mut l, 5, 0, 0, 10), 15);
        assert_eq!(book(&mut l, 0, 120, 0, 10), 0);
        assert_eq!(l.occupancy, 50);
    }

    #[test]
    fn a_packet_before_an_interval_that_is_over_is_booked_all_the_same() {
        let mut l = Layer::default();
        assert_eq!([book(&mut l, 0, 0, 0, 10), book(&mut l, 200, 0, 0, 10)], [0, 200]);
        assert_eq!([book(&mut l, 5, 20, 0, 30), book(&mut l, 5, 20, 0, 30)], [5, 35]);
    }

    #[test]
    fn a_write_back_that_has_not_started_yields() {
        let mut l = Layer::default();
        let spans = |l: &Layer| l.busy.iter().map(|b| (b.from.0, b.until.0)).collect::<Vec<_>>();
        assert_eq!([book(&mut l, 100, 0, 8, 30), book(&mut l, 100, 0, 8, 30)], [100, 130]);
        assert_eq!(book(&mut l, 110, 0, 0, 10), 130, "behind the one under way, before the other");
        assert_eq!(spans(&l), [(100, 130), (130, 140), (140, 170)]);
        assert_eq!(book(&mut l, 85, 0, 0, 20), 85);
        assert_eq!(spans(&l), [(85, 105), (130, 140), (140, 170), (170, 200)]);
        assert_eq!(book(&mut l, 85, 0, 8, 30), 200, "they do not yield to each other");
    }

    #[test]
    fn a_full_write_buffer_does_not_yield() {
        let mut l = Layer::default();
        let write = |l: &mut Layer, at| book(l, at, 0, 2, 30);
        let read = |l: &mut Layer, at| book(l, at, 0, 0, 30);
        assert_eq!([read(&mut l, 0), write(&mut l, 10), write(&mut l, 20)], [0, 30, 60]);
        assert_eq!(read(&mut l, 25), 60, "two wait when the port is free, and the first of them goes");
        assert_eq!(read(&mut l, 26), 90, "one waits");
        // The other one starts at 120: it was there at 20, and nothing else is.
        assert_eq!(write(&mut l, 125), 150);
        assert_eq!(read(&mut l, 119), 120, "one waits: that of 125 is not there yet");
        assert_eq!(read(&mut l, 130), 180, "two wait");
        assert_eq!(l.busy.iter().map(|b| b.from.0).collect::<Vec<_>>(), [0, 30, 60, 90, 120, 150, 180, 210]);
    }

    #[test]
    fn displaced_packets_keep_their_order_and_leave_no_gap() {
        let mut l = Layer::default();
        let starts = |l: &Layer| l.busy.iter().map(|b| (b.arrived.0, b.from.0)).collect::<Vec<_>>();
        assert_eq!([book(&mut l, 0, 0, 0, 30), book(&mut l, 10, 0, 8, 30)], [0, 30]);
        assert_eq!([book(&mut l, 12, 0, 8, 30), book(&mut l, 75, 0, 0, 30)], [60, 90]);
        assert_eq!(book(&mut l, 20, 0, 0, 30), 30);
        // 10 could not start before 60, where 12 was.
        assert_eq!(starts(&l), [(0, 0), (20, 30), (10, 60), (75, 90), (12, 120)]);
    }
}
