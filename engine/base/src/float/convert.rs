//! Conversions between formats and to and from integers.

use super::{flag, jam, nan, pack, rounds_up, unpack, Class, Format, Num, Round};

/// From one format to another. A NaN becomes the default one.
pub fn convert<From: Format, To: Format>(v: u64, round: Round, flags: &mut u8) -> u64 {
    match unpack::<From>(v) {
        Class::Nan { .. } => {
            nan::<From>(&[v], flags);
            To::NAN
        }
        Class::Inf { neg } => super::signed::<To>(neg, To::INF),
        Class::Zero { neg } => super::signed::<To>(neg, 0),
        Class::Finite(n) => pack::<To>(n, round, flags),
    }
}

/// An integer's value; `v` is sign-extended when `signed`.
pub fn from_int<F: Format>(v: u64, signed: bool, round: Round, flags: &mut u8) -> u64 {
    let neg = signed && (v as i64) < 0;
    let magnitude = if neg { v.wrapping_neg() } else { v };
    if magnitude == 0 {
        return 0;
    }
    let zeros = magnitude.leading_zeros();
    let sig = if zeros == 0 { jam(magnitude, 1) } else { magnitude << (zeros - 1) };
    pack::<F>(Num { neg, exp: 63 - zeros as i32, sig }, round, flags)
}

/// To an integer of `bits` bits; out of range saturates and raises NV alone, a NaN counts as the largest number.
/// A 32-bit result is sign-extended, as registers hold it, an unsigned one too.
pub fn to_int<F: Format>(v: u64, signed: bool, bits: u32, round: Round, flags: &mut u8) -> u64 {
    let (low, high): (i128, i128) =
        if signed { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) };
    let (exact, inexact) = match unpack::<F>(v) {
        Class::Nan { .. } => (i128::MAX, false),
        Class::Inf { neg } => (if neg { i128::MIN } else { i128::MAX }, false),
        Class::Zero { .. } => (0, false),
        Class::Finite(n) => to_integer(n, round),
    };
    let value = exact.clamp(low, high);
    if value != exact {
        *flags |= flag::NV;
    } else if inexact {
        *flags |= flag::NX;
    }
    if bits == 32 {
        value as u32 as i32 as i64 as u64
    } else {
        value as u64
    }
}

fn to_integer(n: Num, round: Round) -> (i128, bool) {
    if n.exp > 65 {
        return (if n.neg { i128::MIN } else { i128::MAX }, false);
    }
    let (magnitude, inexact) = if n.exp >= 62 {
        (u128::from(n.sig) << (n.exp - 62), false)
    } else {
        // Two bits below the point are enough: the half and the sticky one.
        let scaled = jam(n.sig, (60 - n.exp).max(0) as u32) << (n.exp - 60).max(0);
        let (kept, rest) = (scaled >> 2, scaled & 3);
        (u128::from(kept + u64::from(rounds_up(round, n.neg, kept & 1 != 0, rest, 2))), rest != 0)
    };
    let value = magnitude as i128;
    (if n.neg { -value } else { value }, inexact)
}
