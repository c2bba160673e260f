//! The front end: fetch through the decode cache, execute, describe.

mod inspect;
mod path;
mod predecode;

use std::collections::btree_map::Entry;
use std::sync::Arc;

use breakeven_base::bus::ExitCause;
use breakeven_base::{
    decoded_at, BranchInfo, Bus, ConfigError, FetchXlat, FrontEnd, MemRef, Now, PathEnd, PathInst, PhysAddr, Predecode,
    References, Step, StepResult, SysEffect, UopFlags, WalkPath,
};

use crate::code::CodeCache;
use crate::config::X86Config;
use crate::cpu::{Cpu, Fault, Halt, Stop};
use crate::crack::{is_non_temporal, trap_uop, Cracker, Uops};
use crate::decode::{decode, Decoded, MAX_LEN};
use crate::deferred::DeferredPath;
use crate::describe::finish;
use crate::exec::exec;
use crate::inst::{Inst, InstFlags};
use crate::mmu::{Access, Xlat, PAGE};
use crate::rep;

/// Fetch translations kept per privilege.
const FETCH_BANK: usize = 64;
/// No page.
const NO_PAGE: u64 = u64::MAX;

#[derive(Clone, Copy, Debug)]
struct FetchEntry {
    vpn: u64,
    /// Its physical page.
    frame: u64,
    slot: u32,
    /// log2 of the page that maps it.
    shift: u8,
}

const EMPTY: FetchEntry = FetchEntry { vpn: NO_PAGE, frame: 0, slot: 0, shift: 0 };

/// One x86-64 hart.
#[derive(Clone, Debug)]
pub struct X86FrontEnd {
    pub(crate) cpu: Cpu,
    pub(crate) code: CodeCache,
    pub(crate) deferred: DeferredPath,
    cracker: Arc<Cracker>,
    fetch: [FetchEntry; 2 * FETCH_BANK],
    /// See [`FrontEnd::translations`].
    translations: u64,
    /// The virtual page that `slot` holds decoded, for the present privilege.
    pub(crate) page: u64,
    pub(crate) slot: u32,
}

impl X86FrontEnd {
    /// A hart in its boot state; [`X86FrontEnd::boot`] puts the tables into RAM.
    ///
    /// # Errors
    /// See [`X86Config::check`].
    pub fn new(config: &X86Config) -> Result<Self, ConfigError> {
        config.check()?;
        Ok(X86FrontEnd {
            cpu: Cpu::new(config),
            code: CodeCache::default(),
            deferred: DeferredPath::default(),
            cracker: Arc::new(Cracker::new(&config.crack)),
            fetch: [EMPTY; 2 * FETCH_BANK],
            translations: 0,
            page: NO_PAGE,
            slot: 0,
        })
    }

    /// Writes the boot state's page tables and GDT into RAM: once, before the guest is loaded.
    pub fn boot<B: Bus>(bus: &mut B) {
        Cpu::boot_tables(bus);
    }

    /// Where the translation of an instruction page is kept.
    fn fetch_entry(&self, vpn: u64) -> usize {
        usize::from(self.cpu.cpl == 3) * FETCH_BANK + (vpn as usize & (FETCH_BANK - 1))
    }

    /// Makes `self.slot` the page of `pc`.
    pub(crate) fn enter_page<B: Bus>(&mut self, bus: &mut B, pc: u64) -> Result<(), Fault> {
        let vpn = pc / PAGE;
        let at = self.fetch_entry(vpn);
        if self.fetch[at].vpn == vpn {
            (self.slot, self.page) = (self.fetch[at].slot, vpn);
            return Ok(());
        }
        let (slot, x) = self.fetch_page(bus, pc)?;
        self.slot = slot;
        if x.ad_bits_set {
            self.fetch[at] = FetchEntry { vpn, frame: x.paddr & !(PAGE - 1), slot, shift: x.shift };
            self.page = vpn;
        } else {
            self.page = NO_PAGE;
        }
        Ok(())
    }

    fn fetch_page<B: Bus>(&mut self, bus: &mut B, pc: u64) -> Result<(u32, Xlat), Fault> {
        self.translations += 1;
        let update = !self.cpu.speculative();
        let x = self.cpu.translate(bus.ram_mut(), pc, Access::Fetch, self.cpu.cpl == 3, update)?;
        // No memory there: a machine check, in place of whatever hardware would fetch.
        let outside = Fault { vector: 18, error: 0, addr: pc };
        let (slot, void) = self.code.lookup(bus.ram(), x.paddr).ok_or(outside)?;
        if void {
            self.forget_translations();
            self.page = NO_PAGE;
            self.cpu.xlat.code_map.clear();
        }
        let ppn = x.paddr / PAGE;
        if let Entry::Vacant(new) = self.cpu.xlat.code_map.entry(ppn) {
            new.insert(Box::default());
            self.cpu.xlat.tlb.flush_stores();
        }
        Ok((slot, x))
    }

