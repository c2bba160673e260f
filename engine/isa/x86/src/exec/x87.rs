//! The x87 unit: loads, stores, arithmetic, comparisons and conversions in extended precision, which C libraries do `long
//! double` with. `rustc_apfloat` computes.
//!
//! Rounding follows the control word; its precision control and exception masks do not act (results are extended, nothing
//! traps, the sticky bits are not collected). A full or empty stack wraps instead of faulting. `fprem` is
//! complete at once, where processors need several. To the pipeline the stack is one register: each
//! instruction depends on the one before. Transcendental instructions but `f2xm1`, `fprem1`, `fxtract`, packed
//! decimals and FSAVE are not implemented.

use breakeven_base::Bus;
use iced_x86::Mnemonic;
use rustc_apfloat::ieee::{Double, Quad, Single, X87DoubleExtended as F80};
use rustc_apfloat::{Float, FloatConvert, Round};

use super::Exec;
use crate::cpu::{cr0, Stop, NM, R};
use crate::flags::Rflags;
use crate::inst::Kind;
use crate::state::X87;

/// Condition bits of the status word.
const C0: u16 = 1 << 8;
const C1: u16 = 1 << 9;
const C2: u16 = 1 << 10;
const C3: u16 = 1 << 14;
const TOP: u16 = 7 << 11;

/// The constants that the instructions load (architecture manual, rounded to nearest).
const PI: u128 = 0x4000_c90f_daa2_2168_c235;
const LOG2_E: u128 = 0x3fff_b8aa_3b29_5c17_f0bc;
const LOG2_10: u128 = 0x4000_d49a_784b_cd1b_8afe;
const LOG10_2: u128 = 0x3ffd_9a20_9a84_fbcf_f799;
const LN_2: u128 = 0x3ffe_b172_17f7_d1cf_79ac;

impl X87 {
    /// The physical register of ST(i), which MMX calls mm.
    fn slot(&self, i: u8) -> usize {
        usize::from((self.fsw >> 11) as u8).wrapping_add(usize::from(i)) & 7
    }
    fn st(&self, i: u8) -> F80 {
        let n = self.slot(i);
        let (exponent, mantissa) = (self.exponents[n], self.mm[n]);
        // An unnormal (no leading bit, exponent not 0) is an invalid operand.
        if mantissa >> 63 == 0 && exponent & 0x7fff != 0 {
            return F80::NAN;
        }
        F80::from_bits(u128::from(exponent) << 64 | u128::from(mantissa))
    }
    fn set_st(&mut self, i: u8, v: F80) {
        let n = self.slot(i);
        let bits = v.to_bits();
        (self.mm[n], self.exponents[n]) = (bits as u64, (bits >> 64) as u16);
        self.tags |= 1 << n;
    }
    fn move_top(&mut self, by: u16) {
        self.fsw = self.fsw & !TOP | (self.fsw.wrapping_add(by << 11) & TOP);
    }
    fn push_st(&mut self, v: F80) {
        self.move_top(7);
        self.set_st(0, v);
    }
    fn pop_st(&mut self) {
        self.tags &= !(1 << self.slot(0));
        self.move_top(1);
    }
    fn conditions(&mut self, bits: u16) {
        self.fsw = self.fsw & !(C0 | C1 | C2 | C3) | bits;
    }
    /// Significands and exponents from ST(0) on: FXSAVE's order.
    pub(crate) fn in_order(&self) -> [(u64, u16); 8] {
        std::array::from_fn(|i| {
            let n = self.slot(i as u8);
            (self.mm[n], self.exponents[n])
        })
    }
    fn rounding(&self) -> Round {
        match self.fcw >> 10 & 3 {
            0 => Round::NearestTiesToEven,
            1 => Round::TowardNegative,
            2 => Round::TowardPositive,
            _ => Round::TowardZero,
        }
    }
}

#[derive(Clone, Copy)]
enum Arith {
    Add,
    Sub,
    SubReversed,
    Mul,
    Div,
    DivReversed,
}

fn arithmetic(op: Arith, a: F80, b: F80, round: Round) -> F80 {
    match op {
        Arith::Add => a.add_r(b, round),
        Arith::Sub => a.sub_r(b, round),
        Arith::SubReversed => b.sub_r(a, round),
        Arith::Mul => a.mul_r(b, round),
        Arith::Div => a.div_r(b, round),
        Arith::DivReversed => b.div_r(a, round),
    }
    .value
}

