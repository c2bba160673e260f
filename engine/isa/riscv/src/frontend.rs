//! The front end: fetch through the decode cache, execute, describe.

mod access;
mod path;
mod undescribed;
mod vector;

use breakeven_base::{
    decoded_at, BranchInfo, BranchKind, Bus, ConfigError, FetchXlat, FrontEnd, MemRef, Now, PathEnd, PathInst,
    PhysAddr, References, Step, StepResult, SysEffect, UopFlags, WalkPath,
};

use crate::code::CodeCache;
use crate::config::RiscvConfig;
use crate::decode::decode;
use crate::exec::exec;
use crate::hart::{Hart, Stop};
use crate::inst::{Inst, Op};
use crate::mmu::PAGE;
use crate::pmp::Access;
use crate::uops::trap_uop;

/// Fetch translations kept per mode.
const FETCH_BANK: usize = 64;
/// No page.
const NO_PAGE: u64 = u64::MAX;

#[derive(Clone, Copy, Debug)]
struct FetchEntry {
    vpn: u64,
    /// Physical address of the page.
    paddr: u64,
    slot: u32,
    /// log2 of the page that maps it; 0: translation is off.
    shift: u8,
}

const EMPTY: FetchEntry = FetchEntry { vpn: NO_PAGE, paddr: 0, slot: 0, shift: 0 };

/// One RISC-V hart.
#[derive(Debug)]
pub struct RiscvFrontEnd {
    pub(crate) hart: Hart,
    code: CodeCache,
    fetch: [FetchEntry; 4 * FETCH_BANK],
    /// See [`FrontEnd::translations`].
    translations: u64,
    /// The virtual page that `slot` holds decoded, for the present mode.
    page: u64,
    slot: u32,
}

impl Clone for RiscvFrontEnd {
    fn clone(&self) -> Self {
        RiscvFrontEnd {
            hart: self.hart.clone(),
            code: self.code.clone(),
            fetch: self.fetch,
            translations: self.translations,
            page: self.page,
            slot: self.slot,
        }
    }
    fn clone_from(&mut self, from: &Self) {
        self.hart.clone_from(&from.hart);
        self.code.clone_from(&from.code);
        self.fetch = from.fetch;
        self.translations = from.translations;
        (self.page, self.slot) = (from.page, from.slot);
    }
}

/// A page of instructions, and whether it may be cached for its virtual page.
#[derive(Clone, Copy)]
struct Fetched {
    slot: u32,
    paddr: u64,
    shift: u8,
    keep: bool,
}

impl RiscvFrontEnd {
    /// A hart at its reset state.
    ///
    /// # Errors
    /// See [`RiscvConfig::check`].
    pub fn new(config: &RiscvConfig) -> Result<Self, ConfigError> {
        config.check()?;
        Ok(RiscvFrontEnd {
            hart: Hart::new(config),
            code: CodeCache::default(),
            fetch: [EMPTY; 4 * FETCH_BANK],
            translations: 0,
            page: NO_PAGE,
            slot: 0,
        })
    }

    /// The two bytes of code at `vaddr`.
    fn fetch_half<B: Bus>(&mut self, bus: &mut B, vaddr: u64) -> Option<u32> {
        let paddr = self.fetch_translate(bus, vaddr)?.paddr.0;
        bus.ram().read::<u16>(paddr).map(u32::from)
    }

    /// Invalidates what the last cold instruction may have made stale.
    pub(crate) fn after_cold(&mut self) {
        self.page = NO_PAGE;
        if std::mem::take(&mut self.hart.xlat.code_stale) {
            self.code.mark_stale();
            self.hart.xlat.fetch_stale = true;
        }
        if std::mem::take(&mut self.hart.xlat.fetch_stale) {
            self.forget_translations();
        }
    }

    fn forget_translations(&mut self) {
        self.translations += 1;
        self.fetch = [EMPTY; 4 * FETCH_BANK];
    }

