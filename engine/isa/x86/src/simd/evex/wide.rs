//! AVX-512's registers beyond those of AVX, a 512-bit value with typed lanes, and the operands under execution.

use crate::simd::{Lane, V};

/// A 512-bit value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct W(pub [u64; 8]);

impl W {
    pub const ZERO: W = W([0; 8]);

    pub fn of(low: V, high: V) -> W {
        let mut w = W::ZERO;
        w.0[..4].copy_from_slice(&low.0);
        w.0[4..].copy_from_slice(&high.0);
        w
    }
    pub fn half(&self, n: usize) -> V {
        let at = 4 * (n & 1);
        V([self.0[at], self.0[at + 1], self.0[at + 2], self.0[at + 3]])
    }
    pub fn bytes(&self) -> [u8; 64] {
        let mut b = [0; 64];
        for (c, w) in b.chunks_exact_mut(8).zip(self.0) {
            c.copy_from_slice(&w.to_le_bytes());
        }
        b
    }
    pub fn from_bytes(b: &[u8; 64]) -> W {
        let mut w = W::ZERO;
        for (w, c) in w.0.iter_mut().zip(b.chunks_exact(8)) {
            *w = c.iter().rev().fold(0, |v, &b| v << 8 | u64::from(b));
        }
        w
    }
    /// The first `bytes` bytes again and again.
    pub fn repeated(b: &[u8; 64], bytes: usize) -> W {
        let bytes = bytes.clamp(1, 64);
        W::from_bytes(&std::array::from_fn(|n| b[n % bytes]))
    }
    /// The first `bytes` bytes (a multiple of eight), the rest zero.
    pub fn first(&self, bytes: usize) -> W {
        W(std::array::from_fn(|n| if 8 * n < bytes { self.0[n] } else { 0 }))
    }
    #[inline(always)]
    pub fn get<T: Lane>(&self, i: usize) -> T {
        let per = 8 / T::BYTES;
        T::from_bits(self.0[(i / per) & 7] >> (8 * T::BYTES * (i % per)))
    }
    /// Lane by lane from its number.
    #[inline(always)]
    pub fn build<T: Lane>(f: impl Fn(usize) -> T) -> W {
        let mut w = W::ZERO;
        let per = 8 / T::BYTES;
        for n in 0..64 / T::BYTES {
            w.0[n / per] |= f(n).bits() << (8 * T::BYTES * (n % per));
        }
        w
    }
    #[inline(always)]
    pub fn map2<T: Lane>(&self, b: &W, f: impl Fn(T, T) -> T) -> W {
        W::build(|n| f(self.get(n), b.get(n)))
    }
    /// A bit for each lane that `f` holds for.
    #[inline(always)]
    pub fn test2<T: Lane>(&self, b: &W, f: impl Fn(T, T) -> bool) -> u64 {
        (0..64 / T::BYTES).fold(0, |m, n| m | u64::from(f(self.get(n), b.get(n))) << n)
    }
    /// Lanes of `bytes` bytes: this one's where `mask` has their bit, else `other`'s.
    pub fn chosen(&self, other: &W, mask: u64, bytes: usize) -> W {
        let keep = W::from_bytes(&std::array::from_fn(|n| if mask >> (n / bytes.max(1)) & 1 != 0 { 0xff } else { 0 }));
        W(std::array::from_fn(|n| self.0[n] & keep.0[n] | other.0[n] & !keep.0[n]))
    }
}

/// What AVX-512 adds to the registers. Instructions on a wrong path change it, too; it is saved only where the system has
/// switched AVX-512 on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WideRegisters {
    /// Upper halves of zmm0 to zmm15.
    pub upper: [V; 16],
    /// zmm16 to zmm31.
    pub high: [W; 16],
    /// k0 to k7.
    pub k: [u64; 8],
    /// An upper half may not be zero.
    pub upper_used: bool,
}

impl Default for WideRegisters {
    fn default() -> Self {
        WideRegisters { upper: [V::ZERO; 16], high: [W::ZERO; 16], k: [0; 8], upper_used: false }
    }
}

/// All ones in the low `n` bits.
pub(crate) fn low_bits(n: usize) -> u64 {
    if n >= 64 {
        !0
    } else {
        (1 << n) - 1
    }
}

/// Operands of the instruction being executed, where VEX instructions' code finds them ([`Kind::Part`](crate::inst::Kind::Part)).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Scratch {
    pub operands: [W; 4],
    pub half: usize,
    pub out: [V; 2],
}

impl Scratch {
    #[inline]
    pub fn read(&self, operand: u8) -> V {
        self.operands[usize::from(operand & 3)].half(self.half)
    }
    #[inline]
    pub fn write(&mut self, v: V) {
        self.out[self.half & 1] = v;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_are_where_they_belong() {
        let w = W::build::<u8>(|n| n as u8);
        assert_eq!((w.get::<u8>(63), w.get::<u32>(15), w.half(1).get::<u8>(0)), (63, 0x3f3e_3d3c, 32));
        assert_eq!(W::of(w.half(0), w.half(1)), w);
        assert_eq!(w.chosen(&W::ZERO, 2, 4).0, [0x0706_0504 << 32, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(W::repeated(&w.bytes(), 2).get::<u16>(31), 0x0100);
        assert_eq!((low_bits(64), low_bits(3)), (!0, 7));
    }
}
