//! Floating-point computation (F and D): operands out of the register file, through [`breakeven_base::float`], and back.

use std::cmp::Ordering;

use breakeven_base::float::{
    add, classify, compare, convert, div, flag, fma, from_int, is_signaling, min_max, mul, sqrt, to_int, Format, Round,
    F32, F64,
};

use crate::bitmanip::sext32;
use crate::csr::status;
use crate::exec::BOX;
use crate::hart::{Hart, Stop};
use crate::inst::{Inst, Op, F0};

/// A format's encoding in a 64-bit f register.
trait Lane: Format {
    fn from_register(reg: u64) -> u64;
    fn to_register(v: u64) -> u64;
}
impl Lane for F32 {
    /// A value that is not NaN-boxed counts as the canonical NaN.
    #[inline(always)]
    fn from_register(reg: u64) -> u64 {
        if reg & BOX == BOX {
            reg & !BOX
        } else {
            F32::NAN
        }
    }
    #[inline(always)]
    fn to_register(v: u64) -> u64 {
        v | BOX
    }
}
impl Lane for F64 {
    #[inline(always)]
    fn from_register(reg: u64) -> u64 {
        reg
    }
    #[inline(always)]
    fn to_register(v: u64) -> u64 {
        v
    }
}

/// The format-independent part of an operation.
#[derive(Clone, Copy)]
enum Kind {
    Add,
    Sub,
    Mul,
    Div,
    Sqrt,
    /// Negate the product / the addend.
    Fused(bool, bool),
    Sign(u8),
    Min,
    Max,
    Eq,
    Lt,
    Le,
    Class,
    MoveOut,
    MoveIn,
    ToInt(bool, u32),
    FromInt(bool, u32),
    Narrow,
    Widen,
}

fn kind(op: Op) -> (Kind, bool) {
    use Kind::{Add, Class, Div, Eq, FromInt, Fused, Le, Lt, Max, Min, MoveIn, MoveOut, Mul, Narrow, Sign, Sqrt, Sub};
    use Kind::{ToInt, Widen};
    use Op::*;
    let k = match op {
        FaddS | FaddD => Add,
        FsubS | FsubD => Sub,
        FmulS | FmulD => Mul,
        FdivS | FdivD => Div,
        FsqrtS | FsqrtD => Sqrt,
        FmaddS | FmaddD => Fused(false, false),
        FmsubS | FmsubD => Fused(false, true),
        FnmsubS | FnmsubD => Fused(true, false),
        FnmaddS | FnmaddD => Fused(true, true),
        FsgnjS | FsgnjD => Sign(0),
        FsgnjnS | FsgnjnD => Sign(1),
        FsgnjxS | FsgnjxD => Sign(2),
        FminS | FminD => Min,
        FmaxS | FmaxD => Max,
        FeqS | FeqD => Eq,
        FltS | FltD => Lt,
        FleS | FleD => Le,
        FclassS | FclassD => Class,
        FmvXW | FmvXD => MoveOut,
        FmvWX | FmvDX => MoveIn,
        FcvtWS | FcvtWD => ToInt(true, 32),
        FcvtWuS | FcvtWuD => ToInt(false, 32),
        FcvtLS | FcvtLD => ToInt(true, 64),
        FcvtLuS | FcvtLuD => ToInt(false, 64),
        FcvtSW | FcvtDW => FromInt(true, 32),
        FcvtSWu | FcvtDWu => FromInt(false, 32),
        FcvtSL | FcvtDL => FromInt(true, 64),
        FcvtSLu | FcvtDLu => FromInt(false, 64),
        FcvtSD => Narrow,
        _ => Widen,
    };
    (k, op >= FaddD)
}

impl Kind {
    fn rounds(self) -> bool {
        use Kind::{Add, Div, FromInt, Fused, Mul, Narrow, Sqrt, Sub, ToInt, Widen};
        matches!(self, Add | Sub | Mul | Div | Sqrt | Fused(..) | ToInt(..) | FromInt(..) | Narrow | Widen)
    }
}

/// Operands, rounding mode and the flags so far.
struct Context {
    a: u64,
    b: u64,
    c: u64,
    round: Round,
    flags: u8,
}

