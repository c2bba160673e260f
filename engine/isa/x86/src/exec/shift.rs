//! Shifts and rotates. Where a flag is undefined (OF for counts above one, AF) it is left as processors leave it when that
//! is cheap; the tests do not compare it.

use breakeven_base::Bus;
use iced_x86::Mnemonic;

use super::Exec;
use crate::cpu::R;
use crate::flags::Flags;
use crate::inst::{mask, sext, Kind};

impl<B: Bus> Exec<'_, B> {
    pub(super) fn shift(&mut self) -> R<()> {
        use Mnemonic::*;
        match self.i.op {
            Rorx | Sarx | Shlx | Shrx => return self.shift_without_flags(),
            Shld | Shrd => return self.double(),
            _ => {}
        }
        let s = self.i.size;
        let bits = 8 * u32::from(s);
        let a = self.read_to_write(0)?;
        let raw = self.read(1)? as u32;
        let n = raw & if s == 8 { 63 } else { 31 };
        let mut f = self.cpu.c.f;
        let r = match self.i.op {
            Shl | Sal => shl(&mut f, a, n, s),
            Shr => shr(&mut f, a, n, s),
            Sar => sar(&mut f, a, n, s),
            Rol | Ror => rotate(&mut f, a, n, s, self.i.op == Ror),
            _ => through_carry(&mut f, a, n % (bits + 1), s, self.i.op == Rcr),
        };
        // A count of zero still writes a 32-bit register (clears its upper half) and accesses memory.
        self.write(0, r)?;
        if n != 0 {
            self.cpu.c.f = f;
        }
        Ok(())
    }

    fn shift_without_flags(&mut self) -> R<()> {
        let s = self.i.size;
        let bits = 8 * u32::from(s);
        let a = self.read(1)?;
        let n = self.read(2)? as u32 & (bits - 1);
        let m = mask(s);
        let r = match self.i.op {
            Mnemonic::Rorx if n == 0 => a,
            Mnemonic::Rorx => a >> n | a << (bits - n),
            Mnemonic::Sarx => (sext(a, s) as i64 >> n) as u64,
            Mnemonic::Shlx => a << n,
            _ => a >> n,
        };
        self.write(0, r & m)
    }

    fn double(&mut self) -> R<()> {
        let s = self.i.size;
        let bits = 8 * u32::from(s);
        let (a, b) = self.pair()?;
        let count = if self.i.k[2].kind == Kind::Imm { self.i.imm } else { self.read(2)? } as u32;
        let n = count & if s == 8 { 63 } else { 31 };
        let mut f = self.cpu.c.f;
        let mut r = a;
        if n != 0 {
            let (wide_a, wide_b) = (u128::from(a), u128::from(b));
            // For 16 bits and counts above 16 the result is undefined; processors shift a third copy in.
            if self.i.op == Mnemonic::Shld {
                let (w, top) = if bits == 64 {
                    (wide_a << 64 | wide_b, 64)
                } else {
                    (wide_a << (2 * bits) | wide_b << bits | wide_a, 2 * bits)
                };
                r = ((w << n) >> top) as u64 & mask(s);
                f.cf = if n <= bits { a >> (bits - n) & 1 != 0 } else { b >> (2 * bits - n) & 1 != 0 };
            } else {
                let w = if bits == 64 { wide_b << 64 | wide_a } else { wide_a << (2 * bits) | wide_b << bits | wide_a };
                r = (w >> n) as u64 & mask(s);
                f.cf = (w >> (n - 1)) & 1 != 0;
            }
            f.of = (a ^ r) >> (bits - 1) & 1 != 0;
            f.af = false;
            f.result(r, s);
        }
        self.write(0, r)?;
        if n != 0 {
            self.cpu.c.f = f;
        }
        Ok(())
    }
}

fn shl(f: &mut Flags, a: u64, n: u32, s: u8) -> u64 {
    let bits = 8 * u32::from(s);
    let wide = u128::from(a) << n;
    let r = wide as u64 & mask(s);
    f.cf = n <= bits && wide >> bits & 1 != 0;
    f.of = (r >> (bits - 1) & 1 != 0) != f.cf;
    f.af = false;
    f.result(r, s);
    r
}

fn shr(f: &mut Flags, a: u64, n: u32, s: u8) -> u64 {
    let bits = 8 * u32::from(s);
    let r = if n >= 64 { 0 } else { a >> n };
    f.cf = n != 0 && a >> (n - 1) & 1 != 0;
    f.of = if n == 1 { a >> (bits - 1) & 1 != 0 } else { false };
    f.af = false;
    f.result(r, s);
    r
}

fn sar(f: &mut Flags, a: u64, n: u32, s: u8) -> u64 {
    let v = sext(a, s) as i64;
    let r = (v >> n.min(63)) as u64 & mask(s);
    f.cf = n != 0 && v >> (n - 1).min(63) & 1 != 0;
    f.of = false;
    f.af = false;
    f.result(r, s);
    r
}

fn rotate(f: &mut Flags, a: u64, n: u32, s: u8, right: bool) -> u64 {
    let bits = 8 * u32::from(s);
    let k = n % bits;
    let m = mask(s);
    let left = if right { (bits - k) % bits } else { k };
    let r = if left == 0 { a } else { (a << left | a >> (bits - left)) & m };
    let top = r >> (bits - 1) & 1 != 0;
    if right {
        f.cf = top;
        f.of = top != (r >> (bits - 2) & 1 != 0);
    } else {
        f.cf = r & 1 != 0;
        f.of = top != f.cf;
    }
    r
}

fn through_carry(f: &mut Flags, a: u64, n: u32, s: u8, right: bool) -> u64 {
    let bits = 8 * u32::from(s);
    let m = (1u128 << (bits + 1)) - 1;
    let wide = u128::from(a) | u128::from(f.cf) << bits;
    let left = if right { (bits + 1 - n) % (bits + 1) } else { n };
    let r = if left == 0 { wide } else { (wide << left | wide >> (bits + 1 - left)) & m };
    let top = r >> (bits - 1) & 1 != 0;
    f.cf = r >> bits & 1 != 0;
    f.of = if right { top != (r >> (bits - 2) & 1 != 0) } else { top != f.cf };
    r as u64 & mask(s)
}
