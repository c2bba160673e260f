//! Steps of vector instructions, which may be several each.

use breakeven_base::{BranchInfo, Bus, Now, Step, StepResult, SysEffect, UopFlags};

use super::{RiscvFrontEnd, NO_PAGE};
use crate::inst::Inst;

impl RiscvFrontEnd {
    /// Executes a vector instruction and describes the first of its micro-ops.
    #[inline(never)]
    pub(super) fn step_vector<B: Bus>(&mut self, bus: &mut B, now: &Now, inst: &Inst, out: &mut Step) -> StepResult {
        match self.hart.exec_vector(bus, now, inst, true) {
            Ok(()) => {
                self.vector_step(out);
                StepResult::Done
            }
            Err(stop) => self.stopped(bus, now, out, stop, Some(inst)),
        }
    }

    /// Describes the next micro-ops of the vector instruction at the program counter; after the last it advances the pc.
    pub(super) fn vector_step(&mut self, out: &mut Step) {
        let pc = self.hart.pc;
        out.branch = BranchInfo::default();
        let cracked = &mut self.hart.vector.cracked;
        (out.pc, out.len, out.decoded) = (pc, 4, cracked.decoded());
        out.n = cracked.hand_out(&mut out.uops, &mut out.mem);
        out.effect = SysEffect::None;
        if self.hart.outcome.effect != SysEffect::None {
            out.effect = std::mem::take(&mut self.hart.outcome.effect);
            out.uops[0].flags |= UopFlags::EFFECT;
            out.decoded = 0;
        }
        if cracked.pending() {
            // Makes `step` take the slow path again.
            self.page = NO_PAGE;
        } else {
            self.hart.pc = pc.wrapping_add(4);
            self.hart.counters.retired += 1;
        }
        out.next_pc = self.hart.pc;
    }
}
