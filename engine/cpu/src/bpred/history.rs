//! Long global histories for TAGE: the outcomes of the last branches in a ring, and folded registers (Michaud, "A PPM-like,
//! tag-based branch predictor", 2005), each a history of fixed length xor-ed down to a few bits and kept incrementally.
//!
//! Branches are numbered from 0 as they enter the history. Each leaves the folded registers as it found them in a ring that
//! grows to the branches in flight, so that any of them can be undone at the cost of one copy of the registers.

use std::fmt;

/// One folded register's shape.
#[derive(Clone, Copy, Debug)]
struct Fold {
    /// Outcomes folded.
    length: u64,
    /// Bits folded to; 1 to 31.
    bits: u32,
    /// Where the outcome that leaves the history has to be taken out.
    out: u32,
}

#[derive(Clone)]
pub(super) struct History {
    folds: Vec<Fold>,
    /// The folded registers.
    comp: Vec<u32>,
    /// The addresses' low bits of the last branches.
    path: u32,
    path_mask: u32,
    longest: u64,
    /// Outcomes by number, a power of two of them.
    outcomes: Vec<u8>,
    /// Registers and path before each branch in flight, by number; `in_flight` of them, a power of two.
    saved: Vec<u32>,
    in_flight: u64,
    /// The oldest branch that can still be undone, and the number of the next one.
    oldest: u64,
    next: u64,
}

impl History {
    /// `folds`: (length, bits) of each register; lengths up to 2^20, 1 to 31 bits. `path_bits`: at most 31.
    pub(super) fn new(folds: &[(u32, u32)], path_bits: u32) -> Self {
        let longest = folds.iter().map(|f| u64::from(f.0)).max().unwrap_or(0);
        let folds: Vec<Fold> =
            folds.iter().map(|&(length, bits)| Fold { length: length.into(), bits, out: length % bits }).collect();
        let mut h = History {
            comp: vec![0; folds.len()],
            path: 0,
            path_mask: (1 << path_bits) - 1,
            longest,
            outcomes: Vec::new(),
            saved: Vec::new(),
            in_flight: 0,
            oldest: 0,
            next: 0,
            folds,
        };
        h.resize(64);
        h
    }

    /// Room for `in_flight` branches (a power of two).
    fn resize(&mut self, in_flight: u64) {
        let stride = self.stride();
        let mut saved = vec![0; in_flight as usize * stride];
        for n in self.oldest..self.next {
            let (from, to) = (self.saved_at(n), (n & (in_flight - 1)) as usize * stride);
            saved[to..to + stride].copy_from_slice(&self.saved[from..from + stride]);
        }
        let mut outcomes = vec![0; (self.longest + 1 + in_flight).next_power_of_two() as usize];
        let mask = outcomes.len() as u64 - 1;
        if !self.outcomes.is_empty() {
            for n in self.oldest.saturating_sub(self.longest + 1)..self.next {
                outcomes[(n & mask) as usize] = self.outcome(n);
            }
        }
        (self.saved, self.outcomes, self.in_flight) = (saved, outcomes, in_flight);
    }

    fn stride(&self) -> usize {
        self.folds.len() + 1
    }

    #[inline]
    fn saved_at(&self, n: u64) -> usize {
        (n & (self.in_flight - 1)) as usize * self.stride()
    }

    #[inline]
    fn outcome(&self, n: u64) -> u8 {
        self.outcomes[(n & (self.outcomes.len() as u64 - 1)) as usize]
    }

    /// Branches that fit in flight; grows when the next one does not.
    #[inline]
    pub(super) fn make_room(&mut self) -> u64 {
        if self.next - self.oldest == self.in_flight {
            self.resize(self.in_flight * 2);
        }
        self.in_flight
    }

    /// The number that the next branch gets.
    #[inline]
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    #[inline]
    pub(super) fn folded(&self) -> &[u32] {
        &self.comp
    }

