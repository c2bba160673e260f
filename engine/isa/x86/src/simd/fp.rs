//! Scalar floating point as SSE does it: NaNs from the first operand that is one, the default NaN negative, MXCSR's
//! rounding mode, flush-to-zero and denormals-are-zero. The directed modes come from the nearest result and the sign of
//! its error, which an exact residual tells. So does whether a result is exact: MXCSR's exception flags are collected in
//! [`Env`]. Tininess is detected after rounding, as if the exponent had no bounds.

use std::cell::Cell;

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
    /// Those that are known before there is a result.
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
    pub fn from_bits(v: u64) -> Mode {
        match v & 3 {
            0 => Mode::Nearest,
            1 => Mode::Down,
            2 => Mode::Up,
            _ => Mode::Zero,
        }
    }
}

/// How to compute, and what one instruction raises.
#[derive(Debug)]
pub(super) struct Env {
    pub mode: Mode,
    pub daz: bool,
    pub ftz: bool,
    /// Tiny results raise underflow though they are exact: it is not masked.
    tiny_raises: bool,
    /// An inexact result would change nothing: its flag is set already, and masked.
    known_inexact: bool,
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
            known_inexact: mxcsr & masked & raised::PRECISION != 0,
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

/// What both widths share.
pub(super) trait Float: super::Lane + PartialOrd {
    const DEFAULT_NAN: Self;
    const MAX: Self;
    /// The smallest normal number.
    const NORMAL: Self;
    /// 2^64 and a half, by which a result is moved away from the ends of the exponent's range.
    const UP: Self;
    const HALF: Self;
    fn nan(self) -> bool;
    fn signalling(self) -> bool;
    fn quiet(self) -> Self;
    fn zero(self) -> bool;
    fn negative(self) -> bool;
    fn infinite(self) -> bool;
    fn subnormal(self) -> bool;
    fn with_zero_magnitude(self) -> Self;
    fn neg(self) -> Self;
    fn nearest(op: Op, a: Self, b: Self) -> Self;
    /// Sign of (exact - r): negative, zero, positive.
    fn error(op: Op, a: Self, b: Self, r: Self) -> i32;
    fn up(self) -> Self;
    fn down(self) -> Self;
    fn round(self, mode: Mode) -> Self;
    fn to_f64(self) -> f64;

    fn magnitude(self) -> Self {
        if self.negative() {
            self.neg()
        } else {
            self
        }
    }

