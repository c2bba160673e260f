//! TAGE's base predictor: two-bit counters whose low bit is shared with their neighbours.

use educe::Educe;

#[derive(Debug, Educe)]
#[educe(Clone)]
pub struct Bimodal {
    /// The counters' high bits.
    taken: Vec<bool>,
    /// Their low bits, each of `2^shift` neighbours.
    hysteresis: Vec<bool>,
    shift: u32,
}

impl Bimodal {
    /// `2^log` counters; `2^shift` of them share a low bit.
    pub fn new(log: u32, shift: u32) -> Self {
        let counters = 1_usize << log;
        Bimodal { taken: vec![false; counters], hysteresis: vec![true; counters >> shift], shift }
    }

    #[inline]
    pub fn index(&self, pc: u32) -> u32 {
        pc & (self.taken.len() - 1) as u32
    }

    #[inline]
    pub fn predict(&self, index: u32) -> bool {
        self.taken[index as usize]
    }

    pub fn train(&mut self, index: u32, taken: bool) {
        let index = index as usize;
        let shared = index >> self.shift;
        let counter = u8::from(self.taken[index]) << 1 | u8::from(self.hysteresis[shared]);
        let counter = if taken { (counter + 1).min(3) } else { counter.saturating_sub(1) };
        self.taken[index] = counter >> 1 == 1;
        self.hysteresis[shared] = counter & 1 == 1;
    }
}
