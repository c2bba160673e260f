//! Packs, unpacks, shuffles and blends within lanes; inserts and extracts.

use breakeven_base::Bus;
use iced_x86::Mnemonic;

use super::{Lane, L, V};
use crate::cpu::R;
use crate::exec::Exec;
use crate::inst::{InstFlags, Kind};

fn unpack<T: Lane>(a: &L, b: &L, high: bool) -> L {
    let from = if high { a.count::<T>() / 2 } else { 0 };
    a.build::<T>(|i| if i & 1 == 0 { a.get(from + i / 2) } else { b.get(from + i / 2) })
}

fn pack<From: Lane, To: Lane>(a: &L, b: &L, f: impl Fn(From) -> To) -> L {
    let n = a.count::<From>();
    a.build::<To>(|i| f(if i < n { a.get(i) } else { b.get(i - n) }))
}

impl<B: Bus> Exec<'_, B> {
    pub(super) fn vector_shuffle(&mut self) -> R<bool> {
        use Mnemonic::*;
        let imm = self.i.imm as usize;
        match self.i.op {
            Punpcklbw | Vpunpcklbw => self.lanes(|a, b| unpack::<u8>(a, b, false))?,
            Punpcklwd | Vpunpcklwd => self.lanes(|a, b| unpack::<u16>(a, b, false))?,
            Punpckldq | Vpunpckldq | Unpcklps | Vunpcklps => self.lanes(|a, b| unpack::<u32>(a, b, false))?,
            Punpcklqdq | Vpunpcklqdq | Unpcklpd | Vunpcklpd => self.lanes(|a, b| unpack::<u64>(a, b, false))?,
            Punpckhbw | Vpunpckhbw => self.lanes(|a, b| unpack::<u8>(a, b, true))?,
            Punpckhwd | Vpunpckhwd => self.lanes(|a, b| unpack::<u16>(a, b, true))?,
            Punpckhdq | Vpunpckhdq | Unpckhps | Vunpckhps => self.lanes(|a, b| unpack::<u32>(a, b, true))?,
            Punpckhqdq | Vpunpckhqdq | Unpckhpd | Vunpckhpd => self.lanes(|a, b| unpack::<u64>(a, b, true))?,
            Packsswb | Vpacksswb => self.lanes(|a, b| pack(a, b, |v: i16| v.clamp(-128, 127) as i8))?,
            Packssdw | Vpackssdw => self.lanes(|a, b| pack(a, b, |v: i32| v.clamp(-32768, 32767) as i16))?,
            Packuswb | Vpackuswb => self.lanes(|a, b| pack(a, b, |v: i16| v.clamp(0, 255) as u8))?,
            Packusdw | Vpackusdw => self.lanes(|a, b| pack(a, b, |v: i32| v.clamp(0, 65535) as u16))?,
            Pshufb | Vpshufb => self.lanes(|a, b| {
                a.build(|i| {
                    let k: u8 = b.get(i);
                    if k & 0x80 != 0 {
                        0u8
                    } else {
                        a.get(usize::from(k) & (a.len - 1))
                    }
                })
            })?,
            Palignr | Vpalignr => self.lanes(|a, b| {
                a.build(|i| {
                    let k = i + (imm & 0xff);
                    if k < a.len {
                        b.get::<u8>(k)
                    } else if k < 2 * a.len {
                        a.get(k - a.len)
                    } else {
                        0
                    }
                })
            })?,
            Pshufd | Vpshufd => self.one_source(|s| s.build(|i| s.get::<u32>(imm >> (2 * i) & 3)))?,
            Pshufw => self.one_source(|s| s.build(|i| s.get::<u16>(imm >> (2 * i) & 3)))?,
            Pshuflw | Vpshuflw => {
                self.one_source(|s| s.build(|i| s.get::<u16>(if i < 4 { imm >> (2 * i) & 3 } else { i })))?;
            }
            Pshufhw | Vpshufhw => {
                self.one_source(|s| s.build(|i| s.get::<u16>(if i < 4 { i } else { 4 + (imm >> (2 * (i - 4)) & 3) })))?;
            }
            Shufps | Vshufps => self.lanes(|a, b| {
                a.build(|i| {
                    let k = imm >> (2 * i) & 3;
                    if i < 2 {
                        a.get::<u32>(k)
                    } else {
                        b.get(k)
                    }
                })
            })?,
            Shufpd | Vshufpd => self.shuffle_doubles()?,
            Movsldup | Vmovsldup => self.one_source(|s| s.build(|i| s.get::<u32>(i & !1)))?,
            Movshdup | Vmovshdup => self.one_source(|s| s.build(|i| s.get::<u32>(i | 1)))?,
            Movddup | Vmovddup => self.one_source(|s| s.build(|_| s.get::<u64>(0)))?,
            _ => return self.vector_blend(),
        }
        Ok(true)
    }

    /// As [`Exec::lanes`], of one source.
    pub(super) fn one_source(&mut self, f: impl Fn(&L) -> L) -> R<()> {
        let v = self.vread(1)?;
        let len = if self.i.has(InstFlags::MMX) { 8 } else { 16 };
        self.vwrite(0, V::from_lanes(f(&v.lane(0, len)), f(&v.lane(1, len))))
    }

    fn shuffle_doubles(&mut self) -> R<()> {
        let imm = self.i.imm as usize;
        let (a, b) = self.ab()?;
        let v = V::build::<u64>(|n| {
            let s = if n & 1 == 0 { &a } else { &b };
            s.get((n & 2) + (imm >> n & 1))
        });
        self.vwrite(0, v)
    }

    fn vector_blend(&mut self) -> R<bool> {
        use Mnemonic::*;
        let imm = self.i.imm as usize;
        match self.i.op {
            Pblendw | Vpblendw => {
                self.lanes(|a, b| a.build(|i| if imm >> i & 1 != 0 { b.get::<u16>(i) } else { a.get(i) }))?;
            }
            Blendps | Vblendps | Vpblendd => self.blend_by::<u32>(|n| imm >> n & 1 != 0)?,
            Blendpd | Vblendpd => self.blend_by::<u64>(|n| imm >> n & 1 != 0)?,
            Pblendvb | Vpblendvb => self.blend_signs::<i8>()?,
            Blendvps | Vblendvps => self.blend_signs::<i32>()?,
            Blendvpd | Vblendvpd => self.blend_signs::<i64>()?,
            Pinsrb | Vpinsrb => self.insert::<u8>(15)?,
            Pinsrw | Vpinsrw => {
                let last = if self.i.has(InstFlags::MMX) { 3 } else { 7 };
                self.insert::<u16>(last)?;
            }
            Pinsrd | Vpinsrd => self.insert::<u32>(3)?,
            Pinsrq | Vpinsrq => self.insert::<u64>(1)?,
            Pextrb | Vpextrb => self.extract::<u8>(15)?,
            Pextrw | Vpextrw => {
                let last = if self.i.has(InstFlags::MMX) { 3 } else { 7 };
                self.extract::<u16>(last)?;
            }
            Pextrd | Vpextrd | Extractps | Vextractps => self.extract::<u32>(3)?,
            Pextrq | Vpextrq => self.extract::<u64>(1)?,
            Insertps | Vinsertps => {
                let (mut a, b) = self.ab()?;
                let from = if self.i.k[self.i.b()].kind == Kind::Mem { 0 } else { imm >> 6 & 3 };
                a.set::<u32>(imm >> 4 & 3, b.get(from));
                for n in (0..4).filter(|n| imm >> n & 1 != 0) {
                    a.set::<u32>(n, 0);
                }
                self.vwrite(0, a)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn blend_by<T: Lane>(&mut self, second: impl Fn(usize) -> bool) -> R<()> {
        let (a, b) = self.ab()?;
        self.vwrite(0, V::build::<T>(|n| if second(n) { b.get(n) } else { a.get(n) }))
    }

    /// The top bits of a third vector choose: operand 3 with VEX, else xmm0.
    fn blend_signs<T: Lane + PartialOrd + Default>(&mut self) -> R<()> {
        let (a, b) = if self.i.vex() { (self.vread(1)?, self.vread(2)?) } else { (self.vread(0)?, self.vread(1)?) };
        let m = if self.i.vex() { self.vread(3)? } else { self.cpu.c.v[0] };
        self.vwrite(0, V::build::<T>(|n| if m.get::<T>(n) < T::default() { b.get(n) } else { a.get(n) }))
    }

    fn insert<T: Lane>(&mut self, last: usize) -> R<()> {
        let (mut a, b) = self.ab()?;
        a.set::<T>(self.i.imm as usize & last, b.get(0));
        self.vwrite(0, a)
    }

    fn extract<T: Lane>(&mut self, last: usize) -> R<()> {
        let v = self.vread(1)?.get::<T>(self.i.imm as usize & last).bits();
        if self.i.k[0].kind == Kind::Part {
            return self.vwrite(0, V([v, 0, 0, 0]));
        }
        self.write(0, v)
    }
}