    /// Makes `self.slot` the decoded page of `pc`; the error is the exception's cause.
    fn enter_page<B: Bus>(&mut self, bus: &mut B, pc: u64) -> Result<(), u8> {
        let vpn = pc / PAGE;
        let at = (self.hart.mode as usize) * FETCH_BANK + (vpn as usize & (FETCH_BANK - 1));
        if self.fetch[at].vpn == vpn {
            self.slot = self.fetch[at].slot;
            self.page = vpn;
            return Ok(());
        }
        let found = self.fetch_page(bus, pc, 2)?;
        self.slot = found.slot;
        if found.keep {
            let paddr = found.paddr & !(PAGE - 1);
            self.fetch[at] = FetchEntry { vpn, paddr, slot: found.slot, shift: found.shift };
            self.page = vpn;
        } else {
            // Protection differs inside the page, or A and D are not set yet: every fetch translates again.
            self.page = NO_PAGE;
        }
        Ok(())
    }

    fn fetch_page<B: Bus>(&mut self, bus: &mut B, pc: u64, bytes: u64) -> Result<Fetched, u8> {
        let mode = self.hart.mode;
        self.translations += 1;
        let update = !self.hart.speculative();
        let x = self.hart.translate(bus, pc, Access::Fetch, mode, update)?;
        if !self.hart.xlat.pmp.allows(x.paddr, bytes, Access::Fetch, mode) {
            return Err(1);
        }
        let (slot, void) = self.code.lookup(bus.ram(), x.paddr, &self.hart.options.extensions).ok_or(1u8)?;
        if void {
            self.forget_translations();
            self.page = NO_PAGE;
        }
        let keep = x.ad_bits_set && self.hart.xlat.pmp.uniform(x.paddr & !(PAGE - 1));
        Ok(Fetched { slot, paddr: x.paddr, shift: x.shift, keep })
    }

    /// The instruction at `pc` where it crosses into the next page, or where protection is finer than a page.
    fn fetch_whole<B: Bus>(&mut self, bus: &mut B, pc: u64) -> Result<Inst, Stop> {
        let inst = *self.code.page(self.slot).at(pc);
        if inst.op != Op::Straddle && (self.page != NO_PAGE || inst.len == 2) {
            return Ok(inst);
        }
        let rest = pc.wrapping_add(2);
        let found = self.fetch_page(bus, rest, 2).map_err(|cause| Stop::Fault { cause, tval: rest })?;
        if inst.op != Op::Straddle {
            return Ok(inst);
        }
        let high = bus.ram().read::<u16>(found.paddr).ok_or(Stop::Fault { cause: 1, tval: rest })?;
        Ok(decode(inst.raw & 0xffff | u32::from(high) << 16, &self.hart.options.extensions))
    }

    /// Everything but the common case: page changes, cold instructions, faults, interrupts.
    #[inline(never)]
    fn step_slow<B: Bus>(&mut self, bus: &mut B, now: &Now, out: &mut Step) -> StepResult {
        let pc = self.hart.pc;
        out.decoded = 0;
        if self.hart.vector.cracked.pending() {
            // The rest of a long vector instruction.
            self.vector_step(out);
            return StepResult::Done;
        }
        if self.hart.irq.mask != 0 && !self.hart.speculative() {
            if self.hart.options.emulated {
                if now.tick >= self.hart.irq.next_sample && self.user_preempt(bus, now, out) {
                    return StepResult::Done;
                }
            } else if let Some(cause) = self.hart.interrupt(bus, now) {
                self.trap(out, cause, 0, 0);
                return StepResult::Done;
            }
        }
        if pc / PAGE != self.page {
            if let Err(cause) = self.enter_page(bus, pc) {
                return self.stopped(bus, now, out, Stop::Fault { cause, tval: pc }, None);
            }
        }
        let inst = match self.fetch_whole(bus, pc) {
            Ok(inst) => inst,
            Err(stop) => return self.stopped(bus, now, out, stop, None),
        };
        if inst.op.is_vector() {
            return self.step_vector(bus, now, &inst, out);
        }
        let mut m = MemRef::default();
        let cold = inst.op.is_cold();
        let result = if !cold {
            exec::<false, B>(&mut self.hart, bus, now, &inst, pc, &mut m)
        } else if self.hart.speculative() {
            Err(Stop::Blocked)
        } else {
            self.hart.exec_system(bus, now, &inst, &mut m)
        };
        if cold {
            self.after_cold();
        }
        match result {
            Ok(next) => {
                self.finish(out, &inst, 0, pc, next);
                out.mem[0] = m;
                StepResult::Done
            }
            Err(stop) => self.stopped(bus, now, out, stop, Some(&inst)),
        }
    }

