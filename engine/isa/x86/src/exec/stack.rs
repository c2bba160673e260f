//! push, pop, enter, leave, flags on the stack.

use breakeven_base::Bus;
use iced_x86::Mnemonic;

use super::Exec;
use crate::cpu::{gp, Stop, R};
use crate::flags::Rflags;
use crate::inst::{Kind, RBP, RSP};

impl<B: Bus> Exec<'_, B> {
    pub(super) fn rsp(&self) -> u64 {
        self.reg(RSP as u8)
    }
    pub(super) fn set_rsp(&mut self, v: u64) {
        self.cpu.c.r[RSP] = v;
    }

    pub(super) fn push_value(&mut self, size: u8, v: u64) -> R<()> {
        let at = self.rsp().wrapping_sub(u64::from(size));
        self.store(at, size, v)?;
        self.set_rsp(at);
        Ok(())
    }

    pub(super) fn stack(&mut self) -> R<()> {
        use Mnemonic::*;
        match self.i.op {
            Push => {
                let size = if self.i.size == 2 { 2 } else { 8 };
                let v = self.read(0)?;
                self.push_value(size, v)
            }
            Pop => self.pop(),
            Pushf | Pushfq => {
                let size = if self.i.op == Pushf { 2 } else { 8 };
                let v = self.cpu.rflags().difference(Rflags::RF).bits();
                self.push_value(size, v)
            }
            Popf | Popfq => self.pop_flags(),
            Leave => {
                let rbp = self.reg(RBP as u8);
                let v = self.load(rbp, 8)?;
                self.set_rsp(rbp.wrapping_add(8));
                self.cpu.c.r[RBP] = v;
                Ok(())
            }
            _ => self.enter(),
        }
    }

    fn pop(&mut self) -> R<()> {
        let size = if self.i.size == 2 { 2 } else { 8 };
        let old = self.rsp();
        let v = self.load(old, size)?;
        match self.i.k[0].kind {
            Kind::Seg => Err(Stop::Unknown),
            Kind::Mem => {
                // The address is computed with the stack pointer already moved.
                self.set_rsp(old.wrapping_add(u64::from(size)));
                let stored = self.write(0, v);
                if stored.is_err() {
                    self.set_rsp(old);
                }
                stored
            }
            _ => {
                self.set_rsp(old.wrapping_add(u64::from(size)));
                self.write(0, v)
            }
        }
    }

    fn pop_flags(&mut self) -> R<()> {
        let size = if self.i.op == Mnemonic::Popf { 2 } else { 8 };
        let old = self.rsp();
        let v = Rflags::from_bits_truncate(self.load(old, size)?);
        let mut which = Rflags::ARITH | Rflags::DF | Rflags::TF | Rflags::NT;
        if size == 8 {
            which |= Rflags::AC | Rflags::ID;
        }
        if self.cpu.cpl == 0 {
            which |= Rflags::IOPL | Rflags::IF;
        }
        if v.contains(Rflags::TF) {
            // Single-stepping (TF) is not modelled.
            return Err(Stop::Unknown);
        }
        self.set_rsp(old.wrapping_add(u64::from(size)));
        self.cpu.set_rflags(v, which);
        Ok(())
    }

    fn enter(&mut self) -> R<()> {
        let (frame, level) = (self.i.imm & 0xffff, self.i.addr.disp & 31);
        if self.i.size == 2 || level != 0 {
            return Err(Stop::Unknown);
        }
        let rbp = self.reg(RBP as u8);
        let at = self.rsp().wrapping_sub(8);
        let end = at.wrapping_sub(frame);
        if !crate::mmu::canonical(end) {
            return Err(gp(0));
        }
        self.store(at, 8, rbp)?;
        self.cpu.c.r[RBP] = at;
        self.set_rsp(end);
        Ok(())
    }
}