    fn times(self, by: Self) -> Self {
        Self::nearest(Op::Mul, self, by)
    }
}

macro_rules! float {
    ($t:ty, $bits:ty, $quiet:expr, $nan:expr) => {
        impl Float for $t {
            const DEFAULT_NAN: Self = <$t>::from_bits($nan);
            const MAX: Self = <$t>::MAX;
            const NORMAL: Self = <$t>::MIN_POSITIVE;
            const UP: Self = 18_446_744_073_709_551_616.0;
            const HALF: Self = 0.5;
            fn nan(self) -> bool {
                self.is_nan()
            }
            fn signalling(self) -> bool {
                self.is_nan() && self.to_bits() & $quiet == 0
            }
            fn quiet(self) -> Self {
                <$t>::from_bits(self.to_bits() | $quiet)
            }
            fn zero(self) -> bool {
                self == 0.0
            }
            fn negative(self) -> bool {
                self.is_sign_negative()
            }
            fn infinite(self) -> bool {
                self.is_infinite()
            }
            fn subnormal(self) -> bool {
                self.is_subnormal()
            }
            fn with_zero_magnitude(self) -> Self {
                (0.0 as $t).copysign(self)
            }
            fn neg(self) -> Self {
                -self
            }
            fn nearest(op: Op, a: Self, b: Self) -> Self {
                match op {
                    Op::Add => a + b,
                    Op::Sub => a - b,
                    Op::Mul => a * b,
                    Op::Div => a / b,
                    Op::Sqrt => b.sqrt(),
                }
            }
            fn error(op: Op, a: Self, b: Self, r: Self) -> i32 {
                residual(op, f64::from(a), f64::from(b), f64::from(r))
            }
            fn up(self) -> Self {
                let bits = self.to_bits();
                match self {
                    _ if self == <$t>::INFINITY || self.is_nan() => self,
                    _ if self == 0.0 => <$t>::from_bits(1),
                    _ if bits >> (8 * std::mem::size_of::<$t>() - 1) == 0 => <$t>::from_bits(bits + 1),
                    _ => <$t>::from_bits(bits - 1),
                }
            }
            fn down(self) -> Self {
                -(-self).up()
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
float!(f32, u32, 1 << 22, 0xffc0_0000);
float!(f64, u64, 1 << 51, 0xfff8_0000_0000_0000);

/// Sign of the exact result less `r`, which is it rounded to f64 or f32. Scaled so that no product's tail underflows.
fn residual(op: Op, a: f64, b: f64, r: f64) -> i32 {
    let small = |v: f64, e: i32| v.abs() < 2f64.powi(e);
    let big = 2f64.powi(600);
    if r == 0.0 && matches!(op, Op::Mul | Op::Div) && a != 0.0 && b != 0.0 && a.is_finite() && b.is_finite() {
        return if a.is_sign_negative() == b.is_sign_negative() { 1 } else { -1 };
    }
    let e = match op {
        Op::Add | Op::Sub => {
            let b = if op == Op::Sub { -b } else { b };
            let s = a + b;
            let bb = s - a;
            let tail = (a - (s - bb)) + (b - bb);
            if s == r {
                tail
            } else {
                s - r
            }
        }
        Op::Mul if small(r, -400) => {
            let (low, high) = if a.abs() < b.abs() { (a, b) } else { (b, a) };
            (low * big).mul_add(high, -(r * big))
        }
        Op::Mul => a.mul_add(b, -r),
        // a - r*b has the sign of the quotient's error times b's.
        Op::Div if small(a, -400) && small(b, 0) => (-r).mul_add(b * big, a * big) * b.signum(),
        Op::Div if small(a, -400) => (-r * big).mul_add(b, a * big) * b.signum(),
        Op::Div => (-r).mul_add(b, a) * b.signum(),
        Op::Sqrt if small(b, -400) => (-r * 2f64.powi(300)).mul_add(r * 2f64.powi(300), b * big),
        Op::Sqrt => (-r).mul_add(r, b),
    };
    i32::from(e > 0.0) - i32::from(e < 0.0)
}

/// The operand with DAZ applied.
pub(super) fn input<T: Float>(e: &Env, v: T) -> T {
    if e.daz && v.subnormal() {
        v.with_zero_magnitude()
    } else {
        v
    }
}

/// The NaN that an operation with these operands gives, if any is one.
fn nan_of<T: Float>(e: &Env, a: T, b: T) -> Option<T> {
    if a.signalling() || b.signalling() {
        e.raise(raised::INVALID);
    }
    if a.nan() {
        Some(a.quiet())
    } else if b.nan() {
        Some(b.quiet())
    } else {
        None
    }
}

/// One operation; square roots take `b`.
pub(super) fn arith<T: Float>(e: &Env, op: Op, a: T, b: T) -> T {
    let b = input(e, b);
    let a = if op == Op::Sqrt { b } else { input(e, a) };
    if let Some(nan) = nan_of(e, a, b) {
        return nan;
    }
    let nearest = T::nearest(op, a, b);
    if nearest.nan() {
        e.raise(raised::INVALID);
        return T::DEFAULT_NAN;
    }
    if op == Op::Div && b.zero() && !a.infinite() {
        e.raise(raised::DIVIDE);
        return nearest;
    }
    if a.subnormal() || b.subnormal() {
        e.raise(raised::DENORMAL);
    }
    if a.infinite() || b.infinite() {
        return nearest;
    }
    let r = if e.mode == Mode::Nearest { nearest } else { directed(e.mode, op, a, b, nearest) };
    if r.infinite() || (nearest.infinite() && overflows(e.mode, op, a, b)) {
        e.raise(raised::OVERFLOW | raised::PRECISION);
        return r;
    }
    let size = r.magnitude();
    let small = size <= T::NORMAL;
    if !small && e.known_inexact {
        return r;
    }
    let inexact = nearest.infinite() || T::error(op, a, b, nearest) != 0;
    let below = size < T::NORMAL || (inexact && falls_short(e.mode, op, a, b));
    finish(e, r, inexact, small && below && (inexact || !r.zero()))
}

/// Raises what rounding to `r` does; a tiny result may be flushed.
fn finish<T: Float>(e: &Env, r: T, inexact: bool, tiny: bool) -> T {
    if tiny && e.ftz {
        e.raise(raised::UNDERFLOW | raised::PRECISION);
        return r.with_zero_magnitude();
    }
    if tiny && (inexact || e.tiny_raises) {
        e.raise(raised::UNDERFLOW);
    }
    if inexact {
        e.raise(raised::PRECISION);
    }
    r
}

/// One operation on finite operands, rounded.
fn rounded<T: Float>(mode: Mode, op: Op, a: T, b: T) -> T {
    let r = T::nearest(op, a, b);
    if mode == Mode::Nearest {
        r
    } else {
        directed(mode, op, a, b, r)
    }
}

/// Whether a result that a directed mode keeps finite would be beyond the largest number if the exponent had no bounds.
fn overflows<T: Float>(mode: Mode, op: Op, a: T, b: T) -> bool {
    let half = match op {
        Op::Add | Op::Sub => rounded(mode, op, a.times(T::HALF), b.times(T::HALF)),
        Op::Mul if a.magnitude() < b.magnitude() => rounded(mode, op, a, b.times(T::HALF)),
        _ => rounded(mode, op, a.times(T::HALF), b),
    };
    half.magnitude() > T::MAX.times(T::HALF)
}

/// Whether an inexact result that is the smallest normal number would be below it if the exponent had no bounds. Sums
/// that small are exact, and no square root is.
fn falls_short<T: Float>(mode: Mode, op: Op, a: T, b: T) -> bool {
    let r = match op {
        Op::Mul if b.magnitude() < a.magnitude() => rounded(mode, op, a, b.times(T::UP)),
        Op::Mul | Op::Div => rounded(mode, op, a.times(T::UP), b),
        _ => return false,
    };
    r.magnitude() < T::NORMAL.times(T::UP)
}

/// The result in a directed mode, from the nearest one; the operands are finite.
fn directed<T: Float>(mode: Mode, op: Op, a: T, b: T, r: T) -> T {
    if r.infinite() {
        // Beyond the largest number, as the operands are finite.
        let keeps = match mode {
            Mode::Up => !r.negative(),
            Mode::Down => r.negative(),
            _ => false,
        };
        return if keeps {
            r
        } else if r.negative() {
            T::MAX.neg()
        } else {
            T::MAX
        };
    }
    if r.zero() && matches!(op, Op::Add | Op::Sub) {
        // A difference of equals is -0 when rounding down.
        let second_negative = b.negative() != (op == Op::Sub);
        let both = a.zero() && b.zero() && a.negative() == second_negative;
        return if both || mode != Mode::Down { r } else { r.with_zero_magnitude().neg_if(!r.negative()) };
    }
    let error = T::error(op, a, b, r);
    match mode {
        Mode::Up if error > 0 => r.up(),
        Mode::Down if error < 0 => r.down(),
        Mode::Zero if error < 0 && !r.negative() => r.down(),
        Mode::Zero if error > 0 && r.negative() => r.up(),
        _ => r,
    }
}

trait NegIf: Float {
    fn neg_if(self, yes: bool) -> Self {
        if yes {
            self.neg()
        } else {
            self
        }
    }
}
impl<T: Float> NegIf for T {}

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
    if v.is_subnormal() {
        e.raise(raised::DENORMAL);
    }
    if v == 0.0 || v.is_infinite() {
        return v as f32;
    }
    let r = narrowed(e.mode, v);
    if r.is_infinite() || narrowed(e.mode, v / f64::UP).abs() > f32::MAX / f32::UP {
        e.raise(raised::OVERFLOW | raised::PRECISION);
        return r;
    }
    let tiny = v.abs() < f64::from(f32::NORMAL) && narrowed(e.mode, v * f64::UP).abs() < f32::NORMAL * f32::UP;
    finish(e, r, f64::from(r) != v, tiny)
}

/// A finite number that is not zero, rounded to f32.
fn narrowed(mode: Mode, v: f64) -> f32 {
    let r = v as f32;
    if mode == Mode::Nearest {
        return r;
    }
    let back = f64::from(r);
    let up = match mode {
        Mode::Up => true,
        Mode::Down => false,
        _ => v < 0.0,
    };
    let r = if up && back < v {
        r.up()
    } else if !up && back > v {
        r.down()
    } else {
        r
    };
    // A zero has the sign of what it was.
    if r == 0.0 {
        (0.0f32).copysign(v as f32)
    } else {
        r
    }
}

/// An integer as a float: `nearest` is the conversion, `back` its exact value compared with the integer.
pub(super) fn from_int<T: Float>(e: &Env, nearest: T, exact: i64, back: i128) -> T {
    let exact = i128::from(exact);
    if back != exact {
        e.raise(raised::PRECISION);
    }
    match e.mode {
        Mode::Up if back < exact => nearest.up(),
        Mode::Down if back > exact => nearest.down(),
        Mode::Zero if back > exact && exact > 0 => nearest.down(),
        Mode::Zero if back < exact && exact < 0 => nearest.up(),
        _ => nearest,
    }
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