    /// Describes an executed instruction and advances the pc. The caller fills `out.mem`.
    #[inline(always)]
    fn finish(&mut self, out: &mut Step, inst: &Inst, decoded: u64, pc: u64, next: u64) {
        out.pc = pc;
        out.decoded = decoded;
        out.len = inst.len;
        out.n = 1;
        out.next_pc = next;
        out.uops[0] = inst.uop;
        out.branch = match inst.branch {
            BranchKind::None => BranchInfo::default(),
            BranchKind::Cond => BranchInfo {
                kind: BranchKind::Cond,
                taken: self.hart.outcome.taken,
                target: pc.wrapping_add(i64::from(inst.imm) as u64),
            },
            kind => BranchInfo { kind, taken: true, target: next },
        };
        out.effect = SysEffect::None;
        if self.hart.outcome.effect != SysEffect::None {
            out.effect = std::mem::take(&mut self.hart.outcome.effect);
            out.uops[0].flags |= UopFlags::EFFECT;
            out.decoded = 0;
        }
        self.hart.pc = next;
        self.hart.counters.retired += 1;
    }

    /// An instruction that did not complete, or a fetch that faulted. One that must wait is described as decoded.
    #[cold]
    fn stopped<B: Bus>(
        &mut self,
        bus: &mut B,
        now: &Now,
        out: &mut Step,
        stop: Stop,
        inst: Option<&Inst>,
    ) -> StepResult {
        let (len, uop) = inst.map_or((0, None), |i| (i.len, Some(i.uop)));
        (out.pc, out.len, out.n, out.decoded) = (self.hart.pc, len, u8::from(uop.is_some()), 0);
        out.uops[0] = uop.unwrap_or_default();
        match stop {
            _ if self.hart.speculative() => StepResult::Blocked,
            Stop::Fault { cause, tval } if self.hart.options.emulated => {
                self.user_trap(bus, now, out, cause, tval, len)
            }
            Stop::Fault { cause, tval } => {
                self.trap(out, u64::from(cause), tval, len);
                StepResult::Done
            }
            Stop::NeedsDrain | Stop::SlowPath => StepResult::NeedsDrain,
            Stop::Pause => StepResult::Paused,
            Stop::Blocked => StepResult::Blocked,
        }
    }

    fn trap(&mut self, out: &mut Step, cause: u64, tval: u64, len: u8) {
        let from = self.hart.pc;
        self.hart.take_trap(cause, tval);
        self.describe_trap(out, from, len);
    }

    /// A trap at `from` that goes on at the present program counter.
    pub(crate) fn describe_trap(&mut self, out: &mut Step, from: u64, len: u8) {
        out.pc = from;
        out.len = len;
        out.n = 1;
        out.decoded = 0;
        out.branch = BranchInfo::default();
        out.effect = SysEffect::None;
        out.uops[0] = trap_uop();
        out.mem[0] = MemRef::default();
        out.next_pc = self.hart.pc;
        self.page = NO_PAGE;
    }
}

impl FrontEnd for RiscvFrontEnd {
    const INST_SHIFT: u32 = 1;

    #[inline]
    fn pc(&self) -> u64 {
        self.hart.pc
    }

