//! The stream prefetcher (ours): runs ahead of ascending or descending accesses within a page.
//!
//! After Intel's optimization reference manual on the L2 streamer (Sandy Bridge, "Data Prefetch to the L2 and last level
//! cache"): it watches the requests of the first level, keeps one forward or backward stream for each of 32 pages of 4 KiB, issues
//! two prefetches on a look-up, and runs up to 20 lines ahead. How many accesses make a stream the manual does not say
//! (`train`, assumed 2). Not modelled: that it holds back while many requests are outstanding (the queue and the MSHR
//! reserve do that), and that far prefetches fill the last level only.

use breakeven_base::PhysAddr;
use educe::Educe;

use crate::line::LineAddr;

#[derive(Clone, Copy, Debug, Default)]
struct Tracker {
    /// Page number + 1; 0: none.
    page: u64,
    /// The line in the page that was asked for last.
    last: i64,
    /// +1, -1, or 0 before the second line.
    direction: i64,
    /// Accesses in that direction.
    run: u32,
    /// The line prefetched furthest.
    head: i64,
    used: u64,
}

#[derive(Educe)]
#[educe(Clone)]
pub(crate) struct Stream {
    train: u32,
    degree: u32,
    distance: i64,
    trackers: Vec<Tracker>,
    /// Where the page was last found.
    recent: usize,
    now: u64,
}
impl Stream {
    pub fn new(trackers: u32, train: u32, degree: u32, distance: u32) -> Self {
        Stream {
            train,
            degree,
            distance: i64::from(distance),
            trackers: vec![Tracker::default(); trackers.max(1) as usize],
            recent: 0,
            now: 0,
        }
    }

    /// The tracker of `page`, a new one in the place of the least recently used if there is none.
    fn tracker(&mut self, page: u64, line: i64) -> &mut Tracker {
        self.now += 1;
        let tag = page.wrapping_add(1);
        if self.trackers[self.recent].page != tag {
            let found = self.trackers.iter().position(|t| t.page == tag);
            self.recent = found.unwrap_or_else(|| {
                let oldest = self.trackers.iter().enumerate().min_by_key(|(_, t)| t.used).map_or(0, |(i, _)| i);
                self.trackers[oldest] = Tracker { page: tag, last: line, ..Tracker::default() };
                oldest
            });
        }
        let t = &mut self.trackers[self.recent];
        t.used = self.now;
        t
    }

    pub fn candidates(&mut self, line: LineAddr, line_bytes: u64, page_bytes: u64, out: &mut Vec<PhysAddr>) {
        let (train, degree, distance) = (self.train, self.degree, self.distance);
        let page = line.addr().align_down(page_bytes);
        let n = ((line.addr() - page) / line_bytes) as i64;
        let t = self.tracker(page.0 / page_bytes, n);
        let direction = (n - t.last).signum();
        if direction == 0 {
            return;
        }
        if direction == t.direction {
            t.run = t.run.saturating_add(1);
        } else {
            (t.direction, t.run, t.head) = (direction, 1, n);
        }
        t.last = n;
        if t.run < train {
            return;
        }
        // An access beyond what was prefetched overtakes the stream.
        if (n - t.head) * direction > 0 {
            t.head = n;
        }
        let lines = (page_bytes / line_bytes) as i64;
        for _ in 0..degree {
            let next = t.head + direction;
            if (next - n).abs() > distance || next < 0 || next >= lines {
                return;
            }
            t.head = next;
            out.push(page + next as u64 * line_bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn feed(s: &mut Stream, lines: &[u64]) -> Vec<Vec<u64>> {
        lines
            .iter()
            .map(|n| {
                let mut out = Vec::new();
                s.candidates(LineAddr::of(PhysAddr(n * 64), 64), 64, 4096, &mut out);
                out.iter().map(|a| a.0 / 64).collect()
            })
            .collect()
    }

    #[test]
    fn two_steps_in_one_direction_make_a_stream() {
        let mut s = Stream::new(32, 2, 2, 20);
        assert_eq!(feed(&mut s, &[0, 1, 2, 3, 3, 4]), [vec![], vec![], vec![3, 4], vec![5, 6], vec![], vec![7, 8]]);
        let mut s = Stream::new(32, 2, 2, 20);
        assert_eq!(feed(&mut s, &[63, 62, 61, 60]), [vec![], vec![], vec![60, 59], vec![58, 57]]);
    }

    #[test]
    fn it_runs_at_most_its_distance_ahead() {
        let mut s = Stream::new(1, 1, 4, 5);
        assert_eq!(feed(&mut s, &[10, 11, 12, 13]), [vec![], vec![12, 13, 14, 15], vec![16, 17], vec![18]]);
    }

    #[test]
    fn it_never_leaves_the_page() {
        let mut s = Stream::new(32, 1, 4, 20);
        assert_eq!(feed(&mut s, &[60, 61, 62, 63]), [vec![], vec![62, 63], vec![], vec![]]);
        // The next page is a new stream.
        assert_eq!(feed(&mut s, &[64, 65]), [vec![], vec![66, 67, 68, 69]]);
        let mut s = Stream::new(32, 1, 4, 20);
        assert_eq!(feed(&mut s, &[66, 65, 64]), [vec![], vec![64], vec![]]);
    }

    #[test]
    fn turning_trains_again_and_overtaking_catches_up() {
        let mut s = Stream::new(32, 2, 1, 20);
        assert_eq!(feed(&mut s, &[8, 9, 10, 9, 8]), [vec![], vec![], vec![11], vec![], vec![7]]);
        assert_eq!(feed(&mut s, &[2, 1]), [[1], [0]]);
    }

    #[test]
    fn the_least_recently_used_page_gives_way() {
        let mut s = Stream::new(2, 1, 1, 20);
        feed(&mut s, &[0, 1, 64, 65, 2]);
        feed(&mut s, &[128]); // in the place of page 1
        assert_eq!(feed(&mut s, &[3, 66]), [vec![4], vec![]]);
    }
}
