//! Prefetchers of the lines next to an access, without history.
//!
//! - gem5 `TaggedPrefetcher`: the next `degree` lines. On misses and the first use of a prefetched line (the "tag").
//! - `NextLine` (ours): the same, once for each new line, hits included: Intel's DCU prefetcher.
//! - `AdjacentLine` (ours): the other lines of the aligned block, the 128-byte pair of Intel's spatial prefetcher.

use breakeven_base::PhysAddr;

use crate::line::LineAddr;

/// The `degree` lines after `line`.
pub(crate) fn next_lines(line: LineAddr, degree: u32, line_bytes: u64, out: &mut Vec<PhysAddr>) {
    out.extend((1..=u64::from(degree)).map(|d| line.addr().wrapping_add(d * line_bytes)));
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct NextLine {
    degree: u32,
    /// The line accessed last.
    last: LineAddr,
}

impl NextLine {
    pub fn new(degree: u32) -> Self {
        NextLine { degree, last: LineAddr::NONE }
    }

    pub fn candidates(&mut self, line: LineAddr, line_bytes: u64, out: &mut Vec<PhysAddr>) {
        if line != self.last {
            self.last = line;
            next_lines(line, self.degree, line_bytes, out);
        }
    }
}

/// The lines beside `line` in its aligned block of `pair_bytes`, the nearest after it first.
pub(crate) fn adjacent_lines(line: LineAddr, pair_bytes: u64, line_bytes: u64, out: &mut Vec<PhysAddr>) {
    let base = line.addr().align_down(pair_bytes);
    let mut next = line.addr();
    for _ in 1..pair_bytes / line_bytes {
        next = base + next.wrapping_add(line_bytes).offset_in(pair_bytes);
        out.push(next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(addr: u64) -> LineAddr {
        LineAddr::of(PhysAddr(addr), 64)
    }

    #[test]
    fn next_lines_follow() {
        let mut out = Vec::new();
        next_lines(line(0x1000), 3, 64, &mut out);
        assert_eq!(out, [0x1040, 0x1080, 0x10c0].map(PhysAddr));
    }

    #[test]
    fn a_line_is_come_to_once() {
        let mut n = NextLine::new(1);
        let mut out = Vec::new();
        for addr in [0x1000, 0x1000, 0x1040, 0x1000] {
            n.candidates(line(addr), 64, &mut out);
        }
        assert_eq!(out, [0x1040, 0x1080, 0x1040].map(PhysAddr));
    }

    #[test]
    fn the_buddy_is_below_or_above() {
        let mut out = Vec::new();
        adjacent_lines(line(0x1080), 128, 64, &mut out);
        adjacent_lines(line(0x10c0), 128, 64, &mut out);
        adjacent_lines(line(0x1080), 256, 64, &mut out);
        assert_eq!(out, [0x10c0, 0x1080, 0x10c0, 0x1000, 0x1040].map(PhysAddr));
    }
}