    pub(crate) fn forget_translations(&mut self) {
        self.translations += 1;
        self.fetch = [EMPTY; 2 * FETCH_BANK];
    }

    /// Decodes the instruction at `pc` into its page. One that crosses into the next page is not cached: it is returned.
    #[cold]
    fn decode_at<B: Bus>(&mut self, bus: &mut B, pc: u64) -> Result<Option<(Inst, Uops)>, Stop> {
        let here = self.code.bytes(bus.ram(), self.slot, pc, MAX_LEN);
        if let Decoded::Inst(mut inst, ins) = decode(here, &self.cpu.options.features) {
            let u = self.cracker.crack(&ins, &inst);
            inst.uops = u.summary();
            inst.prepare_deferral();
            self.code.insert(self.slot, pc, inst, u.get());
            self.mark_code(bus, pc, inst.len);
            return Ok(None);
        }
        let mut bytes = here.to_vec();
        let next = (pc | (PAGE - 1)).wrapping_add(1);
        let (second, _) = self.fetch_page(bus, next).map_err(Stop::Fault)?;
        bytes.extend_from_slice(self.code.bytes(bus.ram(), second, next, MAX_LEN - bytes.len()));
        if self.page == NO_PAGE {
            // Decoding the next page may have evicted this one.
            self.enter_page(bus, pc).map_err(Stop::Fault)?;
        }
        match decode(&bytes, &self.cpu.options.features) {
            Decoded::Inst(mut inst, ins) => {
                let u = self.cracker.crack(&ins, &inst);
                inst.uops = u.summary();
                self.mark_code(bus, pc, (next - pc) as u8);
                self.mark_code(bus, next, inst.len);
                Ok(Some((inst, u)))
            }
            Decoded::Short => Err(crate::cpu::UD),
        }
    }

    /// Marks bytes as decoded code, so that stores to them are detected.
    fn mark_code<B: Bus>(&mut self, bus: &mut B, pc: u64, len: u8) {
        let Ok(x) = self.cpu.translate(bus.ram_mut(), pc, Access::Fetch, self.cpu.cpl == 3, false) else { return };
        let map = self.cpu.xlat.code_map.entry(x.paddr / PAGE).or_default();
        let from = (pc & (PAGE - 1)) / 8;
        let to = ((pc & (PAGE - 1)) + u64::from(len.max(1)) - 1).min(PAGE - 1) / 8;
        for w in from..=to {
            if let Some(m) = map.get_mut((w / 64) as usize) {
                *m |= 1 << (w & 63);
            }
        }
    }

    /// Executes and describes the instruction at the program counter.
    pub(crate) fn step_at<B: Bus>(&mut self, bus: &mut B, now: &Now, out: &mut Step) -> StepResult {
        out.decoded = 0;
        let pc = self.cpu.rip();
        if pc / PAGE != self.page {
            if let Err(fault) = self.enter_page(bus, pc) {
                return self.fetch_stopped(bus, now, out, Stop::Fault(fault));
            }
        }
        let mut crossing = None;
        if self.code.page(self.slot).at(pc).has(InstFlags::ABSENT) {
            crossing = match self.decode_at(bus, pc) {
                Ok(crossing) => crossing,
                Err(stop) => return self.fetch_stopped(bus, now, out, stop),
            };
        }
        let page = self.code.page(self.slot);
        let (inst, uops) = match &crossing {
            None => {
                let inst = page.at(pc);
                (inst, page.uops(inst))
            }
            Some((inst, u)) => (inst, u.get()),
        };
        self.cpu.outcome.nrefs = 0;
        self.cpu.outcome.string = rep::StringStep::default();
        self.cpu.outcome.taken = false;
        let from_ring = self.cpu.cpl;
        let result = match exec(&mut self.cpu, bus, now, inst) {
            Ok(next) => {
                let decoded = if crossing.is_none() { decoded_at(page.number, pc) } else { 0 };
                finish(&mut self.cpu, out, inst, uops, (pc, next), decoded);
                StepResult::Done
            }
            Err(stop) => {
                out.n = uops.len() as u8;
                out.uops[..uops.len()].copy_from_slice(uops);
                let len = inst.len;
                self.stopped(bus, now, out, stop, len)
            }
        };
        if self.cpu.xlat.code_stale || self.cpu.xlat.fetch_stale || self.cpu.cpl != from_ring {
            self.after_cold();
        }
        result
    }