/// The square root: of the significand as a whole number, with the bits that decide the rounding.
fn square_root(x: F80, round: Round) -> F80 {
    if x.is_nan() || x.is_zero() || x.is_pos_infinity() {
        return x;
    }
    if x.is_negative() {
        return F80::NAN;
    }
    // Scaled by an even power of two to a whole number of 127 or 128 bits, whose root has the 64 that are wanted.
    let scale = 126 - (x.ilogb() & !1);
    let whole = x.scalbn_r(scale - 63, Round::NearestTiesToEven).to_bits();
    let (exponent, significand) = ((whole >> 64) as u32 & 0x7fff, whole & u128::from(u64::MAX));
    let n = significand << exponent.saturating_sub(16383).clamp(63, 64);
    let root = n.isqrt();
    let rest = n - root * root;
    // Two bits more decide the rounding: whether half of the last place is reached, and whether anything is left.
    let more = u128::from(rest > root) << 1 | u128::from(rest != 0);
    F80::from_u128_r(root << 2 | more, round).value.scalbn_r(-scale / 2 - 2, round)
}

/// 2^x - 1 for x from -1 to 1 (outside, where the instruction's result is undefined, x): the exponential series of x ln 2,
/// with 49 bits more than the result has.
fn exp2_minus_1(x: F80, round: Round) -> F80 {
    /// The natural logarithm of 2, of 113 bits (0x1.62e42fefa39ef35793c7673007e5fp-1).
    const LN_2: u128 = 0x3ffe_62e4_2fef_a39e_f357_93c7_6730_07e6;
    /// ln 2 to the 33rd over 33! is below 2^-139.
    const TERMS: u128 = 32;
    let one = F80::from_u128(1).value;
    if x.is_nan() || x.is_zero() || x.abs() > one {
        return x;
    }
    if x.abs() == one {
        return if x.is_negative() { x.scalbn(-1) } else { x };
    }
    let mut exact = false;
    let quad: Quad = x.convert(&mut exact).value;
    let y = (quad * Quad::from_bits(LN_2)).value;
    // Horner's scheme: y (1 + y/2 (1 + y/3 (1 + ...))).
    let one = Quad::from_u128(1).value;
    let mut sum = one;
    for n in (2..=TERMS).rev() {
        let part = ((y * sum).value / Quad::from_u128(n).value).value;
        sum = (one + part).value;
    }
    (y * sum).value.convert_r(round, &mut exact).value
}

