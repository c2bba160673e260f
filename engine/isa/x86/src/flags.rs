//! Arithmetic flags, kept as what they come from: zero, sign and parity are looked at far less often than written.

use bitflags::bitflags;

bitflags! {
    /// The arithmetic flags in the groups that are renamed apart.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub(crate) struct FlagGroups: u8 {
        /// The carry.
        const C = 1 << 0;
        /// The overflow.
        const O = 1 << 1;
        /// Zero, sign, parity, adjust.
        const Z = 1 << 2;
    }
}

pub(crate) const CF: u64 = 1;
pub(crate) const PF: u64 = 1 << 2;
pub(crate) const AF: u64 = 1 << 4;
pub(crate) const ZF: u64 = 1 << 6;
pub(crate) const SF: u64 = 1 << 7;
pub(crate) const TF: u64 = 1 << 8;
pub(crate) const IF: u64 = 1 << 9;
pub(crate) const DF: u64 = 1 << 10;
pub(crate) const OF: u64 = 1 << 11;
pub(crate) const IOPL: u64 = 3 << 12;
pub(crate) const NT: u64 = 1 << 14;
pub(crate) const RF: u64 = 1 << 16;
pub(crate) const AC: u64 = 1 << 18;
pub(crate) const ID: u64 = 1 << 21;
/// The arithmetic flags.
pub(crate) const ARITH: u64 = CF | PF | AF | ZF | SF | OF;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Flags {
    pub cf: bool,
    pub of: bool,
    pub af: bool,
    /// Zero when ZF is set.
    pub zero: u64,
    /// Bit 63 is SF.
    pub sign: u64,
    /// PF is even parity of this byte.
    pub parity: u8,
}

impl Flags {
    #[inline(always)]
    pub fn zf(&self) -> bool {
        self.zero == 0
    }
    #[inline(always)]
    pub fn sf(&self) -> bool {
        (self.sign as i64) < 0
    }
    #[inline(always)]
    pub fn pf(&self) -> bool {
        self.parity.count_ones() & 1 == 0
    }

    /// Zero, sign and parity of a result of `size` bytes; `r` has nothing above them.
    #[inline(always)]
    pub fn result(&mut self, r: u64, size: u8) {
        self.zero = r;
        self.sign = r << (64 - 8 * u32::from(size & 15).clamp(1, 8));
        self.parity = r as u8;
    }

    pub fn bits(&self) -> u64 {
        let b = |on: bool, bit: u64| if on { bit } else { 0 };
        b(self.cf, CF) | b(self.pf(), PF) | b(self.af, AF) | b(self.zf(), ZF) | b(self.sf(), SF) | b(self.of, OF)
    }

    pub fn set_bits(&mut self, v: u64) {
        self.cf = v & CF != 0;
        self.of = v & OF != 0;
        self.af = v & AF != 0;
        self.zero = !v & ZF;
        self.sign = v << 56;
        self.parity = u8::from(v & PF == 0);
    }

    /// Condition `cc` in Intel's encoding.
    #[inline(always)]
    pub fn test(&self, cc: u8) -> bool {
        let v = match cc >> 1 & 7 {
            0 => self.of,
            1 => self.cf,
            2 => self.zf(),
            3 => self.cf || self.zf(),
            4 => self.sf(),
            5 => self.pf(),
            6 => self.sf() != self.of,
            _ => self.zf() || self.sf() != self.of,
        };
        v != (cc & 1 != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_combination_survives() {
        let mut f = Flags::default();
        for k in 0..64u64 {
            let v = [CF, PF, AF, ZF, SF, OF]
                .iter()
                .enumerate()
                .fold(0, |v, (n, bit)| v | if k >> n & 1 != 0 { *bit } else { 0 });
            f.set_bits(v);
            assert_eq!(f.bits(), v);
            assert_eq!(f.test(0xc), (v & SF != 0) != (v & OF != 0));
            assert_eq!(f.test(7), v & (CF | ZF) == 0);
        }
    }
}
