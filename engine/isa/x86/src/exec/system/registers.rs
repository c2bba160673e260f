//! Time, performance counters, MSRs and ports.

use breakeven_base::Bus;
use iced_x86::Mnemonic;

use super::Exec;
use crate::cpu::{cr4, efer, gp, Stop, R};
use crate::flags::Rflags;
use crate::inst::{mask, Kind, RAX, RCX, RDX};
use crate::mem::IO_BASE;
use crate::mmu::canonical;

impl<B: Bus> Exec<'_, B> {
    pub(super) fn tsc(&self) -> u64 {
        let scaled = u128::from(self.now.cycle.0) * u128::from(self.cpu.options.tsc_ratio) / 1024;
        (scaled as u64).wrapping_add(self.cpu.msr.tsc_offset)
    }

    pub(super) fn time(&mut self) -> R<()> {
        if self.cpu.ctl.cr4 & cr4::TSD != 0 && self.cpu.cpl != 0 {
            return Err(gp(0));
        }
        if !self.now.drained {
            return Err(Stop::NeedsDrain);
        }
        self.bus.cycle_read(self.now.cycle.0);
        let t = self.tsc();
        self.set32(RAX, t as u32);
        self.set32(RDX, (t >> 32) as u32);
        if self.i.op == Mnemonic::Rdtscp {
            self.set32(RCX, self.cpu.msr.tsc_aux as u32);
        }
        Ok(())
    }

    /// The fixed counters: instructions retired, core cycles.
    pub(super) fn counter(&mut self) -> R<()> {
        if self.cpu.ctl.cr4 & cr4::PCE == 0 && self.cpu.cpl != 0 {
            return Err(gp(0));
        }
        if !self.now.drained {
            return Err(Stop::NeedsDrain);
        }
        let v = match self.reg(RCX as u8) as u32 {
            0x4000_0000 => self.cpu.c.retired,
            0x4000_0001 => self.now.cycle.0,
            _ => return Err(gp(0)),
        };
        self.set32(RAX, v as u32);
        self.set32(RDX, (v >> 32) as u32 & 0xffff);
        Ok(())
    }

    pub(super) fn msr(&mut self) -> R<()> {
        self.privileged()?;
        let n = self.reg(RCX as u8) as u32;
        let write = self.i.op == Mnemonic::Wrmsr;
        if n == 0x10 && !self.now.drained {
            return Err(Stop::NeedsDrain);
        }
        let tsc = self.tsc();
        let v = self.reg(RAX as u8) & 0xffff_ffff | self.reg(RDX as u8) << 32;
        let c = &mut self.cpu;
        let m = &mut c.msr;
        let slot = match n {
            0x10 => {
                if write {
                    m.tsc_offset = m.tsc_offset.wrapping_add(v.wrapping_sub(tsc));
                    return Ok(());
                }
                &mut tsc.clone()
            }
            0x1b => &mut m.apic_base,
            0x174..=0x176 => &mut m.sysenter[(n - 0x174) as usize],
            0x1a0 => &mut m.misc_enable,
            0x277 => &mut m.pat,
            0x2ff => &mut m.mtrr_def,
            0xc000_0080 => &mut c.ctl.efer,
            0xc000_0081 => &mut m.star,
            0xc000_0082 => &mut m.lstar,
            0xc000_0083 => &mut m.cstar,
            0xc000_0084 => &mut m.sfmask,
            0xc000_0100 => &mut c.c.base[1],
            0xc000_0101 => &mut c.c.base[2],
            0xc000_0102 => &mut m.kernel_gs,
            0xc000_0103 => &mut m.tsc_aux,
            _ => return Err(gp(0)),
        };
        if !write {
            let v = *slot;
            self.set32(RAX, v as u32);
            self.set32(RDX, (v >> 32) as u32);
            return Ok(());
        }
        let address = matches!(n, 0xc000_0082 | 0xc000_0083 | 0xc000_0100..=0xc000_0102);
        if address && !canonical(v) {
            return Err(gp(0));
        }
        if n == 0xc000_0080 {
            let fixed = efer::LME | efer::LMA;
            if v & !(efer::SCE | efer::NXE | fixed) != 0 || v & efer::LME == 0 {
                return Err(gp(0));
            }
            c.ctl.efer = v | fixed;
            c.xlat.flush();
        } else {
            *slot = v;
        }
        Ok(())
    }

    /// Ports lie where gem5 has them in the physical address space.
    pub(super) fn port(&mut self) -> R<()> {
        let iopl = (self.cpu.c.sys & Rflags::IOPL).bits() >> 12;
        if u64::from(self.cpu.cpl) > iopl {
            return Err(gp(0));
        }
        if !self.now.drained {
            return Err(Stop::NeedsDrain);
        }
        let input = self.i.op == Mnemonic::In;
        let (data, port) = if input { (self.i.k[0], self.i.k[1]) } else { (self.i.k[1], self.i.k[0]) };
        let number = if port.kind == Kind::Imm { self.i.imm & 0xff } else { self.reg(RDX as u8) & 0xffff };
        let size: u8 = match data.kind {
            Kind::R8 => 1,
            Kind::R16 => 2,
            _ => 4,
        };
        let at = IO_BASE + number;
        if input {
            let v = self.bus.device_read(at, u16::from(size), self.now.tick).unwrap_or(mask(size));
            self.set_reg(data.kind, RAX as u8, v);
        } else {
            let v = self.reg(RAX as u8) & mask(size);
            // Writes to a port without a device are dropped.
            if let Ok(effect) = self.bus.device_write(at, u16::from(size), v, self.now.tick) {
                self.cpu.outcome.effect = effect;
            }
        }
        Ok(())
    }
}
