//! Pseudo-random numbers by which some predictors allocate: a fixed sequence (xorshift, Marsaglia 2003), so that a run is
//! repeatable to the cycle. gem5 draws from its global generator instead.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lfsr(u32);

impl Lfsr {
    /// The sequence's start; a multiple of 2^32 would stay at 0 and is replaced.
    pub(super) fn new(seed: u32) -> Self {
        Lfsr(seed.max(1))
    }

    #[inline]
    pub(super) fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0
    }
}
