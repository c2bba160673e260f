//! Arithmetic, logic, extensions, exchanges.

use breakeven_base::Bus;
use iced_x86::Mnemonic;

use super::Exec;
use crate::cpu::{Stop, R};
use crate::flags::Flags;
use crate::inst::{mask, sext, Kind, RAX, RBX, RCX, RDX};

/// a + b + carry at `size` bytes, with flags.
#[inline(always)]
pub(super) fn add(f: &mut Flags, a: u64, b: u64, carry: bool, size: u8) -> u64 {
    let m = mask(size);
    let wide = u128::from(a) + u128::from(b) + u128::from(carry);
    let r = wide as u64 & m;
    f.cf = wide > u128::from(m);
    f.of = sext((a ^ r) & (b ^ r), size) >> 63 != 0;
    f.af = (a ^ b ^ r) & 0x10 != 0;
    f.result(r, size);
    r
}

/// a - b - borrow.
#[inline(always)]
pub(super) fn sub(f: &mut Flags, a: u64, b: u64, borrow: bool, size: u8) -> u64 {
    let m = mask(size);
    let r = a.wrapping_sub(b).wrapping_sub(u64::from(borrow)) & m;
    f.cf = a < b || (borrow && a == b);
    f.of = sext((a ^ b) & (a ^ r), size) >> 63 != 0;
    f.af = (a ^ b ^ r) & 0x10 != 0;
    f.result(r, size);
    r
}

#[inline(always)]
pub(super) fn logic(f: &mut Flags, r: u64, size: u8) -> u64 {
    (f.cf, f.of, f.af) = (false, false, false);
    f.result(r, size);
    r
}

