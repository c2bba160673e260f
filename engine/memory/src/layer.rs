//! Something that serves one packet at a time: a layer of a crossbar, the port of a memory.
//!
//! Requests are resolved when they are made, so a response far in the future is booked before one that comes earlier.
//! A layer therefore keeps the intervals that are taken and fills the gaps between them.

#[derive(Default)]
pub(crate) struct Layer {
    /// Taken, in order, disjoint.
    busy: Vec<(u64, u64)>,
    /// Ticks taken so far.
    pub occupancy: u64,
}
crate::util::clone_by_field!(Layer { busy, occupancy });

impl Layer {
    /// Takes the first gap from `at` on that is long enough: `end(start)` is when a packet that starts at `start` is
    /// through. Nothing before `floor` will be asked for again. The start.
    pub fn book(&mut self, at: u64, floor: u64, mut end: impl FnMut(u64) -> u64) -> u64 {
        let over = self.busy.iter().take_while(|b| b.1 <= floor).count();
        self.busy.drain(..over);
        let mut start = at;
        let mut place = 0;
        for &(from, until) in &self.busy {
            if end(start) <= from {
                break;
            }
            start = start.max(until);
            place += 1;
        }
        let until = end(start);
        if until > start {
            self.occupancy += until - start;
            self.busy.insert(place, (start, until));
        }
        start
    }

    pub fn describe(&self, now: u64) -> String {
        match self.busy.iter().filter(|b| b.1 > now).count() {
            0 => "idle".to_owned(),
            n => format!("{n} packets booked, the last until {}", self.busy.last().map_or(0, |b| b.1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_early_packet_slips_in_before_a_late_one() {
        let mut l = Layer::default();
        assert_eq!(l.book(100, 0, |s| s + 10), 100);
        assert_eq!(l.book(5, 0, |s| s + 10), 5);
        assert_eq!(l.book(95, 0, |s| s + 10), 110);
        assert_eq!(l.book(5, 0, |s| s + 10), 15);
        assert_eq!(l.book(0, 120, |s| s + 10), 0);
        assert_eq!(l.occupancy, 50);
    }
}
