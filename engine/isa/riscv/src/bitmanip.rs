//! Integer operations that take more than one expression.

/// Sign-extends the low 32 bits.
#[inline(always)]
pub(crate) fn sext32(v: u64) -> u64 {
    v as i32 as i64 as u64
}

/// High half of the signed product.
#[inline(always)]
pub(crate) fn mulh(a: u64, b: u64) -> u64 {
    ((i128::from(a as i64) * i128::from(b as i64)) >> 64) as u64
}
/// High half of signed times unsigned.
#[inline(always)]
pub(crate) fn mulhsu(a: u64, b: u64) -> u64 {
    ((i128::from(a as i64) * i128::from(b)) >> 64) as u64
}
/// High half of the unsigned product.
#[inline(always)]
pub(crate) fn mulhu(a: u64, b: u64) -> u64 {
    ((u128::from(a) * u128::from(b)) >> 64) as u64
}

/// Division as RISC-V defines it: by zero gives all ones, overflow the dividend.
#[inline(always)]
pub(crate) fn div(a: i64, b: i64) -> i64 {
    if b == 0 {
        -1
    } else {
        a.wrapping_div(b)
    }
}
/// Remainder: by zero gives the dividend, overflow zero.
#[inline(always)]
pub(crate) fn rem(a: i64, b: i64) -> i64 {
    if b == 0 {
        a
    } else {
        a.wrapping_rem(b)
    }
}
#[inline(always)]
pub(crate) fn divu(a: u64, b: u64) -> u64 {
    a.checked_div(b).unwrap_or(u64::MAX)
}
#[inline(always)]
pub(crate) fn remu(a: u64, b: u64) -> u64 {
    a.checked_rem(b).unwrap_or(a)
}

/// Every byte that is not zero becomes 0xff.
#[inline(always)]
pub(crate) fn orc_b(v: u64) -> u64 {
    let mut x = v;
    x |= x >> 4 & 0x0f0f_0f0f_0f0f_0f0f;
    x |= x >> 2 & 0x3333_3333_3333_3333;
    x |= x >> 1 & 0x5555_5555_5555_5555;
    (x & 0x0101_0101_0101_0101).wrapping_mul(255)
}

/// The product without carries: of polynomials over GF(2).
pub(crate) fn clmul(a: u64, b: u64) -> u128 {
    let (mut product, mut rest) = (0, b);
    while rest != 0 {
        product ^= u128::from(a) << rest.trailing_zeros();
        rest &= rest - 1;
    }
    product
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multiplication_high_halves() {
        assert_eq!(mulh(u64::MAX, u64::MAX), 0);
        assert_eq!(mulh(1 << 63, 1 << 63), 1 << 62);
        assert_eq!(mulhu(u64::MAX, u64::MAX), u64::MAX - 1);
        assert_eq!(mulhsu(u64::MAX, u64::MAX), u64::MAX);
        assert_eq!(mulhsu(1 << 63, 2), u64::MAX);
    }

    #[test]
    fn division_corner_cases() {
        assert_eq!((div(7, 0), rem(7, 0)), (-1, 7));
        assert_eq!((div(i64::MIN, -1), rem(i64::MIN, -1)), (i64::MIN, 0));
        assert_eq!((div(-7, 2), rem(-7, 2)), (-3, -1));
        assert_eq!((divu(7, 0), remu(7, 0)), (u64::MAX, 7));
    }

    #[test]
    fn orc_b_fills_bytes() {
        assert_eq!(orc_b(0x0001_8000_0040_ff10), 0x00ff_ff00_00ff_ffff);
        assert_eq!((orc_b(0), orc_b(u64::MAX)), (0, u64::MAX));
    }
}
