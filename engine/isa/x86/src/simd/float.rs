//! Floating-point arithmetic and comparison, packed and scalar.

use breakeven_base::Bus;
use iced_x86::Mnemonic;

use super::fp::{arith, check_compared, compare, input, raised, Env, Float, Mode, Op};
use super::{Lane, L, V};
use crate::cpu::{cr4, R, UD, XM};
use crate::exec::Exec;
use crate::flags::Rflags;
use crate::inst::Kind;

fn smaller<T: Float>(e: &Env, a: T, b: T) -> T {
    let (a, b) = (input(e, a), input(e, b));
    check_compared(e, a, b, false);
    if a < b {
        a
    } else {
        b
    }
}
fn larger<T: Float>(e: &Env, a: T, b: T) -> T {
    let (a, b) = (input(e, a), input(e, b));
    check_compared(e, a, b, false);
    if a > b {
        a
    } else {
        b
    }
}

fn reciprocal(v: f32, root: bool) -> f32 {
    if v.is_nan() {
        return v.quiet();
    }
    let v = if v.is_subnormal() { v.with_zero_magnitude() } else { v };
    let r = if root { 1.0 / v.sqrt() } else { 1.0 / v };
    if r.is_nan() {
        f32::DEFAULT_NAN
    } else {
        r
    }
}

