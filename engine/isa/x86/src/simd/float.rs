//! Floating-point arithmetic and comparison, packed and scalar.

use breakeven_base::Bus;
use iced_x86::Mnemonic;

use super::fp::{arith, compare, input, nan_of, Env, Float, Mode, Op};
use super::{Lane, L, V};
use crate::cpu::R;
use crate::exec::Exec;

fn smaller<T: Float>(e: &Env, a: T, b: T) -> T {
    let (a, b) = (input(e, a), input(e, b));
    if a < b {
        a
    } else {
        b
    }
}
fn larger<T: Float>(e: &Env, a: T, b: T) -> T {
    let (a, b) = (input(e, a), input(e, b));
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

    /// All lanes.
    fn packed<T: Float>(&mut self, f: impl Fn(T, T) -> T) -> R<()> {
        let (a, b) = if self.i.nreg == 2 && self.i.vex() {
            let b = self.vread(1)?;
            (b, b)
        } else {
            self.ab()?
        };
        self.vwrite(0, a.map2(b, f))
    }

    /// The lowest lane; the others come from the first source.
    pub(super) fn scalar<T: Lane>(&mut self, f: impl Fn(T, T) -> T) -> R<()> {
        let (a, b) = self.ab()?;
        let mut r = a.low();
        r.set(0, f(a.get(0), b.get(0)));
        self.vwrite(0, r)
    }

    fn four(&mut self, op: Op) -> R<bool> {
        use Mnemonic::*;
        let e = self.env();
        match self.i.op {
            Addps | Vaddps | Subps | Vsubps | Mulps | Vmulps | Divps | Vdivps | Sqrtps | Vsqrtps => {
                self.packed::<f32>(|a, b| arith(&e, op, a, b))?;
            }
            Addpd | Vaddpd | Subpd | Vsubpd | Mulpd | Vmulpd | Divpd | Vdivpd | Sqrtpd | Vsqrtpd => {
                self.packed::<f64>(|a, b| arith(&e, op, a, b))?;
            }
            Addss | Vaddss | Subss | Vsubss | Mulss | Vmulss | Divss | Vdivss | Sqrtss | Vsqrtss => {
                self.scalar::<f32>(|a, b| arith(&e, op, a, b))?;
            }
            _ => self.scalar::<f64>(|a, b| arith(&e, op, a, b))?,
        }
        Ok(true)
    }

    pub(super) fn vector_float(&mut self) -> R<bool> {
        use Mnemonic::*;
        let e = self.env();
        match self.i.op {
            Addps | Addpd | Addss | Addsd | Vaddps | Vaddpd | Vaddss | Vaddsd => return self.four(Op::Add),
            Subps | Subpd | Subss | Subsd | Vsubps | Vsubpd | Vsubss | Vsubsd => return self.four(Op::Sub),
            Mulps | Mulpd | Mulss | Mulsd | Vmulps | Vmulpd | Vmulss | Vmulsd => return self.four(Op::Mul),
            Divps | Divpd | Divss | Divsd | Vdivps | Vdivpd | Vdivss | Vdivsd => return self.four(Op::Div),
            Sqrtps | Sqrtpd | Sqrtss | Sqrtsd | Vsqrtps | Vsqrtpd | Vsqrtss | Vsqrtsd => return self.four(Op::Sqrt),
            Minps | Vminps => self.packed::<f32>(|a, b| smaller(&e, a, b))?,
            Minpd | Vminpd => self.packed::<f64>(|a, b| smaller(&e, a, b))?,
            Minss | Vminss => self.scalar::<f32>(|a, b| smaller(&e, a, b))?,
            Minsd | Vminsd => self.scalar::<f64>(|a, b| smaller(&e, a, b))?,
            Maxps | Vmaxps => self.packed::<f32>(|a, b| larger(&e, a, b))?,
            Maxpd | Vmaxpd => self.packed::<f64>(|a, b| larger(&e, a, b))?,
            Maxss | Vmaxss => self.scalar::<f32>(|a, b| larger(&e, a, b))?,
            Maxsd | Vmaxsd => self.scalar::<f64>(|a, b| larger(&e, a, b))?,
            Rcpps | Vrcpps => self.un::<f32>(|v| reciprocal(v, false))?,
            Rsqrtps | Vrsqrtps => self.un::<f32>(|v| reciprocal(v, true))?,
            Rcpss | Vrcpss => self.scalar::<f32>(|_, v| reciprocal(v, false))?,
            Rsqrtss | Vrsqrtss => self.scalar::<f32>(|_, v| reciprocal(v, true))?,
            Addsubps | Vaddsubps => self.alternate::<f32>()?,
            Addsubpd | Vaddsubpd => self.alternate::<f64>()?,
            Haddps | Vhaddps => self.neighbours::<f32>(Op::Add)?,
            Haddpd | Vhaddpd => self.neighbours::<f64>(Op::Add)?,
            Hsubps | Vhsubps => self.neighbours::<f32>(Op::Sub)?,
            Hsubpd | Vhsubpd => self.neighbours::<f64>(Op::Sub)?,
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
        let single = |a: f32, b: f32| f32::from_bits(if compare(p, input(&e, a), input(&e, b)) { !0 } else { 0 });
        let double = |a: f64, b: f64| f64::from_bits(if compare(p, input(&e, a), input(&e, b)) { !0 } else { 0 });
        match self.i.op {
            Cmpps | Vcmpps => self.packed(single)?,
            Cmppd | Vcmppd => self.packed(double)?,
            Cmpss | Vcmpss => self.scalar(single)?,
            Cmpsd | Vcmpsd => self.scalar(double)?,
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
        let f = self.flags();
        f.set_bits(0);
        let unordered = a.nan() || b.nan();
        f.cf = unordered || a < b;
        f.zero = u64::from(!(unordered || a == b));
        f.parity = u8::from(!unordered);
        Ok(())
    }

    fn round_lanes<T: Float>(&mut self, all: bool) -> R<()> {
        let e = self.env();
        let mode = if self.i.imm & 4 != 0 { e.mode } else { Mode::from_bits(self.i.imm) };
        let round = move |v: T| {
            let v = input(&e, v);
            if v.nan() {
                v.quiet()
            } else {
                v.round(mode)
            }
        };
        if all {
            self.un(round)
        } else {
            self.scalar(|_, b| round(b))
        }
    }

    /// addsub: even lanes subtract.
    fn alternate<T: Float>(&mut self) -> R<()> {
        let e = self.env();
        let (a, b) = self.ab()?;
        self.vwrite(
            0,
            V::build::<T>(|n| arith(&e, if n & 1 == 0 { Op::Sub } else { Op::Add }, a.get::<T>(n), b.get::<T>(n))),
        )
    }

    fn neighbours<T: Float>(&mut self, op: Op) -> R<()> {
        let e = self.env();
        self.lanes(|a, b| {
            let n = a.count::<T>() / 2;
            a.build(|i| {
                let (s, k) = if i < n { (a, i) } else { (b, i - n) };
                arith(&e, op, s.get::<T>(2 * k), s.get(2 * k + 1))
            })
        })
    }

    /// dpps, dppd: products that the mask chooses, summed pairwise.
    fn dot<T: Float>(&mut self) -> R<()> {
        let e = self.env();
        let imm = self.i.imm;
        self.lanes(|a: &L, b: &L| {
            let zero = T::from_bits(0);
            let product = |i: usize| {
                if imm >> (4 + i) & 1 != 0 {
                    arith(&e, Op::Mul, a.get::<T>(i), b.get::<T>(i))
                } else {
                    zero
                }
            };
            let mut sum = arith(&e, Op::Add, product(0), product(1));
            if T::BYTES == 4 {
                let high = arith(&e, Op::Add, product(2), product(3));
                sum = arith(&e, Op::Add, sum, high);
            }
            debug_assert!(nan_of(zero, zero).is_none());
            a.build(|i| if imm >> i & 1 != 0 { sum } else { zero })
        })
    }
}