    #[inline]
    fn step<B: Bus>(&mut self, bus: &mut B, now: Now, out: &mut Step) -> StepResult {
        let pc = self.hart.pc;
        if pc / PAGE != self.page || self.hart.irq.mask != 0 {
            return self.step_slow(bus, &now, out);
        }
        let page = self.code.page(self.slot);
        let inst = page.at(pc);
        if inst.op.leaves_inner_loop() {
            if inst.op.is_vector() {
                let inst = *inst;
                return self.step_vector(bus, &now, &inst, out);
            }
            return self.step_slow(bus, &now, out);
        }
        match exec::<false, B>(&mut self.hart, bus, &now, inst, pc, &mut out.mem[0]) {
            Ok(next) => {
                let (inst, decoded) = (*inst, decoded_at(page.number, pc));
                self.finish(out, &inst, decoded, pc, next);
                StepResult::Done
            }
            Err(stop) => {
                let inst = *inst;
                self.stopped(bus, &now, out, stop, Some(&inst))
            }
        }
    }

    fn run_path<B: Bus>(
        &mut self,
        bus: &mut B,
        out: &mut Step,
        path: impl FnMut(usize) -> Option<PathInst>,
        visit: impl FnMut(usize, &[MemRef]) -> bool,
    ) -> PathEnd {
        self.run_known_path(bus, out, path, visit)
    }

    fn run_fast<B: Bus>(&mut self, bus: &mut B, now: Now, max: u64) -> u64 {
        self.run_undescribed(bus, now, max, None)
    }

    fn run_noting<B: Bus>(&mut self, bus: &mut B, now: Now, max: u64, used: &mut References) -> u64 {
        self.run_undescribed(bus, now, max, Some(used))
    }

    fn fork(&mut self, wrong_pc: u64) -> u32 {
        self.hart.fork(wrong_pc)
    }

    #[inline]
    fn redirect(&mut self, pc: u64) {
        self.hart.pc = pc & !1;
    }

    fn rollback(&mut self, depth: u32) {
        self.hart.rollback(depth);
    }

    #[inline]
    fn depth(&self) -> u32 {
        self.hart.spec.depth()
    }

    #[inline]
    fn in_microcode(&self) -> bool {
        false
    }

    fn fetch_translate<B: Bus>(&mut self, bus: &mut B, vaddr: u64) -> Option<FetchXlat> {
        let mode = self.hart.mode;
        let vpn = vaddr / PAGE;
        let known = self.fetch[(mode as usize) * FETCH_BANK + (vpn as usize & (FETCH_BANK - 1))];
        if known.vpn == vpn {
            return Some(FetchXlat { paddr: PhysAddr(known.paddr | vaddr & (PAGE - 1)), page_shift: known.shift });
        }
        self.translations += 1;
        let x = self.hart.translate(bus, vaddr, Access::Fetch, mode, false).ok()?;
        let reachable = self.hart.xlat.pmp.allows(x.paddr, 2, Access::Fetch, mode) && bus.ram().contains(x.paddr, 2);
        reachable.then_some(FetchXlat { paddr: PhysAddr(x.paddr), page_shift: x.shift })
    }

    #[inline]
    fn translations(&self) -> Option<u64> {
        Some(self.translations)
    }

    fn disassemble<B: Bus>(&mut self, bus: &mut B, pc: u64, out: &mut String) {
        let Some(low) = self.fetch_half(bus, pc) else { return };
        // A longer instruction may go on on another page.
        let high = if low & 3 == 3 { self.fetch_half(bus, pc.wrapping_add(2)).unwrap_or(0) } else { 0 };
        out.push_str(&crate::describe(high << 16 | low));
    }

    fn walk_path<B: Bus>(&self, bus: &B, vaddr: u64) -> WalkPath {
        self.hart.walk_entries(bus, vaddr)
    }

    fn asid(&self) -> u16 {
        (self.hart.xlat.satp >> 44) as u16
    }
}
