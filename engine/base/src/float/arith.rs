//! Addition, multiplication, division, square root, fused multiply-add.

use super::host::{plain, HostOp};
use super::{flag, jam, jam128, nan, pack, signed, unpack, Class, Format, Num, Round};

fn invalid<F: Format>(flags: &mut u8) -> u64 {
    *flags |= flag::NV;
    F::NAN
}

/// The sign of an exact zero sum.
fn zero_sum<F: Format>(a_neg: bool, b_neg: bool, round: Round) -> u64 {
    signed::<F>(if a_neg == b_neg { a_neg } else { round == Round::Down }, 0)
}

/// Puts the leading one of a non-zero 128-bit significand, worth `2^(exp - 124)`, to bit 62.
fn normalise(neg: bool, exp: i32, sig: u128) -> Num {
    let lead = 127 - sig.leading_zeros() as i32;
    let exp = exp + lead - 124;
    let sig = if lead >= 62 { jam128(sig, (lead - 62) as u32) } else { sig << (62 - lead) };
    Num { neg, exp, sig: sig as u64 }
}

#[inline]
pub fn add<F: Format>(a: u64, b: u64, round: Round, flags: &mut u8) -> u64 {
    match plain::<F>(HostOp::Add, a, b, round, flags) {
        Some(r) => r,
        None => add_in_software::<F>(a, b, round, flags),
    }
}

/// [`add`] where the case is not [`plain`].
#[inline(never)]
pub fn add_in_software<F: Format>(a: u64, b: u64, round: Round, flags: &mut u8) -> u64 {
    match (unpack::<F>(a), unpack::<F>(b)) {
        (Class::Nan { .. }, _) | (_, Class::Nan { .. }) => nan::<F>(&[a, b], flags),
        (Class::Inf { neg: x }, Class::Inf { neg: y }) if x != y => invalid::<F>(flags),
        (Class::Inf { .. }, _) => a,
        (_, Class::Inf { .. }) => b,
        (Class::Zero { neg: x }, Class::Zero { neg: y }) => zero_sum::<F>(x, y, round),
        (Class::Zero { .. }, _) => b,
        (_, Class::Zero { .. }) => a,
        (Class::Finite(x), Class::Finite(y)) => add_finite::<F>(x, y, round, flags),
    }
}

fn add_finite<F: Format>(x: Num, y: Num, round: Round, flags: &mut u8) -> u64 {
    let (big, small) = if (x.exp, x.sig) >= (y.exp, y.sig) { (x, y) } else { (y, x) };
    let aligned = jam(small.sig, (big.exp - small.exp) as u32);
    if big.neg == small.neg {
        let sum = big.sig + aligned;
        let carry = (sum >> 63) as u32;
        return pack::<F>(Num { neg: big.neg, exp: big.exp + carry as i32, sig: jam(sum, carry) }, round, flags);
    }
    let sum = big.sig - aligned;
    if sum == 0 {
        return zero_sum::<F>(x.neg, y.neg, round);
    }
    let up = sum.leading_zeros() - 1;
    pack::<F>(Num { neg: big.neg, exp: big.exp - up as i32, sig: sum << up }, round, flags)
}

#[inline]
pub fn mul<F: Format>(a: u64, b: u64, round: Round, flags: &mut u8) -> u64 {
    match plain::<F>(HostOp::Mul, a, b, round, flags) {
        Some(r) => r,
        None => mul_in_software::<F>(a, b, round, flags),
    }
}

/// [`mul`] where the case is not [`plain`].
#[inline(never)]
pub fn mul_in_software<F: Format>(a: u64, b: u64, round: Round, flags: &mut u8) -> u64 {
    let neg = (a ^ b) & F::SIGN != 0;
    match (unpack::<F>(a), unpack::<F>(b)) {
        (Class::Nan { .. }, _) | (_, Class::Nan { .. }) => nan::<F>(&[a, b], flags),
        (Class::Inf { .. }, Class::Zero { .. }) | (Class::Zero { .. }, Class::Inf { .. }) => invalid::<F>(flags),
        (Class::Inf { .. }, _) | (_, Class::Inf { .. }) => signed::<F>(neg, F::INF),
        (Class::Zero { .. }, _) | (_, Class::Zero { .. }) => signed::<F>(neg, 0),
        (Class::Finite(x), Class::Finite(y)) => {
            let product = u128::from(x.sig) * u128::from(y.sig);
            pack::<F>(normalise(neg, x.exp + y.exp, product), round, flags)
        }
    }
}

#[inline]
pub fn div<F: Format>(a: u64, b: u64, round: Round, flags: &mut u8) -> u64 {
    match plain::<F>(HostOp::Div, a, b, round, flags) {
        Some(r) => r,
        None => div_in_software::<F>(a, b, round, flags),
    }
}

