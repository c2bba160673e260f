//! The groups of a hart's state.

use std::collections::BTreeMap;
use std::sync::Arc;

use breakeven_base::data_tlb::{self, BANK};
use breakeven_base::{MemRef, References, Reg, SysEffect};

use crate::config::{Features, FlagMerge, RepConfig, X86Config};
use crate::cpuid::Cpuid;
use crate::flags::{Flags, Rflags};
use crate::microcode::Micro;
use crate::rep::{Run, StringStep};
use crate::simd::V;

/// The data TLB's banks: supervisor kept from user pages (SMAP), supervisor, user, user with alignment checks (always
/// empty).
const BANKS: usize = 4;
pub(crate) const CHECKED: usize = 3 * BANK;
pub(crate) type DataTlb = data_tlb::DataTlb<{ BANKS * BANK }>;

/// Registers that instructions on a wrong path change.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Core {
    /// rax.., [`crate::inst::ZERO`], [`crate::inst::RIP`]; the length makes every masked byte an index.
    pub r: [u64; 32],
    pub f: Flags,
    /// DF as the step of string instructions in elements: 1 or -1.
    pub backwards: bool,
    /// Flags that are not arithmetic: IF, AC, NT, ID, IOPL, TF.
    pub sys: Rflags,
    pub v: [V; 16],
    pub x87: X87,
    pub mxcsr: u32,
    /// Bases by [`crate::inst::Inst::seg`]: none, FS, GS.
    pub base: [u64; 4],
    /// Micro-op registers that hold CF, OF and the other flags.
    pub flag_holders: [Reg; 3],
    /// The repeated string instruction in progress.
    pub run: Run,
    /// The loop of gem5's microcode in progress.
    pub micro: Micro,
    pub retired: u64,
}

/// The x87 unit and the MMX registers in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct X87 {
    /// MMX, and the significands of x87's registers.
    pub mm: [u64; 8],
    /// Signs and exponents of x87's registers.
    pub exponents: [u16; 8],
    /// Tag word as FXSAVE abridges it: a bit a register in use.
    pub tags: u8,
    pub fcw: u16,
    pub fsw: u16,
}

impl Default for X87 {
    fn default() -> Self {
        X87 { mm: [0; 8], exponents: [0; 8], tags: 0, fcw: 0x37f, fsw: 0 }
    }
}

/// Control and debug registers, EFER and XCR0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ControlRegisters {
    pub cr0: u64,
    pub cr2: u64,
    pub cr3: u64,
    pub cr4: u64,
    pub cr8: u64,
    pub efer: u64,
    pub xcr0: u64,
    pub dr: [u64; 8],
}

/// A descriptor table.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Table {
    pub base: u64,
    pub limit: u16,
}

/// Descriptor tables and what has been loaded from them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Segments {
    pub gdt: Table,
    pub idt: Table,
    /// ES, CS, SS, DS, FS, GS: their encoding's order.
    pub sel: [u16; 6],
    pub ldtr: u16,
    pub tr: u16,
    pub tr_base: u64,
    pub tr_limit: u32,
}

/// Model-specific registers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Msrs {
    pub star: u64,
    pub lstar: u64,
    pub cstar: u64,
    pub sfmask: u64,
    pub kernel_gs: u64,
    pub pat: u64,
    pub misc_enable: u64,
    pub tsc_aux: u64,
    pub apic_base: u64,
    pub sysenter: [u64; 3],
    pub mtrr_def: u64,
    /// TSC less its source (wrapping).
    pub tsc_offset: u64,
}

/// The hart's configuration; no instruction changes it.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub features: Features,
    pub cpuid: Cpuid,
    /// Bytes of a cache line.
    pub line: u64,
    pub tsc_ratio: u64,
    pub flag_merge: FlagMerge,
    /// Pseudo-ops that only mark an instant do not wait for the pipeline to drain (gem5's do not).
    pub statistics_ops_need_no_drain: bool,
    /// Cycles that wbinvd takes for each line of the caches.
    pub wbinvd_line: u8,
    pub rep: Arc<RepConfig>,
    /// A process under syscall emulation: system calls and faults go to the bus.
    pub emulated: bool,
    /// Translations are not described to the pipeline.
    pub free_translation: bool,
}

impl Options {
    pub fn new(config: &X86Config) -> Self {
        let wbinvd = config.crack.latency.iter().rev().find(|(m, _)| m == "wbinvd");
        Options {
            features: config.features,
            cpuid: Cpuid::new(config),
            line: u64::from(config.line),
            tsc_ratio: u64::from(config.tsc_ratio),
            flag_merge: config.crack.flag_merge,
            statistics_ops_need_no_drain: config.crack.gem5_microcode,
            wbinvd_line: wbinvd.map_or(1, |(_, cycles)| *cycles),
            rep: Arc::new(config.rep.clone()),
            emulated: false,
            free_translation: false,
        }
    }
}

/// Address translation, and which pages hold decoded code.
#[derive(Clone, Debug, Default)]
pub(crate) struct Translation {
    pub tlb: Box<DataTlb>,
    /// First entry of the data TLB's bank for the present privilege.
    pub bank: usize,
    /// Fetch translations are stale / decoded code may differ from memory.
    pub fetch_stale: bool,
    pub code_stale: bool,
    /// Physical pages that hold decoded code, with a bit for each 8 bytes of it.
    pub code_map: BTreeMap<u64, Box<[u64; 8]>>,
}

impl Translation {
    /// Call when translations may have changed.
    pub fn flush(&mut self) {
        self.tlb.flush();
        self.fetch_stale = true;
    }
}

/// Results of the instruction being executed, besides its registers.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    /// `run_fast` or `run_noting` is running: nothing is described.
    pub fast: bool,
    /// `run_noting` is running: references are noted here.
    pub noted: Option<Box<References>>,
    /// Its memory references, in order.
    pub refs: [MemRef; 16],
    pub nrefs: usize,
    /// Its branch was taken.
    pub taken: bool,
    /// The last step of a repeated string instruction.
    pub string: StringStep,
    /// Turns of the fast path's string instructions since the bus was last told.
    pub turns: u32,
    /// Its effect outside the hart; `step` takes it.
    pub effect: SysEffect,
}

impl Default for Outcome {
    fn default() -> Self {
        Outcome {
            fast: false,
            noted: None,
            refs: [MemRef::default(); 16],
            nrefs: 0,
            taken: false,
            string: StringStep::default(),
            turns: 0,
            effect: SysEffect::None,
        }
    }
}