    #[inline]
    pub(super) fn path(&self) -> u32 {
        self.path
    }

    /// The next branch went `taken`; `bit` of its address joins the path.
    #[inline]
    pub(super) fn push(&mut self, taken: bool, bit: u32) {
        self.make_room();
        let at = self.saved_at(self.next);
        let folds = self.folds.len();
        self.saved[at..at + folds].copy_from_slice(&self.comp);
        self.saved[at + folds] = self.path;
        self.path = ((self.path << 1) | (bit & 1)) & self.path_mask;
        let mask = self.outcomes.len() as u64 - 1;
        self.outcomes[(self.next & mask) as usize] = u8::from(taken);
        for (comp, f) in self.comp.iter_mut().zip(&self.folds) {
            // Before the first branch there was nothing: the ring's zeroes.
            let leaving = u32::from(self.outcomes[(self.next.wrapping_sub(f.length) & mask) as usize]);
            let mut c = (*comp << 1) | u32::from(taken);
            c ^= leaving << f.out;
            c ^= c >> f.bits;
            *comp = c & ((1 << f.bits) - 1);
        }
        self.next += 1;
    }

    /// Branch `n` and all younger ones never entered. `n` must be in flight.
    #[inline]
    pub(super) fn restore(&mut self, n: u64) {
        let at = self.saved_at(n);
        let folds = self.folds.len();
        self.comp.copy_from_slice(&self.saved[at..at + folds]);
        self.path = self.saved[at + folds];
        self.next = n;
    }

    /// Branch `n` and all older ones cannot be undone any more.
    #[inline]
    pub(super) fn commit(&mut self, n: u64) {
        self.oldest = n + 1;
    }
}

/// Only what predictions depend on: rings hold leftovers of branches that were undone.
impl fmt::Debug for History {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let back = self.longest.min(self.next);
        let outcomes: String = (1..=back).map(|age| char::from(b'0' + self.outcome(self.next - age))).collect();
        f.debug_struct("History")
            .field("comp", &self.comp)
            .field("path", &self.path)
            .field("outcomes", &outcomes)
            .field("next", &self.next)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The register of a fold, from the outcomes (youngest first) alone.
    fn fold(outcomes: &[bool], length: usize, bits: u32) -> u32 {
        let mut c = 0_u32;
        for (age, &o) in outcomes.iter().take(length).enumerate() {
            c ^= u32::from(o) << (age as u32 % bits);
        }
        c
    }

    #[test]
    fn incremental_folds_are_the_folds_of_the_outcomes() {
        let shapes = [(5, 9), (130, 11), (640, 10), (9, 9), (7, 1)];
        let mut h = History::new(&shapes, 16);
        let mut all = Vec::new();
        let mut x = 7_u32;
        for i in 0..3000_u64 {
            x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let taken = x >> 31 == 1;
            h.push(taken, 0);
            all.insert(0, taken);
            // Two hundred in flight: more than the ring's first size.
            if i >= 200 {
                h.commit(i - 200);
            }
            for (k, &(length, bits)) in shapes.iter().enumerate() {
                assert_eq!(h.folded()[k], fold(&all, length as usize, bits), "{i}: {length} to {bits}");
            }
        }
        // Undoing many at once is as if they had never been.
        h.restore(2850);
        for (k, &(length, bits)) in shapes.iter().enumerate() {
            assert_eq!(h.folded()[k], fold(&all[150..], length as usize, bits));
        }
    }

    #[test]
    fn growing_keeps_what_can_still_be_undone() {
        let mut h = History::new(&[(100, 7)], 8);
        let states: Vec<String> = (0..1000_u32)
            .map(|i| {
                let before = format!("{h:?}");
                h.push(i % 3 == 0, i);
                before
            })
            .collect();
        for n in [999, 700, 65, 64, 0] {
            h.restore(n);
            assert_eq!(format!("{h:?}"), states[n as usize]);
        }
    }
}
