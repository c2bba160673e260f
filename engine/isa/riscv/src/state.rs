//! The groups of a hart's state.

use breakeven_base::data_tlb::{self, BANK};
use breakeven_base::{SysEffect, Tick};

use crate::config::{Extensions, MisalignedPolicy, RiscvConfig};
use crate::pmp::Pmp;

/// The data TLB's banks are mode x SUM x MXR.
const BANKS: usize = 8;
pub(crate) type DataTlb = data_tlb::DataTlb<{ BANKS * BANK }>;

/// The reservation of a load-reserved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reservation {
    pub paddr: u64,
    pub value: u64,
}

/// The floating-point control and status register.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Fcsr {
    pub fflags: u8,
    pub frm: u8,
}

/// The CSRs that M-mode and S-mode have one of each: `mtvec` and `stvec`, `mepc` and `sepc`, ...
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TrapCsrs {
    pub tvec: u64,
    pub scratch: u64,
    pub epc: u64,
    pub cause: u64,
    pub tval: u64,
    pub counteren: u64,
    pub envcfg: u64,
}

/// Delegation and interrupts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Interrupts {
    pub medeleg: u64,
    pub mideleg: u64,
    pub mie: u64,
    /// The software-writable bits of mip.
    pub mip: u64,
    /// Interrupts that could be taken now if they were pending.
    pub mask: u64,
    /// The interrupt lines as last sampled, and when to sample them again.
    pub lines: u64,
    pub next_sample: Tick,
}

impl Default for Interrupts {
    fn default() -> Self {
        Interrupts { medeleg: 0, mideleg: 0, mie: 0, mip: 0, mask: 0, lines: 0, next_sample: Tick::ZERO }
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counters {
    /// mcountinhibit.
    pub inhibit: u64,
    /// Instructions retired since reset.
    pub retired: u64,
    /// minstret less `retired` (wrapping), or minstret itself while inhibited.
    pub minstret: u64,
    /// mcycle less the core's cycles (wrapping), or mcycle itself while inhibited.
    pub mcycle: u64,
}

/// Address translation and protection.
#[derive(Clone, Debug)]
pub(crate) struct Translation {
    pub satp: u64,
    pub pmp: Pmp,
    pub tlb: Box<DataTlb>,
    /// First entry of the data TLB's bank for the present mode, SUM and MXR.
    pub bank: usize,
    /// Fetch translations are stale / the instruction cache is to be made coherent.
    pub fetch_stale: bool,
    pub code_stale: bool,
}

impl Translation {
    pub fn new(pmp_entries: usize) -> Self {
        let pmp = Pmp::new(pmp_entries);
        Translation { satp: 0, pmp, tlb: Box::default(), bank: 0, fetch_stale: false, code_stale: false }
    }

    /// Call after a change of satp or the PMP, and for sfence.vma.
    pub fn flush(&mut self) {
        self.tlb.flush();
        self.fetch_stale = true;
    }
}

/// The hart's configuration; no instruction changes it.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub hart_id: u64,
    pub misaligned: MisalignedPolicy,
    /// The same for elements of vector accesses.
    pub vector_misaligned: MisalignedPolicy,
    pub extensions: Extensions,
    pub cbo_block: u64,
    /// A process under syscall emulation: environment calls and faults go to the bus.
    pub emulated: bool,
    /// Translations are not described to the pipeline.
    pub free_translation: bool,
}

impl Options {
    pub fn new(c: &RiscvConfig) -> Self {
        Options {
            hart_id: c.hart_id,
            misaligned: c.misaligned.clone(),
            vector_misaligned: c.vector_misaligned.clone().unwrap_or_else(|| c.misaligned.clone()),
            extensions: c.extensions,
            cbo_block: c.cbo_block,
            emulated: false,
            free_translation: false,
        }
    }
}

/// Results of the last instruction besides its registers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outcome {
    /// Whether the conditional branch was taken.
    pub taken: bool,
    /// Its effect outside the hart; `step` takes it.
    pub effect: SysEffect,
}

impl Default for Outcome {
    fn default() -> Self {
        Outcome { taken: false, effect: SysEffect::None }
    }
}
