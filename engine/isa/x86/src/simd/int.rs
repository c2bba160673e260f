//! Integer arithmetic and comparison by lanes.

use breakeven_base::Bus;
use iced_x86::Mnemonic;

use super::{Lane, L, V};
use crate::cpu::R;
use crate::exec::Exec;
use crate::inst::InstFlags;

fn truth<T: Lane>(yes: bool) -> T {
    T::from_bits(if yes { !0 } else { 0 })
}

/// Sums or differences of neighbours, the first source's below the second's.
fn horizontal<T: Lane>(a: &L, b: &L, f: impl Fn(T, T) -> T) -> L {
    let n = a.count::<T>() / 2;
    a.build(|i| {
        let (s, k) = if i < n { (a, i) } else { (b, i - n) };
        f(s.get(2 * k), s.get(2 * k + 1))
    })
}

/// Sums of absolute differences of bytes.
fn sad(a: u64, b: u64) -> u64 {
    a.to_le_bytes().iter().zip(b.to_le_bytes()).map(|(x, y)| u64::from(x.abs_diff(y))).sum()
}

fn sign<T: Lane + Copy + PartialOrd + Default>(a: T, b: T, neg: impl Fn(T) -> T) -> T {
    let zero = T::default();
    if b < zero {
        neg(a)
    } else if b > zero {
        a
    } else {
        zero
    }
}

