//! Exceptions, interrupts, and the return from them.

use breakeven_base::{Bus, Now};

use crate::csr::status;
use crate::hart::Hart;
use crate::mode::Mode;

const INTERRUPT: u64 = 1 << 63;
/// Highest priority first: external, software, timer; machine before supervisor.
const PRIORITY: [u32; 6] = [11, 3, 7, 9, 1, 5];
/// The bits of mip that are wires: machine software, timer and external, supervisor external.
const LINES: u64 = 1 << 3 | 1 << 7 | 1 << 11 | 1 << 9;

impl Hart {
    /// Changes the mode; a reservation does not outlive the context that made it.
    fn set_mode(&mut self, mode: Mode) {
        self.mode = mode;
        self.reservation = None;
        self.context_changed();
    }

    /// Enabled interrupts that the present mode and its enable bits let through.
    pub(crate) fn deliverable(&self) -> u64 {
        let machine = self.mode < Mode::M || self.mstatus & status::MIE != 0;
        let supervisor = self.mode < Mode::S || (self.mode == Mode::S && self.mstatus & status::SIE != 0);
        let m = if machine { !self.irq.mideleg } else { 0 };
        let s = if supervisor { self.irq.mideleg } else { 0 };
        self.irq.mie & (m | s)
    }

    /// mip: the software bits and the lines.
    pub(crate) fn pending<B: Bus>(&mut self, bus: &B, now: &Now) -> u64 {
        if now.tick >= self.irq.next_sample {
            self.irq.lines = bus.irq_lines(now.tick) & LINES;
            self.irq.next_sample = bus.irq_deadline();
        }
        self.irq.mip | self.irq.lines
    }

    /// The interrupt to take now.
    pub(crate) fn interrupt<B: Bus>(&mut self, bus: &B, now: &Now) -> Option<u64> {
        let ready = self.pending(bus, now) & self.irq.mask;
        // What M-mode takes itself comes before what it has delegated.
        let own = ready & !self.irq.mideleg;
        let from = if own != 0 { own } else { ready };
        PRIORITY.iter().find(|&&n| from >> n & 1 != 0).map(|&n| INTERRUPT | u64::from(n))
    }

    /// Enters the handler for `cause` (bit 63: an interrupt).
    pub(crate) fn take_trap(&mut self, cause: u64, tval: u64) {
        let code = cause & !INTERRUPT;
        let delegation = if cause & INTERRUPT != 0 { self.irq.mideleg } else { self.irq.medeleg };
        let to_s = self.mode <= Mode::S && delegation >> (code & 63) & 1 != 0;
        let from = self.mode as u64;
        let tvec;
        if to_s {
            self.supervisor.cause = cause;
            self.supervisor.epc = self.pc;
            self.supervisor.tval = tval;
            let sie = self.mstatus & status::SIE != 0;
            self.mstatus &= !(status::SIE | status::SPIE | status::SPP);
            self.mstatus |= if sie { status::SPIE } else { 0 } | if from != 0 { status::SPP } else { 0 };
            tvec = self.supervisor.tvec;
            self.set_mode(Mode::S);
        } else {
            self.machine.cause = cause;
            self.machine.epc = self.pc;
            self.machine.tval = tval;
            let mie = self.mstatus & status::MIE != 0;
            self.mstatus &= !(status::MIE | status::MPIE | status::MPP);
            self.mstatus |= if mie { status::MPIE } else { 0 } | from << status::MPP_SHIFT;
            tvec = self.machine.tvec;
            self.set_mode(Mode::M);
        }
        let vectored = tvec & 1 != 0 && cause & INTERRUPT != 0;
        self.pc = (tvec & !3).wrapping_add(if vectored { 4 * code } else { 0 });
    }

    /// mret; the caller has checked that it is legal.
    pub(crate) fn mret(&mut self) -> u64 {
        let to = Mode::from_bits(self.mstatus >> status::MPP_SHIFT);
        let mpie = self.mstatus & status::MPIE != 0;
        self.mstatus &= !(status::MIE | status::MPP);
        self.mstatus |= status::MPIE | if mpie { status::MIE } else { 0 };
        self.leave_to(to);
        self.machine.epc
    }

    /// sret; the caller has checked that it is legal.
    pub(crate) fn sret(&mut self) -> u64 {
        let to = if self.mstatus & status::SPP != 0 { Mode::S } else { Mode::U };
        let spie = self.mstatus & status::SPIE != 0;
        self.mstatus &= !(status::SIE | status::SPP);
        self.mstatus |= status::SPIE | if spie { status::SIE } else { 0 };
        self.leave_to(to);
        self.supervisor.epc
    }

    fn leave_to(&mut self, mode: Mode) {
        if mode != Mode::M {
            self.mstatus &= !status::MPRV;
        }
        self.set_mode(mode);
    }
}
