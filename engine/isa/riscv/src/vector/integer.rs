//! OPIVV, OPIVX and OPIVI: single-width integer arithmetic, comparisons, carries, merges and moves. Saturating, rounding
//! and narrowing operations are in [`super::fixed`]; slides and gathers are in [`super::permute`].

use breakeven_base::{OpClass, Reg};

use super::crack::Shape;
use super::cracked::X;
use super::element::{bits, low, sign};
use super::forms::{Form, Second};
use super::{legal, Legal, VectorUnit};
use crate::hart::Hart;

use Second::{Immediate, Scalar, Vector};

/// The micro-op register of the second operand.
pub(super) fn scalar_reg(f: &Form) -> Reg {
    match f.second {
        Scalar => X(f.vs1),
        _ => Reg::NONE,
    }
}

impl Hart {
    pub(super) fn vector_integer(&mut self, f: &Form) -> Legal {
        let sew = self.vector.vtype.sew;
        let n = bits(sew);
        let amount = u64::from(n - 1);
        let not = |s: Second| legal(f.second != s);
        match f.funct6 {
            0x00 => self.integer(f, OpClass::SimdAdd, |a, b, _| a.wrapping_add(b)),
            0x01 => not(Immediate).and_then(|()| self.integer(f, OpClass::SimdAlu, |a, b, _| a & !b)),
            0x02 => not(Immediate).and_then(|()| self.integer(f, OpClass::SimdAdd, |a, b, _| a.wrapping_sub(b))),
            0x03 => not(Vector).and_then(|()| self.integer(f, OpClass::SimdAdd, |a, b, _| b.wrapping_sub(a))),
            0x04..=0x07 => {
                not(Immediate)?;
                let (max, signed) = (f.funct6 & 2 != 0, f.funct6 & 1 != 0);
                self.integer(f, OpClass::SimdCmp, move |a, b, _| {
                    let b_is_less = if signed { sign(b, sew) < sign(a, sew) } else { low(b, sew) < a };
                    if b_is_less == max {
                        a
                    } else {
                        b
                    }
                })
            }
            0x09 => self.integer(f, OpClass::SimdAlu, |a, b, _| a & b),
            0x0a => self.integer(f, OpClass::SimdAlu, |a, b, _| a | b),
            0x0b => self.integer(f, OpClass::SimdAlu, |a, b, _| a ^ b),
            0x0c | 0x0e | 0x0f => self.vector_slide_or_gather(f),
            0x10 => self.add_with_carry(f, false),
            0x12 => not(Immediate).and_then(|()| self.add_with_carry(f, true)),
            0x11 => self.carry_out(f, false),
            0x13 => not(Immediate).and_then(|()| self.carry_out(f, true)),
            0x14 | 0x15 => self.vector_rotate(f),
            0x17 => self.merge(f, self.vector_scalar(f), scalar_reg(f)),
            0x18..=0x1f => self.compare(f),
            0x20..=0x23 | 0x2a | 0x2b | 0x2e | 0x2f => self.vector_fixed(f),
            0x25 => self.shift(f, move |a, b| a << (b & amount)),
            0x27 if f.second == Immediate => self.vector_whole_move(f),
            0x27 => self.vector_fixed(f),
            0x28 => self.shift(f, move |a, b| a >> (b & amount)),
            0x29 => self.shift(f, move |a, b| (sign(a, sew) >> (b & amount)) as u64),
            0x2c | 0x2d => self.vector_narrow_shift(f),
            0x30 | 0x31 => legal(f.second == Vector).and_then(|()| self.vector_widening_sum(f)),
            0x35 => self.vector_widening_shift(f),
            _ => legal(false),
        }
    }

    /// An ordinary operation with a sign-extended immediate.
    fn integer(&mut self, f: &Form, class: OpClass, op: impl Fn(u64, u64, u64) -> u64) -> Legal {
        self.vector.plain_groups(f)?;
        let scalar = self.vector_scalar(f);
        self.vector.map(f, scalar, op);
        self.crack_plain(f, class, scalar_reg(f), false);
        Ok(())
    }

    pub(super) fn shift(&mut self, f: &Form, op: impl Fn(u64, u64) -> u64) -> Legal {
        self.vector.plain_groups(f)?;
        let amount = self.vector_amount(f);
        self.vector.map(f, amount, |a, b, _| op(a, b));
        self.crack_plain(f, OpClass::SimdShift, scalar_reg(f), false);
        Ok(())
    }

    /// Micro-ops of an operation all of whose register groups have LMUL.
    pub(super) fn crack_plain(&mut self, f: &Form, class: OpClass, scalar: Reg, accumulates: bool) {
        let shape = Shape { accumulates, ..Shape::plain(class, self.vector.vtype.lmul) };
        self.vector.crack(f, &shape, scalar);
    }

