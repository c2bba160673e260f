//! Bit tests, scans, counts, BMI1, BMI2, CRC32.

use breakeven_base::Bus;
use iced_x86::Mnemonic;

use super::alu::logic;
use super::Exec;
use crate::cpu::R;
use crate::inst::{mask, sext, InstFlags, Kind};

impl<B: Bus> Exec<'_, B> {
    pub(super) fn bits(&mut self) -> R<()> {
        use Mnemonic::*;
        match self.i.op {
            Bt | Bts | Btr | Btc => self.bit_test(),
            Bsf | Bsr | Tzcnt | Lzcnt | Popcnt => self.count(),
            Crc32 => self.crc32(),
            _ => self.bmi(),
        }
    }

    fn bit_test(&mut self) -> R<()> {
        let s = self.i.size;
        let bits = 8 * u64::from(s);
        let index = self.read(1)?;
        let bit = index & (bits - 1);
        let op = self.i.op;
        let change = |a: u64| match op {
            Mnemonic::Bts => a | 1 << bit,
            Mnemonic::Btr => a & !(1 << bit),
            _ => a ^ 1 << bit,
        };
        let a;
        if self.i.writes_memory() {
            // A bit index in a register may address memory beyond the operand.
            let mut at = self.ea();
            if self.i.k[1].kind != Kind::Imm {
                let words = sext(index, s) as i64 >> bits.trailing_zeros();
                let offset = (words * i64::from(s)) as u64;
                let base = self.cpu.c.base[usize::from(self.i.addr.seg & 3)];
                let inner = at.wrapping_sub(base).wrapping_add(offset);
                at = base.wrapping_add(if self.i.has(InstFlags::ADDR32) { inner & 0xffff_ffff } else { inner });
            }
            if op == Mnemonic::Bt {
                a = self.load(at, s)?;
            } else {
                a = self.cpu.load_to_write(self.bus, self.now, at, s)?;
                self.store(at, s, change(a))?;
            }
        } else {
            a = self.read(0)?;
            if op != Mnemonic::Bt {
                self.write(0, change(a) & mask(s))?;
            }
        }
        self.flags().cf = a >> bit & 1 != 0;
        Ok(())
    }

    fn count(&mut self) -> R<()> {
        use Mnemonic::*;
        let s = self.i.size;
        let bits = 8 * u64::from(s);
        let a = self.read(1)? & mask(s);
        let lead = u64::from(a.leading_zeros()) + bits - 64;
        let trail = u64::from(a.trailing_zeros()).min(bits);
        match self.i.op {
            Popcnt => {
                self.write(0, u64::from(a.count_ones()))?;
                logic(self.flags(), a, s);
                let f = self.flags();
                (f.sign, f.parity) = (0, 1);
            }
            Tzcnt | Lzcnt => {
                let r = if self.i.op == Tzcnt { trail } else { lead };
                self.write(0, r)?;
                let f = self.flags();
                f.cf = a == 0;
                f.zero = r;
            }
            _ => {
                // A source of zero leaves the destination as it is, upper half included, as every processor does.
                if a != 0 {
                    let r = if self.i.op == Bsf { trail } else { bits - 1 - lead };
                    self.write(0, r)?;
                }
                self.flags().zero = a;
            }
        }
        Ok(())
    }

    fn bmi(&mut self) -> R<()> {
        use Mnemonic::*;
        let s = self.i.size;
        let bits = 8 * u32::from(s);
        let m = mask(s);
        match self.i.op {
            Andn => {
                let a = self.read(1)?;
                let b = self.read(2)?;
                let r = !a & b & m;
                self.write(0, r)?;
                logic(self.flags(), r, s);
            }
            Bextr => {
                let a = self.read(1)?;
                let c = self.read(2)?;
                let (start, len) = (c as u8, (c >> 8) as u8);
                let v = if u32::from(start) < 64 { a >> start } else { 0 };
                let r = if len < 64 { v & ((1 << len) - 1) } else { v };
                self.write(0, r)?;
                logic(self.flags(), r, s);
            }
            Blsi | Blsmsk | Blsr => {
                let a = self.read(1)?;
                let less = a.wrapping_sub(1);
                let r = m & match self.i.op {
                    Blsi => a & a.wrapping_neg(),
                    Blsmsk => a ^ less,
                    _ => a & less,
                };
                self.write(0, r)?;
                let op = self.i.op;
                let f = self.flags();
                logic(f, r, s);
                f.cf = if op == Blsi { a != 0 } else { a == 0 };
            }
            Bzhi => {
                let a = self.read(1)?;
                let n = self.read(2)? as u8;
                let keep = u32::from(n) >= bits;
                let r = if keep { a } else { a & ((1 << n) - 1) };
                self.write(0, r)?;
                let f = self.flags();
                logic(f, r, s);
                f.cf = keep;
            }
            Pdep | Pext => {
                let a = self.read(1)?;
                let mut sel = self.read(2)?;
                let (mut r, mut k) = (0u64, 0u32);
                while sel != 0 {
                    let bit = sel & sel.wrapping_neg();
                    if self.i.op == Pdep {
                        r |= if a >> k & 1 != 0 { bit } else { 0 };
                    } else {
                        r |= u64::from(a & bit != 0) << k;
                    }
                    sel ^= bit;
                    k += 1;
                }
                self.write(0, r)?;
            }
            _ => return Err(crate::cpu::Stop::Unknown),
        }
        Ok(())
    }

    /// CRC-32C (Castagnoli), reflected.
    fn crc32(&mut self) -> R<()> {
        let bytes = match self.i.k[1].kind {
            Kind::R8 | Kind::R8H => 1,
            Kind::R16 => 2,
            Kind::R32 => 4,
            Kind::R64 => 8,
            _ => self.i.msize,
        };
        let mut crc = self.read(0)? as u32;
        let v = self.read(1)?;
        for byte in v.to_le_bytes().iter().take(usize::from(bytes)) {
            crc ^= u32::from(*byte);
            for _ in 0..8 {
                crc = crc >> 1 ^ if crc & 1 != 0 { 0x82f6_3b78 } else { 0 };
            }
        }
        self.write(0, u64::from(crc))
    }
}
