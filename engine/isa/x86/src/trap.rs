//! Exceptions through the IDT, iretq, syscall and sysret. Interrupt lines are not connected: there is no APIC, and guests
//! poll. A fault while one is being delivered is a double fault, a fault in that a triple fault: the machine ends.

use breakeven_base::Bus;

use crate::cpu::{efer, gp, Cpu, Fault, Stop, R, UD};
use crate::flags::Rflags;
use crate::inst::{RCX, RSP};
use crate::mmu::{canonical, Access, PAGE};

const R11: usize = 11;

fn has_error_code(vector: u8) -> bool {
    matches!(vector, 8 | 10..=14 | 17)
}

/// A code segment's or task's descriptor.
fn read_gp(selector: u16) -> Fault {
    Fault { vector: 13, error: u32::from(selector & !3), addr: 0 }
}

impl Cpu {
    /// An implicit supervisor read of 8 bytes (descriptor tables, stacks).
    pub(crate) fn system_read<B: Bus>(&mut self, bus: &mut B, vaddr: u64) -> Result<u64, Fault> {
        let mut b = [0u8; 8];
        for (k, byte) in b.iter_mut().enumerate() {
            let x = self.translate(bus.ram_mut(), vaddr.wrapping_add(k as u64), Access::Load, false, true)?;
            *byte = bus.ram().read::<u8>(x.paddr).unwrap_or(0xff);
        }
        Ok(u64::from_le_bytes(b))
    }

    /// Writes aligned 8 bytes.
    fn system_write<B: Bus>(&mut self, bus: &mut B, vaddr: u64, v: u64) -> Result<(), Fault> {
        let x = self.translate(bus.ram_mut(), vaddr, Access::Store, false, true)?;
        let _ = bus.ram_mut().write::<u64>(x.paddr, v);
        if self.xlat.code_map.contains_key(&(x.paddr / PAGE)) {
            self.xlat.code_stale = true;
        }
        Ok(())
    }

    /// The descriptor that a selector names.
    pub(crate) fn descriptor<B: Bus>(&mut self, bus: &mut B, selector: u16) -> Result<u64, Fault> {
        let at = u64::from(selector & !7);
        if selector & 4 != 0 || at == 0 || at + 7 > u64::from(self.s.gdt.limit) {
            return Err(read_gp(selector));
        }
        self.system_read(bus, self.s.gdt.base.wrapping_add(at))
    }

    /// Delivers `fault`; `Err` is a triple fault.
    pub(crate) fn raise<B: Bus>(&mut self, bus: &mut B, fault: Fault, rip: u64, software: bool) -> Result<(), ()> {
        let mut f = fault;
        for _ in 0..2 {
            if f.vector == 14 {
                self.ctl.cr2 = f.addr;
            }
            match self.deliver(bus, f, rip, software) {
                Ok(()) => return Ok(()),
                // A benign first fault is followed by the second one; else it is a double fault.
                Err(second) => {
                    let contributory = |v: u8| matches!(v, 0 | 10..=14);
                    let double = contributory(f.vector) && contributory(second.vector);
                    if f.vector == 8 {
                        return Err(());
                    }
                    f = if double { Fault { vector: 8, error: 0, addr: 0 } } else { second };
                }
            }
        }
        Err(())
    }

