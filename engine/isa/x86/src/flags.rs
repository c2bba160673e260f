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

bitflags! {
    /// RFLAGS, as pushf and syscall see it.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub(crate) struct Rflags: u64 {
        const CF = 1;
        /// Always set.
        const ONE = 1 << 1;
        const PF = 1 << 2;
        const AF = 1 << 4;
        const ZF = 1 << 6;
        const SF = 1 << 7;
        const TF = 1 << 8;
        const IF = 1 << 9;
        const DF = 1 << 10;
        const OF = 1 << 11;
        const IOPL = 3 << 12;
        const NT = 1 << 14;
        const RF = 1 << 16;
        const AC = 1 << 18;
        const ID = 1 << 21;
        /// The arithmetic flags.
        const ARITH = Self::CF.bits() | Self::PF.bits() | Self::AF.bits()
            | Self::ZF.bits() | Self::SF.bits() | Self::OF.bits();
    }
}

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

    pub fn rflags(&self) -> Rflags {
        let mut v = Rflags::empty();
        v.set(Rflags::CF, self.cf);
        v.set(Rflags::PF, self.pf());
        v.set(Rflags::AF, self.af);
        v.set(Rflags::ZF, self.zf());
        v.set(Rflags::SF, self.sf());
        v.set(Rflags::OF, self.of);
        v
    }

    pub fn set(&mut self, v: Rflags) {
        self.cf = v.contains(Rflags::CF);
        self.of = v.contains(Rflags::OF);
        self.af = v.contains(Rflags::AF);
        self.zero = u64::from(!v.contains(Rflags::ZF));
        self.sign = v.bits() << 56;
        self.parity = u8::from(!v.contains(Rflags::PF));
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
            let bits = Rflags::ARITH.iter_names().enumerate().filter(|(n, _)| k >> n & 1 != 0);
            let v: Rflags = bits.map(|(_, (_, bit))| bit).collect();
            f.set(v);
            assert_eq!(f.rflags(), v);
            assert_eq!(f.test(0xc), v.contains(Rflags::SF) != v.contains(Rflags::OF));
            assert_eq!(f.test(7), !v.intersects(Rflags::CF | Rflags::ZF));
        }
    }
}
