//! Syscall emulation: a process in U-mode whose environment calls and faults go to the bus. Both are traps to the pipeline,
//! as gem5 has them: it flushes when they commit, and they take no further time.

use breakeven_base::{
    Bus, FaultAnswer, Now, ProcessStart, Step, StepResult, SysEffect, Syscall, Tick, UopFlags, UserAccess, UserContext,
    UserFault, UserState,
};

use crate::csr::{envcfg, status};
use crate::frontend::RiscvFrontEnd;
use crate::hart::Hart;
use crate::mode::Mode;
use crate::pmp::Pmp;

const SV39: u64 = 8 << 60;
/// Environment call from U-mode.
const ECALL: u8 = 8;
const SP: usize = 2;
const A0: usize = 10;
const A7: usize = 17;
/// cycle, time and instret.
const COUNTERS: u64 = 7;

fn user_fault(cause: u8, addr: u64) -> UserFault {
    let page = |access| UserFault::Page { addr, access };
    match cause {
        12 => page(UserAccess::Fetch),
        13 => page(UserAccess::Load),
        15 => page(UserAccess::Store),
        3 => UserFault::Breakpoint,
        2 => UserFault::Illegal,
        // Misaligned addresses, and pages with nothing behind them.
        _ => UserFault::Bus { addr },
    }
}

/// The register file has f0 behind x31.
const FLOAT: usize = 32;

impl UserContext for Hart {
    fn save(&self) -> UserState {
        UserState {
            regs: std::array::from_fn(|n| self.regs[n]),
            pc: self.pc,
            float: std::array::from_fn(|n| self.regs[FLOAT + n]),
            fcsr: u32::from(self.fcsr.frm) << 5 | u32::from(self.fcsr.fflags),
            page_table: self.xlat.satp << 12,
            ..UserState::default()
        }
    }

    fn load(&mut self, state: &UserState) {
        self.regs[1..FLOAT].copy_from_slice(&state.regs[1..]);
        self.regs[FLOAT..2 * FLOAT].copy_from_slice(&state.float);
        (self.fcsr.frm, self.fcsr.fflags) = ((state.fcsr >> 5 & 7) as u8, (state.fcsr & 31) as u8);
        self.pc = state.pc & !1;
        self.xlat.satp = SV39 | state.page_table >> 12;
        self.reservation = None;
        self.xlat.flush();
        self.xlat.code_stale = true;
    }
}

impl RiscvFrontEnd {
    /// Puts the hart into user mode as Linux starts a program: counters readable, cache-block operations allowed, floating
    /// point and vectors on, no PMP.
    pub fn start_process(&mut self, start: &ProcessStart) {
        let h = &mut self.hart;
        h.options.emulated = true;
        h.irq.next_sample = Tick::MAX;
        h.options.free_translation = !start.timed_translation;
        h.mode = Mode::U;
        h.xlat.satp = SV39 | start.page_table >> 12;
        h.xlat.pmp = Pmp::new(0);
        h.mstatus |= status::FS | if h.vector.exists() { status::VS } else { 0 };
        (h.machine.counteren, h.supervisor.counteren) = (COUNTERS, COUNTERS);
        h.machine.envcfg = envcfg::CBIE_FLUSH | envcfg::CBCFE | envcfg::CBZE;
        h.supervisor.envcfg = h.machine.envcfg;
        h.regs[SP] = start.stack;
        h.context_changed();
        h.xlat.flush();
        self.set_pc(start.entry);
        self.after_cold();
    }

    /// A fault of the process, or its environment call.
    pub(crate) fn user_trap<B: Bus>(
        &mut self,
        bus: &mut B,
        now: &Now,
        out: &mut Step,
        cause: u8,
        tval: u64,
        len: u8,
    ) -> StepResult {
        let pc = self.hart.pc;
        let mut effect;
        if cause == ECALL {
            if !now.drained {
                return StepResult::NeedsDrain;
            }
            let args = std::array::from_fn(|i| self.hart.regs[A0 + i]);
            let call = Syscall { number: self.hart.regs[A7], args, bases: [0; 2], pc };
            self.hart.reservation = None;
            self.hart.pc = pc.wrapping_add(u64::from(len));
            let done = bus.syscall(&call, *now, &mut self.hart);
            if let Some(ret) = done.ret {
                self.hart.regs[A0] = ret;
            }
            effect = done.effect;
            if done.stale {
                self.hart.xlat.flush();
                self.hart.xlat.code_stale = true;
                if effect == SysEffect::None {
                    effect = SysEffect::TlbFlush { vaddr: None };
                }
            }
        } else {
            effect = match bus.user_fault(pc, user_fault(cause, tval), &mut self.hart) {
                FaultAnswer::Retry => SysEffect::None,
                FaultAnswer::Loaded => SysEffect::TlbFlush { vaddr: None },
                FaultAnswer::End(end) => end,
            };
        }
        self.user_trapped(bus, out, pc, len, effect);
        StepResult::Done
    }

    /// Its time slice is over, or a timer has expired. False: it continues with its next instruction.
    #[cold]
    pub(crate) fn user_preempt<B: Bus>(&mut self, bus: &mut B, now: &Now, out: &mut Step) -> bool {
        let pc = self.hart.pc;
        let effect = match bus.user_preempt(*now, &mut self.hart) {
            Some(FaultAnswer::End(end)) => end,
            Some(FaultAnswer::Loaded) => SysEffect::TlbFlush { vaddr: None },
            Some(FaultAnswer::Retry) | None => {
                self.hart.preempt_at(bus.user_deadline());
                return false;
            }
        };
        self.user_trapped(bus, out, pc, 0, effect);
        true
    }

    /// Describes a trap at `pc` that the emulation has handled.
    fn user_trapped<B: Bus>(&mut self, bus: &B, out: &mut Step, pc: u64, len: u8, effect: SysEffect) {
        self.describe_trap(out, pc, len);
        if effect != SysEffect::None {
            out.effect = effect;
            out.uops[0].flags |= UopFlags::EFFECT;
        }
        self.after_cold();
        self.hart.preempt_at(bus.user_deadline());
    }
}
