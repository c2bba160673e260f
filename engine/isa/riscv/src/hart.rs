//! The architectural state of one hart.

use breakeven_base::Tick;

use crate::config::RiscvConfig;
use crate::mode::Mode;
use crate::spec::Speculation;
use crate::state::{Counters, Fcsr, Interrupts, Options, Outcome, Reservation, Translation, TrapCsrs};
use crate::vector::VectorUnit;

/// Why an instruction did not complete. Nothing architectural has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// A synchronous exception.
    Fault { cause: u8, tval: u64 },
    /// Needs an empty pipeline first.
    NeedsDrain,
    /// The bus asks the run to pause.
    Pause,
    /// Cannot be done speculatively.
    Blocked,
    /// The inner loop leaves this instruction to `step`.
    SlowPath,
}

/// The registers and control state. The register file is indexed by the numbers in [`crate::inst::Inst`]: x0..x31,
/// f0..f31, and the sink for x0; its length makes every byte an index.
#[derive(Clone, Debug)]
pub(crate) struct Hart {
    pub regs: [u64; 256],
    pub pc: u64,
    pub mode: Mode,
    pub fcsr: Fcsr,
    pub mstatus: u64,
    pub machine: TrapCsrs,
    pub supervisor: TrapCsrs,
    pub irq: Interrupts,
    pub counters: Counters,
    pub reservation: Option<Reservation>,
    pub xlat: Translation,
    pub options: Options,
    pub outcome: Outcome,
    pub spec: Speculation,
    pub vector: VectorUnit,
}

impl Hart {
    pub fn new(c: &RiscvConfig) -> Self {
        let mut h = Hart {
            regs: [0; 256],
            pc: c.reset_pc & !1,
            mode: Mode::M,
            fcsr: Fcsr::default(),
            mstatus: 0,
            machine: TrapCsrs::default(),
            supervisor: TrapCsrs::default(),
            irq: Interrupts::default(),
            counters: Counters::default(),
            reservation: None,
            xlat: Translation::new(c.pmp_entries),
            options: Options::new(c),
            outcome: Outcome::default(),
            spec: Speculation::default(),
            vector: VectorUnit::new(c.extensions.v.then_some(c.vector)),
        };
        h.context_changed();
        h
    }

    #[inline]
    pub fn speculative(&self) -> bool {
        self.spec.depth() != 0
    }

    /// Call after any change of mode, mstatus, mie or mideleg.
    pub fn context_changed(&mut self) {
        self.xlat.bank = self.data_bank();
        self.irq.mask =
            if self.options.emulated { u64::from(self.irq.next_sample != Tick::MAX) } else { self.deliverable() };
    }

    /// Under syscall emulation the only interrupt is the end of the process's time slice.
    pub fn preempt_at(&mut self, at: Tick) {
        self.irq.next_sample = at;
        self.context_changed();
    }
}