impl<B: Bus> Exec<'_, B> {
    /// A floating-point memory operand.
    fn x87_load(&mut self) -> R<F80> {
        let at = self.ea();
        let mut exact = false;
        Ok(match self.i.msize {
            4 => Single::from_bits(u128::from(self.load(at, 4)?)).convert(&mut exact).value,
            8 => Double::from_bits(u128::from(self.load(at, 8)?)).convert(&mut exact).value,
            _ => {
                let mantissa = self.load(at, 8)?;
                let exponent = self.load(at.wrapping_add(8), 2)?;
                if mantissa >> 63 == 0 && exponent & 0x7fff != 0 {
                    return Ok(F80::NAN);
                }
                F80::from_bits(u128::from(exponent) << 64 | u128::from(mantissa))
            }
        })
    }
    /// An integer memory operand.
    fn x87_load_int(&mut self) -> R<F80> {
        let (at, size) = (self.ea(), self.i.msize);
        let unused = 64 - 8 * u32::from(size.clamp(1, 8));
        let v = (self.load(at, size)? << unused) as i64 >> unused;
        Ok(F80::from_i128(i128::from(v)).value)
    }
    fn x87_store(&mut self, v: F80) -> R<()> {
        let (at, round) = (self.ea(), self.cpu.c.x87.rounding());
        let mut inexact = false;
        match self.i.msize {
            4 => {
                let v: Single = v.convert_r(round, &mut inexact).value;
                self.store(at, 4, v.to_bits() as u64)
            }
            8 => {
                let v: Double = v.convert_r(round, &mut inexact).value;
                self.store(at, 8, v.to_bits() as u64)
            }
            _ => {
                self.cpu.probe_store(self.bus, at, 10)?;
                let bits = v.to_bits();
                self.store(at, 8, bits as u64)?;
                self.store(at.wrapping_add(8), 2, (bits >> 64) as u64)
            }
        }
    }
    fn x87_store_int(&mut self, v: F80, round: Round) -> R<()> {
        let (at, size) = (self.ea(), self.i.msize.clamp(2, 8));
        let bits = 8 * usize::from(size);
        let mut exact = false;
        let r = v.to_i128_r(bits, round, &mut exact);
        // What does not fit is the most negative number.
        let invalid = r.status.intersects(rustc_apfloat::Status::INVALID_OP);
        let n = if invalid { -1i128 << (bits - 1) } else { r.value };
        self.store(at, size, n as u64)
    }

    /// The i of an operand ST(i).
    fn sti(&self, n: usize) -> u8 {
        self.i.k[n].r & 7
    }

    fn x87_arith(&mut self, op: Arith, integer: bool, pops: bool) -> R<()> {
        let round = self.cpu.c.x87.rounding();
        if self.i.k[0].kind == Kind::Mem {
            let b = if integer { self.x87_load_int()? } else { self.x87_load()? };
            let c = &mut self.cpu.c;
            let v = arithmetic(op, c.x87.st(0), b, round);
            c.x87.set_st(0, v);
            return Ok(());
        }
        // Destination and source; without operands ST(1) and ST(0).
        let (to, from) = match self.i.k[0].kind {
            Kind::None => (1, 0),
            _ => (self.sti(0), self.sti(1)),
        };
        let c = &mut self.cpu.c;
        let v = arithmetic(op, c.x87.st(to), c.x87.st(from), round);
        c.x87.set_st(to, v);
        if pops {
            c.x87.pop_st();
        }
        Ok(())
    }

    fn x87_compare(&mut self, integer: bool, pops: u32, to_flags: bool) -> R<()> {
        let b = match (self.i.k[0].kind, self.i.k[1].kind) {
            (Kind::Mem, _) if integer => self.x87_load_int()?,
            (Kind::Mem, _) => self.x87_load()?,
            (Kind::None, _) => self.cpu.c.x87.st(1),
            (_, Kind::None) => self.cpu.c.x87.st(self.sti(0)),
            _ => self.cpu.c.x87.st(self.sti(1)),
        };
        self.x87_outcome(b, to_flags);
        for _ in 0..pops {
            self.cpu.c.x87.pop_st();
        }
        Ok(())
    }

    fn x87_outcome(&mut self, b: F80, to_flags: bool) {
        use std::cmp::Ordering::*;
        let order = self.cpu.c.x87.st(0).partial_cmp(&b);
        if to_flags {
            let set = match order {
                Some(Greater) => Rflags::empty(),
                Some(Less) => Rflags::CF,
                Some(Equal) => Rflags::ZF,
                None => Rflags::CF | Rflags::PF | Rflags::ZF,
            };
            self.cpu.set_rflags(set, Rflags::ARITH);
            return;
        }
        self.cpu.c.x87.conditions(match order {
            Some(Greater) => 0,
            Some(Less) => C0,
            Some(Equal) => C3,
            None => C0 | C2 | C3,
        });
    }

    /// The class of ST(0).
    fn x87_examine(&mut self) {
        let c = &mut self.cpu.c;
        let v = c.x87.st(0);
        let class = match () {
            () if c.x87.tags & 1 << c.x87.slot(0) == 0 => C3 | C0,
            () if v.is_nan() => C0,
            () if v.is_infinite() => C2 | C0,
            () if v.is_zero() => C3,
            () if v.is_denormal() => C3 | C2,
            () => C2,
        };
        c.x87.conditions(class | if v.is_negative() { C1 } else { 0 });
    }

    /// The remainder of truncated division, and the quotient's three low bits.
    fn x87_remainder(&mut self) {
        let c = &mut self.cpu.c;
        let (a, b) = (c.x87.st(0), c.x87.st(1));
        let eight = a.c_fmod(b.scalbn(3)).value;
        let quotient = eight.div_r(b, Round::TowardZero).value;
        let mut exact = false;
        let q = quotient.to_i128_r(8, Round::TowardZero, &mut exact).value.unsigned_abs();
        c.x87.set_st(0, a.c_fmod(b).value);
        let bit = |n: u32, to: u16| if q >> n & 1 != 0 { to } else { 0 };
        c.x87.conditions(bit(2, C0) | bit(1, C3) | bit(0, C1));
    }

    /// On ST(0) alone, or on the stack.
    fn x87_register(&mut self) -> R<()> {
        use Mnemonic::*;
        let (i, round) = (self.sti(0), self.cpu.c.x87.rounding());
        let from = self.sti(1);
        let c = &mut self.cpu.c;
        let top = c.x87.st(0);
        match self.i.op {
            Fld1 => c.x87.push_st(F80::from_u128(1).value),
            Fldz => c.x87.push_st(F80::ZERO),
            Fldpi => c.x87.push_st(F80::from_bits(PI)),
            Fldl2e => c.x87.push_st(F80::from_bits(LOG2_E)),
            Fldl2t => c.x87.push_st(F80::from_bits(LOG2_10)),
            Fldlg2 => c.x87.push_st(F80::from_bits(LOG10_2)),
            Fldln2 => c.x87.push_st(F80::from_bits(LN_2)),
            Fchs => c.x87.set_st(0, -top),
            Fabs => c.x87.set_st(0, top.abs()),
            Fsqrt => c.x87.set_st(0, square_root(top, round)),
            F2xm1 => c.x87.set_st(0, exp2_minus_1(top, round)),
            Frndint => c.x87.set_st(0, top.round_to_integral(round).value),
            Fscale => {
                let by = c.x87.st(1);
                let v = match () {
                    () if by.is_nan() => by,
                    () if by.is_infinite() => {
                        let factor = if by.is_negative() { F80::ZERO } else { F80::INFINITY };
                        top.mul_r(factor, round).value
                    }
                    () => {
                        let mut exact = false;
                        let by = by.to_i128_r(32, Round::TowardZero, &mut exact).value;
                        top.scalbn_r(by.clamp(-100_000, 100_000) as i32, round)
                    }
                };
                c.x87.set_st(0, v);
            }
            Fprem => self.x87_remainder(),
            Fxam => self.x87_examine(),
            Ftst => self.x87_outcome(F80::ZERO, false),
            Fxch => {
                let with = if self.i.k[1].kind == Kind::None { i } else { from };
                c.x87.set_st(0, c.x87.st(with));
                c.x87.set_st(with, top);
            }
            Ffree => c.x87.tags &= !(1 << c.x87.slot(i)),
            Fincstp => c.x87.move_top(1),
            Fdecstp => c.x87.move_top(7),
            Fcmovb | Fcmove | Fcmovbe | Fcmovu | Fcmovnb | Fcmovne | Fcmovnbe | Fcmovnu => {
                let f = self.cpu.rflags();
                let on = |bits| f.intersects(bits);
                let take = match self.i.op {
                    Fcmovb => on(Rflags::CF),
                    Fcmove => on(Rflags::ZF),
                    Fcmovbe => on(Rflags::CF | Rflags::ZF),
                    Fcmovu => on(Rflags::PF),
                    Fcmovnb => !on(Rflags::CF),
                    Fcmovne => !on(Rflags::ZF),
                    Fcmovnbe => !on(Rflags::CF | Rflags::ZF),
                    _ => !on(Rflags::PF),
                };
                if take {
                    let c = &mut self.cpu.c;
                    c.x87.set_st(0, c.x87.st(from));
                }
            }
            Fnop | Wait => {}
            _ => return Err(Stop::Unknown),
        }
        Ok(())
    }

    /// Everything of the x87 but its control words.
    #[inline(never)]
    pub(super) fn x87_op(&mut self) -> R<()> {
        use Mnemonic::*;
        if self.cpu.ctl.cr0 & (cr0::EM | cr0::TS) != 0 {
            return Err(NM);
        }
        let (top, round, memory) = (self.cpu.c.x87.st(0), self.cpu.c.x87.rounding(), self.i.k[0].kind == Kind::Mem);
        match self.i.op {
            Fld => {
                let v = if memory { self.x87_load()? } else { self.cpu.c.x87.st(self.sti(0)) };
                self.cpu.c.x87.push_st(v);
            }
            Fild => {
                let v = self.x87_load_int()?;
                self.cpu.c.x87.push_st(v);
            }
            Fst | Fstp => {
                if memory {
                    self.x87_store(top)?;
                } else {
                    self.cpu.c.x87.set_st(self.sti(0), top);
                }
                if self.i.op == Fstp {
                    self.cpu.c.x87.pop_st();
                }
            }
            Fist | Fistp | Fisttp => {
                self.x87_store_int(top, if self.i.op == Fisttp { Round::TowardZero } else { round })?;
                if self.i.op != Fist {
                    self.cpu.c.x87.pop_st();
                }
            }
            Fadd => self.x87_arith(Arith::Add, false, false)?,
            Faddp => self.x87_arith(Arith::Add, false, true)?,
            Fiadd => self.x87_arith(Arith::Add, true, false)?,
            Fsub => self.x87_arith(Arith::Sub, false, false)?,
            Fsubp => self.x87_arith(Arith::Sub, false, true)?,
            Fisub => self.x87_arith(Arith::Sub, true, false)?,
            Fsubr => self.x87_arith(Arith::SubReversed, false, false)?,
            Fsubrp => self.x87_arith(Arith::SubReversed, false, true)?,
            Fisubr => self.x87_arith(Arith::SubReversed, true, false)?,
            Fmul => self.x87_arith(Arith::Mul, false, false)?,
            Fmulp => self.x87_arith(Arith::Mul, false, true)?,
            Fimul => self.x87_arith(Arith::Mul, true, false)?,
            Fdiv => self.x87_arith(Arith::Div, false, false)?,
            Fdivp => self.x87_arith(Arith::Div, false, true)?,
            Fidiv => self.x87_arith(Arith::Div, true, false)?,
            Fdivr => self.x87_arith(Arith::DivReversed, false, false)?,
            Fdivrp => self.x87_arith(Arith::DivReversed, false, true)?,
            Fidivr => self.x87_arith(Arith::DivReversed, true, false)?,
            Fcom | Fucom => self.x87_compare(false, 0, false)?,
            Fcomp | Fucomp => self.x87_compare(false, 1, false)?,
            Fcompp | Fucompp => self.x87_compare(false, 2, false)?,
            Fcomi | Fucomi => self.x87_compare(false, 0, true)?,
            Fcomip | Fucomip => self.x87_compare(false, 1, true)?,
            Ficom => self.x87_compare(true, 0, false)?,
            Ficomp => self.x87_compare(true, 1, false)?,
            _ => self.x87_register()?,
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn square_roots_are_rounded_as_asked() {
        let root = |n: u128, round| square_root(F80::from_u128(n).value, round).to_bits();
        let nearest = Round::NearestTiesToEven;
        assert_eq!(root(2, nearest), 0x3fff_b504_f333_f9de_6484);
        assert_eq!(root(2, Round::TowardPositive), 0x3fff_b504_f333_f9de_6485);
        assert_eq!(root(3, nearest), 0x3fff_ddb3_d742_c265_539e);
        assert_eq!(root(3, Round::TowardZero), 0x3fff_ddb3_d742_c265_539d);
        assert_eq!(root(144, Round::TowardNegative), F80::from_u128(12).value.to_bits());
        assert!(square_root(-F80::from_u128(1).value, nearest).is_nan());
    }

    #[test]
    fn powers_of_two_less_one_are_rounded_as_asked() {
        let nearest = |bits| exp2_minus_1(F80::from_bits(bits), Round::NearestTiesToEven).to_bits();
        // Of 60 digits: 0.5, -0.25, 2^-60, -0.9375.
        assert_eq!(nearest(0x3ffe_8000_0000_0000_0000), 0x3ffd_d413_cccf_e779_9211);
        assert_eq!(nearest(0xbffd_8000_0000_0000_0000), 0xbffc_a2ec_0cd4_a58a_542f);
        assert_eq!(nearest(0x3fc3_8000_0000_0000_0000), 0x3fc2_b172_17f7_d1cf_79b0);
        assert_eq!(nearest(0xbffe_f000_0000_0000_0000), 0xbffd_f4aa_7930_676f_09d6);
        for round in [Round::TowardNegative, Round::TowardPositive] {
            assert_eq!(exp2_minus_1(F80::from_bits(0x3fff << 64 | 1 << 63), round).to_bits(), 0x3fff << 64 | 1 << 63);
            assert_eq!(exp2_minus_1(F80::from_bits(0xbfff << 64 | 1 << 63), round).to_bits(), 0xbffe << 64 | 1 << 63);
        }
        let (down, up) = (Round::TowardZero, Round::TowardPositive);
        let half = F80::from_bits(0x3ffe_8000_0000_0000_0000);
        assert_eq!(exp2_minus_1(half, up).to_bits() - exp2_minus_1(half, down).to_bits(), 1);
    }
}
