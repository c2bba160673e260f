//! `vtype`, `vl`, and the instructions that set them.

use breakeven_base::{OpClass, Reg};

use crate::hart::Hart;

use super::crack::{VL, X};
use super::VectorUnit;

/// `vtype` taken apart. The widths are logarithms: SEW is `8 << sew` bits, LMUL `2^lmul`.
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
    fn from_bits(v: u64) -> Vtype {
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

impl VectorUnit {
    /// Elements of a register group of `lmul` (a logarithm) with elements of `1 << sew` bytes.
    #[inline]
    pub fn vlmax(&self, sew: u8, lmul: i8) -> u64 {
        let bytes = self.vlenb as u64;
        let group = if lmul >= 0 { bytes << lmul } else { bytes >> -lmul };
        group >> sew
    }
}

impl Hart {
    /// vsetvli, vsetivli, vsetvl.
    pub(super) fn vector_config(&mut self, raw: u32) {
        let (rd, rs1) = ((raw >> 7 & 31) as u8, (raw >> 15 & 31) as u8);
        let immediate = raw >> 30 == 3;
        let vtype = match raw >> 30 {
            0 | 1 => u64::from(raw >> 20 & 0x7ff),
            3 => u64::from(raw >> 20 & 0x3ff),
            _ => self.regs[(raw >> 20 & 31) as usize],
        };
        let wanted = Vtype::from_bits(vtype);
        let v = &mut self.vector;
        let most = v.vlmax(wanted.sew, wanted.lmul);
        let vl = match (immediate, rs1, rd) {
            _ if wanted.vill => 0,
            (true, ..) => u64::from(rs1).min(most),
            (false, 0, 0) => v.vl.min(most),
            (false, 0, _) => most,
            _ => self.regs[usize::from(rs1)].min(most),
        };
        (v.vtype, v.vl, v.vstart) = (wanted, vl, 0);
        let source = if immediate { Reg::NONE } else { X(usize::from(rs1)) };
        let second = if raw >> 30 == 2 { X((raw >> 20 & 31) as usize) } else { Reg::NONE };
        v.cracked.op(OpClass::SimdConfig, [source, second, Reg::NONE], [VL, X(usize::from(rd))]);
        if rd != 0 {
            self.regs[usize::from(rd)] = vl;
        }
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
