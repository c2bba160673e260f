//! Integer reductions: one result in element 0 of vd, from element 0 of vs1 and the elements of vs2.

use breakeven_base::OpClass;

use super::crack::Shape;
use super::element::sign;
use super::forms::Form;
use super::{legal, Legal, VectorUnit};
use crate::hart::Hart;

impl Hart {
    /// vredsum and the other single-width reductions.
    pub(super) fn vector_reduce(&mut self, f: &Form) -> Legal {
        let sew = self.vector.vtype.sew;
        let less = move |a: u64, b: u64, signed: bool| if signed { sign(a, sew) < sign(b, sew) } else { a < b };
        let class = match f.funct6 {
            0 => OpClass::SimdReduceAdd,
            1..=3 => OpClass::SimdReduceAlu,
            _ => OpClass::SimdReduceCmp,
        };
        let op = f.funct6;
        self.fold(f, class, 0, move |acc, v| match op {
            0 => acc.wrapping_add(v),
            1 => acc & v,
            2 => acc | v,
            3 => acc ^ v,
            _ => {
                let (max, signed) = (op & 2 != 0, op & 1 != 0);
                if less(v, acc, signed) == max {
                    acc
                } else {
                    v
                }
            }
        })
    }

    /// vwredsum, vwredsumu.
    pub(super) fn vector_widening_sum(&mut self, f: &Form) -> Legal {
        let sew = self.vector.vtype.sew;
        legal(sew < 3)?;
        let signed = f.funct6 & 1 != 0;
        self.fold(f, OpClass::SimdReduceAdd, 1, move |acc, v| {
            acc.wrapping_add(if signed { sign(v, sew) as u64 } else { v })
        })
    }

    /// Folds the active elements into an accumulator of SEW widened by `wider` doublings.
    pub(super) fn fold(&mut self, f: &Form, class: OpClass, wider: u8, mut op: impl FnMut(u64, u64) -> u64) -> Legal {
        let t = self.vector.vtype;
        let u = &mut self.vector;
        legal(u.vstart == 0)?;
        VectorUnit::aligned(f.vs2, t.lmul)?;
        if u.vl > 0 {
            let mut acc = u.get(f.vs1, 0, t.sew + wider);
            for k in u.range() {
                if u.active(f.masked, k) {
                    acc = super::element::low(op(acc, u.get(f.vs2, k, t.sew)), t.sew + wider);
                }
            }
            u.set(f.vd, 0, t.sew + wider, acc);
        }
        let shape = Shape { class, vd: Some(0), vs2: Some(t.lmul), vs1: Some(0), accumulates: false };
        self.vector.crack(f, &shape, breakeven_base::Reg::NONE);
        Ok(())
    }
}