    fn deliver<B: Bus>(&mut self, bus: &mut B, f: Fault, rip: u64, software: bool) -> Result<(), Fault> {
        let at = 16 * u64::from(f.vector);
        let refused = Fault { vector: 13, error: u32::from(f.vector) << 3 | 2, addr: 0 };
        if at + 15 > u64::from(self.s.idt.limit) {
            return Err(refused);
        }
        let low = self.system_read(bus, self.s.idt.base.wrapping_add(at))?;
        let high = self.system_read(bus, self.s.idt.base.wrapping_add(at + 8))?;
        let (kind, dpl, present) = (low >> 40 & 0x1f, (low >> 45 & 3) as u8, low >> 47 & 1 != 0);
        if !matches!(kind, 0xe | 0xf) || !present || (software && dpl < self.cpl) {
            return Err(refused);
        }
        let offset = low & 0xffff | low >> 32 & 0xffff_0000 | (high & 0xffff_ffff) << 32;
        let selector = (low >> 16) as u16;
        let code = self.descriptor(bus, selector)?;
        let cpl = (code >> 45 & 3) as u8;
        if cpl > self.cpl || code >> 44 & 1 == 0 || !canonical(offset) {
            return Err(read_gp(selector));
        }
        let ist = low >> 32 & 7;
        let stack = if ist != 0 {
            self.task_word(bus, 0x24 + 8 * (ist - 1))?
        } else if cpl < self.cpl {
            self.task_word(bus, 4 + 8 * u64::from(cpl))?
        } else {
            self.c.r[RSP]
        };
        let mut sp = stack & !15;
        let frame = [u64::from(self.s.sel[2]), self.c.r[RSP], self.rflags().bits(), u64::from(self.s.sel[1]), rip];
        for v in frame.into_iter().chain(has_error_code(f.vector).then_some(u64::from(f.error))) {
            sp = sp.wrapping_sub(8);
            self.system_write(bus, sp, v)?;
        }
        self.c.r[RSP] = sp;
        if cpl != self.cpl {
            self.s.sel[2] = u16::from(cpl);
        }
        self.s.sel[1] = selector & !3 | u16::from(cpl);
        self.cpl = cpl;
        let cleared = Rflags::TF | Rflags::NT | Rflags::RF | if kind == 0xe { Rflags::IF } else { Rflags::empty() };
        self.c.sys.remove(cleared);
        self.context_changed();
        self.set_rip(offset);
        Ok(())
    }

    fn task_word<B: Bus>(&mut self, bus: &mut B, offset: u64) -> Result<u64, Fault> {
        if offset + 7 > u64::from(self.s.tr_limit) {
            return Err(Fault { vector: 10, error: u32::from(self.s.tr & !3), addr: 0 });
        }
        self.system_read(bus, self.s.tr_base.wrapping_add(offset))
    }

    /// iretq: returns where execution goes on.
    pub(crate) fn iretq<B: Bus>(&mut self, bus: &mut B) -> R<u64> {
        let sp = self.c.r[RSP];
        let mut word = [0u64; 5];
        for (k, w) in word.iter_mut().enumerate() {
            *w = self.system_read(bus, sp.wrapping_add(8 * k as u64)).map_err(Stop::Fault)?;
        }
        let [rip, cs, rflags, rsp, ss] = word;
        let rflags = Rflags::from_bits_truncate(rflags);
        let cpl = (cs & 3) as u8;
        if cpl < self.cpl || !canonical(rip) {
            return Err(gp(cs as u32 & 0xfffc));
        }
        let mut which = Rflags::ARITH | Rflags::DF | Rflags::TF | Rflags::NT | Rflags::AC | Rflags::ID;
        if self.cpl == 0 {
            which |= Rflags::IOPL | Rflags::IF;
        }
        if rflags.contains(Rflags::TF) {
            return Err(Stop::Unknown);
        }
        self.set_rflags(rflags, which);
        self.c.r[RSP] = rsp;
        (self.s.sel[1], self.s.sel[2], self.cpl) = (cs as u16, ss as u16, cpl);
        self.context_changed();
        Ok(rip)
    }

    pub(crate) fn syscall(&mut self, next: u64) -> R<u64> {
        if self.ctl.efer & efer::SCE == 0 {
            return Err(UD);
        }
        self.c.r[RCX] = next;
        self.c.r[R11] = self.rflags().difference(Rflags::RF).bits();
        let cs = (self.msr.star >> 32) as u16 & !3;
        (self.s.sel[1], self.s.sel[2], self.cpl) = (cs, cs.wrapping_add(8), 0);
        let keep = self.rflags().difference(Rflags::from_bits_truncate(self.msr.sfmask));
        self.set_rflags(keep, Rflags::all());
        self.context_changed();
        Ok(self.msr.lstar)
    }

    pub(crate) fn sysret(&mut self) -> R<u64> {
        if self.ctl.efer & efer::SCE == 0 {
            return Err(UD);
        }
        let to = self.c.r[RCX];
        if self.cpl != 0 || !canonical(to) {
            return Err(gp(0));
        }
        let v = Rflags::from_bits_truncate(self.c.r[R11]);
        if v.contains(Rflags::TF) {
            return Err(Stop::Unknown);
        }
        self.set_rflags(v, Rflags::all());
        let base = (self.msr.star >> 48) as u16;
        (self.s.sel[1], self.s.sel[2], self.cpl) = (base.wrapping_add(16) | 3, base.wrapping_add(8) | 3, 3);
        self.context_changed();
        Ok(to)
    }
}
