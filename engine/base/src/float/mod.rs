//! IEEE 754 binary32 and binary64 for instruction sets: five rounding modes, exact flags, tininess detected after rounding.
//! What NaNs become is the format's to say: RISC-V's are canonical ([`F32`], [`F64`]), SSE's pass the first operand on
//! ([`Sse32`], [`Sse64`]).
//!
//! Own code because the maintained crates do not fit: `rustc_apfloat` has no square root and detects tininess at the
//! denormal's precision; the others wrap C. Values travel as their bits in a `u64`. Plain cases are the host's
//! ([`host`]); in all others a finite non-zero number is unpacked to a 63-bit significand (leading one at bit 62, sticky
//! bit 0) and an exponent.

mod arith;
mod convert;
mod host;

pub use arith::{add, add_in_software, div, div_in_software, fma, mul, mul_in_software, sqrt, sqrt_in_software};
pub use convert::{convert, from_int, to_int};
pub use host::{plain, HostOp};

/// Exception flags, as in fflags.
pub mod flag {
    pub const NX: u8 = 1;
    pub const UF: u8 = 2;
    pub const OF: u8 = 4;
    pub const DZ: u8 = 8;
    pub const NV: u8 = 16;
    /// A result that is not zero would lie below the normal range even if the exponent had no bounds; exact ones, too, which
    /// raise no UF. Only for callers that set `REPORT_TINY`.
    pub const TINY: u8 = 32;
    /// Set by a caller: see `TINY`.
    pub const REPORT_TINY: u8 = 64;
    /// Set by a caller: NX need not be raised.
    pub const IGNORE_NX: u8 = 128;
}

/// Rounding modes, by their encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Round {
    NearestEven,
    ToZero,
    Down,
    Up,
    NearestMax,
}

impl Round {
    /// `None`: a reserved encoding.
    pub fn from_bits(rm: u8) -> Option<Round> {
        Some(match rm {
            0 => Round::NearestEven,
            1 => Round::ToZero,
            2 => Round::Down,
            3 => Round::Up,
            4 => Round::NearestMax,
            _ => return None,
        })
    }
}

/// A binary format, described by its widths, and what becomes of its NaNs.
pub trait Format {
    /// Bits of the fraction.
    const M: u32;
    /// Largest exponent of a finite number; the smallest normal one is `1 - EMAX`.
    const EMAX: i32;
    const SIGN: u64;
    const INF: u64;
    /// The NaN that an invalid operation gives.
    const NAN: u64;
    const QUIET: u64 = 1 << (Self::M - 1);
    const FRACTION: u64 = (1 << Self::M) - 1;
    /// The NaN that an operation gives of which one of `operands` at least is a NaN.
    fn nan(operands: &[u64]) -> u64;
    /// `a op b` on the host, in its default rounding mode.
    fn host(op: HostOp, a: u64, b: u64) -> u64;
    /// As the host's `f64`: exact.
    fn to_f64(v: u64) -> f64;
}

/// binary32 and binary64 with one canonical NaN.
pub struct F32;
pub struct F64;
/// With the first operand that is a NaN for a result, made quiet; the default NaN is negative.
pub struct Sse32;
pub struct Sse64;

macro_rules! format {
    ($name:ident, $host:ty, $bits:ty, $m:literal, $emax:literal, $nan:ident, $default_sign:expr) => {
        impl Format for $name {
            const M: u32 = $m;
            const EMAX: i32 = $emax;
            const SIGN: u64 = 1 << (<$bits>::BITS - 1);
            const INF: u64 = ((2 * $emax + 1) as u64) << $m;
            const NAN: u64 = Self::INF | Self::QUIET | if $default_sign { Self::SIGN } else { 0 };
            #[inline]
            fn nan(operands: &[u64]) -> u64 {
                $nan::<Self>(operands)
            }
            #[inline(always)]
            #[allow(clippy::cast_lossless)] // one text for 32 and 64 bits
            fn host(op: HostOp, a: u64, b: u64) -> u64 {
                let (x, y) = (<$host>::from_bits(a as $bits), <$host>::from_bits(b as $bits));
                let r = match op {
                    HostOp::Add => x + y,
                    HostOp::Mul => x * y,
                    HostOp::Div => x / y,
                    HostOp::Sqrt => x.sqrt(),
                };
                r.to_bits() as u64
            }
            #[inline(always)]
            fn to_f64(v: u64) -> f64 {
                f64::from(<$host>::from_bits(v as $bits))
            }
        }
    };
}
format!(F32, f32, u32, 23, 127, canonical, false);
format!(F64, f64, u64, 52, 1023, canonical, false);
format!(Sse32, f32, u32, 23, 127, first, true);
format!(Sse64, f64, u64, 52, 1023, first, true);

