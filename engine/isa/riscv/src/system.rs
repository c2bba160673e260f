//! The cold instructions: environment calls, returns, CSR access, fences, cache-block operations, gem5's pseudo-ops.

use breakeven_base::bus::ExitCause;
use breakeven_base::{Bus, MemKind, MemRef, Now, PseudoOutcome, SysEffect, Tick};

use crate::csr::{envcfg, num, status, CsrError};
use crate::hart::{Hart, Stop};
use crate::inst::{Inst, Op, SINK};
use crate::mmu::{access_fault, PAGE};
use crate::mode::Mode;
use crate::pmp::Access;

fn illegal(i: &Inst) -> Stop {
    Stop::Fault { cause: 2, tval: u64::from(i.raw) }
}

impl Hart {
    /// Executes a cold instruction at `self.pc`; returns where execution goes on. On `Err` nothing has changed.
    pub(crate) fn exec_system<B: Bus>(
        &mut self,
        bus: &mut B,
        now: &Now,
        i: &Inst,
        m: &mut MemRef,
    ) -> Result<u64, Stop> {
        let next = self.pc.wrapping_add(u64::from(i.len));
        match i.op {
            Op::Ecall => return Err(Stop::Fault { cause: 8 + self.mode as u8, tval: 0 }),
            Op::Ebreak => return Err(Stop::Fault { cause: 3, tval: self.pc }),
            Op::Mret if self.mode == Mode::M => return Ok(self.mret()),
            Op::Sret => {
                let trapped = self.mode == Mode::S && self.mstatus & status::TSR != 0;
                if self.mode == Mode::U || trapped {
                    return Err(illegal(i));
                }
                return Ok(self.sret());
            }
            Op::Wfi => self.wfi(bus, now, i)?,
            Op::SfenceVma => {
                let trapped = self.mode == Mode::S && self.mstatus & status::TVM != 0;
                if self.mode == Mode::U || trapped {
                    return Err(illegal(i));
                }
                self.xlat.flush();
                let vaddr = (i.rs1 != 0).then(|| self.regs[usize::from(i.rs1)]);
                self.outcome.effect = SysEffect::TlbFlush { vaddr };
            }
            Op::FenceI => {
                self.xlat.code_stale = true;
                self.outcome.effect = SysEffect::FetchFlush;
            }
            Op::Csrrw | Op::Csrrs | Op::Csrrc | Op::Csrrwi | Op::Csrrsi | Op::Csrrci => self.csr_op(bus, now, i)?,
            Op::CboClean | Op::CboFlush | Op::CboInval | Op::CboZero => self.cache_block(bus, i, m)?,
            Op::M5Op => self.pseudo_op(bus, now, i)?,
            _ => return Err(illegal(i)),
        }
        Ok(next)
    }

    fn csr_op<B: Bus>(&mut self, bus: &mut B, now: &Now, i: &Inst) -> Result<(), Stop> {
        let csr = i.imm as u16;
        let immediate = matches!(i.op, Op::Csrrwi | Op::Csrrsi | Op::Csrrci);
        let source = if immediate { u64::from(i.rm) } else { self.regs[usize::from(i.rs1)] };
        let replace = matches!(i.op, Op::Csrrw | Op::Csrrwi);
        let write = replace || i.rs1 != 0 || (immediate && i.rm != 0);
        let stop = |e| match e {
            CsrError::Illegal => illegal(i),
            CsrError::NeedsDrain => Stop::NeedsDrain,
        };
        // A write without a destination does not read the CSR, so it need not wait until the pipeline has drained.
        let quiet = Now { drained: now.drained || (replace && i.rd == SINK), ..*now };
        let old = self.csr_read(bus, &quiet, csr, write).map_err(stop)?;
        if matches!(csr, num::CYCLE | num::MCYCLE) {
            bus.cycle_read(now.cycle.0);
        }
        if write {
            let value = match i.op {
                Op::Csrrw | Op::Csrrwi => source,
                Op::Csrrs | Op::Csrrsi => self.csr_rmw(csr, old) | source,
                _ => self.csr_rmw(csr, old) & !source,
            };
            self.csr_write(now, csr, value).map_err(stop)?;
        }
        self.regs[usize::from(i.rd)] = old;
        Ok(())
    }

    /// The value that a set or clear of `csr` modifies: of mip only the software bits, without the interrupt lines.
    fn csr_rmw(&self, csr: u16, old: u64) -> u64 {
        match csr {
            num::MIP | num::SIP => self.irq.mip,
            _ => old,
        }
    }

    /// Waits when nothing enabled is pending. Where no interrupt can ever come, the machine ends; otherwise wfi is a
    /// no-op and the guest's loop executes it again.
    fn wfi<B: Bus>(&mut self, bus: &mut B, now: &Now, i: &Inst) -> Result<(), Stop> {
        let trapped = self.mode == Mode::S && self.mstatus & status::TW != 0;
        if self.mode == Mode::U || trapped {
            return Err(illegal(i));
        }
        if !now.drained {
            return Err(Stop::NeedsDrain);
        }
        self.irq.next_sample = Tick::ZERO;
        let awake = self.pending(bus, now) & self.irq.mie != 0;
        if !awake && (self.irq.mie == 0 || bus.irq_deadline() == Tick::MAX) {
            self.outcome.effect = SysEffect::Exit { cause: ExitCause::HaltedForever, code: 0 };
        }
        Ok(())
    }

