//! Multiplication and division.

use breakeven_base::Bus;
use iced_x86::Mnemonic;

use super::Exec;
use crate::cpu::{DE, R};
use crate::inst::{mask, sext, Kind, Piece, Steps, RAX, RDX, RIP};
use crate::microcode::{division_iterations, division_pieces, Micro};

impl<B: Bus> Exec<'_, B> {
    pub(super) fn muldiv(&mut self) -> R<()> {
        use Mnemonic::*;
        match self.i.op {
            Mulx => {
                let s = self.i.size;
                let b = self.read(2)?;
                let a = self.reg(RDX as u8) & mask(s);
                let wide = u128::from(a) * u128::from(b);
                self.write(1, wide as u64 & mask(s))?;
                self.write(0, (wide >> (8 * u32::from(s))) as u64)
            }
            Imul if self.i.nreg > 1 || self.i.k[1].kind != Kind::None => self.imul_short(),
            Mul | Imul => self.multiply(),
            _ => self.divide(),
        }
    }

    /// Two and three operands: the low half.
    fn imul_short(&mut self) -> R<()> {
        let s = self.i.size;
        let three = self.i.k[2].kind != Kind::None;
        let a = self.read(usize::from(three))?;
        let b = self.read(1 + usize::from(three))?;
        let wide = i128::from(sext(a, s) as i64) * i128::from(sext(b, s) as i64);
        let r = wide as u64 & mask(s);
        self.write(0, r)?;
        let lost = i128::from(sext(r, s) as i64) != wide;
        let f = self.flags();
        (f.cf, f.of) = (lost, lost);
        Ok(())
    }

    /// The accumulator times the operand, both halves.
    fn multiply(&mut self) -> R<()> {
        let s = self.i.size;
        let bits = 8 * u32::from(s);
        let b = self.read(0)?;
        let a = self.reg(RAX as u8) & mask(s);
        let (wide, lost) = if self.i.op == Mnemonic::Mul {
            let w = u128::from(a) * u128::from(b);
            (w, w >> bits != 0)
        } else {
            let w = i128::from(sext(a, s) as i64) * i128::from(sext(b, s) as i64);
            (w as u128, i128::from(sext(w as u64, s) as i64) != w)
        };
        let (low, high) = (wide as u64 & mask(s), (wide >> bits) as u64 & mask(s));
        self.set_accumulator(s, low, high);
        let f = self.flags();
        (f.cf, f.of) = (lost, lost);
        Ok(())
    }

    /// rdx:rax and its narrower forms; ax for bytes.
    fn set_accumulator(&mut self, s: u8, low: u64, high: u64) {
        let kind = match s {
            1 => return self.set_reg(Kind::R16, 0, low | high << 8),
            2 => Kind::R16,
            4 => Kind::R32,
            _ => Kind::R64,
        };
        self.set_reg(kind, RAX as u8, low);
        self.set_reg(kind, RDX as u8, high);
    }

    fn divide(&mut self) -> R<()> {
        let s = self.i.size;
        let bits = 8 * u32::from(s);
        let d = self.read(0)? & mask(s);
        if d == 0 {
            return Err(DE);
        }
        let dividend = if s == 1 {
            u128::from(self.reg(0) & 0xffff)
        } else {
            u128::from(self.reg(RDX as u8) & mask(s)) << bits | u128::from(self.reg(0) & mask(s))
        };
        let (q, r) = if self.i.op == Mnemonic::Div {
            let q = dividend / u128::from(d);
            if q > u128::from(mask(s)) {
                return Err(DE);
            }
            (q as u64, (dividend % u128::from(d)) as u64)
        } else {
            let unused = 128 - 2 * bits;
            let n = (dividend << unused) as i128 >> unused;
            let d = i128::from(sext(d, s) as i64);
            let q = n.checked_div(d).ok_or(DE)?;
            if i128::from(sext(q as u64, s) as i64) != q {
                return Err(DE);
            }
            (q as u64 & mask(s), (n.wrapping_rem(d)) as u64 & mask(s))
        };
        if self.i.uops.steps == Steps::Microcode && !self.cpu.outcome.fast && self.more_microcode(dividend, d) {
            return Ok(());
        }
        self.set_accumulator(s, q, r);
        Ok(())
    }

    /// One step of gem5's microcode. True: not the last, which executes the division.
    fn more_microcode(&mut self, dividend: u128, divisor: u64) -> bool {
        let (s, pc) = (self.i.size, self.reg(RIP));
        if self.cpu.c.micro.pc != pc {
            let bits = 8 * u32::from(s);
            let unused = 128 - 2 * bits;
            let (dividend, divisor) = match self.i.op {
                Mnemonic::Div => (dividend, divisor),
                _ => (
                    (((dividend << unused) as i128) >> unused).unsigned_abs(),
                    (sext(divisor, s) as i64).unsigned_abs(),
                ),
            };
            let (high, low) = ((dividend >> bits) as u64, dividend as u64 & mask(s));
            let iterations = division_iterations(high, low, divisor, bits);
            self.cpu.c.micro = Micro { pc, end: pc.wrapping_add(self.i.len.into()), iterations, ..Micro::default() };
        }
        let micro = &mut self.cpu.c.micro;
        let straight = division_pieces(self.i.op);
        if std::mem::take(&mut micro.left) {
            micro.iterations = micro.done.saturating_sub(straight);
        }
        let loops = straight..straight + micro.iterations;
        let done = micro.done;
        micro.done += 1;
        let last = micro.done == loops.end + straight;
        self.cpu.outcome.string.piece = if loops.contains(&done) {
            Piece::Iteration { again: micro.done < loops.end }
        } else if done < straight {
            Piece::Straight(done)
        } else {
            Piece::Straight(done - micro.iterations)
        };
        self.cpu.outcome.string.more = !last;
        if last {
            *micro = Micro::default();
        } else {
            self.next = pc;
        }
        !last
    }
}