    /// As [`X86FrontEnd::stopped`] where there is no instruction: a fetch that faulted.
    #[cold]
    fn fetch_stopped<B: Bus>(&mut self, bus: &mut B, now: &Now, out: &mut Step, stop: Stop) -> StepResult {
        out.n = 0;
        self.stopped(bus, now, out, stop, 0)
    }

    /// An instruction of `len` bytes that did not complete. One that must wait is described as decoded, by `out`'s micro-ops.
    #[cold]
    fn stopped<B: Bus>(&mut self, bus: &mut B, now: &Now, out: &mut Step, stop: Stop, len: u8) -> StepResult {
        let pc = self.cpu.rip();
        (out.pc, out.len) = (pc, len);
        if self.cpu.speculative() {
            return StepResult::Blocked;
        }
        match stop {
            Stop::Syscall => return self.user_trap(bus, now, out, None),
            Stop::Fault(fault) if self.cpu.options.emulated => return self.user_trap(bus, now, out, Some(fault)),
            Stop::Software(vector) if self.cpu.options.emulated => {
                let fault = Fault { vector, error: 0, addr: 0 };
                return self.user_trap(bus, now, out, Some(fault));
            }
            Stop::Fault(fault) => self.trap(bus, out, fault, pc, false),
            Stop::Software(vector) => {
                let fault = Fault { vector, error: 0, addr: 0 };
                self.trap(bus, out, fault, pc.wrapping_add(u64::from(len)), true);
            }
            Stop::NeedsDrain | Stop::SlowPath => return StepResult::NeedsDrain,
            Stop::Pause => return StepResult::Paused,
            Stop::Blocked => return StepResult::Blocked,
            Stop::Unknown => self.end(out, Halt::Unknown { pc }, ExitCause::Unimplemented),
        }
        StepResult::Done
    }

    fn trap<B: Bus>(&mut self, bus: &mut B, out: &mut Step, fault: Fault, rip: u64, software: bool) {
        let pc = self.cpu.rip();
        self.cpu.restart_instruction();
        if self.cpu.raise(bus, fault, rip, software).is_err() {
            return self.end(out, Halt::TripleFault { pc, fault }, ExitCause::TripleFault);
        }
        out.n = 1;
        out.branch = BranchInfo::default();
        out.effect = SysEffect::None;
        out.uops[0] = trap_uop();
        out.mem[0] = MemRef::default();
        out.next_pc = self.cpu.rip();
        self.page = NO_PAGE;
    }

    /// The machine halts for good: the step carries the exit, and the pc stays.
    fn end(&mut self, out: &mut Step, why: Halt, cause: ExitCause) {
        self.cpu.halted = Some(why);
        out.n = 1;
        out.branch = BranchInfo::default();
        out.next_pc = self.cpu.rip();
        out.effect = SysEffect::Exit { cause, code: 1 };
        out.uops[0] = trap_uop();
        out.uops[0].flags |= UopFlags::EFFECT;
        out.mem[0] = MemRef::default();
    }
}

impl X86FrontEnd {
    /// [`FrontEnd::run_fast`], or with `NOTES` [`FrontEnd::run_noting`].
    #[inline(always)]
    fn run_undescribed<const NOTES: bool, B: Bus>(&mut self, bus: &mut B, now: Now, max: u64) -> u64 {
        // `now` is fixed in here: instructions that need the time are left to `step`.
        let now = Now { drained: false, ..now };
        if self.cpu.speculative()
            || self.cpu.halted.is_some()
            || self.cpu.in_progress()
            || now.tick >= self.cpu.slice_end
        {
            return 0;
        }
        self.cpu.outcome.fast = true;
        self.cpu.outcome.string.more = false;
        let mut done = 0;
        'pages: while done < max {
            let pc = self.cpu.rip();
            let page = pc / PAGE;
            if page != self.page && (self.enter_page(bus, pc).is_err() || self.page == NO_PAGE) {
                break;
            }
            loop {
                let pc = self.cpu.rip();
                if pc / PAGE != page {
                    break;
                }
                let mut inst = self.code.page(self.slot).at(pc);
                let decoded;
                if inst.has(InstFlags::ABSENT) {
                    match self.decode_at(bus, pc) {
                        Ok(crossing) => decoded = crossing,
                        Err(_) => break 'pages,
                    }
                    inst = decoded.as_ref().map_or_else(|| self.code.page(self.slot).at(pc), |(i, _)| i);
                }
                if NOTES {
                    // The fast path of a repeated string instruction moves pages at once.
                    if is_non_temporal(inst.op) || inst.has(InstFlags::REP | InstFlags::REPNE) {
                        break 'pages;
                    }
                    if let Some(noted) = &mut self.cpu.outcome.noted {
                        noted.fetch(pc);
                    }
                }
                let was_repeated = inst.has(InstFlags::REP | InstFlags::REPNE);
                match exec(&mut self.cpu, bus, &now, inst) {
                    Ok(next) => self.cpu.set_rip(next),
                    Err(_) => break 'pages,
                }
                if self.cpu.outcome.string.more {
                    break 'pages;
                }
                done += 1;
                if was_repeated && bus.slice_is_over() {
                    break 'pages;
                }
                if self.cpu.xlat.code_stale {
                    self.after_cold();
                    break;
                }
                if done >= max {
                    break;
                }
            }
        }
        self.cpu.outcome.fast = false;
        self.cpu.c.retired += done;
        done
    }
}

