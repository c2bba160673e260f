//! A 256-bit register as four words, and typed lanes in it.

/// An element type of a vector.
pub(crate) trait Lane: Copy {
    const BYTES: usize;
    fn from_bits(v: u64) -> Self;
    fn bits(self) -> u64;
}

macro_rules! lanes { ($($t:ty: $u:ty),*) => { $(impl Lane for $t {
    const BYTES: usize = std::mem::size_of::<$t>();
    #[inline(always)] fn from_bits(v: u64) -> Self { v as $t }
    #[inline(always)] fn bits(self) -> u64 { u64::from(self as $u) }
})* } }
lanes!(u8: u8, u16: u16, u32: u32, u64: u64, i8: u8, i16: u16, i32: u32, i64: u64);

impl Lane for f32 {
    const BYTES: usize = 4;
    #[inline(always)]
    fn from_bits(v: u64) -> Self {
        f32::from_bits(v as u32)
    }
    #[inline(always)]
    fn bits(self) -> u64 {
        u64::from(self.to_bits())
    }
}
impl Lane for f64 {
    const BYTES: usize = 8;
    #[inline(always)]
    fn from_bits(v: u64) -> Self {
        f64::from_bits(v)
    }
    #[inline(always)]
    fn bits(self) -> u64 {
        self.to_bits()
    }
}

#[inline(always)]
fn lane_mask<T: Lane>() -> u64 {
    !0 >> (64 - 8 * T::BYTES)
}

/// A vector register.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct V(pub [u64; 4]);

impl V {
    pub const ZERO: V = V([0; 4]);

    #[inline(always)]
    pub fn low(self) -> V {
        V([self.0[0], self.0[1], 0, 0])
    }
    #[inline(always)]
    pub fn bytes(self) -> [u8; 32] {
        let mut b = [0; 32];
        for (c, w) in b.chunks_exact_mut(8).zip(self.0) {
            c.copy_from_slice(&w.to_le_bytes());
        }
        b
    }
    /// At most 32 bytes, the rest zero.
    #[inline(always)]
    pub fn from_slice(s: &[u8]) -> V {
        let mut b = [0u8; 32];
        let n = s.len().min(32);
        b[..n].copy_from_slice(&s[..n]);
        let mut v = V::ZERO;
        for (w, c) in v.0.iter_mut().zip(b.chunks_exact(8)) {
            *w = c.iter().rev().fold(0, |v, &b| v << 8 | u64::from(b));
        }
        v
    }
    #[inline(always)]
    pub fn get<T: Lane>(&self, i: usize) -> T {
        let per = 8 / T::BYTES;
        T::from_bits(self.0[(i / per) & 3] >> (8 * T::BYTES * (i % per)))
    }
    #[inline(always)]
    pub fn set<T: Lane>(&mut self, i: usize, v: T) {
        let per = 8 / T::BYTES;
        let shift = 8 * T::BYTES * (i % per);
        let w = &mut self.0[(i / per) & 3];
        *w = *w & !(lane_mask::<T>() << shift) | v.bits() << shift;
    }
    #[inline(always)]
    pub fn map2<T: Lane>(self, b: V, f: impl Fn(T, T) -> T) -> V {
        let mut r = V::ZERO;
        for k in 0..4 {
            for j in 0..8 / T::BYTES {
                let s = 8 * T::BYTES * j;
                r.0[k] |= f(T::from_bits(self.0[k] >> s), T::from_bits(b.0[k] >> s)).bits() << s;
            }
        }
        r
    }
    /// The lane's 8 or 16 bytes.
    #[inline(always)]
    pub fn lane(&self, n: usize, len: usize) -> L {
        L { w: [self.0[(2 * n) & 3], self.0[(2 * n + 1) & 3]], len }
    }
    #[inline(always)]
    pub fn from_lanes(low: L, high: L) -> V {
        V([low.w[0], low.w[1], high.w[0], high.w[1]])
    }
    /// The 128-bit half `n`.
    pub fn half(&self, n: usize) -> [u64; 2] {
        [self.0[2 * (n & 1)], self.0[2 * (n & 1) + 1]]
    }
    /// Every lane of all 256 bits the same.
    pub fn splat<T: Lane>(v: T) -> V {
        let z = V::ZERO;
        z.map2(z, |_: T, _| v)
    }
    /// Lane by lane from its number.
    pub fn build<T: Lane>(f: impl Fn(usize) -> T) -> V {
        let mut v = V::ZERO;
        for n in 0..32 / T::BYTES {
            v.set(n, f(n));
        }
        v
    }
}

/// One lane of shuffles: 16 bytes, or 8 of an MMX register.
#[derive(Clone, Copy, Debug)]
pub(crate) struct L {
    pub w: [u64; 2],
    pub len: usize,
}

impl L {
    pub fn count<T: Lane>(&self) -> usize {
        self.len / T::BYTES
    }
    #[inline(always)]
    pub fn get<T: Lane>(&self, i: usize) -> T {
        let per = 8 / T::BYTES;
        T::from_bits(self.w[(i / per) & 1] >> (8 * T::BYTES * (i % per)))
    }
    /// A lane of the same length from element numbers.
    #[inline(always)]
    pub fn build<T: Lane>(&self, f: impl Fn(usize) -> T) -> L {
        let mut w = [0; 2];
        let per = 8 / T::BYTES;
        for i in 0..self.len / T::BYTES {
            w[(i / per) & 1] |= f(i).bits() << (8 * T::BYTES * (i % per));
        }
        L { w, len: self.len }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_are_where_they_belong() {
        let v = V::build::<u8>(|n| n as u8);
        assert_eq!((v.get::<u8>(31), v.get::<u16>(1), v.get::<u32>(7)), (31, 0x0302, 0x1f1e_1d1c));
        assert_eq!(V::from_slice(&v.bytes()), v);
        let mut w = v;
        w.set::<u16>(15, 0xabcd);
        assert_eq!(w.0[3], 0xabcd_1d1c_1b1a_1918);
        assert_eq!(v.lane(1, 16).get::<u8>(15), 31);
        assert_eq!(V::splat(-1i16).0, [!0; 4]);
    }
}
