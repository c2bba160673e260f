//! Deferred execution of wrong paths.
//!
//! Micro-ops fetched after a mispredicted branch are squashed when the branch resolves. Until then it needs the
//! micro-ops; a value matters only where a memory reference goes to the caches before that, or where an instruction may
//! fault, branch through a register or repeat. So on a fork an instruction that can do none of that is described without
//! being executed (`FrontEnd::predecode`). It is executed when an address is asked for (`FrontEnd::execute_deferred`), or something behind
//! it must be executed. Nothing architectural changes on a fork or under it, so it then does what it would have done before.

use breakeven_base::{Bus, Reg, Uop, MAX_UOPS};

use crate::cpu::Cpu;
use crate::inst::{Deferral, Inst, RSP};
use crate::mmu::canonical;
use crate::state::Core;

/// Instructions of the wrong path that have been predecoded but not executed.
#[derive(Clone, Debug, Default)]
pub(crate) struct DeferredPath {
    /// Their addresses; those before `done` have been executed.
    at: Vec<u64>,
    done: usize,
    /// Flag renaming state behind the last of them.
    pub flag_holders: [Reg; 3],
    /// The last one's micro-ops, if they read flags.
    pub uops: [Uop; MAX_UOPS],
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
    pub fn begin(&mut self, c: &Core) {
        self.clear();
        self.flag_holders = c.flag_holders;
        self.rsp = Some(c.r[RSP]);
        self.stores = false;
    }
    #[inline]
    pub fn push(&mut self, pc: u64, inst: &Inst) {
        self.at.push(pc);
        self.stores |= inst.uops.stores != 0;
        if inst.rsp != 0 {
            self.rsp =
                if inst.rsp == Inst::ANY_RSP { None } else { self.rsp.map(|r| r.wrapping_add_signed(inst.rsp.into())) };
        }
    }
    pub fn take(&mut self) -> Option<u64> {
        let pc = self.at.get(self.done).copied()?;
        self.done += 1;
        Some(pc)
    }
    /// Whether the instruction is known not to fault; for a return, that its stack slot holds a canonical address.
    pub fn completes<B: Bus>(&self, cpu: &Cpu, bus: &B, inst: &Inst) -> bool {
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
