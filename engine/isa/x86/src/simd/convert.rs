//! Conversions between integers and floats, and between the two float widths.

use breakeven_base::Bus;
use iced_x86::Mnemonic;

use super::fp::{from_int, input, narrow, raised, Env, Float, Mode};
use super::{Lane, V};
use crate::cpu::R;
use crate::exec::Exec;
use crate::inst::{InstFlags, Kind};

/// Rounds to an integer; one outside the range raises the invalid exception.
fn integer<T: Float>(e: &Env, v: T, mode: Mode, range: std::ops::Range<f64>) -> Option<f64> {
    let v = input(e, v).to_f64();
    let r = Float::round(v, mode);
    let fits = range.contains(&r);
    if !fits {
        e.raise(raised::INVALID);
    } else if r != v {
        e.raise(raised::PRECISION);
    }
    fits.then_some(r)
}

/// To a 32-bit integer; out of range: the integer indefinite.
fn to_i32<T: Float>(e: &Env, v: T, mode: Mode) -> u32 {
    integer(e, v, mode, -2_147_483_648.0..2_147_483_648.0).map_or(1 << 31, |r| r as i32 as u32)
}

fn to_i64<T: Float>(e: &Env, v: T, mode: Mode) -> u64 {
    let limit = 9_223_372_036_854_775_808.0;
    integer(e, v, mode, -limit..limit).map_or(1 << 63, |r| r as i64 as u64)
}

fn widen(e: &Env, v: f32) -> f64 {
    let v = input(e, v);
    if v.signalling() {
        e.raise(raised::INVALID);
    } else if v.is_subnormal() {
        e.raise(raised::DENORMAL);
    }
    if v.is_nan() {
        let bits = u64::from(v.quiet().to_bits());
        return f64::from_bits((bits & 0x8000_0000) << 32 | 0x7ff0_0000_0000_0000 | (bits & 0x007f_ffff) << 29);
    }
    f64::from(v)
}

fn single(e: &Env, v: i64) -> f32 {
    from_int(e, v)
}
fn double(e: &Env, v: i64) -> f64 {
    from_int(e, v)
}

impl<B: Bus> Exec<'_, B> {
    /// Low lanes of one type into low lanes of another; the rest is cleared.
    fn lanes_to<From: Lane, To: Lane>(&mut self, e: &Env, f: impl Fn(From) -> To) -> R<()> {
        let v = self.vread(1)?;
        let n = if self.i.has(InstFlags::MMX) { 2 } else { self.width() / From::BYTES.max(To::BYTES) };
        let mut r = V::ZERO;
        for k in 0..n {
            r.set(k, f(v.get(k)));
        }
        self.write_result(e, r)
    }

    /// As [`Exec::lanes_to`], into the low half of an xmm register whose high half stays (cvtpi2ps).
    fn fill_low<To: Lane>(&mut self, e: &Env, f: impl Fn(i32) -> To) -> R<()> {
        let v = self.vread(1)?;
        let mut r = self.vread(0)?;
        for k in 0..2 {
            r.set(k, f(v.get(k)));
        }
        self.write_result(e, r)
    }

    /// A general register or memory integer into the lowest lane.
    fn general_to_lane<T: Lane>(&mut self, e: &Env, f: impl Fn(i64) -> T) -> R<()> {
        let at = self.i.b();
        let wide = self.i.k[at].kind == Kind::R64 || (self.i.k[at].kind == Kind::Mem && self.i.msize == 8);
        let a = self.vread(self.i.a())?;
        let v = self.read(at)?;
        let v = if wide { v as i64 } else { i64::from(v as i32) };
        let mut r = a.low();
        r.set(0, f(v));
        self.write_result(e, r)
    }

    fn lane_to_general<T: Float>(&mut self, truncate: bool) -> R<()> {
        let e = self.env();
        let mode = if truncate { Mode::Zero } else { e.mode };
        let v = self.vread(1)?.get::<T>(0);
        let r = if self.i.k[0].kind == Kind::R64 { to_i64(&e, v, mode) } else { u64::from(to_i32(&e, v, mode)) };
        self.raise_exceptions(&e)?;
        self.write(0, r)
    }

    /// Converts the lowest lane; the rest comes from the first source.
    fn scalar_to<From: Lane, To: Lane>(&mut self, e: &Env, f: impl Fn(From) -> To) -> R<()> {
        let (a, b) = self.ab()?;
        let mut r = a.low();
        r.set(0, f(b.get(0)));
        self.write_result(e, r)
    }

    pub(super) fn vector_convert(&mut self) -> R<bool> {
        use Mnemonic::*;
        let e = self.env();
        let mode = e.mode;
        match self.i.op {
            Cvtdq2ps | Vcvtdq2ps => self.lanes_to(&e, |v: i32| single(&e, v.into()))?,
            Cvtdq2pd | Vcvtdq2pd => self.lanes_to(&e, |v: i32| f64::from(v))?,
            Cvtps2dq | Vcvtps2dq => self.lanes_to(&e, |v: f32| to_i32(&e, v, mode))?,
            Cvttps2dq | Vcvttps2dq => self.lanes_to(&e, |v: f32| to_i32(&e, v, Mode::Zero))?,
            Cvtpd2dq | Vcvtpd2dq => self.lanes_to(&e, |v: f64| to_i32(&e, v, mode))?,
            Cvttpd2dq | Vcvttpd2dq => self.lanes_to(&e, |v: f64| to_i32(&e, v, Mode::Zero))?,
            Cvtps2pd | Vcvtps2pd => self.lanes_to(&e, |v: f32| widen(&e, v))?,
            Cvtpd2ps | Vcvtpd2ps => self.lanes_to(&e, |v: f64| narrow(&e, v))?,
            Cvtss2sd | Vcvtss2sd => self.scalar_to(&e, |v: f32| widen(&e, v))?,
            Cvtsd2ss | Vcvtsd2ss => self.scalar_to(&e, |v: f64| narrow(&e, v))?,
            Cvtsi2ss | Vcvtsi2ss => self.general_to_lane(&e, |v| single(&e, v))?,
            Cvtsi2sd | Vcvtsi2sd => self.general_to_lane(&e, |v| double(&e, v))?,
            Cvtss2si | Vcvtss2si => self.lane_to_general::<f32>(false)?,
            Cvttss2si | Vcvttss2si => self.lane_to_general::<f32>(true)?,
            Cvtsd2si | Vcvtsd2si => self.lane_to_general::<f64>(false)?,
            Cvttsd2si | Vcvttsd2si => self.lane_to_general::<f64>(true)?,
            Cvtpi2ps => self.fill_low(&e, |v| single(&e, v.into()))?,
            Cvtpi2pd => self.fill_low(&e, f64::from)?,
            Cvtps2pi => self.lanes_to(&e, |v: f32| to_i32(&e, v, mode))?,
            Cvttps2pi => self.lanes_to(&e, |v: f32| to_i32(&e, v, Mode::Zero))?,
            Cvtpd2pi => self.lanes_to(&e, |v: f64| to_i32(&e, v, mode))?,
            Cvttpd2pi => self.lanes_to(&e, |v: f64| to_i32(&e, v, Mode::Zero))?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}
