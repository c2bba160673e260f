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

/// The element of `1 << sew` bytes that `bytes` begin with.
#[inline(always)]
fn read(bytes: &[u8], sew: u8) -> u64 {
    // Each width by itself: a copy of a length that is not known is a call.
    let value = match sew {
        0 => bytes.first().map(|&b| u64::from(b)),
        1 => bytes.first_chunk().map(|&b| u64::from(u16::from_le_bytes(b))),
        2 => bytes.first_chunk().map(|&b| u64::from(u32::from_le_bytes(b))),
        _ => bytes.first_chunk().map(|&b| u64::from_le_bytes(b)),
    };
    value.unwrap_or(0)
}
/// Writes what [`read`] reads.
#[inline(always)]
fn write(bytes: &mut [u8], sew: u8, value: u64) {
    match sew {
        0 => bytes.first_mut().map(|b| *b = value as u8),
        1 => bytes.first_chunk_mut().map(|b| *b = (value as u16).to_le_bytes()),
        2 => bytes.first_chunk_mut().map(|b| *b = (value as u32).to_le_bytes()),
        _ => bytes.first_chunk_mut().map(|b| *b = value.to_le_bytes()),
    };
}

/// Copies what the register file holds from byte `from` on; what would lie behind its end stays.
#[inline(always)]
fn copy_from(file: &[u8], from: usize, to: &mut [u8]) {
    if let Some(file) = file.get(from..from + to.len()) {
        to.copy_from_slice(file);
    }
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
        read(self.file.get(reg * self.vlenb + (k << sew)..).unwrap_or_default(), sew)
    }
    #[inline(always)]
    pub fn set(&mut self, reg: usize, k: usize, sew: u8, value: u64) {
        write(self.file.get_mut(reg * self.vlenb + (k << sew)..).unwrap_or_default(), sew, value);
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
        match self.vtype.sew {
            0 => self.map_widths(f, scalar, (0, 0, 0), op),
            1 => self.map_widths(f, scalar, (1, 1, 1), op),
            2 => self.map_widths(f, scalar, (2, 2, 2), op),
            _ => self.map_widths(f, scalar, (3, 3, 3), op),
        }
    }

    /// The same where `vs2`, `vs1` and the destination have elements of different widths. Inlined, so that a loop is compiled
    /// for constant ones. The sources are read as they were before: a legal overlap loses no element in either order.
    #[inline(always)]
    pub fn map_widths(&mut self, f: &Form, scalar: u64, sew: (u8, u8, u8), op: impl Fn(u64, u64, u64) -> u64) {
        let vector = f.second == Second::Vector;
        let first = self.vstart as usize;
        let n = (self.vl as usize).saturating_sub(first);
        let (a, rest) = self.sources.split_at_mut(8 * self.vlenb);
        let (b, mask) = rest.split_at_mut(8 * self.vlenb);
        let (Some(a), Some(b)) = (a.get_mut(..n << sew.0), b.get_mut(..n << sew.1)) else { return };
        copy_from(&self.file, f.vs2 * self.vlenb + (first << sew.0), a);
        if vector {
            copy_from(&self.file, f.vs1 * self.vlenb + (first << sew.1), b);
        }
        if f.masked {
            copy_from(&self.file, 0, mask);
        }
        let from = f.vd * self.vlenb + (first << sew.2);
        let Some(to) = self.file.get_mut(from..from + (n << sew.2)) else { return };
        let sources = a.chunks_exact(1 << sew.0).zip(b.chunks_exact(1 << sew.1));
        for (k, (d, (a, b))) in to.chunks_exact_mut(1 << sew.2).zip(sources).enumerate() {
            let at = first + k;
            if !f.masked || mask[at / 8] >> (at % 8) & 1 != 0 {
                let b = if vector { read(b, sew.1) } else { scalar };
                write(d, sew.2, op(read(a, sew.0), b, read(d, sew.2)));
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
