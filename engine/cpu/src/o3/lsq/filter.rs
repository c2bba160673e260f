//! A counting filter of the addresses in a queue: where it says that nothing overlaps, the queue is not searched. It has false
//! positives, and no false negatives.

use educe::Educe;

const BUCKETS: usize = 256;
/// A range of more granules than this is counted apart: it overlaps everything.
const MAX_GRANULES: u64 = 8;

#[derive(Debug, Educe)]
#[educe(Clone)]
pub struct Filter {
    counts: Box<[u16; BUCKETS]>,
    wide: u32,
    shift: u32,
    mask: u64,
}

impl Filter {
    /// Granules of 2^`shift` bytes. `alias_bits` below 12 (but not 0) makes all addresses that agree in so many low bits overlap.
    pub fn new(shift: u32, alias_bits: u32) -> Self {
        let bits = if alias_bits == 0 { 8 } else { alias_bits.saturating_sub(shift).min(8) };
        Filter { counts: Box::new([0; BUCKETS]), wide: 0, shift, mask: (1 << bits) - 1 }
    }

    /// The first and the last granule of `lo..=hi`; `None` when they are many.
    #[inline]
    fn granules(&self, lo: u64, hi: u64) -> Option<(u64, u64)> {
        let (first, last) = (lo >> self.shift, hi >> self.shift);
        (last.wrapping_sub(first) < MAX_GRANULES).then_some((first, last))
    }

    /// Changes the counts of `first` to `last`.
    #[inline]
    fn count(&mut self, (first, last): (u64, u64), by: u16) {
        let mut granule = first;
        loop {
            let n = &mut self.counts[self.bucket(granule)];
            *n = n.wrapping_add(by);
            if granule == last {
                break;
            }
            granule += 1;
        }
    }

    #[inline]
    #[allow(clippy::cast_possible_truncation)] // masked
    fn bucket(&self, granule: u64) -> usize {
        (granule & self.mask) as usize % BUCKETS
    }

    #[inline]
    pub fn add(&mut self, lo: u64, hi: u64) {
        match self.granules(lo, hi) {
            Some(granules) => self.count(granules, 1),
            None => self.wide += 1,
        }
    }

    pub fn clear(&mut self) {
        self.counts.fill(0);
        self.wide = 0;
    }

    /// Takes out what [`Filter::add`] put in with the same bounds.
    #[inline]
    pub fn remove(&mut self, lo: u64, hi: u64) {
        match self.granules(lo, hi) {
            Some(granules) => self.count(granules, 1u16.wrapping_neg()),
            None => self.wide -= 1,
        }
    }

    #[cfg(test)]
    pub fn is_empty(&self) -> bool {
        self.wide == 0 && self.counts.iter().all(|n| *n == 0)
    }

    #[inline]
    pub fn may_overlap(&self, lo: u64, hi: u64) -> bool {
        self.wide != 0
            || match self.granules(lo, hi) {
                Some((first, last)) => {
                    self.counts[self.bucket(first)] != 0
                        || first != last && (first + 1..=last).any(|g| self.counts[self.bucket(g)] != 0)
                }
                None => true,
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_added_is_found_until_it_is_removed() {
        let mut f = Filter::new(4, 0);
        f.add(0x100, 0x107);
        f.add(0x104, 0x113);
        assert!(f.may_overlap(0x10f, 0x10f) && f.may_overlap(0x108, 0x117));
        assert!(!f.may_overlap(0x120, 0x127) && !f.may_overlap(0xf8, 0xff));
        f.remove(0x100, 0x107);
        assert!(f.may_overlap(0x100, 0x100));
        f.remove(0x104, 0x113);
        assert!(!f.may_overlap(0x100, 0x117));
    }

    #[test]
    fn a_long_range_overlaps_everything() {
        let mut f = Filter::new(4, 0);
        f.add(0, 4095);
        assert!(f.may_overlap(1 << 40, (1 << 40) + 7));
        f.remove(0, 4095);
        assert!(!f.may_overlap(0x100, 0x107));
    }

    #[test]
    fn addresses_that_agree_in_the_low_bits_are_found() {
        let mut f = Filter::new(4, 10);
        f.add(0x1230, 0x1237);
        assert!(f.may_overlap(0x5630, 0x5637), "0x1230 and 0x5630 agree in ten bits");
        assert!(!f.may_overlap(0x5640, 0x5647));
    }
}
