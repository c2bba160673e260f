//! Prefetchers of the lines next to an access, without history.
//!
//! - gem5 `TaggedPrefetcher`: the next `degree` lines. On misses and the first use of a prefetched line (the "tag").
//! - `NextLine` (ours): the same, once for each new line, hits included: Intel's DCU prefetcher.
//! - `AdjacentLine` (ours): the other lines of the aligned block, the 128-byte pair of Intel's spatial prefetcher.

/// The `degree` lines after the one that begins at `line`.
pub(crate) fn next_lines(line: u64, degree: u32, line_bytes: u64, out: &mut Vec<u64>) {
    out.extend((1..=u64::from(degree)).map(|d| line.wrapping_add(d * line_bytes)));
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct NextLine {
    degree: u32,
    /// The line accessed last.
    last: u64,
}

impl NextLine {
    pub fn new(degree: u32) -> Self {
        NextLine { degree, last: u64::MAX }
    }

    pub fn candidates(&mut self, line: u64, line_bytes: u64, out: &mut Vec<u64>) {
        if line != self.last {
            self.last = line;
            next_lines(line, self.degree, line_bytes, out);
        }
    }
}

/// The lines beside `line` in its aligned block of `pair_bytes`, the nearest after it first.
pub(crate) fn adjacent_lines(line: u64, pair_bytes: u64, line_bytes: u64, out: &mut Vec<u64>) {
    let base = line & !(pair_bytes - 1);
    let mut next = line;
    for _ in 1..pair_bytes / line_bytes {
        next = base | next.wrapping_add(line_bytes) & (pair_bytes - 1);
        out.push(next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn next_lines_follow() {
        let mut out = Vec::new();
        next_lines(0x1000, 3, 64, &mut out);
        assert_eq!(out, [0x1040, 0x1080, 0x10c0]);
    }

    #[test]
    fn a_line_is_come_to_once() {
        let mut n = NextLine::new(1);
        let mut out = Vec::new();
        for line in [0x1000, 0x1000, 0x1040, 0x1000] {
            n.candidates(line, 64, &mut out);
        }
        assert_eq!(out, [0x1040, 0x1080, 0x1040]);
    }

    #[test]
    fn the_buddy_is_below_or_above() {
        let mut out = Vec::new();
        adjacent_lines(0x1080, 128, 64, &mut out);
        adjacent_lines(0x10c0, 128, 64, &mut out);
        adjacent_lines(0x1080, 256, 64, &mut out);
        assert_eq!(out, [0x10c0, 0x1080, 0x10c0, 0x1000, 0x1040]);
    }
}
