//! Across lanes: permutes, broadcasts, 128-bit halves, widening moves, gathers.

use breakeven_base::Bus;
use iced_x86::Mnemonic;

use super::{Lane, V};
use crate::cpu::R;
use crate::exec::Exec;
use crate::inst::{InstFlags, Kind};

impl<B: Bus> Exec<'_, B> {
    fn broadcast<T: Lane>(&mut self) -> R<()> {
        let v = self.vread(1)?;
        self.vwrite(0, V::splat::<T>(v.get(0)))
    }

    /// Widens the low lanes.
    fn widen_lanes<From: Lane, To: Lane>(&mut self, f: impl Fn(From) -> To) -> R<()> {
        let v = self.vread(1)?;
        self.vwrite(0, V::build::<To>(|n| f(v.get(n))))
    }

    /// Half `pick` of two vectors' four; bit 3 clears.
    fn pick_half(a: &V, b: &V, pick: usize) -> [u64; 2] {
        if pick & 8 != 0 {
            return [0; 2];
        }
        let s = if pick & 2 == 0 { a } else { b };
        s.half(pick & 1)
    }

    pub(super) fn vector_permute(&mut self) -> R<bool> {
        use Mnemonic::*;
        let imm = self.i.imm as usize;
        match self.i.op {
            Vbroadcastss | Vpbroadcastd => self.broadcast::<u32>()?,
            Vbroadcastsd | Vpbroadcastq => self.broadcast::<u64>()?,
            Vpbroadcastb => self.broadcast::<u8>()?,
            Vpbroadcastw => self.broadcast::<u16>()?,
            Vbroadcastf128 | Vbroadcasti128 => {
                let v = self.vread(1)?;
                self.vwrite(0, V([v.0[0], v.0[1], v.0[0], v.0[1]]))?;
            }
            Vperm2f128 | Vperm2i128 => {
                let (a, b) = self.ab()?;
                let (low, high) = (Self::pick_half(&a, &b, imm), Self::pick_half(&a, &b, imm >> 4));
                self.vwrite(0, V([low[0], low[1], high[0], high[1]]))?;
            }
            Vextractf128 | Vextracti128 => {
                let h = self.vread(1)?.half(imm);
                self.vwrite(0, V([h[0], h[1], 0, 0]))?;
            }
            Vinsertf128 | Vinserti128 => {
                let (mut a, b) = self.ab()?;
                let at = 2 * (imm & 1);
                (a.0[at], a.0[at + 1]) = (b.0[0], b.0[1]);
                self.vwrite(0, a)?;
            }
            Vpermq | Vpermpd => {
                let v = self.vread(1)?;
                self.vwrite(0, V::build::<u64>(|n| v.get(imm >> (2 * n) & 3)))?;
            }
            Vpermd | Vpermps => {
                let (a, b) = self.ab()?;
                self.vwrite(0, V::build::<u32>(|n| b.get(a.get::<u32>(n) as usize & 7)))?;
            }
            Vpermilps => {
                if self.i.k[2].kind == Kind::Imm {
                    self.one_source(|s| s.build(|i| s.get::<u32>(imm >> (2 * i) & 3)))?;
                } else {
                    self.lanes(|a, b| a.build(|i| a.get::<u32>(b.get::<u32>(i) as usize & 3)))?;
                }
            }
            Vpermilpd => {
                if self.i.k[2].kind == Kind::Imm {
                    let v = self.vread(1)?;
                    self.vwrite(0, V::build::<u64>(|n| v.get((n & 2) + (imm >> n & 1))))?;
                } else {
                    self.lanes(|a, b| a.build(|i| a.get::<u64>(b.get::<u64>(i) as usize >> 1 & 1)))?;
                }
            }
            Pmovzxbw | Vpmovzxbw => self.widen_lanes(|v: u8| u16::from(v))?,
            Pmovzxbd | Vpmovzxbd => self.widen_lanes(|v: u8| u32::from(v))?,
            Pmovzxbq | Vpmovzxbq => self.widen_lanes(|v: u8| u64::from(v))?,
            Pmovzxwd | Vpmovzxwd => self.widen_lanes(|v: u16| u32::from(v))?,
            Pmovzxwq | Vpmovzxwq => self.widen_lanes(|v: u16| u64::from(v))?,
            Pmovzxdq | Vpmovzxdq => self.widen_lanes(|v: u32| u64::from(v))?,
            Pmovsxbw | Vpmovsxbw => self.widen_lanes(|v: i8| i16::from(v))?,
            Pmovsxbd | Vpmovsxbd => self.widen_lanes(|v: i8| i32::from(v))?,
            Pmovsxbq | Vpmovsxbq => self.widen_lanes(|v: i8| i64::from(v))?,
            Pmovsxwd | Vpmovsxwd => self.widen_lanes(|v: i16| i32::from(v))?,
            Pmovsxwq | Vpmovsxwq => self.widen_lanes(|v: i16| i64::from(v))?,
            Pmovsxdq | Vpmovsxdq => self.widen_lanes(|v: i32| i64::from(v))?,
            Vpgatherdd | Vgatherdps => self.gather(4, 4)?,
            Vpgatherdq | Vgatherdpd => self.gather(4, 8)?,
            Vpgatherqd | Vgatherqps => self.gather(8, 4)?,
            Vpgatherqq | Vgatherqpd => self.gather(8, 8)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Gathers lanes of `data` bytes by indices of `index` bytes. Restartable: lanes that are done lose their mask.
    fn gather(&mut self, index: u8, data: u8) -> R<()> {
        let k = self.i.k;
        // The three vectors must be different registers.
        if k[0].r == k[2].r || k[0].r == self.i.addr.index || k[2].r == self.i.addr.index {
            return Err(crate::cpu::UD);
        }
        let width = |kind: Kind| if kind == Kind::Ymm { 32usize } else { 16 };
        let indices = self.cpu.c.v[usize::from(self.i.addr.index & 15)];
        let (mut dst, mut mask) = (self.vread(0)?, self.vread(2)?);
        // As many lanes as the narrower of indices and data has: the destination's width for wide data.
        let lanes = if index > data {
            width(if self.i.has(InstFlags::WIDE_INDEX) { Kind::Ymm } else { Kind::Xmm }) / 8
        } else {
            width(k[0].kind) / usize::from(data)
        };
        let base = self.reg(self.i.addr.base).wrapping_add(self.i.addr.disp);
        let m = if self.i.has(InstFlags::ADDR32) { 0xffff_ffff } else { !0 };
        let segment = self.cpu.c.base[usize::from(self.i.addr.seg & 3)];
        let mut stopped = None;
        for n in 0..lanes {
            let chosen = if data == 4 { mask.get::<i32>(n) < 0 } else { mask.get::<i64>(n) < 0 };
            if chosen {
                let off = if index == 4 { i64::from(indices.get::<i32>(n)) } else { indices.get::<i64>(n) };
                let at = (base.wrapping_add((off as u64) << (self.i.addr.scale & 3)) & m).wrapping_add(segment);
                match self.load(at, data) {
                    Ok(v) if data == 4 => dst.set(n, v as u32),
                    Ok(v) => dst.set(n, v),
                    Err(stop) => {
                        stopped = Some(stop);
                        break;
                    }
                }
            }
            if data == 4 {
                mask.set(n, 0u32);
            } else {
                mask.set(n, 0u64);
            }
        }
        if let Some(stop) = stopped {
            // Completed lanes keep their results; the upper halves of xmm forms are not cleared yet.
            for (o, v) in [(k[0], dst), (k[2], mask)] {
                let slot = &mut self.cpu.c.v[usize::from(o.r & 15)];
                let words = width(o.kind) / 8;
                slot.0[..words].copy_from_slice(&v.0[..words]);
            }
            return Err(stop);
        }
        // Nothing above the lanes gathered remains.
        let clear = V::build::<u8>(|n| if n < lanes * usize::from(data) { 0xff } else { 0 });
        self.vwrite(0, V([0, 1, 2, 3].map(|n| dst.0[n] & clear.0[n])))?;
        self.vwrite(2, V::ZERO)
    }
}