impl<B: Bus> Exec<'_, B> {
    #[inline(always)]
    pub(super) fn alu(&mut self) -> R<()> {
        use Mnemonic::*;
        let s = self.i.size;
        if matches!(self.i.op, Cmp | Test) {
            let m = mask(s);
            let (a, b) = (self.read(0)? & m, self.read(1)? & m);
            if self.i.op == Cmp {
                sub(self.flags(), a, b, false, s);
            } else {
                logic(self.flags(), a & b, s);
            }
            return Ok(());
        }
        let (a, b) = self.pair()?;
        let mut f = self.cpu.c.f;
        let carry = f.cf;
        let r = match self.i.op {
            Add => add(&mut f, a, b, false, s),
            Sub => sub(&mut f, a, b, false, s),
            And => logic(&mut f, a & b, s),
            Or => logic(&mut f, a | b, s),
            Xor => logic(&mut f, a ^ b, s),
            Adc => add(&mut f, a, b, carry, s),
            _ => sub(&mut f, a, b, carry, s),
        };
        self.write(0, r)?;
        self.cpu.c.f = f;
        Ok(())
    }

    #[inline(always)]
    pub(super) fn inc_dec(&mut self) -> R<()> {
        let s = self.i.size;
        let a = self.read_to_write(0)?;
        let mut f = self.cpu.c.f;
        let carry = f.cf;
        let r = if self.i.op == Mnemonic::Inc { add(&mut f, a, 1, false, s) } else { sub(&mut f, a, 1, false, s) };
        f.cf = carry;
        self.write(0, r)?;
        self.cpu.c.f = f;
        Ok(())
    }

    pub(super) fn data(&mut self) -> R<()> {
        use Mnemonic::*;
        let s = self.i.size;
        match self.i.op {
            Neg => {
                let a = self.read_to_write(0)?;
                let mut f = self.cpu.c.f;
                let r = sub(&mut f, 0, a, false, s);
                self.write(0, r)?;
                self.cpu.c.f = f;
            }
            Not => {
                let a = self.read_to_write(0)?;
                self.write(0, !a & mask(s))?;
            }
            Movzx => {
                let v = self.read(1)?;
                self.write(0, v)?;
            }
            Movsx | Movsxd => {
                let from = self.source_size();
                let v = self.read(1)?;
                self.write(0, sext(v, from))?;
            }
            Movnti => {
                let v = self.read(1)?;
                self.write(0, v)?;
            }
            Bswap => {
                let v = self.read(0)?;
                // Of a 16-bit register the result is undefined; processors leave zero.
                let r = match s {
                    8 => v.swap_bytes(),
                    4 => u64::from((v as u32).swap_bytes()),
                    _ => 0,
                };
                self.write(0, r)?;
            }
            Movbe => {
                let v = self.read(1)?;
                self.write(0, v.swap_bytes() >> (64 - 8 * u32::from(s.clamp(1, 8))))?;
            }
            Adcx | Adox => self.add_one_flag()?,
            Xlatb => {
                let al = self.reg(RAX as u8) & 0xff;
                let mut at = self.reg(self.i.addr.base).wrapping_add(al);
                if self.i.has(crate::inst::InstFlags::ADDR32) {
                    at &= 0xffff_ffff;
                }
                let at = at.wrapping_add(self.cpu.c.base[usize::from(self.i.addr.seg & 3)]);
                let v = self.load(at, 1)?;
                self.set_reg(Kind::R8, 0, v);
            }
            Cbw | Cwde | Cdqe | Cwd | Cdq | Cqo => self.widen(),
            _ => return self.exchange(),
        }
        Ok(())
    }

    fn source_size(&self) -> u8 {
        match self.i.k[1].kind {
            Kind::R8 | Kind::R8H => 1,
            Kind::R16 => 2,
            Kind::Mem => self.i.msize,
            _ => 4,
        }
    }

    fn add_one_flag(&mut self) -> R<()> {
        let s = self.i.size;
        let m = mask(s);
        let (a, b) = (self.read(0)? & m, self.read(1)? & m);
        let f = self.cpu.c.f;
        let carry = if self.i.op == Mnemonic::Adcx { f.cf } else { f.of };
        let wide = u128::from(a) + u128::from(b) + u128::from(carry);
        self.write(0, wide as u64 & m)?;
        let out = wide > u128::from(m);
        if self.i.op == Mnemonic::Adcx {
            self.flags().cf = out;
        } else {
            self.flags().of = out;
        }
        Ok(())
    }

    fn widen(&mut self) {
        use Mnemonic::*;
        let rax = self.reg(0);
        let sign = |size: u8| ((sext(rax, size) as i64) >> 63) as u64;
        match self.i.op {
            Cbw => self.set_reg(Kind::R16, 0, sext(rax, 1)),
            Cwde => self.set_reg(Kind::R32, 0, sext(rax, 2)),
            Cdqe => self.set_reg(Kind::R64, 0, sext(rax, 4)),
            Cwd => self.set_reg(Kind::R16, RDX as u8, sign(2)),
            Cdq => self.set_reg(Kind::R32, RDX as u8, sign(4)),
            _ => self.set_reg(Kind::R64, RDX as u8, sign(8)),
        }
    }

    fn exchange(&mut self) -> R<()> {
        use Mnemonic::*;
        let s = self.i.size;
        match self.i.op {
            Xchg => {
                // Either operand may be memory.
                let memory = usize::from(self.i.k[1].kind == Kind::Mem);
                let a = self.read_to_write(memory)?;
                let b = self.read(1 - memory)?;
                self.write(memory, b)?;
                self.write(1 - memory, a)
            }
            Xadd => {
                let (a, b) = self.pair()?;
                let mut f = self.cpu.c.f;
                let r = add(&mut f, a, b, false, s);
                if self.i.writes_memory() {
                    self.write(0, r)?;
                    self.write(1, a)?;
                } else {
                    self.write(1, a)?;
                    self.write(0, r)?;
                }
                self.cpu.c.f = f;
                Ok(())
            }
            Cmpxchg => {
                let (a, b) = self.pair()?;
                let acc = self.reg(RAX as u8) & mask(s);
                let mut f = self.cpu.c.f;
                sub(&mut f, acc, a, false, s);
                // Memory is written either way. A 32-bit accumulator that is not loaded keeps its upper half.
                if acc == a {
                    self.write(0, b)?;
                } else {
                    if self.i.writes_memory() {
                        self.write(0, a)?;
                    }
                    let kind = match s {
                        1 => Kind::R8,
                        2 => Kind::R16,
                        4 => Kind::R32,
                        _ => Kind::R64,
                    };
                    self.set_reg(kind, 0, a);
                }
                self.cpu.c.f = f;
                Ok(())
            }
            Cmpxchg8b | Cmpxchg16b => self.exchange_pair(),
            _ => Err(Stop::Unknown),
        }
    }

    fn exchange_pair(&mut self) -> R<()> {
        let wide = self.i.op == Mnemonic::Cmpxchg16b;
        let half = if wide { 8 } else { 4 };
        let at = self.ea();
        if wide && at & 15 != 0 {
            return Err(crate::cpu::gp(0));
        }
        self.cpu.probe_store(self.bus, at, 2 * u64::from(half))?;
        let low = self.load(at, half)?;
        let high = self.load(at.wrapping_add(u64::from(half)), half)?;
        let m = mask(half);
        let r = |x: &Self, n: usize| x.reg(n as u8) & m;
        let equal = (low, high) == (r(self, RAX), r(self, RDX));
        let (to_low, to_high) = if equal { (r(self, RBX), r(self, RCX)) } else { (low, high) };
        self.store(at, half, to_low)?;
        self.store(at.wrapping_add(u64::from(half)), half, to_high)?;
        if !equal {
            let kind = if wide { Kind::R64 } else { Kind::R32 };
            self.set_reg(kind, RAX as u8, low);
            self.set_reg(kind, RDX as u8, high);
        }
        self.flags().zero = u64::from(!equal);
        Ok(())
    }
}
