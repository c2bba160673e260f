//! Registers and CSRs as a host reads and sets them, from outside the program.

use breakeven_base::{Bus, Now, Reg};

use super::{RiscvFrontEnd, NO_PAGE};
use crate::csr::CsrError;
use crate::mode::Mode;

impl RiscvFrontEnd {
    /// A register by its micro-op number: x1..x31 are 1..31, f0..f31 are 32..63.
    #[must_use]
    pub fn reg(&self, r: Reg) -> u64 {
        if r.0 < 64 {
            self.hart.regs[r.index()]
        } else {
            0
        }
    }
    /// Sets a register; x0 stays zero.
    pub fn set_reg(&mut self, r: Reg, value: u64) {
        if r.is_some() && r.0 < 64 {
            self.hart.regs[r.index()] = value;
        }
    }
    pub fn set_pc(&mut self, pc: u64) {
        self.hart.pc = pc & !1;
        self.page = NO_PAGE;
    }
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.hart.mode
    }
    /// Instructions retired since reset on the architectural path.
    #[must_use]
    pub fn retired(&self) -> u64 {
        self.hart.counters.retired
    }
    /// Reads a CSR as M-mode would, whatever the mode; `None` when there is none.
    pub fn csr<B: Bus>(&mut self, bus: &B, now: Now, csr: u16) -> Option<u64> {
        let mode = std::mem::replace(&mut self.hart.mode, Mode::M);
        let v = self.hart.csr_read(bus, &Now { drained: true, ..now }, csr, false);
        self.hart.mode = mode;
        v.ok()
    }
    /// Writes a CSR as M-mode would; `false` when there is none or it is read-only.
    pub fn set_csr<B: Bus>(&mut self, bus: &B, now: Now, csr: u16, value: u64) -> bool {
        let now = Now { drained: true, ..now };
        let mode = std::mem::replace(&mut self.hart.mode, Mode::M);
        let r: Result<(), CsrError> =
            self.hart.csr_read(bus, &now, csr, true).and_then(|_| self.hart.csr_write(&now, csr, value));
        self.hart.mode = mode;
        self.hart.context_changed();
        self.after_cold();
        r.is_ok()
    }

    /// Call when something other than the hart (which uses fence.i) has changed code in RAM: a loader, a test.
    pub fn invalidate_code(&mut self) {
        self.hart.xlat.code_stale = true;
        self.after_cold();
    }
}
