//! Tables of saturating counters, the memory of every direction predictor.

use breakeven_base::ConfigError;
use educe::Educe;

/// A power-of-two table of n-bit saturating counters that start at 0 (strongly not taken), as gem5's do.
#[derive(Debug, PartialEq, Eq, Educe)]
#[educe(Clone)]
pub struct CounterTable {
    counters: Vec<u8>,
    mask: u64,
    max: u8,
}

impl CounterTable {
    /// `entries` counters of `bits` bits; `path` names the object in errors, `size` and `width` its parameters.
    ///
    /// # Errors
    /// A size that is no power of two up to 2^28, or a width outside 1..=8.
    pub fn new(path: &str, size: &str, entries: u32, width: &str, bits: u32) -> Result<Self, ConfigError> {
        let entries = table_size(path, size, entries)?;
        if !(1..=8).contains(&bits) {
            return Err(ConfigError::new(
                format!("{path}.{width}"),
                format!("{bits} is not a counter width: 1 to 8 bits"),
            ));
        }
        Ok(CounterTable { counters: vec![0; entries], mask: entries as u64 - 1, max: u8::MAX >> (8 - bits) })
    }

    /// Bits of the index.
    #[must_use]
    pub fn index_bits(&self) -> u32 {
        self.mask.count_ones()
    }

    /// Whether the counter that `index` selects (modulo the size) says taken: its top bit.
    #[inline]
    #[must_use]
    pub fn taken(&self, index: u64) -> bool {
        self.counters[(index & self.mask) as usize] > self.max / 2
    }

    /// Moves the counter one step towards `taken`.
    #[inline]
    pub fn train(&mut self, index: u64, taken: bool) {
        let c = &mut self.counters[(index & self.mask) as usize];
        if taken {
            *c += u8::from(*c < self.max);
        } else {
            *c -= u8::from(*c > 0);
        }
    }
}

/// Checks the size of a predictor table.
///
/// # Errors
/// When it is no power of two or above 2^28 entries.
pub fn table_size(path: &str, param: &str, entries: u32) -> Result<usize, ConfigError> {
    if !entries.is_power_of_two() || entries > 1 << 28 {
        return Err(ConfigError::new(
            format!("{path}.{param}"),
            format!("{entries} entries: must be a power of two, at most 2^28"),
        ));
    }
    Ok(entries as usize)
}

/// Ones in the low `bits` bits.
#[inline]
#[must_use]
pub fn low_bits(bits: u32) -> u64 {
    if bits >= 64 {
        u64::MAX
    } else {
        (1 << bits) - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_saturate_at_both_ends_and_need_half_to_say_taken() {
        let mut t = CounterTable::new("bp", "size", 4, "bits", 2).expect("valid");
        t.train(1, false);
        for (n, taken) in [(1, false), (2, true), (3, true), (4, true)] {
            t.train(5, true);
            assert_eq!(t.taken(1), taken, "after {n}");
        }
        t.train(1, false);
        assert!(t.taken(1), "one step below the top still says taken");
        t.train(1, false);
        assert!(!t.taken(1));
        let mut one = CounterTable::new("bp", "size", 1, "bits", 1).expect("valid");
        one.train(0, true);
        assert!(one.taken(0));
        assert_eq!(CounterTable::new("bp", "size", 1, "bits", 8).expect("valid").max, 255);
    }

    #[test]
    fn bad_sizes_are_named() {
        let e = CounterTable::new("system.cpu.branchPred", "localPredictorSize", 3, "localCtrBits", 2).expect_err("3");
        assert_eq!(e.path, "system.cpu.branchPred.localPredictorSize");
        let e = CounterTable::new("bp", "size", 4, "bits", 9).expect_err("9 bits");
        assert_eq!(e.path, "bp.bits");
        assert!(CounterTable::new("bp", "size", 0, "bits", 2).is_err());
    }
}
