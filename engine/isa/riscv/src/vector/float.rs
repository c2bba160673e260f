//! OPFVV and OPFVF: binary32 and binary64 elements (SEW 32 and 64), through [`breakeven_base::float`]. SEW 16 is illegal but for
//! the conversions whose floating-point side is wider.

use std::cmp::Ordering;

use breakeven_base::float::{
    add, classify, compare, convert, div, flag, fma, from_int, is_signaling, min_max, mul, sqrt, to_int, Format, Round,
    F32, F64,
};
use breakeven_base::{OpClass, Reg};

use super::crack::Shape;
use super::cracked::{Freg, V, VL};
use super::element::{bits, low, sign};
use super::float_estimate::{reciprocal, reciprocal_root};
use super::forms::{Form, Second};
use super::{legal, Illegal, Legal};
use crate::csr::status;
use crate::exec::BOX;
use crate::hart::Hart;

use Second::{Scalar, Vector};

/// `a op b` or with an accumulator, of one format.
#[derive(Clone, Copy, PartialEq)]
enum Op {
    Add,
    Sub,
    ReverseSub,
    Mul,
    Div,
    ReverseDiv,
    Min,
    Max,
    Sign(u8),
    /// `+-(x * y) +- z`; the first: the destination is a factor (vfmadd), else the addend (vfmacc).
    Fused {
        factor: bool,
        negate_product: bool,
        negate_addend: bool,
    },
}

impl Op {
    fn class(self) -> OpClass {
        match self {
            Op::Add | Op::Sub | Op::ReverseSub => OpClass::SimdFloatAdd,
            Op::Mul => OpClass::SimdFloatMult,
            Op::Div | Op::ReverseDiv => OpClass::SimdFloatDiv,
            Op::Min | Op::Max => OpClass::SimdFloatCmp,
            Op::Sign(_) => OpClass::SimdFloatMisc,
            Op::Fused { .. } => OpClass::SimdFloatMultAcc,
        }
    }
    fn accumulates(self) -> bool {
        matches!(self, Op::Fused { .. })
    }
    /// vfmadd and the seven other multiply-adds, by the low three bits of funct6 (0x28 on).
    fn fused(code: u32) -> Op {
        let (odd, two) = (code & 1 != 0, code & 2 != 0);
        // madd +,+; nmadd -,-; msub +,-; nmsub -,+
        Op::Fused { factor: code & 4 == 0, negate_product: odd, negate_addend: odd != two }
    }
}

/// The operation on bits of `F`: `a` from vs2, `b` the second operand, `d` the destination.
fn apply<F: Format>(op: Op, a: u64, b: u64, d: u64, r: Round, f: &mut u8) -> u64 {
    let minus = |v: u64, yes: bool| if yes { v ^ F::SIGN } else { v };
    match op {
        Op::Add => add::<F>(a, b, r, f),
        Op::Sub => add::<F>(a, b ^ F::SIGN, r, f),
        Op::ReverseSub => add::<F>(b, a ^ F::SIGN, r, f),
        Op::Mul => mul::<F>(a, b, r, f),
        Op::Div => div::<F>(a, b, r, f),
        Op::ReverseDiv => div::<F>(b, a, r, f),
        Op::Min => min_max::<F>(a, b, false, f),
        Op::Max => min_max::<F>(a, b, true, f),
        Op::Sign(how) => {
            let sign = match how {
                0 => b,
                1 => !b,
                _ => a ^ b,
            };
            a & !F::SIGN | sign & F::SIGN
        }
        Op::Fused { factor, negate_product, negate_addend } => {
            let (x, z) = if factor { (d, a) } else { (a, d) };
            fma::<F>(minus(x, negate_product), b, minus(z, negate_addend), r, f)
        }
    }
}

/// What a comparison accepts, and whether a quiet NaN raises nothing.
fn test<F: Format>(funct6: u32, a: u64, b: u64, f: &mut u8) -> bool {
    let quiet = matches!(funct6, 0x18 | 0x1c);
    match compare::<F>(a, b) {
        None => {
            if !quiet || is_signaling::<F>(a) || is_signaling::<F>(b) {
                *f |= flag::NV;
            }
            funct6 == 0x1c
        }
        Some(o) => match funct6 {
            0x18 => o == Ordering::Equal,
            0x19 => o != Ordering::Greater,
            0x1b => o == Ordering::Less,
            0x1c => o != Ordering::Equal,
            0x1d => o == Ordering::Greater,
            _ => o != Ordering::Less,
        },
    }
}

