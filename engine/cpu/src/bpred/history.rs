//! Long global histories for TAGE: the outcomes of the last branches in a ring, and folded registers (Michaud, "A PPM-like,
//! tag-based branch predictor", 2005), each a history of fixed length xor-ed down to a few bits and kept incrementally.
//!
//! Branches are numbered from 0 as they enter the history. A ring, which grows to the branches in flight, has
//! the folded registers before each branch, so that undoing any of them costs one copy of the registers.

use educe::Educe;
use std::fmt;

/// Registers that fold one length of history, to as many widths.
pub(super) const WIDTHS: usize = 3;

/// The folded registers and their shape, in rows of one register a length: what one row does is the same for all lengths,
/// so that a compiler does several at a time.
#[derive(Debug, Educe)]
#[educe(Clone)]
struct Folds {
    /// Outcomes folded, by length.
    lengths: Vec<u64>,
    /// The outcome that leaves each length's history, all ones or none; scratch space.
    leaving: Vec<u32>,
    /// By row and length: the register's bits, its top bit, and where the outcome that leaves has to be taken out.
    mask: Vec<u32>,
    top: Vec<u32>,
    out: Vec<u32>,
}

#[derive(Educe)]
#[educe(Clone)]
pub(super) struct History {
    folds: Folds,
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
    /// `folds`: each length (up to 2^20) and the widths (1 to 31 bits) that it is folded to. `path_bits`: at most 31.
    pub(super) fn new(folds: &[(u32, [u32; WIDTHS])], path_bits: u32) -> Self {
        let each = |f: &dyn Fn(u32, u32) -> u32| -> Vec<u32> {
            (0..WIDTHS)
                .flat_map(|row| folds.iter().map(move |(length, bits)| (*length, bits[row])))
                .map(|(l, b)| f(l, b))
                .collect()
        };
        let lengths: Vec<u64> = folds.iter().map(|f| f.0.into()).collect();
        let mut h = History {
            comp: vec![0; WIDTHS * folds.len()],
            path: 0,
            path_mask: (1 << path_bits) - 1,
            longest: lengths.iter().copied().max().unwrap_or(0),
            outcomes: Vec::new(),
            saved: Vec::new(),
            in_flight: 0,
            oldest: 0,
            next: 0,
            folds: Folds {
                leaving: vec![0; lengths.len()],
                lengths,
                mask: each(&|_, bits| (1 << bits) - 1),
                top: each(&|_, bits| 1 << (bits - 1)),
                out: each(&|length, bits| 1 << (length % bits)),
            },
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
        self.comp.len() + 1
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

    /// The registers of one row.
    #[inline]
    pub(super) fn folded(&self, row: usize) -> &[u32] {
        let n = self.folds.lengths.len();
        &self.comp[row * n..(row + 1) * n]
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
        let registers = self.comp.len();
        self.saved[at..at + registers].copy_from_slice(&self.comp);
        self.saved[at + registers] = self.path;
        self.path = ((self.path << 1) | (bit & 1)) & self.path_mask;
        let mask = self.outcomes.len() as u64 - 1;
        self.outcomes[(self.next & mask) as usize] = u8::from(taken);
        self.fold(taken);
        self.next += 1;
    }

    /// The registers take in the outcome that has just been put down.
    #[inline]
    fn fold(&mut self, taken: bool) {
        let Folds { lengths, leaving, mask, top, out } = &mut self.folds;
        let ring = self.outcomes.len() as u64 - 1;
        for (leaving, length) in leaving.iter_mut().zip(lengths.iter()) {
            // Before the first branch there was nothing: the ring's zeroes.
            let outcome = self.outcomes[(self.next.wrapping_sub(*length) & ring) as usize];
            *leaving = 0_u32.wrapping_sub(u32::from(outcome));
        }
        let (n, taken) = (lengths.len(), u32::from(taken));
        for row in 0..WIDTHS {
            let range = row * n..(row + 1) * n;
            let shape = mask[range.clone()].iter().zip(&top[range.clone()]).zip(&out[range.clone()]);
            for ((c, ((mask, top), out)), leaving) in self.comp[range].iter_mut().zip(shape).zip(&*leaving) {
                let carry = u32::from(*c & top != 0);
                *c = ((*c << 1) & mask) ^ carry ^ taken ^ (leaving & out);
            }
        }
    }

    /// Branch `n` and all younger ones never entered. `n` must be in flight.
    #[inline]
    pub(super) fn restore(&mut self, n: u64) {
        let at = self.saved_at(n);
        let registers = self.comp.len();
        self.comp.copy_from_slice(&self.saved[at..at + registers]);
        self.path = self.saved[at + registers];
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
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// The register of a fold, from the outcomes (youngest first) alone.
    fn fold(outcomes: &[bool], length: usize, bits: u32) -> u32 {
        let mut c = 0_u32;
        for (age, &o) in outcomes.iter().take(length).enumerate() {
            c ^= u32::from(o) << (age as u32 % bits);
        }
        c
    }

    const SHAPES: [(u32, [u32; 3]); 4] = [(5, [9, 8, 1]), (130, [11, 12, 11]), (640, [10, 16, 15]), (9, [9, 9, 2])];

    /// `outcomes`: the youngest first.
    fn check(h: &History, outcomes: &[bool]) -> Result<(), TestCaseError> {
        for (k, &(length, widths)) in SHAPES.iter().enumerate() {
            for (row, bits) in widths.into_iter().enumerate() {
                prop_assert_eq!(h.folded(row)[k], fold(outcomes, length as usize, bits), "{} to {}", length, bits);
            }
        }
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]

        #[test]
        fn incremental_folds_are_the_folds_of_the_outcomes(taken in vec(any::<bool>(), 1000..1500), undone in 1..200_usize) {
            let mut h = History::new(&SHAPES, 16);
            let mut outcomes = Vec::new();
            for (i, &taken) in (0_u64..).zip(&taken) {
                h.push(taken, 0);
                outcomes.insert(0, taken);
                // Two hundred in flight: more than the ring's first size.
                if i >= 200 {
                    h.commit(i - 200);
                }
                check(&h, &outcomes)?;
            }
            // Undoing many at once is as if they had never been.
            h.restore((taken.len() - undone) as u64);
            check(&h, &outcomes[undone..])?;
        }
    }

    #[test]
    fn growing_keeps_what_can_still_be_undone() {
        let mut h = History::new(&[(100, [7, 5, 4])], 8);
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
