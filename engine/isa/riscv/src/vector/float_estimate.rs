//! vfrec7 and vfrsqrt7: estimates of 1/x and 1/sqrt(x) to seven bits. The specification tabulates their significands: each
//! entry is the function at the middle of its interval, rounded. The tables are computed by that rule here.

use breakeven_base::float::{flag, is_nan, is_signaling, Format, Round};

const fn reciprocals() -> [u8; 128] {
    let mut t = [0; 128];
    let mut i = 0;
    while i < 128 {
        // 128 * (2 / x - 1) for x = (257 + 2i) / 256
        t[i] = ((2 * 65536 / (257 + 2 * i)).div_ceil(2) - 128) as u8;
        i += 1;
    }
    t
}

/// Index: the lowest bit of the exponent (0: x from 2 to 4, 1: from 1 to 2), then six bits of the significand.
const fn reciprocal_roots() -> [u8; 128] {
    let mut t = [0; 128];
    let mut i = 0;
    while i < 128 {
        let x = (129 + 2 * (i as u64 & 63)) * if i < 64 { 2 } else { 1 };
        // The largest n for which n - 1/2 is at most 256 / sqrt(x / 128).
        let mut n = 255u64;
        while (2 * n - 1) * (2 * n - 1) * x > 4 * 65536 * 128 {
            n -= 1;
        }
        t[i] = (n - 128) as u8;
        i += 1;
    }
    t
}

const RECIPROCAL: [u8; 128] = reciprocals();
const RECIPROCAL_ROOT: [u8; 128] = reciprocal_roots();

/// Exponent field and fraction; a subnormal number is normalized (exponents of 0 and less).
fn parts<F: Format>(v: u64) -> (i64, u64) {
    let (mut exp, mut fraction) = (((v & F::INF) >> F::M) as i64, v & F::FRACTION);
    if exp == 0 && fraction != 0 {
        while fraction >> (F::M - 1) == 0 {
            exp -= 1;
            fraction <<= 1;
        }
        fraction = fraction << 1 & F::FRACTION;
    }
    (exp, fraction)
}

fn not_a_number<F: Format>(v: u64, flags: &mut u8) -> u64 {
    if !is_nan::<F>(v) || is_signaling::<F>(v) {
        *flags |= flag::NV;
    }
    F::NAN
}

pub(super) fn reciprocal<F: Format>(v: u64, round: Round, flags: &mut u8) -> u64 {
    let sign = v & F::SIGN;
    if is_nan::<F>(v) {
        return not_a_number::<F>(v, flags);
    }
    if v & !F::SIGN == F::INF {
        return sign;
    }
    if v & !F::SIGN == 0 {
        *flags |= flag::DZ;
        return sign | F::INF;
    }
    let (exp, fraction) = parts::<F>(v);
    if exp < -1 {
        *flags |= flag::OF | flag::NX;
        let stays = match round {
            Round::ToZero => true,
            Round::Down => sign == 0,
            Round::Up => sign != 0,
            Round::NearestEven | Round::NearestMax => false,
        };
        return sign | (F::INF - u64::from(stays));
    }
    let mut fraction = u64::from(RECIPROCAL[(fraction >> (F::M - 7)) as usize]) << (F::M - 7);
    let mut exp = 2 * i64::from(F::EMAX) - 1 - exp;
    if exp <= 0 {
        fraction = fraction >> 1 | 1 << (F::M - 1);
        if exp < 0 {
            fraction >>= 1;
        }
        exp = 0;
    }
    sign | (exp as u64) << F::M | fraction
}

pub(super) fn reciprocal_root<F: Format>(v: u64, flags: &mut u8) -> u64 {
    if v & !F::SIGN == 0 {
        *flags |= flag::DZ;
        return v | F::INF;
    }
    if is_nan::<F>(v) || v & F::SIGN != 0 {
        return not_a_number::<F>(v, flags);
    }
    if v == F::INF {
        return 0;
    }
    let (exp, fraction) = parts::<F>(v);
    let at = (exp & 1) << 6 | (fraction >> (F::M - 6)) as i64;
    let fraction = u64::from(RECIPROCAL_ROOT[at as usize]) << (F::M - 7);
    let exp = (3 * i64::from(F::EMAX) - 1 - exp) / 2;
    (exp as u64) << F::M | fraction
}

#[cfg(test)]
mod tests {
    use super::*;
    use breakeven_base::float::F32;

    #[test]
    fn the_tables_have_the_specifications_ends() {
        assert_eq!(RECIPROCAL[..4], [127, 125, 123, 121]);
        assert_eq!(RECIPROCAL[124..], [2, 1, 1, 0]);
        assert_eq!(RECIPROCAL_ROOT[..4], [52, 51, 50, 48]);
        assert_eq!(RECIPROCAL_ROOT[60..68], [2, 1, 1, 0, 127, 125, 123, 121]);
    }

    #[test]
    fn estimates_are_within_one_in_128() {
        for v in [1.0f32, 1.5, 3.0, 0.1, 1e10, 1e-30, 7.7] {
            let mut flags = 0;
            let r = f32::from_bits(reciprocal::<F32>(u64::from(v.to_bits()), Round::NearestEven, &mut flags) as u32);
            assert!((r * v - 1.0).abs() < 1.0 / 128.0, "1/{v} = {r}");
            let r = f32::from_bits(reciprocal_root::<F32>(u64::from(v.to_bits()), &mut flags) as u32);
            assert!((r * r * v - 1.0).abs() < 2.0 / 128.0, "1/sqrt({v}) = {r}");
            assert_eq!(flags, 0);
        }
    }
}
