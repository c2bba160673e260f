//! Deferred execution of wrong paths.
//!
//! What a pipeline fetches behind a mispredicted branch is thrown away when the branch resolves. Until then it needs the
//! micro-ops; a value matters only where a memory reference leaves for the caches before that, or where an instruction may
//! fault, branch through a register or repeat. So on a fork an instruction that can do none of that is described without
//! being executed (`FrontEnd::predecode`). It is executed when an address is asked for (`FrontEnd::execute_deferred`), or something behind
//! it must be executed. Nothing architectural changes on a fork or under it, so it then does what it would have done before.

use breakeven_base::{self as base, Bus, MemRef, Now, Predecoded, Reg, Step, StepResult, Uop, MAX_UOPS};

use crate::cpu::{Core, Cpu};
use crate::crack::Flow;
use crate::describe::place_uops;
use crate::frontend::X86FrontEnd;
use crate::inst::{Deferral, Inst, RSP};
use crate::mmu::{canonical, PAGE};

/// Instructions of the wrong path that have been predecoded but not executed.
#[derive(Clone, Debug, Default)]
pub(crate) struct DeferredPath {
    /// Their addresses; those before `done` have been executed.
    at: Vec<u64>,
    done: usize,
    /// Flag renaming state behind the last of them.
    flag_home: [Reg; 3],
    /// The last one's micro-ops, if they read flags.
    uops: [Uop; MAX_UOPS],
    /// The stack pointer there, where it is known.
    rsp: Option<u64>,
    /// One of them stores.
    stores: bool,
}

impl DeferredPath {
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.done == self.at.len()
    }
    #[inline]
    pub fn clear(&mut self) {
        self.at.clear();
        self.done = 0;
    }
    #[inline]
    fn begin(&mut self, c: &Core) {
        self.clear();
        self.flag_home = c.flag_home;
        self.rsp = Some(c.r[RSP]);
        self.stores = false;
    }
    #[inline]
    fn push(&mut self, pc: u64, inst: &Inst) {
        self.at.push(pc);
        self.stores |= inst.stores != 0;
        if inst.rsp != 0 {
            self.rsp =
                if inst.rsp == Inst::ANY_RSP { None } else { self.rsp.map(|r| r.wrapping_add_signed(inst.rsp.into())) };
        }
    }
    fn take(&mut self) -> Option<u64> {
        let pc = self.at.get(self.done).copied()?;
        self.done += 1;
        Some(pc)
    }
    /// Whether the instruction is known not to fault; for a return, that its stack slot holds a canonical address.
    fn completes<B: Bus>(&self, cpu: &Cpu, bus: &B, inst: &Inst) -> bool {
        match inst.deferral {
            Deferral::Vector => cpu.vector_state(inst).is_ok(),
            Deferral::Return => {
                let rsp = self.rsp.filter(|_| !self.stores);
                rsp.and_then(|rsp| cpu.peek(bus, rsp)).is_some_and(canonical)
            }
            _ => false,
        }
    }
}

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
            (out.pc, out.len, out.n) = (pc, inst.len, inst.nuop);
            out.uops.iter_mut().zip(page.uops(inst)).for_each(|(to, from)| *to = *from);
            return base::Predecode::Blocked;
        }
        if inst.deferral != Deferral::Yes && !self.deferred.completes(&self.cpu, bus, inst) {
            return base::Predecode::MustExecute;
        }
        self.deferred.push(pc, inst);
        self.cpu.set_rip(pc.wrapping_add(u64::from(inst.len)));
        let mut uops = page.uops(inst);
        let mut flow = Flow { home: &mut self.deferred.flag_home, policy: self.cpu.flag_merge };
        if inst.reads_flags {
            let n = place_uops(flow, &mut self.deferred.uops, inst, uops);
            uops = &self.deferred.uops[..n.min(MAX_UOPS)];
        } else if inst.fw != 0 {
            flow.write(inst.fw);
        }
        base::Predecode::Described(Predecoded { uops, flags: inst.uop_flags, len: inst.len, branch: inst.branch })
    }

    /// See `FrontEnd::execute_deferred`.
    #[inline(never)]
    pub(crate) fn execute_one_deferred<B: Bus>(&mut self, bus: &mut B, now: &Now, out: &mut Step) -> bool {
        let Some(pc) = self.deferred.take() else { return false };
        self.cpu.keep_registers();
        let front = self.cpu.rip();
        self.cpu.set_rip(pc);
        if self.step_at(bus, now, out) != StepResult::Done {
            // Only if the path's log of stores is full: its references go nowhere.
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
