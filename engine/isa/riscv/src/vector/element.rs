//! Reading and writing elements, the checks of register groups, and the loop over active elements.

use super::forms::{Form, Second};
use super::{legal, Legal, VectorUnit};
use crate::hart::Hart;
use crate::inst::F0;

/// The low `8 << sew` bits.
#[inline(always)]
pub(crate) fn low(v: u64, sew: u8) -> u64 {
    v & (!0 >> (64 - (8 << sew)))
}
/// Sign-extended from `8 << sew` bits.
#[inline(always)]
pub(crate) fn sign(v: u64, sew: u8) -> i64 {
    let unused = 64 - (8u32 << sew);
    ((v << unused) as i64) >> unused
}
/// Bits of an element.
#[inline(always)]
pub(crate) fn bits(sew: u8) -> u32 {
    8 << sew
}

/// Registers of a group: at least one.
#[inline]
pub(crate) fn registers(lmul: i8) -> usize {
    1 << lmul.max(0)
}

impl VectorUnit {
    /// Element `k` (of `1 << sew` bytes) of the group that begins at register `reg`.
    #[inline(always)]
    pub fn get(&self, reg: usize, k: usize, sew: u8) -> u64 {
        // Each width by itself: a copy of a length that is not known is a call.
        let rest = self.file.get(reg * self.vlenb + (k << sew)..).unwrap_or_default();
        let value = match sew {
            0 => rest.first().map(|&b| u64::from(b)),
            1 => rest.first_chunk().map(|&b| u64::from(u16::from_le_bytes(b))),
            2 => rest.first_chunk().map(|&b| u64::from(u32::from_le_bytes(b))),
            _ => rest.first_chunk().map(|&b| u64::from_le_bytes(b)),
        };
        value.unwrap_or(0)
    }
    #[inline(always)]
    pub fn set(&mut self, reg: usize, k: usize, sew: u8, value: u64) {
        let rest = self.file.get_mut(reg * self.vlenb + (k << sew)..).unwrap_or_default();
        match sew {
            0 => rest.first_mut().map(|b| *b = value as u8),
            1 => rest.first_chunk_mut().map(|b| *b = (value as u16).to_le_bytes()),
            2 => rest.first_chunk_mut().map(|b| *b = (value as u32).to_le_bytes()),
            _ => rest.first_chunk_mut().map(|b| *b = value.to_le_bytes()),
        };
    }
    /// Bit `k` of a mask register.
    #[inline(always)]
    pub fn bit(&self, reg: usize, k: usize) -> bool {
        self.file[reg * self.vlenb + k / 8] >> (k % 8) & 1 != 0
    }
    #[inline(always)]
    pub fn set_bit(&mut self, reg: usize, k: usize, value: bool) {
        let byte = &mut self.file[reg * self.vlenb + k / 8];
        *byte = *byte & !(1 << (k % 8)) | u8::from(value) << (k % 8);
    }
    /// Whether element `k` is active.
    #[inline(always)]
    pub fn active(&self, masked: bool, k: usize) -> bool {
        !masked || self.bit(0, k)
    }
    #[inline]
    pub fn range(&self) -> std::ops::Range<usize> {
        self.vstart as usize..self.vl as usize
    }

    /// A register group may begin at `reg`.
    pub fn aligned(reg: usize, lmul: i8) -> Legal {
        legal((-3..=3).contains(&lmul) && reg % registers(lmul) == 0)
    }

    /// A masked operation may not write v0, which holds the mask.
    pub fn keeps_clear_of_mask(f: &Form) -> Legal {
        legal(!f.masked || f.vd != 0)
    }

    /// A destination may overlap a source of other element width only where no element is lost before it is read:
    /// narrower in the lowest register of the source, wider in the highest of the destination (and not for a fraction).
    pub fn overlap(dst: (usize, i8), dst_sew: i8, src: (usize, i8), src_sew: i8) -> Legal {
        let (d, nd) = (dst.0, registers(dst.1));
        let (s, ns) = (src.0, registers(src.1));
        let apart = d + nd <= s || s + ns <= d;
        let same = dst_sew == src_sew;
        let narrows = dst_sew < src_sew && d == s;
        let widens = dst_sew > src_sew && src.1 >= 0 && s + ns == d + nd;
        legal(apart || same || narrows || widens)
    }

    /// The groups of an ordinary operation: everything of SEW and LMUL.
    pub fn plain_groups(&self, f: &Form) -> Legal {
        let lmul = self.vtype.lmul;
        Self::keeps_clear_of_mask(f)?;
        Self::aligned(f.vd, lmul)?;
        Self::aligned(f.vs2, lmul)?;
        match f.second {
            Second::Vector => Self::aligned(f.vs1, lmul),
            _ => Ok(()),
        }
    }

    /// `op(vs2, vs1 or scalar, vd)` of every active element, at SEW.
    #[inline]
    pub fn map(&mut self, f: &Form, scalar: u64, op: impl Fn(u64, u64, u64) -> u64) {
        let sew = self.vtype.sew;
        let vector = f.second == Second::Vector;
        for k in self.range() {
            if self.active(f.masked, k) {
                let b = if vector { self.get(f.vs1, k, sew) } else { scalar };
                let v = op(self.get(f.vs2, k, sew), b, self.get(f.vd, k, sew));
                self.set(f.vd, k, sew, v);
            }
        }
    }
}

impl Hart {
    /// The second operand where it is not a vector: an x register, or the immediate sign-extended.
    pub(crate) fn vector_scalar(&self, f: &Form) -> u64 {
        match f.second {
            Second::Vector => 0,
            Second::Scalar => self.regs[f.vs1],
            Second::Immediate => f.simm(),
        }
    }
    /// As [`Hart::vector_scalar`], with an immediate that is not extended: shifts, slides, gathers.
    pub(crate) fn vector_amount(&self, f: &Form) -> u64 {
        match f.second {
            Second::Immediate => f.vs1 as u64,
            _ => self.vector_scalar(f),
        }
    }
    /// The f register of a vector-scalar operation.
    pub(crate) fn vector_float_scalar(&self, f: &Form) -> u64 {
        self.regs[f.vs1 + usize::from(F0)]
    }
}
