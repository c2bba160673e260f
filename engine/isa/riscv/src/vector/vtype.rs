//! `vtype`.

/// The fields of `vtype`. The widths are logarithms: SEW is `8 << sew` bits, LMUL `2^lmul`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Vtype {
    pub vill: bool,
    pub tail_agnostic: bool,
    pub mask_agnostic: bool,
    pub sew: u8,
    pub lmul: i8,
}

impl Default for Vtype {
    /// As the specification recommends for reset.
    fn default() -> Self {
        Vtype { vill: true, tail_agnostic: false, mask_agnostic: false, sew: 0, lmul: 0 }
    }
}

impl Vtype {
    /// As the CSR reads.
    pub fn bits(self) -> u64 {
        if self.vill {
            return 1 << 63;
        }
        let lmul = self.lmul as u64 & 7;
        u64::from(self.mask_agnostic) << 7 | u64::from(self.tail_agnostic) << 6 | u64::from(self.sew) << 3 | lmul
    }

    /// What a vset instruction asks for; `vill` where no register group would hold it.
    pub fn from_bits(v: u64) -> Vtype {
        let lmul = (v as i8) << 5 >> 5;
        let sew = (v >> 3 & 7) as u8;
        // With ELEN 64 a fraction of a register must hold one element: SEW is at most LMUL * ELEN.
        let fits = sew <= 3 && lmul != -4 && i32::from(sew) <= 3 + i32::from(lmul.min(0));
        if v >> 8 != 0 || !fits {
            return Vtype::default();
        }
        Vtype { vill: false, tail_agnostic: v & 1 << 6 != 0, mask_agnostic: v & 1 << 7 != 0, sew, lmul }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vtype_reads_back_what_can_be_set() {
        for v in 0..256u64 {
            let t = Vtype::from_bits(v);
            assert!(t.vill || t.bits() == v, "{v:#x} became {t:?}");
        }
        assert!(Vtype::from_bits(1 << 8).vill, "a reserved bit");
        assert!(Vtype::from_bits(4).vill, "LMUL's reserved code");
        assert!(Vtype::from_bits(0b011_101).vill, "64-bit elements in an eighth of a register");
        assert!(!Vtype::from_bits(0b000_101).vill, "bytes in an eighth of a register");
    }
}
