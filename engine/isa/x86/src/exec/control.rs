//! Branches, calls, returns, loops, operations on single flags.

use breakeven_base::Bus;
use iced_x86::Mnemonic;

use super::Exec;
use crate::cpu::{gp, R};
use crate::flags::Rflags;
use crate::inst::{InstFlags, Kind, RAX, RCX, RIP};
use crate::mmu::canonical;

impl<B: Bus> Exec<'_, B> {
    fn target(&self) -> u64 {
        self.reg(RIP).wrapping_add(self.i.imm)
    }

    #[inline(always)]
    pub(super) fn jcc(&mut self) {
        let taken = self.cpu.c.f.test(self.i.cc);
        self.cpu.outcome.taken = taken;
        if taken {
            self.next = self.target();
        }
    }

    pub(super) fn control(&mut self) -> R<()> {
        use Mnemonic::*;
        match self.i.op {
            Jmp | Call => {
                let to = if self.i.has(InstFlags::BRANCH) { self.target() } else { self.read(0)? };
                if !canonical(to) {
                    return Err(gp(0));
                }
                if self.i.op == Call {
                    self.push_value(8, self.next)?;
                }
                self.next = to;
                self.cpu.outcome.taken = true;
            }
            Ret => {
                let rsp = self.rsp();
                let to = self.load(rsp, 8)?;
                if !canonical(to) {
                    return Err(gp(0));
                }
                let drop = if self.i.k[0].kind == Kind::Imm { self.i.imm & 0xffff } else { 0 };
                self.set_rsp(rsp.wrapping_add(8 + drop));
                self.next = to;
                self.cpu.outcome.taken = true;
            }
            _ => self.count_and_branch(),
        }
        Ok(())
    }

    fn count_and_branch(&mut self) {
        use Mnemonic::*;
        let narrow = self.i.op == Jecxz || self.i.has(InstFlags::ADDR32);
        let m = if narrow { 0xffff_ffff } else { !0 };
        let mut rcx = self.reg(RCX as u8) & m;
        if matches!(self.i.op, Loop | Loope | Loopne) {
            rcx = rcx.wrapping_sub(1) & m;
            self.cpu.c.r[RCX] = rcx;
        }
        let zf = self.cpu.c.f.zf();
        let taken = match self.i.op {
            Loop => rcx != 0,
            Loope => rcx != 0 && zf,
            Loopne => rcx != 0 && !zf,
            _ => rcx == 0,
        };
        self.cpu.outcome.taken = taken;
        if taken {
            self.next = self.target();
        }
    }

    pub(super) fn flag_op(&mut self) -> R<()> {
        use Mnemonic::*;
        match self.i.op {
            Clc => self.flags().cf = false,
            Stc => self.flags().cf = true,
            Cmc => {
                let f = self.flags();
                f.cf = !f.cf;
            }
            Cld => self.cpu.c.backwards = false,
            Std => self.cpu.c.backwards = true,
            Lahf => {
                let v = self.flags().rflags().bits() & 0xff | Rflags::ONE.bits();
                self.set_reg(Kind::R8H, RAX as u8, v);
            }
            Sahf => {
                let ah = self.reg(RAX as u8) >> 8 & 0xff;
                let old = self.flags().rflags() & Rflags::OF;
                self.flags().set(Rflags::from_bits_truncate(ah) & Rflags::ARITH | old);
            }
            _ => {}
        }
        Ok(())
    }
}
