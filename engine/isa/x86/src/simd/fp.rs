//! Scalar floating point as SSE does it, on [`breakeven_base::float`]: MXCSR's rounding mode, flush-to-zero and
//! denormals-are-zero, and its exception flags, which are collected in [`Env`].

use std::cell::Cell;

use breakeven_base::float::{self, flag, Format, HostOp, Round, Sse32, Sse64};

/// MXCSR bits.
const DAZ: u32 = 1 << 6;
const FTZ: u32 = 1 << 15;

/// MXCSR's exception flags; their masks lie [`raised::MASKS`] bits higher.
pub(super) mod raised {
    pub const INVALID: u32 = 1;
    pub const DENORMAL: u32 = 2;
    pub const DIVIDE: u32 = 4;
    pub const OVERFLOW: u32 = 8;
    pub const UNDERFLOW: u32 = 16;
    pub const PRECISION: u32 = 32;
    /// Exceptions of the operands, raised before a result is computed.
    pub const OPERANDS: u32 = INVALID | DENORMAL | DIVIDE;
    pub const ALL: u32 = 63;
    pub const MASKS: u32 = 7;
}

/// Rounding, MXCSR's encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Nearest,
    Down,
    Up,
    Zero,
}

impl Mode {
    fn to_round(self) -> Round {
        match self {
            Mode::Nearest => Round::NearestEven,
            Mode::Down => Round::Down,
            Mode::Up => Round::Up,
            Mode::Zero => Round::ToZero,
        }
    }

    pub fn from_bits(v: u64) -> Mode {
        match v & 3 {
            0 => Mode::Nearest,
            1 => Mode::Down,
            2 => Mode::Up,
            _ => Mode::Zero,
        }
    }
}

/// The floating-point environment of one instruction, and the exceptions that it raises.
#[derive(Debug)]
pub(super) struct Env {
    pub mode: Mode,
    pub daz: bool,
    pub ftz: bool,
    /// Tiny results raise underflow though they are exact: it is not masked.
    tiny_raises: bool,
    /// Flags that operations must compute: tininess always; inexactness unless that flag is set already and masked.
    asked: u8,
    raised: Cell<u32>,
}

impl Env {
    pub fn new(mxcsr: u32) -> Env {
        let masked = mxcsr >> raised::MASKS;
        Env {
            mode: Mode::from_bits(u64::from(mxcsr >> 13)),
            daz: mxcsr & DAZ != 0,
            ftz: mxcsr & FTZ != 0 && masked & raised::UNDERFLOW != 0,
            tiny_raises: masked & raised::UNDERFLOW == 0,
            asked: flag::REPORT_TINY | if mxcsr & masked & raised::PRECISION != 0 { flag::IGNORE_NX } else { 0 },
            raised: Cell::new(0),
        }
    }

    pub fn raise(&self, flags: u32) {
        self.raised.set(self.raised.get() | flags);
    }

