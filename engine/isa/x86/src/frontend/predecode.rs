//! Predecoding wrong paths, and executing what was deferred: see [`crate::deferred`].

use breakeven_base::{self as base, Bus, MemRef, Now, Predecoded, Step, StepResult, MAX_UOPS};

use super::X86FrontEnd;
use crate::crack::FlagRenamer;
use crate::describe::place_uops;
use crate::inst::Deferral;
use crate::mmu::PAGE;

impl X86FrontEnd {
    /// See `FrontEnd::predecode`.
    #[inline(always)]
    pub(crate) fn predecode_at<B: Bus>(&mut self, bus: &mut B, out: &mut Step) -> base::Predecode<'_> {
        let pc = self.cpu.rip();
        if pc / PAGE != self.page && self.enter_page(bus, pc).is_err() {
            return base::Predecode::MustExecute;
        }
        let page = self.code.page(self.slot);
        let inst = page.at(pc);
        if self.deferred.is_empty() {
            self.deferred.begin(&self.cpu.c);
        }
        if inst.deferral == Deferral::Never {
            (out.pc, out.len, out.n) = (pc, inst.len, inst.uops.n);
            out.uops.iter_mut().zip(page.uops(inst)).for_each(|(to, from)| *to = *from);
            return base::Predecode::Blocked;
        }
        if inst.deferral != Deferral::Yes && !self.deferred.completes(&self.cpu, bus, inst) {
            return base::Predecode::MustExecute;
        }
        self.deferred.push(pc, inst);
        self.cpu.set_rip(pc.wrapping_add(u64::from(inst.len)));
        let mut uops = page.uops(inst);
        let mut flags = FlagRenamer { holders: &mut self.deferred.flag_holders, policy: self.cpu.options.flag_merge };
        if inst.uops.reads_flags {
            let n = place_uops(flags, &mut self.deferred.uops, inst, uops);
            uops = &self.deferred.uops[..n.min(MAX_UOPS)];
        } else if !inst.uops.flags_written.is_empty() {
            flags.write(inst.uops.flags_written);
        }
        base::Predecode::Described(Predecoded { uops, flags: inst.uops.flags, len: inst.len, branch: inst.branch })
    }

    /// See `FrontEnd::execute_deferred`.
    #[inline(never)]
    pub(crate) fn execute_one_deferred<B: Bus>(&mut self, bus: &mut B, now: &Now, out: &mut Step) -> bool {
        let Some(pc) = self.deferred.take() else { return false };
        self.cpu.keep_registers();
        let front = self.cpu.rip();
        self.cpu.set_rip(pc);
        if self.step_at(bus, now, out) != StepResult::Done {
            // Only where the path's store log is full: its references are dropped.
            out.mem = [MemRef::default(); MAX_UOPS];
        }
        self.cpu.set_rip(front);
        true
    }

    /// Executes everything deferred.
    #[cold]
    pub(crate) fn execute_all_deferred<B: Bus>(&mut self, bus: &mut B, now: Now) {
        let mut out = Step::default();
        while self.execute_one_deferred(bus, &now, &mut out) {}
    }
}
