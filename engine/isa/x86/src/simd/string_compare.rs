//! SSE4.2's string comparisons: pcmpestri, pcmpestrm, pcmpistri, pcmpistrm.

use breakeven_base::Bus;
use iced_x86::Mnemonic;

use super::V;
use crate::cpu::R;
use crate::exec::Exec;
use crate::flags::Rflags;
use crate::inst::{Kind, RAX, RCX, RDX};

/// One operand: elements as wide integers, and how many are valid.
struct StringOperand {
    v: V,
    len: usize,
}

/// How elements are made: bytes or words, signed or not.
#[derive(Clone, Copy)]
struct Format {
    words: bool,
    signed: bool,
}

impl Format {
    fn count(self) -> usize {
        if self.words {
            8
        } else {
            16
        }
    }
    fn get(self, v: &V, n: usize) -> i32 {
        match (self.words, self.signed) {
            (false, false) => i32::from(v.get::<u8>(n)),
            (false, true) => i32::from(v.get::<i8>(n)),
            (true, false) => i32::from(v.get::<u16>(n)),
            (true, true) => i32::from(v.get::<i16>(n)),
        }
    }
}

/// The aggregation: a bit for each element of the second operand.
fn aggregate(how: u64, f: Format, a: &StringOperand, b: &StringOperand) -> u32 {
    let n = f.count();
    let equal = |i: usize, j: usize| f.get(&a.v, i) == f.get(&b.v, j);
    let bit = |j: usize| -> bool {
        match how {
            // Equal any: in the set?
            0 => j < b.len && (0..a.len).any(|i| equal(i, j)),
            // Ranges: between the bounds of a pair?
            1 => {
                let v = f.get(&b.v, j);
                j < b.len && (0..a.len / 2).any(|k| f.get(&a.v, 2 * k) <= v && v <= f.get(&a.v, 2 * k + 1))
            }
            // Equal each: ends count as equal.
            2 => {
                if j < a.len && j < b.len {
                    equal(j, j)
                } else {
                    j >= a.len && j >= b.len
                }
            }
            // Equal ordered: does the first operand start here?
            _ => (0..n - j).all(|i| i >= a.len || (i + j < b.len && equal(i, i + j))),
        }
    };
    (0..n).fold(0, |r, j| r | u32::from(bit(j)) << j)
}

impl<B: Bus> Exec<'_, B> {
    pub(super) fn vector_string_compare(&mut self) -> R<bool> {
        use Mnemonic::*;
        let (explicit, index) = match self.i.op {
            Pcmpestri | Vpcmpestri | Pcmpestri64 | Vpcmpestri64 => (true, true),
            Pcmpestrm | Vpcmpestrm | Pcmpestrm64 | Vpcmpestrm64 => (true, false),
            Pcmpistri | Vpcmpistri => (false, true),
            Pcmpistrm | Vpcmpistrm => (false, false),
            _ => return Ok(false),
        };
        let imm = self.i.imm;
        let f = Format { words: imm & 1 != 0, signed: imm & 2 != 0 };
        let n = f.count();
        let (a, b) = (self.vread(0)?, self.vread(1)?);
        let wide = matches!(self.i.op, Pcmpestri64 | Vpcmpestri64 | Pcmpestrm64 | Vpcmpestrm64);
        let length = |x: &Self, v: &V, r: usize| {
            if explicit {
                let raw = x.reg(r as u8);
                let len = if wide { (raw as i64).unsigned_abs() } else { u64::from((raw as i32).unsigned_abs()) };
                len.min(n as u64) as usize
            } else {
                (0..n).find(|k| f.get(v, *k) == 0).unwrap_or(n)
            }
        };
        let a = StringOperand { len: length(self, &a, RAX), v: a };
        let b = StringOperand { len: length(self, &b, RDX), v: b };
        let raw = aggregate(imm >> 2 & 3, f, &a, &b);
        let all = (1u32 << n) - 1;
        let valid = (1u32 << b.len) - 1;
        let bits = match imm >> 4 & 3 {
            1 => raw ^ all,
            3 => raw ^ valid,
            _ => raw,
        };
        if index {
            let first = if bits == 0 { n as u32 } else { bits.trailing_zeros() };
            let last = if bits == 0 { n as u32 } else { bits.ilog2() };
            self.set_reg(Kind::R32, RCX as u8, u64::from(if imm & 64 != 0 { last } else { first }));
        } else {
            self.set_mask(imm, f, bits);
        }
        let fl = self.flags();
        fl.set(Rflags::empty());
        fl.cf = bits != 0;
        fl.of = bits & 1 != 0;
        fl.zero = u64::from(b.len >= n);
        fl.sign = if a.len < n { 1 << 63 } else { 0 };
        Ok(true)
    }

    /// The mask form's result in xmm0: a bit or a whole element each.
    fn set_mask(&mut self, imm: u64, f: Format, bits: u32) {
        let v = match (imm & 64 != 0, f.words) {
            (false, _) => V([u64::from(bits), 0, 0, 0]),
            (true, false) => V::build::<u8>(|k| if k < 16 && bits >> k & 1 != 0 { 0xff } else { 0 }),
            (true, true) => V::build::<u16>(|k| if k < 8 && bits >> k & 1 != 0 { 0xffff } else { 0 }),
        };
        let slot = &mut self.cpu.c.v[0];
        *slot = if self.i.vex() { v.low() } else { V([v.0[0], v.0[1], slot.0[2], slot.0[3]]) };
    }
}
