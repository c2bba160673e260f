//! The architectural state of one hart.

use breakeven_base::{SysEffect, Tick};

use crate::config::{Extensions, MisalignedPolicy, RiscvConfig};
use crate::mem::DataTlb;
use crate::pmp::Pmp;
use crate::spec::Speculation;
use crate::vector::VectorUnit;

/// Privilege modes, by their encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Mode {
    U = 0,
    S = 1,
    M = 3,
}

impl Mode {
    /// From the two low bits; the reserved encoding counts as U.
    #[must_use]
    pub fn from_bits(bits: u64) -> Mode {
        match bits & 3 {
            3 => Mode::M,
            1 => Mode::S,
            _ => Mode::U,
        }
    }
}

/// Why an instruction did not complete. Nothing architectural has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// A synchronous exception.
    Fault { cause: u8, tval: u64 },
    /// Needs an empty pipeline first.
    NeedsDrain,
    /// The bus asked for a pause.
    Pause,
    /// Cannot be done speculatively.
    Blocked,
    /// The inner loop leaves this instruction to `step`.
    Leave,
}

/// A load-reserved that a store-conditional can still answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reservation {
    pub paddr: u64,
    pub value: u64,
}

/// The registers and control state. The register file is indexed by the numbers in [`crate::inst::Inst`]: x0..x31,
/// f0..f31, and the sink for x0; its length makes every byte an index.
#[derive(Clone, Debug)]
pub(crate) struct Hart {
    pub regs: [u64; 256],
    pub pc: u64,
    pub mode: Mode,
    pub fflags: u8,
    pub frm: u8,
    /// Whether the conditional branch just executed was taken.
    pub taken: bool,
    pub mstatus: u64,
    pub medeleg: u64,
    pub mideleg: u64,
    pub mie: u64,
    /// The software-writable bits of mip.
    pub mip: u64,
    pub mtvec: u64,
    pub stvec: u64,
    pub mscratch: u64,
    pub sscratch: u64,
    pub mepc: u64,
    pub sepc: u64,
    pub mcause: u64,
    pub scause: u64,
    pub mtval: u64,
    pub stval: u64,
    pub mcounteren: u64,
    pub scounteren: u64,
    pub mcountinhibit: u64,
    pub menvcfg: u64,
    pub senvcfg: u64,
    pub satp: u64,
    pub pmp: Pmp,
    /// Instructions retired since reset.
    pub retired: u64,
    /// minstret less `retired` (wrapping), or minstret itself while inhibited.
    pub minstret: u64,
    /// mcycle less the core's cycles (wrapping), or mcycle itself while inhibited.
    pub mcycle: u64,
    pub reservation: Option<Reservation>,

    pub hart_id: u64,
    pub misaligned: MisalignedPolicy,
    pub extensions: Extensions,
    pub cbo_block: u64,
    /// A process under syscall emulation: what would enter the kernel goes to the bus.
    pub emulated: bool,
    /// Translations are not described to the pipeline.
    pub free_translation: bool,

    pub tlb: Box<DataTlb>,
    /// First entry of the data TLB's bank for the present mode, SUM and MXR.
    pub bank: usize,
    /// Interrupts that could be taken now if they were pending.
    pub irq_mask: u64,
    /// The interrupt lines when last looked at, and when to look again.
    pub irq_lines: u64,
    pub irq_look: Tick,
    /// What the instruction did outside; taken by `step`.
    pub effect: SysEffect,
    /// Fetch translations are stale / the instruction cache is to be made coherent.
    pub fetch_stale: bool,
    pub code_stale: bool,
    pub spec: Speculation,
    pub vector: VectorUnit,
}

impl Hart {
    pub fn new(c: &RiscvConfig) -> Self {
        let mut h = Hart {
            regs: [0; 256],
            pc: c.reset_pc & !1,
            mode: Mode::M,
            fflags: 0,
            frm: 0,
            taken: false,
            mstatus: 0,
            medeleg: 0,
            mideleg: 0,
            mie: 0,
            mip: 0,
            mtvec: 0,
            stvec: 0,
            mscratch: 0,
            sscratch: 0,
            mepc: 0,
            sepc: 0,
            mcause: 0,
            scause: 0,
            mtval: 0,
            stval: 0,
            mcounteren: 0,
            scounteren: 0,
            mcountinhibit: 0,
            menvcfg: 0,
            senvcfg: 0,
            satp: 0,
            pmp: Pmp::new(c.pmp_entries),
            retired: 0,
            minstret: 0,
            mcycle: 0,
            reservation: None,
            hart_id: c.hart_id,
            misaligned: c.misaligned.clone(),
            extensions: c.extensions,
            cbo_block: c.cbo_block,
            emulated: false,
            free_translation: false,
            tlb: Box::default(),
            bank: 0,
            irq_mask: 0,
            irq_lines: 0,
            irq_look: Tick::ZERO,
            effect: SysEffect::None,
            fetch_stale: false,
            code_stale: false,
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

    /// To be called after any change of mode, mstatus, mie or mideleg.
    pub fn context_changed(&mut self) {
        self.bank = self.data_bank();
        self.irq_mask = if self.emulated { u64::from(self.irq_look != Tick::MAX) } else { self.deliverable() };
    }

    /// A process under emulation has no interrupts but its next turn.
    pub fn await_turn(&mut self, at: Tick) {
        self.irq_look = at;
        self.context_changed();
    }

    /// To be called after a change of satp or the PMP, and by sfence.vma.
    pub fn flush_translations(&mut self) {
        self.tlb.flush();
        self.fetch_stale = true;
    }
}