impl<B: Bus> Exec<'_, B> {
    pub(super) fn vector_int(&mut self) -> R<bool> {
        use Mnemonic::*;
        match self.i.op {
            Paddb | Vpaddb => self.bin::<u8>(u8::wrapping_add)?,
            Paddw | Vpaddw => self.bin::<u16>(u16::wrapping_add)?,
            Paddd | Vpaddd => self.bin::<u32>(u32::wrapping_add)?,
            Paddq | Vpaddq => self.bin::<u64>(u64::wrapping_add)?,
            Psubb | Vpsubb => self.bin::<u8>(u8::wrapping_sub)?,
            Psubw | Vpsubw => self.bin::<u16>(u16::wrapping_sub)?,
            Psubd | Vpsubd => self.bin::<u32>(u32::wrapping_sub)?,
            Psubq | Vpsubq => self.bin::<u64>(u64::wrapping_sub)?,
            Paddsb | Vpaddsb => self.bin::<i8>(i8::saturating_add)?,
            Paddsw | Vpaddsw => self.bin::<i16>(i16::saturating_add)?,
            Paddusb | Vpaddusb => self.bin::<u8>(u8::saturating_add)?,
            Paddusw | Vpaddusw => self.bin::<u16>(u16::saturating_add)?,
            Psubsb | Vpsubsb => self.bin::<i8>(i8::saturating_sub)?,
            Psubsw | Vpsubsw => self.bin::<i16>(i16::saturating_sub)?,
            Psubusb | Vpsubusb => self.bin::<u8>(u8::saturating_sub)?,
            Psubusw | Vpsubusw => self.bin::<u16>(u16::saturating_sub)?,
            Pavgb | Vpavgb => self.bin::<u8>(|a, b| ((u16::from(a) + u16::from(b) + 1) >> 1) as u8)?,
            Pavgw | Vpavgw => self.bin::<u16>(|a, b| ((u32::from(a) + u32::from(b) + 1) >> 1) as u16)?,
            Pcmpeqb | Vpcmpeqb => self.bin::<u8>(|a, b| truth(a == b))?,
            Pcmpeqw | Vpcmpeqw => self.bin::<u16>(|a, b| truth(a == b))?,
            Pcmpeqd | Vpcmpeqd => self.bin::<u32>(|a, b| truth(a == b))?,
            Pcmpeqq | Vpcmpeqq => self.bin::<u64>(|a, b| truth(a == b))?,
            Pcmpgtb | Vpcmpgtb => self.bin::<i8>(|a, b| truth(a > b))?,
            Pcmpgtw | Vpcmpgtw => self.bin::<i16>(|a, b| truth(a > b))?,
            Pcmpgtd | Vpcmpgtd => self.bin::<i32>(|a, b| truth(a > b))?,
            Pcmpgtq | Vpcmpgtq => self.bin::<i64>(|a, b| truth(a > b))?,
            Pmaxub | Vpmaxub => self.bin::<u8>(Ord::max)?,
            Pmaxuw | Vpmaxuw => self.bin::<u16>(Ord::max)?,
            Pmaxud | Vpmaxud => self.bin::<u32>(Ord::max)?,
            Pmaxsb | Vpmaxsb => self.bin::<i8>(Ord::max)?,
            Pmaxsw | Vpmaxsw => self.bin::<i16>(Ord::max)?,
            Pmaxsd | Vpmaxsd => self.bin::<i32>(Ord::max)?,
            Pminub | Vpminub => self.bin::<u8>(Ord::min)?,
            Pminuw | Vpminuw => self.bin::<u16>(Ord::min)?,
            Pminud | Vpminud => self.bin::<u32>(Ord::min)?,
            Pminsb | Vpminsb => self.bin::<i8>(Ord::min)?,
            Pminsw | Vpminsw => self.bin::<i16>(Ord::min)?,
            Pminsd | Vpminsd => self.bin::<i32>(Ord::min)?,
            Pabsb | Vpabsb => self.un::<i8>(i8::wrapping_abs)?,
            Pabsw | Vpabsw => self.un::<i16>(i16::wrapping_abs)?,
            Pabsd | Vpabsd => self.un::<i32>(i32::wrapping_abs)?,
            Psignb | Vpsignb => self.bin::<i8>(|a, b| sign(a, b, i8::wrapping_neg))?,
            Psignw | Vpsignw => self.bin::<i16>(|a, b| sign(a, b, i16::wrapping_neg))?,
            Psignd | Vpsignd => self.bin::<i32>(|a, b| sign(a, b, i32::wrapping_neg))?,
            _ => return self.vector_multiply(),
        }
        Ok(true)
    }

    fn vector_multiply(&mut self) -> R<bool> {
        use Mnemonic::*;
        let wide = |a: i16, b: i16| i32::from(a) * i32::from(b);
        match self.i.op {
            Pmullw | Vpmullw => self.bin::<i16>(i16::wrapping_mul)?,
            Pmulld | Vpmulld => self.bin::<i32>(i32::wrapping_mul)?,
            Pmulhw | Vpmulhw => self.bin::<i16>(|a, b| (wide(a, b) >> 16) as i16)?,
            Pmulhuw | Vpmulhuw => self.bin::<u16>(|a, b| ((u32::from(a) * u32::from(b)) >> 16) as u16)?,
            Pmulhrsw | Vpmulhrsw => self.bin::<i16>(|a, b| (((wide(a, b) >> 14) + 1) >> 1) as i16)?,
            Pmuludq | Vpmuludq => self.words(|a, b| (a & 0xffff_ffff) * (b & 0xffff_ffff))?,
            Pmuldq | Vpmuldq => self.words(|a, b| (i64::from(a as i32) * i64::from(b as i32)) as u64)?,
            Pmaddwd | Vpmaddwd => self.bin::<u32>(|a, b| {
                let low = wide(a as i16, b as i16);
                low.wrapping_add(wide((a >> 16) as i16, (b >> 16) as i16)) as u32
            })?,
            Pmaddubsw | Vpmaddubsw => self.bin::<u16>(|a, b| {
                let p = |a: u16, b: u16| i32::from(a as u8) * i32::from(b as i8);
                (p(a, b) + p(a >> 8, b >> 8)).clamp(-32768, 32767) as i16 as u16
            })?,
            Psadbw | Vpsadbw => self.words(sad)?,
            Mpsadbw | Vmpsadbw => self.mpsadbw()?,
            Phminposuw | Vphminposuw => {
                let v = self.vread(1)?;
                let (at, least) = (0..8).map(|n| (n, v.get::<u16>(n))).min_by_key(|p| p.1).unwrap_or((0, 0));
                self.vwrite(0, V([u64::from(least) | (at as u64) << 16, 0, 0, 0]))?;
            }
            Phaddw | Vphaddw => self.lanes(|a, b| horizontal(a, b, i16::wrapping_add))?,
            Phaddd | Vphaddd => self.lanes(|a, b| horizontal(a, b, i32::wrapping_add))?,
            Phaddsw | Vphaddsw => self.lanes(|a, b| horizontal(a, b, i16::saturating_add))?,
            Phsubw | Vphsubw => self.lanes(|a, b| horizontal(a, b, i16::wrapping_sub))?,
            Phsubd | Vphsubd => self.lanes(|a, b| horizontal(a, b, i32::wrapping_sub))?,
            Phsubsw | Vphsubsw => self.lanes(|a, b| horizontal(a, b, i16::saturating_sub))?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// mpsadbw: eight sums of four bytes against one block, per lane.
    fn mpsadbw(&mut self) -> R<()> {
        let imm = self.i.imm;
        let one = |a: &L, b: &L, imm: u64| {
            let (from, block) = ((imm >> 2 & 1) as usize * 4, (imm & 3) as usize * 4);
            a.build::<u16>(|i| (0..4).map(|k| u16::from(a.get::<u8>(from + i + k).abs_diff(b.get(block + k)))).sum())
        };
        let (a, b) = self.ab()?;
        let low = one(&a.lane(0, 16), &b.lane(0, 16), imm);
        let high = one(&a.lane(1, 16), &b.lane(1, 16), imm >> 3);
        debug_assert!(!self.i.has(InstFlags::MMX), "there is no such form");
        self.vwrite(0, V::from_lanes(low, high))
    }
}
