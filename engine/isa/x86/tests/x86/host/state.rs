//! Register states and where things lie.

use proptest::prelude::Rng;
use proptest::test_runner::{RngAlgorithm, TestRng};

pub const DATA: u64 = 0x3000_0000;
pub const DATA_LEN: usize = 8192;
pub const CODE: u64 = 0x7000_0000;
pub const CODE_LEN: usize = 8192;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    pub gpr: [u64; 16],
    pub flags: u64,
    pub mxcsr: u32,
    pub ymm: [[u64; 4]; 16],
    pub mm: [u64; 8],
}

/// What one instruction did.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    pub state: State,
    /// 0 none, 1 divide, 2 undefined instruction, 3 memory or protection, 4 breakpoint.
    pub fault: u8,
    pub next: u64,
    pub address: u64,
}

/// The stored results of `vectors.bin` are of the programs that this generator makes: ChaCha, whose stream no version changes.
#[derive(Clone)]
pub struct Random(TestRng);

impl Random {
    pub fn new(seed: u64) -> Self {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        Random(TestRng::from_seed(RngAlgorithm::ChaCha, &bytes))
    }
    pub fn next(&mut self) -> u64 {
        self.0.next_u64()
    }
    pub fn below(&mut self, n: u64) -> u64 {
        (self.next() >> 16) % n.max(1)
    }
    pub fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
    /// A value that breaks things: extremes, few bits, small numbers, floats, noise.
    pub fn hostile(&mut self) -> u64 {
        const FLOATS: [u64; 12] = [
            0x7ff0_0000_0000_0000,
            0xfff0_0000_0000_0000,
            0x7ff8_0000_0000_0001,
            0x7ff4_0000_0000_0000,
            0x0000_0000_0000_0001,
            0x000f_ffff_ffff_ffff,
            0x7fef_ffff_ffff_ffff,
            0x3ff0_0000_0000_0000,
            0x7f80_0000_ff80_0000,
            0x7fc0_0001_7fa0_0000,
            0x0000_0001_807f_ffff,
            0x7f7f_ffff_3f80_0000,
        ];
        match self.below(10) {
            0 => 0,
            1 => u64::MAX,
            2 => 1 << self.below(64),
            3 => (1u64 << self.below(64)).wrapping_sub(1),
            4 => self.below(66),
            5 => self.below(66).wrapping_neg(),
            6 => FLOATS[self.below(12) as usize],
            7 => {
                // Floats near each other, both widths.
                let e = 0x3ff + self.below(40) - 20;
                (e << 52) ^ self.next() & 0x800f_ffff_ffff_ffff
            }
            8 => {
                let f = |r: &mut Random| (((0x7f + r.below(40) - 20) << 23) ^ r.next() & 0x807f_ffff) & 0xffff_ffff;
                let low = f(self);
                f(self) << 32 | low
            }
            _ => self.next(),
        }
    }
    pub fn fill(&mut self, memory: &mut [u8]) {
        for c in memory.chunks_exact_mut(8) {
            c.copy_from_slice(&self.next().to_le_bytes());
        }
        for _ in 0..64 {
            let (at, v) = (self.below(memory.len() as u64 / 8) as usize, self.hostile());
            memory[8 * at..8 * at + 8].copy_from_slice(&v.to_le_bytes());
        }
    }
    pub fn state(&mut self) -> State {
        let mut s = State::default();
        for v in &mut s.gpr {
            *v = self.hostile();
        }
        for v in s.ymm.iter_mut().flatten() {
            *v = self.hostile();
        }
        for v in &mut s.mm {
            *v = self.hostile();
        }
        s.flags = self.next() & 0xcd5;
        // Rounding, flags that are set already, exceptions that are not masked.
        let bits = self.next() as u32;
        s.mxcsr = 0x1f80 | if self.one_in(3) { bits & 0xe040 } else { 0 };
        if self.one_in(3) {
            s.mxcsr |= bits >> 16 & 0x3f;
        }
        if self.one_in(6) {
            s.mxcsr &= !(bits >> 8 & 0x1f80);
        }
        s
    }
}