    pub fn raised(&self) -> u32 {
        self.raised.get()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    Add,
    Sub,
    Mul,
    Div,
    Sqrt,
}

/// Operations of both widths.
pub(super) trait Float: super::Lane + PartialOrd {
    type Format: Format;
    const DEFAULT_NAN: Self;
    fn nan(self) -> bool;
    fn signalling(self) -> bool;
    fn quiet(self) -> Self;
    fn subnormal(self) -> bool;
    fn with_zero_magnitude(self) -> Self;
    fn round(self, mode: Mode) -> Self;
    fn to_f64(self) -> f64;
}

macro_rules! float {
    ($t:ty, $format:ty) => {
        impl Float for $t {
            type Format = $format;
            const DEFAULT_NAN: Self = <$t>::from_bits(<$format>::NAN as _);
            #[inline(always)]
            fn nan(self) -> bool {
                self.is_nan()
            }
            #[inline(always)]
            fn signalling(self) -> bool {
                self.is_nan() && u64::from(self.to_bits()) & <$format>::QUIET == 0
            }
            fn quiet(self) -> Self {
                super::Lane::from_bits(super::Lane::bits(self) | <$format>::QUIET)
            }
            #[inline(always)]
            fn subnormal(self) -> bool {
                self.is_subnormal()
            }
            fn with_zero_magnitude(self) -> Self {
                (0.0 as $t).copysign(self)
            }
            fn round(self, mode: Mode) -> Self {
                match mode {
                    Mode::Nearest => self.round_ties_even(),
                    Mode::Down => self.floor(),
                    Mode::Up => self.ceil(),
                    Mode::Zero => self.trunc(),
                }
            }
            fn to_f64(self) -> f64 {
                f64::from(self)
            }
        }
    };
}
float!(f32, Sse32);
float!(f64, Sse64);

/// The operand with DAZ applied.
pub(super) fn input<T: Float>(e: &Env, v: T) -> T {
    if e.daz && v.subnormal() {
        v.with_zero_magnitude()
    } else {
        v
    }
}

/// One operation; square roots take `b`.
#[inline(always)]
pub(super) fn arith<T: Float>(e: &Env, op: Op, a: T, b: T) -> T {
    let b = input(e, b);
    let a = if op == Op::Sqrt { b } else { input(e, a) };
    let (round, mut flags) = (e.mode.to_round(), e.asked);
    let (x, y) = (a.bits(), b.bits());
    // A NaN keeps its sign.
    let y = if op == Op::Sub && !b.nan() { y ^ T::Format::SIGN } else { y };
    let plain = match op {
        Op::Add | Op::Sub => float::plain::<T::Format>(HostOp::Add, x, y, round, &mut flags),
        Op::Mul => float::plain::<T::Format>(HostOp::Mul, x, y, round, &mut flags),
        Op::Div => float::plain::<T::Format>(HostOp::Div, x, y, round, &mut flags),
        Op::Sqrt => float::plain::<T::Format>(HostOp::Sqrt, y, y, round, &mut flags),
    };
    if let Some(r) = plain {
        if flags & flag::NX != 0 {
            e.raise(raised::PRECISION);
        }
        return T::from_bits(r);
    }
    let r = T::from_bits(match op {
        Op::Add | Op::Sub => float::add_in_software::<T::Format>(x, y, round, &mut flags),
        Op::Mul => float::mul_in_software::<T::Format>(x, y, round, &mut flags),
        Op::Div => float::div_in_software::<T::Format>(x, y, round, &mut flags),
        Op::Sqrt => float::sqrt_in_software::<T::Format>(y, round, &mut flags),
    });
    raise_exceptions(e, r, flags, a.subnormal() || b.subnormal())
}

/// Records the exceptions of an operation with the result `r`; `denormal`: of an operand. A tiny result may be flushed.
#[inline(never)]
fn raise_exceptions<T: Float>(e: &Env, r: T, flags: u8, denormal: bool) -> T {
    let raises = |f: u8, mxcsr: u32| if flags & f != 0 { mxcsr } else { 0 };
    e.raise(raises(flag::NV, raised::INVALID) | raises(flag::DZ, raised::DIVIDE));
    if r.nan() || flags & (flag::NV | flag::DZ) != 0 {
        return r;
    }
    if denormal {
        e.raise(raised::DENORMAL);
    }
    let (inexact, tiny) = (flags & flag::NX != 0, flags & flag::TINY != 0 || r.subnormal());
    if tiny && e.ftz {
        e.raise(raised::UNDERFLOW | raised::PRECISION);
        return r.with_zero_magnitude();
    }
    if tiny && (inexact || e.tiny_raises) {
        e.raise(raised::UNDERFLOW);
    }
    e.raise(raises(flag::OF, raised::OVERFLOW) | raises(flag::NX, raised::PRECISION));
    r
}

/// To f32 in the environment's rounding.
pub(super) fn narrow(e: &Env, v: f64) -> f32 {
    let v = input(e, v);
    if v.is_nan() {
        if v.signalling() {
            e.raise(raised::INVALID);
        }
        let bits = v.quiet().to_bits();
        let sign = (bits >> 32) as u32 & 1 << 31;
        return f32::from_bits(sign | 0x7f80_0000 | (bits >> 29) as u32 & 0x007f_ffff);
    }
    let mut flags = e.asked;
    let r = float::convert::<Sse64, Sse32>(v.to_bits(), e.mode.to_round(), &mut flags);
    raise_exceptions(e, super::Lane::from_bits(r), flags, v.is_subnormal())
}

/// An integer as a float.
pub(super) fn from_int<T: Float>(e: &Env, v: i64) -> T {
    let mut flags = 0;
    let r = float::from_int::<T::Format>(v as u64, true, e.mode.to_round(), &mut flags);
    if flags & flag::NX != 0 {
        e.raise(raised::PRECISION);
    }
    T::from_bits(r)
}

/// What a comparison's operands raise: a NaN of either kind where `quiet` is not set.
pub(super) fn check_compared<T: Float>(e: &Env, a: T, b: T, quiet: bool) {
    if a.signalling() || b.signalling() || (!quiet && (a.nan() || b.nan())) {
        e.raise(raised::INVALID);
    } else if !a.nan() && !b.nan() && (a.subnormal() || b.subnormal()) {
        e.raise(raised::DENORMAL);
    }
}

/// Comparison predicate `p` (0..32); the upper half has the same truth and raises for quiet NaNs where the lower does not.
pub(super) fn compare<T: Float>(e: &Env, p: u64, a: T, b: T) -> bool {
    let (a, b) = (input(e, a), input(e, b));
    check_compared(e, a, b, matches!(p & 3, 0 | 3) == (p < 16));
    let unordered = a.nan() || b.nan();
    match p & 15 {
        0 => a == b,
        1 => a < b,
        2 => a <= b,
        3 => unordered,
        4 => a != b,
        5 => unordered || a >= b,
        6 => unordered || a > b,
        7 => !unordered,
        8 => a == b || unordered,
        9 => unordered || a < b,
        10 => unordered || a <= b,
        11 => false,
        12 => !unordered && a != b,
        13 => a >= b,
        14 => a > b,
        _ => true,
    }
}