    /// vadc, vsbc: v0 is an operand, never a mask.
    fn add_with_carry(&mut self, f: &Form, subtract: bool) -> Legal {
        legal(f.masked)?;
        self.vector.plain_groups(f)?;
        let (v, scalar) = (self.vector_scalar(f), f.second != Vector);
        let u = &mut self.vector;
        let sew = u.vtype.sew;
        for k in u.range() {
            let a = u.get(f.vs2, k, sew);
            let b = if scalar { v } else { u.get(f.vs1, k, sew) };
            let carry = u64::from(u.bit(0, k));
            let r =
                if subtract { a.wrapping_sub(b).wrapping_sub(carry) } else { a.wrapping_add(b).wrapping_add(carry) };
            u.set(f.vd, k, sew, r);
        }
        self.crack_plain(f, OpClass::SimdAdd, scalar_reg(f), false);
        Ok(())
    }

    /// vmadc, vmsbc: the carry or borrow of every element, with v0 as carry in unless the instruction has none.
    fn carry_out(&mut self, f: &Form, subtract: bool) -> Legal {
        self.mask_result_groups(f)?;
        let (v, scalar) = (self.vector_scalar(f), f.second != Vector);
        let u = &mut self.vector;
        let sew = u.vtype.sew;
        for k in u.range() {
            let a = u128::from(u.get(f.vs2, k, sew));
            let b = u128::from(low(if scalar { v } else { u.get(f.vs1, k, sew) }, sew));
            let carry = u128::from(f.masked && u.bit(0, k));
            let out = if subtract { a < b + carry } else { (a + b + carry) >> bits(sew) != 0 };
            u.set_bit(f.vd, k, out);
        }
        self.crack_to_mask(f, OpClass::SimdAdd, scalar_reg(f));
        Ok(())
    }

    /// The groups of an operation whose result is a mask.
    pub(super) fn mask_result_groups(&self, f: &Form) -> Legal {
        let t = self.vector.vtype;
        let source = |reg| {
            VectorUnit::aligned(reg, t.lmul)?;
            VectorUnit::overlap((f.vd, 0), -1, (reg, t.lmul), t.sew as i8)
        };
        source(f.vs2)?;
        if f.second == Vector {
            source(f.vs1)?;
        }
        Ok(())
    }
    pub(super) fn crack_to_mask(&mut self, f: &Form, class: OpClass, scalar: Reg) {
        let shape = Shape { vd: None, ..Shape::plain(class, self.vector.vtype.lmul) };
        self.vector.crack(f, &shape, scalar);
    }

    /// A comparison into a mask; `test` gets the elements of `vs2` and of the second operand.
    pub(super) fn compare_with(
        &mut self,
        f: &Form,
        scalar: (u64, Reg),
        mut test: impl FnMut(u64, u64) -> bool,
    ) -> Legal {
        self.mask_result_groups(f)?;
        let u = &mut self.vector;
        let sew = u.vtype.sew;
        for k in u.range() {
            if u.active(f.masked, k) {
                let b = if f.second == Vector { u.get(f.vs1, k, sew) } else { low(scalar.0, sew) };
                let r = test(u.get(f.vs2, k, sew), b);
                u.set_bit(f.vd, k, r);
            }
        }
        self.crack_to_mask(f, OpClass::SimdCmp, scalar.1);
        Ok(())
    }

    fn compare(&mut self, f: &Form) -> Legal {
        let sew = self.vector.vtype.sew;
        // vmslt and vmsltu have no immediate form, vmsgt and vmsgtu no vector form.
        legal(!(matches!(f.funct6, 0x1a | 0x1b) && f.second == Immediate))?;
        legal(!(f.funct6 >= 0x1e && f.second == Vector))?;
        let scalar = (self.vector_scalar(f), scalar_reg(f));
        let s = move |v| sign(v, sew);
        match f.funct6 {
            0x18 => self.compare_with(f, scalar, |a, b| a == b),
            0x19 => self.compare_with(f, scalar, |a, b| a != b),
            0x1a => self.compare_with(f, scalar, |a, b| a < b),
            0x1b => self.compare_with(f, scalar, |a, b| s(a) < s(b)),
            0x1c => self.compare_with(f, scalar, |a, b| a <= b),
            0x1d => self.compare_with(f, scalar, |a, b| s(a) <= s(b)),
            0x1e => self.compare_with(f, scalar, |a, b| a > b),
            _ => self.compare_with(f, scalar, |a, b| s(a) > s(b)),
        }
    }

    /// vmerge and vmv.v, of integers and of floating-point numbers.
    pub(super) fn merge(&mut self, f: &Form, scalar: u64, reg: Reg) -> Legal {
        // vmv.v names no vs2.
        legal(f.masked || f.vs2 == 0)?;
        self.vector.plain_groups(f)?;
        let u = &mut self.vector;
        let sew = u.vtype.sew;
        for k in u.range() {
            let take_second = !f.masked || u.bit(0, k);
            let v = match (take_second, f.second) {
                (true, Vector) => u.get(f.vs1, k, sew),
                (true, _) => scalar,
                (false, _) => u.get(f.vs2, k, sew),
            };
            u.set(f.vd, k, sew, v);
        }
        let lmul = self.vector.vtype.lmul;
        let shape = Shape { vs2: f.masked.then_some(lmul), ..Shape::plain(OpClass::SimdMisc, lmul) };
        self.vector.crack(f, &shape, reg);
        Ok(())
    }
}