/// [`div`] where the case is not [`plain`].
#[inline(never)]
pub fn div_in_software<F: Format>(a: u64, b: u64, round: Round, flags: &mut u8) -> u64 {
    let neg = (a ^ b) & F::SIGN != 0;
    match (unpack::<F>(a), unpack::<F>(b)) {
        (Class::Nan { .. }, _) | (_, Class::Nan { .. }) => nan::<F>(&[a, b], flags),
        (Class::Inf { .. }, Class::Inf { .. }) | (Class::Zero { .. }, Class::Zero { .. }) => invalid::<F>(flags),
        (Class::Inf { .. }, _) => signed::<F>(neg, F::INF),
        (Class::Zero { .. }, _) | (_, Class::Inf { .. }) => signed::<F>(neg, 0),
        (_, Class::Zero { .. }) => {
            *flags |= flag::DZ;
            signed::<F>(neg, F::INF)
        }
        (Class::Finite(x), Class::Finite(y)) => {
            let dividend = u128::from(x.sig) << 62;
            let divisor = u128::from(y.sig);
            let quotient = dividend / divisor;
            let sticky = u128::from(quotient * divisor != dividend);
            // The quotient counts in 2^-62; two more bits make room for the sticky one below what matters.
            pack::<F>(normalise(neg, x.exp - y.exp + 60, quotient << 2 | sticky), round, flags)
        }
    }
}

#[inline]
pub fn sqrt<F: Format>(a: u64, round: Round, flags: &mut u8) -> u64 {
    match plain::<F>(HostOp::Sqrt, a, a, round, flags) {
        Some(r) => r,
        None => sqrt_in_software::<F>(a, round, flags),
    }
}

/// [`sqrt`] where the case is not [`plain`].
#[inline(never)]
pub fn sqrt_in_software<F: Format>(a: u64, round: Round, flags: &mut u8) -> u64 {
    match unpack::<F>(a) {
        Class::Nan { .. } => nan::<F>(&[a], flags),
        Class::Zero { .. } | Class::Inf { neg: false } => a,
        Class::Inf { .. } | Class::Finite(Num { neg: true, .. }) => invalid::<F>(flags),
        Class::Finite(x) => {
            let odd = x.exp & 1;
            let radicand = u128::from(x.sig) << (62 + odd);
            let root = radicand.isqrt();
            let sticky = u128::from(root * root != radicand);
            pack::<F>(normalise(false, (x.exp - odd) / 2 + 60, root << 2 | sticky), round, flags)
        }
    }
}

/// `a * b + c`, rounded once.
pub fn fma<F: Format>(a: u64, b: u64, c: u64, round: Round, flags: &mut u8) -> u64 {
    let neg = (a ^ b) & F::SIGN != 0;
    let (ua, ub, uc) = (unpack::<F>(a), unpack::<F>(b), unpack::<F>(c));
    let no_product =
        matches!((ua, ub), (Class::Inf { .. }, Class::Zero { .. }) | (Class::Zero { .. }, Class::Inf { .. }));
    if no_product {
        // Invalid even beside a quiet NaN.
        return invalid::<F>(flags);
    }
    match (ua, ub, uc) {
        (Class::Nan { .. }, _, _) | (_, Class::Nan { .. }, _) | (_, _, Class::Nan { .. }) => {
            nan::<F>(&[a, b, c], flags)
        }
        (Class::Inf { .. }, _, Class::Inf { neg: n }) | (_, Class::Inf { .. }, Class::Inf { neg: n }) if n != neg => {
            invalid::<F>(flags)
        }
        (Class::Inf { .. }, _, _) | (_, Class::Inf { .. }, _) => signed::<F>(neg, F::INF),
        (_, _, Class::Inf { .. }) => c,
        (Class::Zero { .. }, _, Class::Zero { neg: n }) | (_, Class::Zero { .. }, Class::Zero { neg: n }) => {
            zero_sum::<F>(neg, n, round)
        }
        (Class::Zero { .. }, _, _) | (_, Class::Zero { .. }, _) => c,
        (Class::Finite(x), Class::Finite(y), addend) => {
            let product = (x.exp + y.exp, u128::from(x.sig) * u128::from(y.sig));
            match addend {
                Class::Finite(z) => {
                    let z128 = (z.exp, u128::from(z.sig) << 62);
                    fused_sum::<F>((neg, product), (z.neg, z128), round, flags)
                }
                _ => pack::<F>(normalise(neg, product.0, product.1), round, flags),
            }
        }
    }
}

/// Signed sums of 128-bit significands (at most `2^126`) worth `2^(exp - 124)`.
fn fused_sum<F: Format>(p: (bool, (i32, u128)), c: (bool, (i32, u128)), round: Round, flags: &mut u8) -> u64 {
    let ((p_neg, (p_exp, p_sig)), (c_neg, (c_exp, c_sig))) = (p, c);
    let exp = p_exp.max(c_exp);
    let p_sig = jam128(p_sig, (exp - p_exp) as u32);
    let c_sig = jam128(c_sig, (exp - c_exp) as u32);
    let (neg, sig) = if p_neg == c_neg {
        (p_neg, p_sig + c_sig)
    } else if p_sig >= c_sig {
        (p_neg, p_sig - c_sig)
    } else {
        (c_neg, c_sig - p_sig)
    };
    if sig == 0 {
        return zero_sum::<F>(p_neg, c_neg, round);
    }
    pack::<F>(normalise(neg, exp, sig), round, flags)
}