/// A conversion: the widths of result and source (logarithms, as SEW), and the type of each.
#[derive(Clone, Copy)]
struct Conversion {
    from_int: Option<bool>,
    to_int: Option<bool>,
    to_zero: bool,
    to_odd: bool,
}

impl Conversion {
    /// From the low three bits of `vs1` (and for the narrowing one of two floating-point numbers its rounding).
    fn new(code: usize) -> Option<Conversion> {
        let mut c = Conversion { from_int: None, to_int: None, to_zero: false, to_odd: false };
        match code {
            0 | 1 => c.to_int = Some(code == 1),
            2 | 3 => c.from_int = Some(code == 3),
            4 => {}
            5 => c.to_odd = true,
            _ => (c.to_int, c.to_zero) = (Some(code == 7), true),
        }
        Some(c)
    }
    /// The element `v` of `from` into one of `to`.
    fn apply(self, v: u64, from: u8, to: u8, mut r: Round, f: &mut u8) -> u64 {
        if self.to_zero {
            r = Round::ToZero;
        }
        match (self.from_int, self.to_int) {
            (Some(signed), _) => {
                let v = if signed { sign(v, from) as u64 } else { v };
                if to == 2 {
                    from_int::<F32>(v, signed, r, f)
                } else {
                    from_int::<F64>(v, signed, r, f)
                }
            }
            (_, Some(signed)) => {
                let n = bits(to);
                if from == 2 {
                    to_int::<F32>(v, signed, n, r, f)
                } else {
                    to_int::<F64>(v, signed, n, r, f)
                }
            }
            _ if to > from => convert::<F32, F64>(v, Round::ToZero, f),
            _ if self.to_odd => {
                let mut raised = 0;
                let v = convert::<F64, F32>(v, Round::ToZero, &mut raised);
                *f |= raised;
                v | u64::from(raised & flag::NX != 0)
            }
            _ => convert::<F64, F32>(v, r, f),
        }
    }
    /// Whether the width of the floating-point operand is binary32 or binary64.
    fn exists(self, from: u8, to: u8) -> bool {
        let float = |sew: u8| sew == 2 || sew == 3;
        (self.from_int.is_some() || float(from)) && (self.to_int.is_some() || float(to)) && from <= 3 && to <= 3
    }
}

impl Hart {
    pub(super) fn vector_float(&mut self, f: &Form) -> Legal {
        let round = Round::from_bits(self.fcsr.frm).ok_or(Illegal)?;
        legal(self.mstatus & status::FS != 0)?;
        let before = self.fcsr.fflags;
        self.vector_float_op(f, round)?;
        if self.fcsr.fflags != before {
            self.mstatus |= status::FS;
        }
        Ok(())
    }

    fn vector_float_op(&mut self, f: &Form, r: Round) -> Legal {
        let sew = self.vector.vtype.sew;
        if matches!((f.funct6, f.second), (0x12, Vector)) {
            return self.float_convert(f, r);
        }
        legal(sew == 2 || sew == 3)?;
        let scalar = self.float_scalar(f);
        let reg = self.float_reg(f);
        let vf = || legal(f.second == Scalar);
        match (f.funct6, f.second) {
            (0x00, _) => self.float(f, Op::Add, r),
            (0x02, _) => self.float(f, Op::Sub, r),
            (0x04, _) => self.float(f, Op::Min, r),
            (0x06, _) => self.float(f, Op::Max, r),
            (0x08..=0x0a, _) => self.float(f, Op::Sign((f.funct6 - 8) as u8), r),
            (0x20, _) => self.float(f, Op::Div, r),
            (0x21, _) => vf().and_then(|()| self.float(f, Op::ReverseDiv, r)),
            (0x24, _) => self.float(f, Op::Mul, r),
            (0x27, _) => vf().and_then(|()| self.float(f, Op::ReverseSub, r)),
            (0x28..=0x2f, _) => self.float(f, Op::fused(f.funct6), r),
            (0x01 | 0x03 | 0x05 | 0x07, Vector) => self.float_reduce(f, r),
            (0x0e | 0x0f, Scalar) => self.vector_slide_one(f, scalar, reg),
            (0x10, Vector) => self.float_to_scalar(f),
            (0x10, _) => legal(f.vs2 == 0).and_then(|()| self.vector_from_scalar(f, scalar, reg)),
            (0x13, Vector) => self.float_unary(f, r),
            (0x17, Scalar) => self.merge(f, scalar, reg),
            (0x18 | 0x19 | 0x1b | 0x1c, _) | (0x1d | 0x1f, Scalar) => self.float_compare(f, scalar, reg),
            (0x30, _) => self.float_widen(f, Op::Add, false, r),
            (0x32, _) => self.float_widen(f, Op::Sub, false, r),
            (0x34, _) => self.float_widen(f, Op::Add, true, r),
            (0x36, _) => self.float_widen(f, Op::Sub, true, r),
            (0x38, _) => self.float_widen(f, Op::Mul, false, r),
            (0x3c..=0x3f, _) => self.float_widen(f, Op::fused(f.funct6), false, r),
            (0x31 | 0x33, Vector) => self.float_widening_sum(f, r),
            _ => legal(false),
        }
    }

