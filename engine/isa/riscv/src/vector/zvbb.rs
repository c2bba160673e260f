//! Zvbb, vector bit manipulation, and Zvkb, the part of it that cryptography wants (RISC-V Cryptography Extensions,
//! volume II, 1.0).

use breakeven_base::{OpClass, Reg};

use super::element::{bits, low};
use super::forms::{Category, Form, Second};
use super::{legal, Legal};
use crate::config::Extensions;
use crate::hart::Hart;

/// Codes in `vs1`'s place of the operations with one source.
const VBREV8: usize = 8;
const VREV8: usize = 9;
const VBREV: usize = 10;
const VCLZ: usize = 12;
const VCTZ: usize = 13;
const VCPOP: usize = 14;

/// Whether `ext` has the OP-V instruction in `raw`; of V's own it is not asked.
pub(crate) fn has(raw: u32, ext: &Extensions) -> bool {
    let f = Form::new(raw);
    match (f.category, f.funct6) {
        (Category::Integer, 0x01 | 0x14 | 0x15) => ext.zvkb,
        (Category::Integer, 0x35) => ext.zvbb,
        (Category::Multiply, 0x12) => match f.vs1 {
            VBREV8 | VREV8 => ext.zvkb,
            VBREV | VCLZ | VCTZ | VCPOP => ext.zvbb,
            _ => true,
        },
        _ => true,
    }
}

/// The mnemonic of the operation with one source that `vs1` stands for.
pub(super) fn name(vs1: usize) -> Option<&'static str> {
    Some(match vs1 {
        VBREV8 => "vbrev8.v",
        VREV8 => "vrev8.v",
        VBREV => "vbrev.v",
        VCLZ => "vclz.v",
        VCTZ => "vctz.v",
        VCPOP => "vcpop.v",
        _ => return None,
    })
}

/// The bit of vror's six-bit immediate that lies in funct6.
pub(super) fn high_amount(f: &Form) -> u64 {
    if f.second == Second::Immediate {
        u64::from(f.funct6 & 1) << 5
    } else {
        0
    }
}

/// `v`, an element of `8 << sew` bits, rotated right.
fn rotate_right(v: u64, amount: u64, sew: u8) -> u64 {
    let n = amount as u32;
    match sew {
        0 => u64::from((v as u8).rotate_right(n)),
        1 => u64::from((v as u16).rotate_right(n)),
        2 => u64::from((v as u32).rotate_right(n)),
        _ => v.rotate_right(n),
    }
}

impl Hart {
    /// vrol and vror; funct6 0x15 with an immediate is vror by 32 to 63.
    pub(super) fn vector_rotate(&mut self, f: &Form) -> Legal {
        let sew = self.vector.vtype.sew;
        let high = high_amount(f);
        if f.funct6 == 0x14 || f.second == Second::Immediate {
            self.shift(f, move |a, b| rotate_right(a, (b | high) & 63, sew))
        } else {
            self.shift(f, move |a, b| rotate_right(a, b.wrapping_neg() & 63, sew))
        }
    }

    /// vwsll: zero-extended to twice the width, then shifted.
    pub(super) fn vector_widening_shift(&mut self, f: &Form) -> Legal {
        let most = u64::from(2 * bits(self.vector.vtype.sew) - 1);
        self.widening(f, OpClass::SimdShift, false, false, move |a, b, _| a << (b & most))
    }

    /// The operations with one source.
    pub(super) fn vector_bits(&mut self, f: &Form) -> Legal {
        legal(name(f.vs1).is_some())?;
        let sew = self.vector.vtype.sew;
        let unused = 64 - bits(sew);
        let bytes = |v: u64, of: fn(u8) -> u8| u64::from_le_bytes(v.to_le_bytes().map(of));
        let code = f.vs1;
        // What stands in vs1's place is no register.
        let f = &Form { second: Second::Immediate, ..*f };
        self.vector.plain_groups(f)?;
        self.vector.map(f, 0, move |v, _, _| match code {
            VBREV8 => bytes(v, u8::reverse_bits),
            VREV8 => v.swap_bytes() >> unused,
            VBREV => v.reverse_bits() >> unused,
            VCLZ => u64::from(v.leading_zeros() - unused),
            VCTZ => u64::from(v.trailing_zeros().min(bits(sew))),
            _ => u64::from(low(v, sew).count_ones()),
        });
        self.crack_plain(f, OpClass::SimdAlu, Reg::NONE, false);
        Ok(())
    }
}
