//! Results of the host, for plain cases: normal operands and results that lie well inside the normal range. An exact
//! residual tells whether a result is inexact, and from there the directed modes come.

use super::{flag, Format, Round};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostOp {
    Add,
    Mul,
    Div,
    Sqrt,
}

/// Exponents kept away from the ends of the range, where a residual would be lost. Those of binary32 need none: residuals are
/// computed in binary64.
fn margin<F: Format>() -> u64 {
    if F::M == 52 {
        128
    } else {
        1
    }
}

/// The host's result, a normal number from normal operands, and NX; `None`: the case is not plain.
#[inline(always)]
pub fn plain<F: Format>(op: HostOp, a: u64, b: u64, round: Round, flags: &mut u8) -> Option<u64> {
    let exponent = |v: u64| (v & F::INF) >> F::M;
    let top = F::INF >> F::M;
    // A wrapping difference is one comparison.
    let normal = |v: u64, margin: u64| exponent(v).wrapping_sub(margin + 1) < top - 2 * margin - 1;
    if !normal(a, 0) || (op != HostOp::Sqrt && !normal(b, 0)) || (op == HostOp::Sqrt && a & F::SIGN != 0) {
        return None;
    }
    let r = F::host(op, a, b);
    if round == Round::NearestEven && *flags & (flag::NX | flag::IGNORE_NX) != 0 {
        // Neither flags nor the rounding ask for the residual.
        return normal(r, 1).then_some(r);
    }
    let wide = margin::<F>();
    if round == Round::NearestMax || !normal(r, wide) || !normal(a, wide) || !(op == HostOp::Sqrt || normal(b, wide)) {
        return None;
    }
    let error = residual(op, F::to_f64(a), F::to_f64(b), F::to_f64(r));
    if error == 0.0 {
        return Some(r);
    }
    *flags |= flag::NX;
    // In sign and magnitude: away from zero, or towards it.
    let negative = r & F::SIGN != 0;
    let (larger, smaller) = ((error > 0.0) != negative, (error < 0.0) != negative);
    Some(match round {
        Round::Up if larger && !negative => r + 1,
        Round::Up if smaller && negative => r - 1,
        Round::Down if larger && negative => r + 1,
        Round::Down if smaller && !negative => r - 1,
        Round::ToZero if smaller => r - 1,
        _ => r,
    })
}

/// The sign of the exact result less `r`, which is it rounded; zero: `r` is exact. Of a square root `a` is taken.
#[inline(always)]
fn residual(op: HostOp, a: f64, b: f64, r: f64) -> f64 {
    match op {
        HostOp::Add => {
            let s = a + b;
            let bb = s - a;
            let tail = (a - (s - bb)) + (b - bb);
            // binary32: the sum in binary64 may be inexact, too, but by less than what it differs from `r`.
            if s == r {
                tail
            } else {
                s - r
            }
        }
        HostOp::Mul => a.mul_add(b, -r),
        // a - r*b has the sign of the quotient's error times b's.
        HostOp::Div => (-r).mul_add(b, a) * b.signum(),
        HostOp::Sqrt => (-r).mul_add(r, a),
    }
}