    /// The f register's value at SEW; a binary32 that is not NaN-boxed counts as the canonical NaN.
    fn float_scalar(&self, f: &Form) -> u64 {
        let v = self.vector_float_scalar(f);
        match self.vector.vtype.sew {
            2 if v & BOX == BOX => v & !BOX,
            2 => F32::NAN,
            _ => v,
        }
    }
    fn float_reg(&self, f: &Form) -> Reg {
        if f.second == Scalar {
            Freg(f.vs1)
        } else {
            Reg::NONE
        }
    }

    fn float(&mut self, f: &Form, op: Op, r: Round) -> Legal {
        self.vector.plain_groups(f)?;
        let (scalar, reg) = (self.float_scalar(f), self.float_reg(f));
        let flags = std::cell::Cell::new(self.fcsr.fflags);
        let double = self.vector.vtype.sew == 3;
        self.vector.map(f, scalar, |a, b, d| {
            let mut raised = flags.get();
            let v = if double {
                apply::<F64>(op, a, b, d, r, &mut raised)
            } else {
                apply::<F32>(op, a, b, d, r, &mut raised)
            };
            flags.set(raised);
            v
        });
        self.fcsr.fflags = flags.get();
        self.crack_plain(f, op.class(), reg, op.accumulates());
        Ok(())
    }

    fn float_compare(&mut self, f: &Form, scalar: u64, reg: Reg) -> Legal {
        let mut flags = self.fcsr.fflags;
        let double = self.vector.vtype.sew == 3;
        self.compare_with(f, (scalar, reg), |a, b| {
            if double {
                test::<F64>(f.funct6, a, b, &mut flags)
            } else {
                test::<F32>(f.funct6, a, b, &mut flags)
            }
        })?;
        self.fcsr.fflags = flags;
        Ok(())
    }

    /// VFUNARY1: vfsqrt, vfrsqrt7, vfrec7, vfclass.
    fn float_unary(&mut self, f: &Form, r: Round) -> Legal {
        fn one<F: Format>(which: usize, v: u64, r: Round, flags: &mut u8) -> u64 {
            match which {
                0 => sqrt::<F>(v, r, flags),
                4 => reciprocal_root::<F>(v, flags),
                5 => reciprocal::<F>(v, r, flags),
                _ => classify::<F>(v),
            }
        }
        legal(matches!(f.vs1, 0 | 4 | 5 | 0x10))?;
        let g = Form { second: Scalar, ..*f };
        self.vector.plain_groups(&g)?;
        let flags = std::cell::Cell::new(self.fcsr.fflags);
        let double = self.vector.vtype.sew == 3;
        self.vector.map(&g, 0, |a, _, _| {
            let mut raised = flags.get();
            let v = if double { one::<F64>(f.vs1, a, r, &mut raised) } else { one::<F32>(f.vs1, a, r, &mut raised) };
            flags.set(raised);
            v
        });
        self.fcsr.fflags = flags.get();
        let class = if f.vs1 == 0 { OpClass::SimdFloatSqrt } else { OpClass::SimdFloatMisc };
        self.crack_plain(&g, class, Reg::NONE, false);
        Ok(())
    }

