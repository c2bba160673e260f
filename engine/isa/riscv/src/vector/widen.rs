//! OPMVV and OPMVX: multiplication, division, widening arithmetic, extensions, and the dispatch to masks, reductions and
//! permutations.

use breakeven_base::OpClass;

use super::crack::Shape;
use super::element::{bits, low, sign};
use super::forms::{Form, Second};
use super::integer::scalar_reg;
use super::{legal, Legal, VectorUnit};
use crate::hart::Hart;

use Second::{Scalar, Vector};

/// The high half of a product of elements. That of two of 64 bits without a sign takes all 128 bits, the sign's as well.
fn high(a: i128, b: i128, sew: u8) -> u64 {
    (a.wrapping_mul(b) >> bits(sew)) as u64
}

fn divide(a: u64, b: u64, sew: u8, signed: bool, remainder: bool) -> u64 {
    let (a, b) = (low(a, sew), low(b, sew));
    if b == 0 {
        return if remainder { a } else { !0 };
    }
    match (signed, remainder) {
        (false, false) => a / b,
        (false, true) => a % b,
        // The quotient that does not fit wraps to the dividend, as the specification has it.
        (true, false) => sign(a, sew).wrapping_div(sign(b, sew)) as u64,
        (true, true) => sign(a, sew).wrapping_rem(sign(b, sew)) as u64,
    }
}

impl Hart {
    pub(super) fn vector_multiply(&mut self, f: &Form) -> Legal {
        let sew = self.vector.vtype.sew;
        let s = move |v: u64| i128::from(sign(v, sew));
        let u = move |v: u64| i128::from(low(v, sew));
        match (f.funct6, f.second) {
            (0x00..=0x07, Vector) => self.vector_reduce(f),
            (0x08..=0x0b, _) => self.vector_averaging(f),
            (0x0e | 0x0f, Scalar) => self.vector_slide_one(f, self.regs[f.vs1], scalar_reg(f)),
            (0x10, Vector) => self.vector_to_scalar(f),
            (0x10, _) => legal(f.vs2 == 0).and_then(|()| self.vector_from_scalar(f, self.regs[f.vs1], scalar_reg(f))),
            (0x12, Vector) if f.vs1 >= 8 => self.vector_bits(f),
            (0x12, Vector) => self.vector_extend(f),
            (0x14, Vector) => self.vector_mask_unary(f),
            (0x17, Vector) => self.vector_compress(f),
            (0x18..=0x1f, Vector) => self.vector_mask_logic(f),
            (0x20..=0x23, _) => {
                let (signed, rem) = (f.funct6 & 1 != 0, f.funct6 & 2 != 0);
                self.multiply(f, OpClass::SimdDiv, false, move |a, b, _| divide(a, b, sew, signed, rem))
            }
            (0x24, _) => self.multiply(f, OpClass::SimdMult, false, move |a, b, _| high(u(a), u(b), sew)),
            (0x25, _) => self.multiply(f, OpClass::SimdMult, false, |a, b, _| a.wrapping_mul(b)),
            (0x26, _) => self.multiply(f, OpClass::SimdMult, false, move |a, b, _| high(s(a), u(b), sew)),
            (0x27, _) => self.multiply(f, OpClass::SimdMult, false, move |a, b, _| high(s(a), s(b), sew)),
            (0x29, _) => self.multiply_add(f, |a, b, d| b.wrapping_mul(d).wrapping_add(a)),
            (0x2b, _) => self.multiply_add(f, |a, b, d| a.wrapping_sub(b.wrapping_mul(d))),
            (0x2d, _) => self.multiply_add(f, |a, b, d| d.wrapping_add(a.wrapping_mul(b))),
            (0x2f, _) => self.multiply_add(f, |a, b, d| d.wrapping_sub(a.wrapping_mul(b))),
            (0x30..=0x37, _) => self.widening_add(f),
            (0x38 | 0x3a | 0x3b | 0x3c..=0x3f, _) => self.widening_multiply(f),
            _ => legal(false),
        }
    }

    fn multiply(&mut self, f: &Form, class: OpClass, accumulates: bool, op: impl Fn(u64, u64, u64) -> u64) -> Legal {
        self.vector.plain_groups(f)?;
        let scalar = self.vector_scalar(f);
        self.vector.map(f, scalar, op);
        self.crack_plain(f, class, scalar_reg(f), accumulates);
        Ok(())
    }
    fn multiply_add(&mut self, f: &Form, op: impl Fn(u64, u64, u64) -> u64) -> Legal {
        self.multiply(f, OpClass::SimdMultAcc, true, op)
    }