impl FrontEnd for X86FrontEnd {
    const INST_SHIFT: u32 = 0;

    #[inline]
    fn pc(&self) -> u64 {
        self.cpu.rip()
    }

    fn step<B: Bus>(&mut self, bus: &mut B, now: Now, out: &mut Step) -> StepResult {
        self.cpu.outcome.fast = false;
        out.decoded = 0;
        if !self.deferred.is_empty() {
            self.execute_all_deferred(bus, now);
        }
        self.cpu.keep_registers();
        if now.tick >= self.cpu.slice_end && self.user_preempt(bus, &now, out) {
            return StepResult::Done;
        }
        self.step_at(bus, &now, out)
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
        self.run_undescribed::<false, B>(bus, now, max)
    }

    fn run_noting<B: Bus>(&mut self, bus: &mut B, now: Now, max: u64, used: &mut References) -> u64 {
        self.cpu.outcome.noted = Some(Box::new(std::mem::replace(used, References::new(1))));
        let done = self.run_undescribed::<true, B>(bus, now, max);
        if let Some(noted) = self.cpu.outcome.noted.take() {
            *used = *noted;
        }
        done
    }

    fn fork(&mut self, wrong_pc: u64) -> u32 {
        let depth = self.cpu.fork(self.cpu.rip());
        if self.cpu.in_microcode() {
            self.cpu.keep_registers();
        }
        self.redirect(wrong_pc);
        depth
    }

    #[inline]
    fn redirect(&mut self, pc: u64) {
        if !(self.cpu.in_microcode() && self.cpu.c.micro.follow(pc)) {
            self.cpu.set_rip(pc);
        }
    }

    #[inline]
    fn predecode<B: Bus>(&mut self, bus: &mut B, out: &mut Step) -> Predecode<'_> {
        self.predecode_at(bus, out)
    }

    fn execute_deferred<B: Bus>(&mut self, bus: &mut B, now: Now, out: &mut Step) -> bool {
        self.execute_one_deferred(bus, &now, out)
    }

    fn rollback(&mut self, depth: u32) {
        self.cpu.rollback(depth);
        self.deferred.clear();
    }

    #[inline]
    fn depth(&self) -> u32 {
        self.cpu.spec.depth()
    }

    #[inline]
    fn in_microcode(&self) -> bool {
        self.cpu.in_microcode()
    }

    fn fetch_translate<B: Bus>(&mut self, bus: &mut B, vaddr: u64) -> Option<FetchXlat> {
        let kept = &self.fetch[self.fetch_entry(vaddr / PAGE)];
        if kept.vpn == vaddr / PAGE {
            return Some(FetchXlat { paddr: PhysAddr(kept.frame | vaddr & (PAGE - 1)), page_shift: kept.shift });
        }
        self.translations += 1;
        let x = self.cpu.translate(bus.ram_mut(), vaddr, Access::Fetch, self.cpu.cpl == 3, false).ok()?;
        bus.ram().contains(x.paddr, 1).then_some(FetchXlat { paddr: PhysAddr(x.paddr), page_shift: x.shift })
    }

    #[inline]
    fn translations(&self) -> Option<u64> {
        Some(self.translations)
    }

    fn walk_path<B: Bus>(&self, bus: &B, vaddr: u64) -> WalkPath {
        self.cpu.walk_entries(bus, vaddr)
    }

    fn disassemble<B: Bus>(&mut self, bus: &mut B, pc: u64, out: &mut String) {
        let bytes = self.bytes_at(bus, pc);
        if !bytes.is_empty() {
            crate::inst::disassemble(&bytes, pc, out);
        }
    }

    fn upper_vector_state(&self) -> bool {
        self.cpu.wide.upper_used || self.cpu.c.v.iter().any(|v| v.0[2] | v.0[3] != 0)
    }

    /// Process-context identifiers are not modelled: a change of CR3 flushes.
    fn asid(&self) -> u16 {
        0
    }
}
