//! Vector shifts: by one count, by a count for each lane, by bytes.

use breakeven_base::Bus;
use iced_x86::Mnemonic;

use super::{Lane, L, V};
use crate::cpu::R;
use crate::exec::Exec;
use crate::inst::Kind;

impl<B: Bus> Exec<'_, B> {
    /// One count for all lanes: an immediate or the low word of a vector.
    fn shift_all<T: Lane>(&mut self, f: impl Fn(T, u64) -> T) -> R<()> {
        let (a, n) = if self.i.k.iter().any(|k| k.kind == Kind::Imm) {
            (self.vread(self.i.a())?, self.i.imm)
        } else {
            let (a, b) = self.ab()?;
            (a, b.0[0])
        };
        self.vwrite(0, a.map2(a, |x: T, _| f(x, n)))
    }

    fn shift_bytes(&mut self, left: bool) -> R<()> {
        let a = self.vread(self.i.a())?;
        let n = (self.i.imm as usize).min(16);
        let one = |l: L| {
            l.build::<u8>(|i| {
                if left { i.checked_sub(n) } else { Some(i + n) }.filter(|k| *k < 16).map_or(0, |k| l.get(k))
            })
        };
        self.vwrite(0, V::from_lanes(one(a.lane(0, 16)), one(a.lane(1, 16))))
    }

    pub(super) fn vector_shift(&mut self) -> R<bool> {
        use Mnemonic::*;
        match self.i.op {
            Psllw | Vpsllw => self.shift_all::<u16>(|x, n| if n > 15 { 0 } else { x << n })?,
            Pslld | Vpslld => self.shift_all::<u32>(|x, n| if n > 31 { 0 } else { x << n })?,
            Psllq | Vpsllq => self.shift_all::<u64>(|x, n| if n > 63 { 0 } else { x << n })?,
            Psrlw | Vpsrlw => self.shift_all::<u16>(|x, n| if n > 15 { 0 } else { x >> n })?,
            Psrld | Vpsrld => self.shift_all::<u32>(|x, n| if n > 31 { 0 } else { x >> n })?,
            Psrlq | Vpsrlq => self.shift_all::<u64>(|x, n| if n > 63 { 0 } else { x >> n })?,
            Psraw | Vpsraw => self.shift_all::<i16>(|x, n| x >> n.min(15))?,
            Psrad | Vpsrad => self.shift_all::<i32>(|x, n| x >> n.min(31))?,
            Pslldq | Vpslldq => self.shift_bytes(true)?,
            Psrldq | Vpsrldq => self.shift_bytes(false)?,
            Vpsllvd => self.bin::<u32>(|x, n| x.checked_shl(n).unwrap_or(0))?,
            Vpsllvq => self.bin::<u64>(|x, n| if n > 63 { 0 } else { x << n })?,
            Vpsrlvd => self.bin::<u32>(|x, n| x.checked_shr(n).unwrap_or(0))?,
            Vpsrlvq => self.bin::<u64>(|x, n| if n > 63 { 0 } else { x >> n })?,
            Vpsravd => self.bin::<u32>(|x, n| (x as i32 >> n.min(31)) as u32)?,
            _ => return Ok(false),
        }
        Ok(true)
    }
}