    /// Groups of a widening operation: the destination at twice the width, `vs2` too if `wide_source`.
    pub(super) fn widening_groups(&self, f: &Form, wide_source: bool) -> Legal {
        let t = self.vector.vtype;
        legal(t.sew < 3 && t.lmul < 3)?;
        let (wide, sew) = (t.lmul + 1, t.sew as i8);
        VectorUnit::keeps_clear_of_mask(f)?;
        VectorUnit::aligned(f.vd, wide)?;
        if wide_source {
            VectorUnit::aligned(f.vs2, wide)?;
        } else {
            VectorUnit::aligned(f.vs2, t.lmul)?;
            VectorUnit::overlap((f.vd, wide), sew + 1, (f.vs2, t.lmul), sew)?;
        }
        if f.second == Vector {
            VectorUnit::aligned(f.vs1, t.lmul)?;
            VectorUnit::overlap((f.vd, wide), sew + 1, (f.vs1, t.lmul), sew)?;
        }
        Ok(())
    }
    pub(super) fn widening_shape(&self, class: OpClass, wide_source: bool, accumulates: bool) -> Shape {
        let lmul = self.vector.vtype.lmul;
        let vs2 = Some(lmul + i8::from(wide_source));
        Shape { vd: Some(lmul + 1), vs2, accumulates, ..Shape::plain(class, lmul) }
    }

    /// `op(vs2, second, vd)` into elements of twice the width; the sources come as they are stored.
    pub(super) fn widening(
        &mut self,
        f: &Form,
        class: OpClass,
        wide_source: bool,
        accumulates: bool,
        op: impl Fn(u64, u64, u64) -> u64,
    ) -> Legal {
        self.widening_groups(f, wide_source)?;
        let scalar = self.vector_amount(f);
        let shape = self.widening_shape(class, wide_source, accumulates);
        let u = &mut self.vector;
        let scalar = low(scalar, u.vtype.sew);
        match (u.vtype.sew, wide_source) {
            (0, false) => u.map_widths(f, scalar, (0, 0, 1), op),
            (1, false) => u.map_widths(f, scalar, (1, 1, 2), op),
            (_, false) => u.map_widths(f, scalar, (2, 2, 3), op),
            (0, true) => u.map_widths(f, scalar, (1, 0, 1), op),
            (1, true) => u.map_widths(f, scalar, (2, 1, 2), op),
            (_, true) => u.map_widths(f, scalar, (3, 2, 3), op),
        }
        self.vector.crack(f, &shape, scalar_reg(f));
        Ok(())
    }

    fn widening_add(&mut self, f: &Form) -> Legal {
        let sew = self.vector.vtype.sew;
        let (signed, subtract, wide) = (f.funct6 & 1 != 0, f.funct6 & 2 != 0, f.funct6 & 4 != 0);
        let extend = move |v: u64| if signed { sign(v, sew) as u64 } else { v };
        self.widening(f, OpClass::SimdAdd, wide, false, move |a, b, _| {
            let a = if wide { a } else { extend(a) };
            if subtract {
                a.wrapping_sub(extend(b))
            } else {
                a.wrapping_add(extend(b))
            }
        })
    }

    fn widening_multiply(&mut self, f: &Form) -> Legal {
        let sew = self.vector.vtype.sew;
        let s = move |v: u64| sign(v, sew) as u64;
        let mut product = |signed: (bool, bool), accumulate: bool| {
            let class = if accumulate { OpClass::SimdMultAcc } else { OpClass::SimdMult };
            self.widening(f, class, false, accumulate, move |a, b, d| {
                let a = if signed.0 { s(a) } else { a };
                let b = if signed.1 { s(b) } else { b };
                let p = a.wrapping_mul(b);
                if accumulate {
                    d.wrapping_add(p)
                } else {
                    p
                }
            })
        };
        match f.funct6 {
            0x38 => product((false, false), false),
            0x3a => product((true, false), false),
            0x3b => product((true, true), false),
            0x3c => product((false, false), true),
            0x3d => product((true, true), true),
            // vwmaccus: the scalar unsigned, vs2 signed; it has no vector form.
            0x3e => legal(f.second == Scalar).and_then(|()| product((true, false), true)),
            _ => product((false, true), true),
        }
    }

    /// vzext and vsext.
    fn vector_extend(&mut self, f: &Form) -> Legal {
        let t = self.vector.vtype;
        let (factor, signed) = match f.vs1 {
            2 | 3 => (3, f.vs1 & 1 != 0),
            4 | 5 => (2, f.vs1 & 1 != 0),
            6 | 7 => (1, f.vs1 & 1 != 0),
            _ => return legal(false),
        };
        legal(t.sew >= factor && t.lmul - factor as i8 >= -3)?;
        let (from, lmul) = (t.sew - factor, t.lmul - factor as i8);
        VectorUnit::keeps_clear_of_mask(f)?;
        VectorUnit::aligned(f.vd, t.lmul)?;
        VectorUnit::aligned(f.vs2, lmul)?;
        VectorUnit::overlap((f.vd, t.lmul), t.sew as i8, (f.vs2, lmul), from as i8)?;
        let u = &mut self.vector;
        for k in u.range() {
            if u.active(f.masked, k) {
                let v = u.get(f.vs2, k, from);
                u.set(f.vd, k, t.sew, if signed { sign(v, from) as u64 } else { v });
            }
        }
        let shape = Shape { vs2: Some(lmul), vs1: None, ..Shape::plain(OpClass::SimdExt, t.lmul) };
        self.vector.crack(f, &shape, breakeven_base::Reg::NONE);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_high_half_of_the_greatest_product_is_right() {
        let most = i128::from(u64::MAX);
        assert_eq!(super::high(most, most, 3), u64::MAX - 1);
        assert_eq!(super::high(-1, most, 3), u64::MAX);
    }
}