fn canonical<F: Format>(_operands: &[u64]) -> u64 {
    F::NAN
}

fn first<F: Format>(operands: &[u64]) -> u64 {
    operands.iter().find(|&&v| is_nan::<F>(v)).map_or(F::NAN, |v| v | F::QUIET)
}

/// A finite, non-zero number: `sig * 2^(exp - 62)`.
#[derive(Clone, Copy, Debug)]
pub struct Num {
    pub neg: bool,
    pub exp: i32,
    pub sig: u64,
}

/// A number taken apart.
#[derive(Clone, Copy, Debug)]
pub enum Class {
    Nan { signaling: bool },
    Inf { neg: bool },
    Zero { neg: bool },
    Finite(Num),
}

pub fn is_nan<F: Format>(v: u64) -> bool {
    v & !F::SIGN > F::INF
}
pub fn is_signaling<F: Format>(v: u64) -> bool {
    is_nan::<F>(v) && v >> (F::M - 1) & 1 == 0
}

pub fn unpack<F: Format>(v: u64) -> Class {
    let neg = v & F::SIGN != 0;
    let exp = ((v & F::INF) >> F::M) as i32;
    let fraction = v & F::FRACTION;
    if v & F::INF == F::INF {
        return if fraction == 0 { Class::Inf { neg } } else { Class::Nan { signaling: is_signaling::<F>(v) } };
    }
    if exp == 0 {
        if fraction == 0 {
            return Class::Zero { neg };
        }
        let shift = fraction.leading_zeros() - 1;
        let exp = 62 - shift as i32 + 1 - F::EMAX - F::M as i32;
        return Class::Finite(Num { neg, exp, sig: fraction << shift });
    }
    Class::Finite(Num { neg, exp: exp - F::EMAX, sig: (fraction | 1 << F::M) << (62 - F::M) })
}

/// Shifts right, or-ing what falls out into the lowest bit.
pub fn jam(v: u64, n: u32) -> u64 {
    match n {
        0 => v,
        1..=63 => v >> n | u64::from(v << (64 - n) != 0),
        _ => u64::from(v != 0),
    }
}
pub fn jam128(v: u128, n: u32) -> u128 {
    match n {
        0 => v,
        1..=127 => v >> n | u128::from(v << (128 - n) != 0),
        _ => u128::from(v != 0),
    }
}

pub fn signed<F: Format>(neg: bool, magnitude: u64) -> u64 {
    magnitude | if neg { F::SIGN } else { 0 }
}

/// Whether the bits `rest` out of `1 << width` below the last place round the magnitude up.
pub fn rounds_up(round: Round, neg: bool, odd: bool, rest: u64, width: u32) -> bool {
    let half = 1u64 << (width - 1);
    match round {
        Round::NearestEven => rest > half || (rest == half && odd),
        Round::NearestMax => rest >= half,
        Round::ToZero => false,
        Round::Down => neg && rest != 0,
        Round::Up => !neg && rest != 0,
    }
}

/// Rounds `sig` to a multiple of `1 << width` and counts in those units; tells whether that was inexact.
fn round_at(round: Round, neg: bool, sig: u64, width: u32) -> (u64, bool) {
    let rest = sig & ((1 << width) - 1);
    let kept = sig >> width;
    (kept + u64::from(rounds_up(round, neg, kept & 1 != 0, rest, width)), rest != 0)
}