    /// Whether the mode may execute this cache-block operation, and whether cbo.inval turns into a flush.
    fn block_permission(&self, op: Op) -> Result<MemKind, ()> {
        let grants = |field: u64| {
            (self.mode == Mode::M || self.machine.envcfg & field != 0)
                && (self.mode != Mode::U || self.supervisor.envcfg & field != 0)
        };
        let flushes = |mode_set: bool, cfg: u64| mode_set && cfg & envcfg::CBIE == envcfg::CBIE_FLUSH;
        match op {
            Op::CboClean if grants(envcfg::CBCFE) => Ok(MemKind::CboClean),
            Op::CboFlush if grants(envcfg::CBCFE) => Ok(MemKind::CboFlush),
            Op::CboZero if grants(envcfg::CBZE) => Ok(MemKind::CboZero),
            Op::CboInval if grants(envcfg::CBIE) => {
                let flush = flushes(self.mode != Mode::M, self.machine.envcfg)
                    || flushes(self.mode == Mode::U, self.supervisor.envcfg);
                Ok(if flush { MemKind::CboFlush } else { MemKind::CboInval })
            }
            _ => Err(()),
        }
    }

    fn cache_block<B: Bus>(&mut self, bus: &mut B, i: &Inst, m: &mut MemRef) -> Result<(), Stop> {
        let kind = self.block_permission(i.op).map_err(|()| illegal(i))?;
        let asked = self.regs[usize::from(i.rs1)];
        let vaddr = asked & !(self.options.cbo_block - 1);
        let fault = |cause| Stop::Fault { cause, tval: asked };
        let part = match (kind, self.data_part(bus, vaddr, self.options.cbo_block, Access::Store)) {
            (_, Ok(part)) => part,
            // Cache management needs read or write permission; without either it raises a store fault.
            (MemKind::CboZero, Err(cause)) => return Err(fault(cause)),
            (_, Err(cause)) => {
                self.data_part(bus, vaddr, self.options.cbo_block, Access::Load).map_err(|_| fault(cause))?
            }
        };
        if !bus.ram().contains(part.paddr, self.options.cbo_block) {
            return Err(fault(access_fault(Access::Store)));
        }
        if kind == MemKind::CboZero {
            if let Some(block) = bus.ram_mut().slice_mut(part.paddr, self.options.cbo_block) {
                block.fill(0);
            }
        }
        *m = MemRef::in_one_page(vaddr, self.options.cbo_block, kind, part.shift, part.paddr, part.uncacheable);
        Ok(())
    }

    /// prefetch.{i,r,w}: hints. A prefetch that would fault is dropped, and no page-table bit changes.
    pub(crate) fn prefetch<B: Bus>(&mut self, bus: &mut B, i: &Inst, m: &mut MemRef) {
        let (kind, access) = match i.op {
            Op::PrefetchI => (MemKind::PrefetchFetch, Access::Fetch),
            Op::PrefetchR => (MemKind::PrefetchRead, Access::Load),
            _ => (MemKind::PrefetchWrite, Access::Store),
        };
        let asked = self.regs[usize::from(i.rs1)].wrapping_add(i64::from(i.imm) as u64);
        let vaddr = asked & !(self.options.cbo_block - 1);
        let mode = self.data_mode();
        let x = self.translate(bus, vaddr, access, mode, false).ok();
        *m = match x.filter(|x| {
            self.xlat.pmp.allows(x.paddr, self.options.cbo_block, access, mode)
                && bus.ram().contains(x.paddr, self.options.cbo_block)
                && !bus.is_uncacheable(x.paddr)
        }) {
            Some(x) => MemRef::in_one_page(vaddr, self.options.cbo_block, kind, x.shift, x.paddr, false),
            None => MemRef { vaddr, size: self.options.cbo_block as u16, kind, ..MemRef::default() },
        };
    }

    fn pseudo_op<B: Bus>(&mut self, bus: &mut B, now: &Now, i: &Inst) -> Result<(), Stop> {
        let mut args = [0; 6];
        args.copy_from_slice(&self.regs[10..16]);
        let mode = self.data_mode();
        let hart: &Hart = self;
        let mut translate = |ram: &mut breakeven_base::PhysMem, vaddr: u64, write: bool| {
            let access = if write { Access::Store } else { Access::Load };
            let x = hart.translate_ram(ram, vaddr, access, mode, true).ok()?;
            let rest = PAGE - (x.paddr & (PAGE - 1));
            // The bus copies up to the end of the page; byte-wise protection inside a page is checked at its start.
            let span = if hart.xlat.pmp.uniform(x.paddr & !(PAGE - 1)) { rest } else { 1 };
            hart.xlat.pmp.allows(x.paddr, span, access, mode).then_some(x.paddr)
        };
        match bus.pseudo_op(i.imm as u8, args, *now, &mut translate) {
            PseudoOutcome::Done { ret, effect } => {
                if let Some(v) = ret {
                    self.regs[usize::from(i.rd)] = v;
                }
                if effect != SysEffect::None {
                    self.outcome.effect = effect;
                }
                self.irq.next_sample = Tick::ZERO;
                Ok(())
            }
            PseudoOutcome::NeedsDrain => Err(Stop::NeedsDrain),
            PseudoOutcome::Pause => Err(Stop::Pause),
            PseudoOutcome::Unknown => Err(illegal(i)),
        }
    }
}
