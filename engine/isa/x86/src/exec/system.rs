//! System instructions: control registers, descriptor tables, MSRs, time, ports, cache control, fences, pseudo-ops.

mod registers;

use breakeven_base::bus::ExitCause;
use breakeven_base::{Bus, MemKind, Now, PhysMem, PseudoOutcome, SysEffect};
use iced_x86::Mnemonic;

use super::Exec;
use crate::cpu::{cr0, cr4, gp, Fault, Halt, Stop, NM, R, UD};
use crate::flags::Rflags;
use crate::inst::{Kind, RAX, RBX, RCX, RDX};
use crate::mmu::{canonical, Access};
use crate::simd::XCR0;
use crate::state::Table;

impl<B: Bus> Exec<'_, B> {
    pub(super) fn cache_and_fence(&mut self) -> R<()> {
        use Mnemonic::*;
        let kind = match self.i.op {
            Prefetchnta | Prefetcht0 | Prefetcht1 | Prefetcht2 | Prefetch => MemKind::PrefetchRead,
            Prefetchw | Prefetchwt1 => MemKind::PrefetchWrite,
            Clflush | Clflushopt => MemKind::CboFlush,
            Clwb => MemKind::CboClean,
            Cpuid => {
                self.cpuid();
                return Ok(());
            }
            Xgetbv => return self.xgetbv(),
            Ud0 | Ud1 | Ud2 => return Err(UD),
            _ => return Ok(()),
        };
        let manages = matches!(kind, MemKind::CboFlush | MemKind::CboClean);
        let at = self.ea();
        self.cpu.touch(self.bus, at, kind, manages)
    }

    fn set32(&mut self, r: usize, v: u32) {
        self.cpu.c.r[r] = u64::from(v);
    }

    fn cpuid(&mut self) {
        let (leaf, sub) = (self.reg(RAX as u8) as u32, self.reg(RCX as u8) as u32);
        let mut v = self.cpu.options.cpuid.get(leaf, sub);
        if leaf == 1 && self.cpu.ctl.cr4 & cr4::OSXSAVE != 0 {
            v[2] |= 1 << 27;
        }
        for (r, v) in [RAX, RBX, RCX, RDX].into_iter().zip(v) {
            self.set32(r, v);
        }
    }

    fn xgetbv(&mut self) -> R<()> {
        if self.cpu.ctl.cr4 & cr4::OSXSAVE == 0 {
            return Err(UD);
        }
        if self.reg(RCX as u8) as u32 != 0 {
            return Err(gp(0));
        }
        self.set32(RAX, self.cpu.ctl.xcr0 as u32);
        self.set32(RDX, (self.cpu.ctl.xcr0 >> 32) as u32);
        Ok(())
    }

    pub(super) fn system(&mut self) -> R<()> {
        use Mnemonic::*;
        match self.i.op {
            Mov => self.mov_special(),
            Hlt => self.halt(),
            In | Out => self.port(),
            Rdtsc | Rdtscp => self.time(),
            Rdpmc => self.counter(),
            Rdmsr | Wrmsr => self.msr(),
            Invlpg => {
                self.privileged()?;
                let at = self.ea();
                self.cpu.xlat.flush();
                self.cpu.outcome.effect = SysEffect::TlbFlush { vaddr: Some(at) };
                Ok(())
            }
            Syscall if self.cpu.options.emulated => Err(Stop::Syscall),
            Syscall => {
                self.next = self.cpu.syscall(self.next)?;
                Ok(())
            }
            Sysretq => {
                self.next = self.cpu.sysret()?;
                Ok(())
            }
            Iretq => {
                self.next = self.cpu.iretq(self.bus)?;
                Ok(())
            }
            Retf => self.far_return(),
            Lgdt | Lidt | Ltr | Lldt => self.tables(),
            Swapgs => {
                self.privileged()?;
                std::mem::swap(&mut self.cpu.c.base[2], &mut self.cpu.msr.kernel_gs);
                Ok(())
            }
            Xsetbv => self.xsetbv(),
            Int => Err(Stop::Software(self.i.imm as u8)),
            Int3 => Err(Stop::Software(3)),
            Int1 => Err(Stop::Software(1)),
            Clts => {
                self.privileged()?;
                self.cpu.ctl.cr0 &= !cr0::TS;
                Ok(())
            }
            // Caches hold no data: invd loses nothing.
            Wbinvd | Invd => {
                self.privileged()?;
                if !self.now.drained {
                    return Err(Stop::NeedsDrain);
                }
                // The host goes through every line.
                self.bus.worked_long();
                self.cpu.outcome.effect =
                    SysEffect::CacheFlush { at: self.now.tick, line_cycles: self.cpu.options.wbinvd_line };
                Ok(())
            }
            Stac | Clac | Cli | Sti => self.flag_switch(),
            Popf | Popfq => self.stack(),
            Wrfsbase | Wrgsbase => {
                let n = 1 + usize::from(self.i.op == Wrgsbase);
                let v = self.read(0)?;
                if self.cpu.ctl.cr4 & cr4::FSGSBASE == 0 {
                    return Err(UD);
                }
                if !canonical(v) {
                    return Err(gp(0));
                }
                self.cpu.c.base[n] = v;
                Ok(())
            }
            Fxsave | Fxsave64 | Fxrstor | Fxrstor64 | Fninit | Fnclex | Fldcw | Fnstcw | Fnstsw => self.x87(),
            _ => Err(Stop::Unknown),
        }
    }

    fn flag_switch(&mut self) -> R<()> {
        use Mnemonic::*;
        let (bit, on) = match self.i.op {
            Stac => (Rflags::AC, true),
            Clac => (Rflags::AC, false),
            Cli => (Rflags::IF, false),
            _ => (Rflags::IF, true),
        };
        if self.cpu.cpl != 0 {
            return Err(if bit == Rflags::AC { UD } else { gp(0) });
        }
        self.cpu.set_rflags(if on { bit } else { Rflags::empty() }, bit);
        Ok(())
    }

    /// Moves from and to control, debug and segment registers.
    fn mov_special(&mut self) -> R<()> {
        let (to, from) = (self.i.k[0], self.i.k[1]);
        match (to.kind, from.kind) {
            (Kind::Seg, _) => self.load_segment(usize::from(to.r) % 6),
            (_, Kind::Cr) => {
                self.privileged()?;
                let c = &self.cpu;
                let v = match from.r {
                    0 => c.ctl.cr0,
                    2 => c.ctl.cr2,
                    3 => c.ctl.cr3,
                    4 => c.ctl.cr4,
                    8 => c.ctl.cr8,
                    _ => return Err(UD),
                };
                self.set_reg(Kind::R64, to.r, v);
                Ok(())
            }
            (_, Kind::Dr) => {
                self.privileged()?;
                let v = self.cpu.ctl.dr[usize::from(from.r & 7)];
                self.set_reg(Kind::R64, to.r, v);
                Ok(())
            }
            (Kind::Dr, _) => {
                self.privileged()?;
                let v = self.reg(from.r);
                if to.r & 7 == 7 && v & 0xff != 0 {
                    // Breakpoints are not modelled.
                    return Err(Stop::Unknown);
                }
                self.cpu.ctl.dr[usize::from(to.r & 7)] = v;
                Ok(())
            }
            _ => self.write_control(to.r, self.reg(from.r)),
        }
    }

    fn write_control(&mut self, n: u8, v: u64) -> R<()> {
        self.privileged()?;
        let c = &mut self.cpu;
        match n {
            0 => {
                // Leaving 64-bit mode is not modelled: paging and protection stay on.
                if v & cr0::PG == 0 || v & cr0::PE == 0 || v >> 32 != 0 {
                    return Err(gp(0));
                }
                c.ctl.cr0 = v | cr0::ET;
            }
            2 => {
                c.ctl.cr2 = v;
                return Ok(());
            }
            3 => c.ctl.cr3 = v,
            4 => {
                let known = 0x7ff | cr4::FSGSBASE | cr4::OSXSAVE | cr4::SMEP | cr4::SMAP | cr4::PGE | 1 << 17;
                let f = &c.options.features;
                let lacks = (v & cr4::SMAP != 0 && !f.smap)
                    || (v & cr4::SMEP != 0 && !f.smep)
                    || (v & cr4::OSXSAVE != 0 && !f.avx)
                    || (v & cr4::FSGSBASE != 0 && !f.fsgsbase);
                if v & cr4::PAE == 0 || v & !known != 0 || lacks {
                    return Err(gp(0));
                }
                c.ctl.cr4 = v;
            }
            8 => {
                c.ctl.cr8 = v & 15;
                return Ok(());
            }
            _ => return Err(UD),
        }
        c.xlat.flush();
        c.context_changed();
        c.outcome.effect = SysEffect::TlbFlush { vaddr: None };
        Ok(())
    }

    /// Data segments are flat: only FS and GS have a base, from the descriptor.
    fn load_segment(&mut self, n: usize) -> R<()> {
        let v = self.read(1)? as u16;
        if n == 1 {
            return Err(UD);
        }
        let mut base = 0;
        if v & !3 != 0 {
            let d = self.cpu.descriptor(self.bus, v).map_err(Stop::Fault)?;
            base = d >> 16 & 0xff_ffff | d >> 32 & 0xff00_0000;
        }
        self.cpu.s.sel[n] = v;
        if n >= 4 {
            self.cpu.c.base[n - 3] = base;
        }
        Ok(())
    }

    fn tables(&mut self) -> R<()> {
        self.privileged()?;
        if matches!(self.i.op, Mnemonic::Lgdt | Mnemonic::Lidt) {
            let at = self.ea();
            let limit = self.load(at, 2)? as u16;
            let base = self.load(at.wrapping_add(2), 8)?;
            if !canonical(base) {
                return Err(gp(0));
            }
            let table = Table { base, limit };
            if self.i.op == Mnemonic::Lgdt {
                self.cpu.s.gdt = table;
            } else {
                self.cpu.s.idt = table;
            }
            return Ok(());
        }
        let selector = self.read(0)? as u16;
        if self.i.op == Mnemonic::Lldt {
            if selector & !3 != 0 {
                return Err(Stop::Unknown);
            }
            self.cpu.s.ldtr = selector;
            return Ok(());
        }
        let d = self.cpu.descriptor(self.bus, selector).map_err(Stop::Fault)?;
        let kind = d >> 40 & 0x1f;
        let at = self.cpu.s.gdt.base.wrapping_add(u64::from(selector & !7)).wrapping_add(8);
        let high = self.cpu.system_read(self.bus, at).map_err(Stop::Fault)?;
        if kind != 9 || d >> 47 & 1 == 0 {
            return Err(gp(u32::from(selector & !3)));
        }
        let s = &mut self.cpu.s;
        s.tr = selector;
        s.tr_base = d >> 16 & 0xff_ffff | d >> 32 & 0xff00_0000 | high << 32;
        s.tr_limit = (d & 0xffff | d >> 32 & 0xf_0000) as u32;
        Ok(())
    }

    /// Within the same privilege: how a guest loads CS.
    fn far_return(&mut self) -> R<()> {
        let sp = self.rsp();
        let (to, cs) = (self.load(sp, 8)?, self.load(sp.wrapping_add(8), 8)?);
        if self.i.size != 8 || (cs & 3) as u8 != self.cpu.cpl {
            return Err(Stop::Unknown);
        }
        self.cpu.descriptor(self.bus, cs as u16).map_err(Stop::Fault)?;
        if !canonical(to) {
            return Err(gp(0));
        }
        self.cpu.s.sel[1] = cs as u16;
        self.set_rsp(sp.wrapping_add(16 + (self.i.imm & 0xffff)));
        self.next = to;
        self.cpu.outcome.taken = true;
        Ok(())
    }

    fn xsetbv(&mut self) -> R<()> {
        if self.cpu.ctl.cr4 & cr4::OSXSAVE == 0 {
            return Err(UD);
        }
        let v = self.reg(RAX as u8) & 0xffff_ffff | self.reg(RDX as u8) << 32;
        // x87 always; AVX needs SSE.
        let known = 7 | if self.cpu.options.features.avx512 { XCR0 } else { 0 };
        // AVX-512's three parts go together, and with AVX.
        let part = v & !7 != 0 && v & XCR0 != XCR0;
        let bad = v & 1 == 0 || v & !known != 0 || v & 6 == 4 || (v & 4 != 0 && !self.cpu.options.features.avx) || part;
        if self.cpu.cpl != 0 || self.reg(RCX as u8) as u32 != 0 || bad {
            return Err(gp(0));
        }
        self.cpu.ctl.xcr0 = v;
        Ok(())
    }

    /// No interrupt can come: the machine ends.
    fn halt(&mut self) -> R<()> {
        self.privileged()?;
        if !self.now.drained {
            return Err(Stop::NeedsDrain);
        }
        self.cpu.halted = Some(Halt::Hlt { pc: self.cpu.rip() });
        self.cpu.outcome.effect = SysEffect::Exit { cause: ExitCause::HaltedForever, code: 0 };
        Ok(())
    }

    pub(super) fn pseudo_op(&mut self) -> R<()> {
        // rdi, rsi, rdx, rcx, r8, r9: the C calling convention.
        let args = [7, 6, 2, 1, 8, 9].map(|r| self.reg(r));
        let cpu = &*self.cpu;
        let user = cpu.cpl == 3;
        let mut translate = |ram: &mut PhysMem, vaddr: u64, write: bool| {
            let access = if write { Access::Store } else { Access::Load };
            cpu.translate(ram, vaddr, access, user, true).ok().map(|x| x.paddr)
        };
        let Ok(func) = u8::try_from(self.i.imm) else { return Err(UD) };
        // A mark of no delay acts at commit and does not drain the pipeline.
        let undrained = cpu.options.statistics_ops_need_no_drain && self.i.is_statistics_op() && args[..2] == [0, 0];
        let now = Now { drained: self.now.drained || undrained, ..*self.now };
        match self.bus.pseudo_op(func, args, now, &mut translate) {
            PseudoOutcome::Done { ret, effect } => {
                if let Some(v) = ret {
                    self.cpu.c.r[RAX] = v;
                }
                if effect != SysEffect::None {
                    self.cpu.outcome.effect = effect;
                }
                // It may have written code.
                self.cpu.xlat.code_stale = true;
                Ok(())
            }
            PseudoOutcome::NeedsDrain => Err(Stop::NeedsDrain),
            PseudoOutcome::Pause => Err(Stop::Pause),
            PseudoOutcome::Unknown => Err(UD),
        }
    }

    /// The x87 control registers, its environment and FXSAVE.
    fn x87(&mut self) -> R<()> {
        use Mnemonic::*;
        if self.cpu.ctl.cr0 & (cr0::EM | cr0::TS) != 0 {
            return Err(NM);
        }
        match self.i.op {
            Fninit => {
                let c = &mut self.cpu.c;
                (c.x87.fcw, c.x87.fsw, c.x87.tags) = (0x37f, 0, 0);
            }
            Fnclex => self.cpu.c.x87.fsw &= 0x7f00,
            Fldcw => {
                let at = self.ea();
                self.cpu.c.x87.fcw = self.load(at, 2)? as u16;
            }
            Fnstcw => {
                let (at, v) = (self.ea(), self.cpu.c.x87.fcw);
                self.store(at, 2, u64::from(v))?;
            }
            Fnstsw => {
                let v = u64::from(self.cpu.c.x87.fsw);
                self.write(0, v)?;
            }
            _ => return self.fx_area(),
        }
        Ok(())
    }

    fn fx_area(&mut self) -> R<()> {
        let at = self.ea();
        if at & 15 != 0 {
            return Err(Stop::Fault(Fault { vector: 13, error: 0, addr: 0 }));
        }
        let save = matches!(self.i.op, Mnemonic::Fxsave | Mnemonic::Fxsave64);
        if save {
            self.cpu.probe_store(self.bus, at, 416)?;
            let c = self.cpu.c;
            let head = u64::from(c.x87.fcw) | u64::from(c.x87.fsw) << 16 | u64::from(c.x87.tags) << 32;
            self.store(at, 8, head)?;
            self.store(at + 24, 8, u64::from(c.mxcsr) | 0xffff << 32)?;
            for (n, (mantissa, exponent)) in (0u64..).zip(c.x87.in_order()) {
                self.store(at + 32 + 16 * n, 8, mantissa)?;
                self.store(at + 40 + 16 * n, 2, u64::from(exponent))?;
            }
            for (n, v) in (0u64..).zip(c.v) {
                self.cpu.store_v(self.bus, self.now, at + 160 + 16 * n, 16, v)?;
            }
            return Ok(());
        }
        let head = self.load(at, 8)?;
        let mxcsr = self.load(at + 24, 4)? as u32;
        if mxcsr & 0xffff_0000 != 0 {
            return Err(gp(0));
        }
        let mut c = self.cpu.c;
        (c.x87.fcw, c.x87.fsw, c.x87.tags, c.mxcsr) = (head as u16, (head >> 16) as u16, (head >> 32) as u8, mxcsr);
        for n in 0..8 {
            let slot = usize::from(c.x87.fsw >> 11).wrapping_add(n) & 7;
            c.x87.mm[slot] = self.load(at + 32 + 16 * n as u64, 8)?;
            c.x87.exponents[slot] = self.load(at + 40 + 16 * n as u64, 2)? as u16;
        }
        for (n, v) in (0u64..).zip(&mut c.v) {
            let low = self.cpu.load_v(self.bus, self.now, at + 160 + 16 * n, 16)?;
            (v.0[0], v.0[1]) = (low.0[0], low.0[1]);
        }
        self.cpu.c = c;
        Ok(())
    }
}