fn ordered<F: Format>(a: u64, b: u64, quiet: bool, accept: fn(Ordering) -> bool, flags: &mut u8) -> u64 {
    match compare::<F>(a, b) {
        Some(o) => u64::from(accept(o)),
        None => {
            if !quiet || is_signaling::<F>(a) || is_signaling::<F>(b) {
                *flags |= flag::NV;
            }
            0
        }
    }
}

fn compute<F: Lane>(kind: Kind, x: &mut Context) -> u64 {
    let (a, b, c, r) = (F::from_register(x.a), F::from_register(x.b), F::from_register(x.c), x.round);
    let negate = |v: u64, yes: bool| if yes { v ^ F::SIGN } else { v };
    let f = &mut x.flags;
    match kind {
        Kind::Add => F::to_register(add::<F>(a, b, r, f)),
        // A NaN's sign does not matter: the result is canonical.
        Kind::Sub => F::to_register(add::<F>(a, b ^ F::SIGN, r, f)),
        Kind::Mul => F::to_register(mul::<F>(a, b, r, f)),
        Kind::Div => F::to_register(div::<F>(a, b, r, f)),
        Kind::Sqrt => F::to_register(sqrt::<F>(a, r, f)),
        Kind::Fused(product, addend) => F::to_register(fma::<F>(negate(a, product), b, negate(c, addend), r, f)),
        Kind::Sign(how) => {
            let sign = match how {
                0 => b,
                1 => !b,
                _ => a ^ b,
            };
            F::to_register(a & !F::SIGN | sign & F::SIGN)
        }
        Kind::Min => F::to_register(min_max::<F>(a, b, false, f)),
        Kind::Max => F::to_register(min_max::<F>(a, b, true, f)),
        Kind::Eq => ordered::<F>(a, b, true, Ordering::is_eq, f),
        Kind::Lt => ordered::<F>(a, b, false, Ordering::is_lt, f),
        Kind::Le => ordered::<F>(a, b, false, Ordering::is_le, f),
        Kind::Class => classify::<F>(a),
        Kind::MoveOut if F::M == F32::M => sext32(x.a),
        Kind::MoveOut => x.a,
        Kind::MoveIn if F::M == F32::M => F::to_register(x.a & !BOX),
        Kind::MoveIn => x.a,
        Kind::ToInt(signed, bits) => to_int::<F>(a, signed, bits, r, f),
        Kind::FromInt(signed, bits) => {
            let v = match (signed, bits) {
                (true, 32) => sext32(x.a),
                (false, 32) => x.a & !BOX,
                _ => x.a,
            };
            F::to_register(from_int::<F>(v, signed, r, f))
        }
        Kind::Narrow => F32::to_register(convert::<F64, F32>(x.a, r, f)),
        Kind::Widen => convert::<F32, F64>(F32::from_register(x.a), Round::ToZero, f),
    }
}

impl Hart {
    #[inline(never)]
    pub(crate) fn exec_fp(&mut self, i: &Inst) -> Result<(), Stop> {
        let illegal = Stop::Fault { cause: 2, tval: u64::from(i.raw) };
        if self.mstatus & status::FS == 0 {
            return Err(illegal);
        }
        let (kind, double) = kind(i.op);
        let round = if kind.rounds() {
            Round::from_bits(if i.rm == 7 { self.fcsr.frm } else { i.rm }).ok_or(illegal)?
        } else {
            Round::NearestEven
        };
        let reg = |r: u8| self.regs[usize::from(r)];
        let mut x = Context { a: reg(i.rs1), b: reg(i.rs2), c: reg(i.rs3), round, flags: self.fcsr.fflags };
        let v = if double { compute::<F64>(kind, &mut x) } else { compute::<F32>(kind, &mut x) };
        self.regs[usize::from(i.rd)] = v;
        let raised = x.flags != self.fcsr.fflags;
        self.fcsr.fflags = x.flags;
        if raised || (i.rd >= F0 && i.rd != crate::inst::SINK) {
            self.mstatus |= status::FS;
        }
        Ok(())
    }
}