/// Rounds to the format and packs, raising NX, UF and OF.
pub fn pack<F: Format>(n: Num, round: Round, flags: &mut u8) -> u64 {
    let width = 62 - F::M;
    let emin = 1 - F::EMAX;
    if n.exp < emin {
        let (normal, _) = round_at(round, n.neg, n.sig, width);
        let tiny = n.exp < emin - 1 || normal >> (F::M + 1) == 0;
        let (kept, inexact) = round_at(round, n.neg, jam(n.sig, (emin - n.exp) as u32), width);
        if inexact {
            *flags |= flag::NX | if tiny { flag::UF } else { 0 };
        }
        if tiny && *flags & flag::REPORT_TINY != 0 {
            *flags |= flag::TINY;
        }
        return signed::<F>(n.neg, kept);
    }
    let (mut kept, inexact) = round_at(round, n.neg, n.sig, width);
    let mut exp = n.exp;
    if kept >> (F::M + 1) != 0 {
        kept >>= 1;
        exp += 1;
    }
    if exp > F::EMAX {
        *flags |= flag::OF | flag::NX;
        let to_inf = match round {
            Round::NearestEven | Round::NearestMax => true,
            Round::ToZero => false,
            Round::Down => n.neg,
            Round::Up => !n.neg,
        };
        return signed::<F>(n.neg, if to_inf { F::INF } else { F::INF - 1 });
    }
    if inexact {
        *flags |= flag::NX;
    }
    signed::<F>(n.neg, ((exp + F::EMAX) as u64) << F::M | kept & F::FRACTION)
}

/// The result for NaN operands: the format's, NV when one signals.
pub fn nan<F: Format>(operands: &[u64], flags: &mut u8) -> u64 {
    if operands.iter().any(|&v| is_signaling::<F>(v)) {
        *flags |= flag::NV;
    }
    F::nan(operands)
}

/// Comparison: `None` when unordered.
pub fn compare<F: Format>(a: u64, b: u64) -> Option<std::cmp::Ordering> {
    if is_nan::<F>(a) || is_nan::<F>(b) {
        return None;
    }
    let key = |v: u64| {
        let magnitude = (v & !F::SIGN) as i64;
        if v & F::SIGN != 0 {
            -magnitude
        } else {
            magnitude
        }
    };
    Some(key(a).cmp(&key(b)))
}

/// fclass's ten bits.
pub fn classify<F: Format>(v: u64) -> u64 {
    let neg = v & F::SIGN != 0;
    let subnormal = v & F::INF == 0;
    let bit = match unpack::<F>(v) {
        Class::Nan { signaling: true } => 8,
        Class::Nan { signaling: false } => 9,
        Class::Inf { neg } => {
            if neg {
                0
            } else {
                7
            }
        }
        Class::Zero { neg } => {
            if neg {
                3
            } else {
                4
            }
        }
        Class::Finite(_) => match (neg, subnormal) {
            (true, false) => 1,
            (true, true) => 2,
            (false, true) => 5,
            (false, false) => 6,
        },
    };
    1 << bit
}

/// minimumNumber and maximumNumber: -0 below +0, a number beats a NaN, a signalling NaN raises NV.
pub fn min_max<F: Format>(a: u64, b: u64, max: bool, flags: &mut u8) -> u64 {
    if is_signaling::<F>(a) || is_signaling::<F>(b) {
        *flags |= flag::NV;
    }
    match (is_nan::<F>(a), is_nan::<F>(b)) {
        (true, true) => F::NAN,
        (true, false) => b,
        (false, true) => a,
        (false, false) => {
            let less = match compare::<F>(a, b) {
                Some(std::cmp::Ordering::Less) => true,
                Some(std::cmp::Ordering::Equal) => a & F::SIGN != 0,
                _ => false,
            };
            if less != max {
                a
            } else {
                b
            }
        }
    }
}

#[cfg(test)]
mod tests;
