//! Fixed point: saturating and averaging additions, fractional multiplication, rounding shifts, narrowing.

use breakeven_base::OpClass;

use super::crack::Shape;
use super::element::{bits, low, sign};
use super::forms::{Form, Second};
use super::integer::scalar_reg;
use super::{legal, Legal, VectorUnit};
use crate::hart::Hart;

/// `v >> n`, rounded as `vxrm` says (specification, "Vector Fixed-Point Rounding Mode").
pub(super) fn rounded(v: i128, n: u32, vxrm: u8) -> i128 {
    if n == 0 {
        return v;
    }
    let below = v & ((1 << n) - 1);
    let half = below >> (n - 1) & 1 != 0;
    let rest = below & ((1 << (n - 1)) - 1) != 0;
    let odd = v >> n & 1 != 0;
    let up = match vxrm {
        0 => half,
        1 => half && (rest || odd),
        2 => false,
        _ => !odd && below != 0,
    };
    (v >> n) + i128::from(up)
}

/// `v` in `n` bits, and whether it did not fit.
fn saturate(v: i128, n: u32, signed: bool) -> (u64, bool) {
    let (least, most) = if signed { (-(1i128 << (n - 1)), (1i128 << (n - 1)) - 1) } else { (0, (1i128 << n) - 1) };
    let fit = v.clamp(least, most);
    (fit as u64, fit != v)
}

impl Hart {
    /// vsadd, vssub, vsmul, vssrl, vssra and the vnclip family.
    pub(super) fn vector_fixed(&mut self, f: &Form) -> Legal {
        let (sew, rm) = (self.vector.vtype.sew, self.vector.vxrm);
        let n = bits(sew);
        let wide = move |v: u64, signed: bool| if signed { i128::from(sign(v, sew)) } else { i128::from(low(v, sew)) };
        match f.funct6 {
            0x20..=0x23 => {
                let (subtract, signed) = (f.funct6 & 2 != 0, f.funct6 & 1 != 0);
                legal(!(subtract && f.second == Second::Immediate))?;
                self.saturating(f, OpClass::SimdAddAcc, self.vector_scalar(f), move |a, b| {
                    let (a, b) = (wide(a, signed), wide(b, signed));
                    saturate(if subtract { a - b } else { a + b }, n, signed)
                })
            }
            0x27 => self.saturating(f, OpClass::SimdMult, self.vector_scalar(f), move |a, b| {
                saturate(rounded(wide(a, true) * wide(b, true), n - 1, rm), n, true)
            }),
            0x2a | 0x2b => {
                let signed = f.funct6 & 1 != 0;
                let mask = u64::from(n - 1);
                self.saturating(f, OpClass::SimdShift, self.vector_amount(f), move |a, b| {
                    (rounded(wide(a, signed), (b & mask) as u32, rm) as u64, false)
                })
            }
            _ => self.narrow_clip(f),
        }
    }

    fn saturating(&mut self, f: &Form, class: OpClass, scalar: u64, op: impl Fn(u64, u64) -> (u64, bool)) -> Legal {
        self.vector.plain_groups(f)?;
        let saturated = std::cell::Cell::new(false);
        self.vector.map(f, scalar, |a, b, _| {
            let (v, out) = op(a, b);
            saturated.set(saturated.get() | out);
            v
        });
        self.vector.vxsat |= saturated.get();
        self.crack_plain(f, class, scalar_reg(f), false);
        Ok(())
    }

    /// The averaging additions, of OPMVV and OPMVX.
    pub(super) fn vector_averaging(&mut self, f: &Form) -> Legal {
        let (sew, rm) = (self.vector.vtype.sew, self.vector.vxrm);
        let (subtract, signed) = (f.funct6 & 2 != 0, f.funct6 & 1 != 0);
        let wide = move |v: u64| if signed { i128::from(sign(v, sew)) } else { i128::from(low(v, sew)) };
        self.saturating(f, OpClass::SimdAdd, self.vector_scalar(f), move |a, b| {
            let sum = if subtract { wide(a) - wide(b) } else { wide(a) + wide(b) };
            (rounded(sum, 1, rm) as u64, false)
        })
    }

    /// Groups of a narrowing operation: `vs2` of twice the width.
    pub(super) fn narrowing_groups(&self, f: &Form) -> Legal {
        let t = self.vector.vtype;
        legal(t.sew < 3 && t.lmul < 3)?;
        VectorUnit::keeps_clear_of_mask(f)?;
        VectorUnit::aligned(f.vd, t.lmul)?;
        VectorUnit::aligned(f.vs2, t.lmul + 1)?;
        VectorUnit::overlap((f.vd, t.lmul), t.sew as i8, (f.vs2, t.lmul + 1), t.sew as i8 + 1)?;
        match f.second {
            Second::Vector => VectorUnit::aligned(f.vs1, t.lmul),
            _ => Ok(()),
        }
    }
    pub(super) fn crack_narrow(&mut self, f: &Form, class: OpClass) {
        let lmul = self.vector.vtype.lmul;
        let shape = Shape { vs2: Some(lmul + 1), ..Shape::plain(class, lmul) };
        self.vector.crack(f, &shape, scalar_reg(f));
    }

    /// `op(element of vs2 at twice SEW, shift amount)`.
    fn narrow(&mut self, f: &Form, mut op: impl FnMut(u64, u32) -> u64) -> Legal {
        self.narrowing_groups(f)?;
        let amount = self.vector_amount(f);
        let u = &mut self.vector;
        let sew = u.vtype.sew;
        let mask = u64::from(2 * bits(sew) - 1);
        for k in u.range() {
            if u.active(f.masked, k) {
                let b = if f.second == Second::Vector { u.get(f.vs1, k, sew) } else { amount };
                let v = op(u.get(f.vs2, k, sew + 1), (b & mask) as u32);
                u.set(f.vd, k, sew, v);
            }
        }
        self.crack_narrow(f, OpClass::SimdShift);
        Ok(())
    }

    /// vnsrl, vnsra.
    pub(super) fn vector_narrow_shift(&mut self, f: &Form) -> Legal {
        let sew = self.vector.vtype.sew;
        if f.funct6 & 1 == 0 {
            self.narrow(f, |a, n| a >> n)
        } else {
            self.narrow(f, move |a, n| (sign(a, sew + 1) >> n) as u64)
        }
    }

    /// vnclipu, vnclip.
    fn narrow_clip(&mut self, f: &Form) -> Legal {
        let (sew, rm, signed) = (self.vector.vtype.sew, self.vector.vxrm, f.funct6 & 1 != 0);
        let mut saturated = false;
        self.narrow(f, |a, n| {
            let wide = if signed { i128::from(sign(a, sew + 1)) } else { i128::from(a) };
            let (v, out) = saturate(rounded(wide, n, rm), bits(sew), signed);
            saturated |= out;
            v
        })?;
        self.vector.vxsat |= saturated;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_four_roundings() {
        // 2.5, 3.5, 2.25, -2.5 in quarters; the modes: up at half, half to even, down, to odd.
        let cases = [(10, [3, 2, 2, 3]), (14, [4, 4, 3, 3]), (9, [2, 2, 2, 3]), (-10, [-2, -2, -3, -3])];
        for (v, want) in cases {
            let got = [0, 1, 2, 3].map(|rm| rounded(v, 2, rm));
            assert_eq!(got, want, "{v}/4");
        }
        assert_eq!(rounded(5, 0, 0), 5);
    }
}