impl<B: Bus> Exec<'_, B> {
    pub(super) fn env(&self) -> Env {
        Env::new(self.cpu.c.mxcsr)
    }

    /// Sets the exception flags that were raised. An unmasked one raises #XM before the instruction writes.
    pub(super) fn raise_exceptions(&mut self, e: &Env) -> R<()> {
        let mxcsr = &mut self.cpu.c.mxcsr;
        let unmasked = e.raised() & !(*mxcsr >> raised::MASKS) & raised::ALL;
        // An unmasked operand exception: no result was computed, so none was rounded.
        *mxcsr |= if unmasked & raised::OPERANDS == 0 { e.raised() } else { e.raised() & raised::OPERANDS };
        match unmasked {
            0 => Ok(()),
            _ if self.cpu.ctl.cr4 & cr4::OSXMMEXCPT == 0 => Err(UD),
            _ => Err(XM),
        }
    }

    /// Sets exception flags, then writes the destination.
    pub(super) fn write_result(&mut self, e: &Env, v: V) -> R<()> {
        self.raise_exceptions(e)?;
        self.vwrite(0, v)
    }

    /// Bytes that a packed operation computes on; bytes beyond raise no exception.
    pub(super) fn width(&self) -> usize {
        let wide = self.i.k.iter().any(|k| k.kind == Kind::Ymm) || self.i.msize == 32;
        if wide {
            32
        } else {
            16
        }
    }

    /// All lanes.
    fn packed<T: Float>(&mut self, e: &Env, f: impl Fn(T, T) -> T) -> R<()> {
        let (a, b) = if self.i.nreg == 2 && self.i.vex() {
            let b = self.vread(1)?;
            (b, b)
        } else {
            self.ab()?
        };
        let mut r = V::ZERO;
        for n in 0..self.width() / T::BYTES {
            r.set(n, f(a.get(n), b.get(n)));
        }
        self.write_result(e, r)
    }

    /// The lowest lane; the others come from the first source.
    fn scalar<T: Lane>(&mut self, e: &Env, f: impl Fn(T, T) -> T) -> R<()> {
        let (a, b) = self.ab()?;
        let mut r = a.low();
        r.set(0, f(a.get(0), b.get(0)));
        self.write_result(e, r)
    }

    /// As [`Exec::lanes`].
    fn halves(&mut self, e: &Env, f: impl Fn(&L, &L) -> L) -> R<()> {
        let (a, b) = self.ab()?;
        let r = V::from_lanes(f(&a.lane(0, 16), &b.lane(0, 16)), f(&a.lane(1, 16), &b.lane(1, 16)));
        self.write_result(e, r)
    }

    fn four(&mut self, e: &Env, op: Op) -> R<bool> {
        use Mnemonic::*;
        match self.i.op {
            Addps | Vaddps | Subps | Vsubps | Mulps | Vmulps | Divps | Vdivps | Sqrtps | Vsqrtps => {
                self.packed::<f32>(e, |a, b| arith(e, op, a, b))?;
            }
            Addpd | Vaddpd | Subpd | Vsubpd | Mulpd | Vmulpd | Divpd | Vdivpd | Sqrtpd | Vsqrtpd => {
                self.packed::<f64>(e, |a, b| arith(e, op, a, b))?;
            }
            Addss | Vaddss | Subss | Vsubss | Mulss | Vmulss | Divss | Vdivss | Sqrtss | Vsqrtss => {
                self.scalar::<f32>(e, |a, b| arith(e, op, a, b))?;
            }
            _ => self.scalar::<f64>(e, |a, b| arith(e, op, a, b))?,
        }
        Ok(true)
    }

    pub(super) fn vector_float(&mut self) -> R<bool> {
        use Mnemonic::*;
        let e = self.env();
        match self.i.op {
            Addps | Addpd | Addss | Addsd | Vaddps | Vaddpd | Vaddss | Vaddsd => return self.four(&e, Op::Add),
            Subps | Subpd | Subss | Subsd | Vsubps | Vsubpd | Vsubss | Vsubsd => return self.four(&e, Op::Sub),
            Mulps | Mulpd | Mulss | Mulsd | Vmulps | Vmulpd | Vmulss | Vmulsd => return self.four(&e, Op::Mul),
            Divps | Divpd | Divss | Divsd | Vdivps | Vdivpd | Vdivss | Vdivsd => return self.four(&e, Op::Div),
            Sqrtps | Sqrtpd | Sqrtss | Sqrtsd | Vsqrtps | Vsqrtpd | Vsqrtss | Vsqrtsd => {
                return self.four(&e, Op::Sqrt)
            }
            Minps | Vminps => self.packed::<f32>(&e, |a, b| smaller(&e, a, b))?,
            Minpd | Vminpd => self.packed::<f64>(&e, |a, b| smaller(&e, a, b))?,
            Minss | Vminss => self.scalar::<f32>(&e, |a, b| smaller(&e, a, b))?,
            Minsd | Vminsd => self.scalar::<f64>(&e, |a, b| smaller(&e, a, b))?,
            Maxps | Vmaxps => self.packed::<f32>(&e, |a, b| larger(&e, a, b))?,
            Maxpd | Vmaxpd => self.packed::<f64>(&e, |a, b| larger(&e, a, b))?,
            Maxss | Vmaxss => self.scalar::<f32>(&e, |a, b| larger(&e, a, b))?,
            Maxsd | Vmaxsd => self.scalar::<f64>(&e, |a, b| larger(&e, a, b))?,
            Rcpps | Vrcpps => self.un::<f32>(|v| reciprocal(v, false))?,
            Rsqrtps | Vrsqrtps => self.un::<f32>(|v| reciprocal(v, true))?,
            Rcpss | Vrcpss => self.scalar::<f32>(&e, |_, v| reciprocal(v, false))?,
            Rsqrtss | Vrsqrtss => self.scalar::<f32>(&e, |_, v| reciprocal(v, true))?,
            Addsubps | Vaddsubps => self.addsub::<f32>(&e)?,
            Addsubpd | Vaddsubpd => self.addsub::<f64>(&e)?,
            Haddps | Vhaddps => self.horizontal::<f32>(&e, Op::Add)?,
            Haddpd | Vhaddpd => self.horizontal::<f64>(&e, Op::Add)?,
            Hsubps | Vhsubps => self.horizontal::<f32>(&e, Op::Sub)?,
            Hsubpd | Vhsubpd => self.horizontal::<f64>(&e, Op::Sub)?,
            Dpps | Vdpps => self.dot::<f32>()?,
            Dppd | Vdppd => self.dot::<f64>()?,
            _ => return self.vector_compare(),
        }
        Ok(true)
    }

    fn vector_compare(&mut self) -> R<bool> {
        use Mnemonic::*;
        let e = self.env();
        let p = self.i.imm & if self.i.vex() { 31 } else { 7 };
        let single = |a: f32, b: f32| f32::from_bits(if compare(&e, p, a, b) { !0 } else { 0 });
        let double = |a: f64, b: f64| f64::from_bits(if compare(&e, p, a, b) { !0 } else { 0 });
        match self.i.op {
            Cmpps | Vcmpps => self.packed(&e, single)?,
            Cmppd | Vcmppd => self.packed(&e, double)?,
            Cmpss | Vcmpss => self.scalar(&e, single)?,
            Cmpsd | Vcmpsd => self.scalar(&e, double)?,
            Comiss | Ucomiss | Vcomiss | Vucomiss => self.compare_flags::<f32>()?,
            Comisd | Ucomisd | Vcomisd | Vucomisd => self.compare_flags::<f64>()?,
            Roundps | Vroundps => self.round_lanes::<f32>(true)?,
            Roundpd | Vroundpd => self.round_lanes::<f64>(true)?,
            Roundss | Vroundss => self.round_lanes::<f32>(false)?,
            Roundsd | Vroundsd => self.round_lanes::<f64>(false)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn compare_flags<T: Float>(&mut self) -> R<()> {
        let e = self.env();
        let a = self.vread(0)?;
        let b = self.vread(1)?;
        let (a, b) = (input(&e, a.get::<T>(0)), input(&e, b.get::<T>(0)));
        let quiet =
            matches!(self.i.op, Mnemonic::Ucomiss | Mnemonic::Ucomisd | Mnemonic::Vucomiss | Mnemonic::Vucomisd);
        check_compared(&e, a, b, quiet);
        self.raise_exceptions(&e)?;
        let f = self.flags();
        f.set(Rflags::empty());
        let unordered = a.nan() || b.nan();
        f.cf = unordered || a < b;
        f.zero = u64::from(!(unordered || a == b));
        f.parity = u8::from(!unordered);
        Ok(())
    }

    fn round_lanes<T: Float>(&mut self, all: bool) -> R<()> {
        let e = self.env();
        let mode = if self.i.imm & 4 != 0 { e.mode } else { Mode::from_bits(self.i.imm) };
        let silent = self.i.imm & 8 != 0;
        let round = |v: T| {
            let v = input(&e, v);
            if v.nan() {
                if v.signalling() {
                    e.raise(raised::INVALID);
                }
                return v.quiet();
            }
            let r = v.round(mode);
            if r != v && !silent {
                e.raise(raised::PRECISION);
            }
            r
        };
        if all {
            let v = self.vread(1)?;
            self.write_result(&e, v.map2(v, |x, _| round(x)))
        } else {
            self.scalar(&e, |_, b| round(b))
        }
    }

    /// addsub: even lanes subtract.
    fn addsub<T: Float>(&mut self, e: &Env) -> R<()> {
        let (a, b) = self.ab()?;
        self.write_result(
            e,
            V::build::<T>(|n| arith(e, if n & 1 == 0 { Op::Sub } else { Op::Add }, a.get::<T>(n), b.get::<T>(n))),
        )
    }

    fn horizontal<T: Float>(&mut self, e: &Env, op: Op) -> R<()> {
        self.halves(e, |a, b| {
            let n = a.count::<T>() / 2;
            a.build(|i| {
                let (s, k) = if i < n { (a, i) } else { (b, i - n) };
                arith(e, op, s.get::<T>(2 * k), s.get(2 * k + 1))
            })
        })
    }

    /// dpps, dppd: products that the mask chooses, summed pairwise. The products and each level of sums are a stage: the one
    /// that raises what is not masked is the last.
    fn dot<T: Float>(&mut self) -> R<()> {
        let imm = self.i.imm;
        let [products, sums, last] = [self.env(), self.env(), self.env()];
        let lane = |a: &L, b: &L| {
            let zero = T::from_bits(0);
            let product = |i: usize| {
                if imm >> (4 + i) & 1 != 0 {
                    arith(&products, Op::Mul, a.get::<T>(i), b.get::<T>(i))
                } else {
                    zero
                }
            };
            let mut sum = arith(&sums, Op::Add, product(0), product(1));
            if T::BYTES == 4 {
                let high = arith(&sums, Op::Add, product(2), product(3));
                sum = arith(&last, Op::Add, sum, high);
            }
            a.build(|i| if imm >> i & 1 != 0 { sum } else { zero })
        };
        let (a, b) = self.ab()?;
        let r = V::from_lanes(lane(&a.lane(0, 16), &b.lane(0, 16)), lane(&a.lane(1, 16), &b.lane(1, 16)));
        self.raise_exceptions(&products)?;
        self.raise_exceptions(&sums)?;
        self.write_result(&last, r)
    }
}