    /// VFUNARY0: conversions, of one width, widening and narrowing.
    fn float_convert(&mut self, f: &Form, r: Round) -> Legal {
        let t = self.vector.vtype;
        let c = Conversion::new(f.vs1 & 7).ok_or(Illegal)?;
        // Two floating-point numbers of one width, and rounding to odd but for narrowing, do not exist.
        let (from, to) = match f.vs1 >> 3 {
            0 => (t.sew, t.sew),
            1 => (t.sew, t.sew + 1),
            2 => (t.sew + 1, t.sew),
            _ => return legal(false),
        };
        let between_floats = c.from_int.is_none() && c.to_int.is_none();
        legal(c.exists(from, to) && !(between_floats && from == to) && !(c.to_odd && from <= to))?;
        let g = Form { second: Scalar, ..*f };
        let shape = match f.vs1 >> 3 {
            0 => {
                self.vector.plain_groups(&g)?;
                Shape::plain(OpClass::SimdFloatCvt, t.lmul)
            }
            1 => {
                self.widening_groups(&g, false)?;
                self.widening_shape(OpClass::SimdFloatCvt, false, false)
            }
            _ => {
                self.narrowing_groups(&g)?;
                Shape { vs2: Some(t.lmul + 1), ..Shape::plain(OpClass::SimdFloatCvt, t.lmul) }
            }
        };
        let mut flags = self.fcsr.fflags;
        let u = &mut self.vector;
        for k in u.range() {
            if u.active(f.masked, k) {
                let v = c.apply(u.get(f.vs2, k, from), from, to, r, &mut flags);
                u.set(f.vd, k, to, v);
            }
        }
        self.fcsr.fflags = flags;
        self.vector.crack(&g, &shape, Reg::NONE);
        Ok(())
    }

    /// Widening arithmetic: binary32 operands, a binary64 result rounded once.
    fn float_widen(&mut self, f: &Form, op: Op, wide_source: bool, r: Round) -> Legal {
        // The destination of a widening multiply-add is always the addend.
        let op = match op {
            Op::Fused { negate_product, negate_addend, .. } => {
                Op::Fused { factor: false, negate_product, negate_addend }
            }
            op => op,
        };
        legal(self.vector.vtype.sew == 2)?;
        self.widening_groups(f, wide_source)?;
        let (scalar, reg) = (self.float_scalar(f), self.float_reg(f));
        let shape = self.widening_shape(op.class(), wide_source, op.accumulates());
        let mut flags = self.fcsr.fflags;
        let u = &mut self.vector;
        for k in u.range() {
            if u.active(f.masked, k) {
                let a = if wide_source {
                    u.get(f.vs2, k, 3)
                } else {
                    convert::<F32, F64>(u.get(f.vs2, k, 2), Round::ToZero, &mut flags)
                };
                let b = if f.second == Vector { u.get(f.vs1, k, 2) } else { scalar };
                let b = convert::<F32, F64>(b, Round::ToZero, &mut flags);
                let v = apply::<F64>(op, a, b, u.get(f.vd, k, 3), r, &mut flags);
                u.set(f.vd, k, 3, v);
            }
        }
        self.fcsr.fflags = flags;
        self.vector.crack(f, &shape, reg);
        Ok(())
    }

    fn float_reduce(&mut self, f: &Form, r: Round) -> Legal {
        let (op, class) = match f.funct6 {
            1 | 3 => (Op::Add, OpClass::SimdFloatReduceAdd),
            5 => (Op::Min, OpClass::SimdFloatReduceCmp),
            _ => (Op::Max, OpClass::SimdFloatReduceCmp),
        };
        let mut flags = self.fcsr.fflags;
        let double = self.vector.vtype.sew == 3;
        self.fold(f, class, 0, |acc, v| {
            if double {
                apply::<F64>(op, acc, v, 0, r, &mut flags)
            } else {
                apply::<F32>(op, acc, v, 0, r, &mut flags)
            }
        })?;
        self.fcsr.fflags = flags;
        Ok(())
    }

    fn float_widening_sum(&mut self, f: &Form, r: Round) -> Legal {
        legal(self.vector.vtype.sew == 2)?;
        let mut flags = self.fcsr.fflags;
        self.fold(f, OpClass::SimdFloatReduceAdd, 1, |acc, v| {
            let v = convert::<F32, F64>(v, Round::ToZero, &mut flags);
            add::<F64>(acc, v, r, &mut flags)
        })?;
        self.fcsr.fflags = flags;
        Ok(())
    }

    /// vfmv.f.s
    fn float_to_scalar(&mut self, f: &Form) -> Legal {
        legal(f.vs1 == 0 && !f.masked)?;
        let u = &mut self.vector;
        let sew = u.vtype.sew;
        let v = low(u.get(f.vs2, 0, sew), sew);
        u.cracked.op(OpClass::SimdMisc, [V(f.vs2), VL, Reg::NONE], [Freg(f.vd), Reg::NONE]);
        self.regs[f.vd + usize::from(crate::inst::F0)] = if sew == 2 { v | BOX } else { v };
        self.mstatus |= status::FS;
        Ok(())
    }
}
