//! The architectural state of one hart, and the state it boots in: gem5's `X86FsWorkload` (64-bit mode, ring 0, the
//! first 4 GiB identity-mapped with 2 MiB pages, page tables from 0x70000, a GDT at 0x76000, no stack, no IDT).

use breakeven_base::{Bus, Tick};

use crate::config::X86Config;
use crate::flags::{Flags, Rflags};
use crate::inst::RIP;
use crate::microcode::Micro;
use crate::regs;
use crate::rep::Run;
use crate::simd::{Scratch, WideRegisters, V};
use crate::spec::Speculation;
use crate::state::{ControlRegisters, Core, Msrs, Options, Outcome, Segments, Table, Translation, X87};

/// Page tables of the boot state: the root, one third-level table, four second-level tables.
pub const BOOT_TABLES: u64 = 0x7_0000;
/// The boot state's GDT: null, code, data, task state.
pub const BOOT_GDT: u64 = 0x7_6000;

pub(crate) mod cr0 {
    pub const PE: u64 = 1;
    pub const EM: u64 = 1 << 2;
    pub const TS: u64 = 1 << 3;
    pub const ET: u64 = 1 << 4;
    pub const NE: u64 = 1 << 5;
    pub const WP: u64 = 1 << 16;
    pub const AM: u64 = 1 << 18;
    pub const PG: u64 = 1 << 31;
}
pub(crate) mod cr4 {
    pub const TSD: u64 = 1 << 2;
    pub const PAE: u64 = 1 << 5;
    pub const PGE: u64 = 1 << 7;
    pub const PCE: u64 = 1 << 8;
    pub const OSFXSR: u64 = 1 << 9;
    pub const OSXMMEXCPT: u64 = 1 << 10;
    pub const FSGSBASE: u64 = 1 << 16;
    pub const OSXSAVE: u64 = 1 << 18;
    pub const SMEP: u64 = 1 << 20;
    pub const SMAP: u64 = 1 << 21;
}
pub(crate) mod efer {
    pub const SCE: u64 = 1;
    pub const LME: u64 = 1 << 8;
    pub const LMA: u64 = 1 << 10;
    pub const NXE: u64 = 1 << 11;
}

/// An exception before it is delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub vector: u8,
    pub error: u32,
    /// CR2, for a page fault.
    pub addr: u64,
}

/// Why an instruction did not complete. Nothing architectural has changed (string instructions: nothing of the element).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    Fault(Fault),
    /// A software interrupt: delivered with the address of the next instruction.
    Software(u8),
    /// Needs an empty pipeline first.
    NeedsDrain,
    /// The bus asks the run to pause.
    Pause,
    /// Cannot be done speculatively.
    Blocked,
    /// The fast path leaves this instruction to `step`.
    SlowPath,
    /// Not implemented.
    Unknown,
    /// A system call of a process under emulation.
    Syscall,
}

pub(crate) type R<T> = Result<T, Stop>;

pub(crate) const UD: Stop = Stop::Fault(Fault { vector: 6, error: 0, addr: 0 });
pub(crate) const NM: Stop = Stop::Fault(Fault { vector: 7, error: 0, addr: 0 });
pub(crate) const DE: Stop = Stop::Fault(Fault { vector: 0, error: 0, addr: 0 });
/// An SSE exception that MXCSR does not mask.
pub(crate) const XM: Stop = Stop::Fault(Fault { vector: 19, error: 0, addr: 0 });
pub(crate) const fn gp(error: u32) -> Stop {
    Stop::Fault(Fault { vector: 13, error, addr: 0 })
}

#[derive(Clone, Debug)]
pub(crate) struct Cpu {
    pub c: Core,
    /// What AVX-512 adds to it.
    pub wide: Box<WideRegisters>,
    pub scratch: Box<Scratch>,
    pub cpl: u8,
    pub ctl: ControlRegisters,
    pub s: Segments,
    pub msr: Msrs,
    pub options: Options,
    /// When the time slice of an emulated process ends.
    pub slice_end: Tick,
    pub xlat: Translation,
    pub spec: Speculation,
    pub outcome: Outcome,
    /// The machine ended because of this.
    pub halted: Option<Halt>,
}

/// Why the machine halts for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Halt {
    Unknown { pc: u64 },
    TripleFault { pc: u64, fault: Fault },
    Hlt { pc: u64 },
}

impl Cpu {
    pub fn new(config: &X86Config) -> Self {
        let mut r = [0; 32];
        r[usize::from(RIP)] = config.reset_pc;
        let mut f = Flags::default();
        f.set(Rflags::empty());
        let mut cpu = Cpu {
            c: Core {
                r,
                f,
                backwards: false,
                sys: Rflags::empty(),
                v: [V::ZERO; 16],
                x87: X87::default(),
                mxcsr: 0x1f80,
                base: [0; 4],
                flag_holders: [regs::C; 3],
                run: Run::default(),
                micro: Micro::default(),
                retired: 0,
            },
            wide: Box::default(),
            scratch: Box::default(),
            cpl: 0,
            ctl: ControlRegisters {
                cr0: cr0::PE | cr0::ET | cr0::NE | cr0::PG | cr0::WP,
                cr2: 0,
                cr3: BOOT_TABLES,
                // SSE is on: gem5 does not ask for OSFXSR, and guests that start there do not set it.
                cr4: cr4::PAE | cr4::OSFXSR | cr4::OSXMMEXCPT,
                cr8: 0,
                efer: efer::SCE | efer::LME | efer::LMA | efer::NXE,
                xcr0: 1,
                dr: [0, 0, 0, 0, 0, 0, 0xffff_0ff0, 0x400],
            },
            s: Segments {
                gdt: Table { base: BOOT_GDT, limit: 8 * 5 - 1 },
                // Data segments keep the boot GDT's selectors.
                sel: [0x10, 0x08, 0x10, 0x10, 0x10, 0x10],
                tr: 0x18,
                tr_limit: 0xffff,
                ..Segments::default()
            },
            msr: Msrs { pat: 0x0007_0406_0007_0406, apic_base: 0xfee0_0900, misc_enable: 1, ..Default::default() },
            options: Options::new(config),
            slice_end: Tick::MAX,
            xlat: Translation::default(),
            spec: Speculation::default(),
            outcome: Outcome::default(),
            halted: None,
        };
        cpu.context_changed();
        cpu
    }

    /// Puts the boot state's tables into RAM. Tables beyond the end of RAM are left out.
    pub fn boot_tables<B: Bus>(bus: &mut B) {
        let ram = bus.ram_mut();
        let mut put = |at: u64, v: u64| {
            let _ = ram.write::<u64>(at, v);
        };
        // Present, writable, user: as gem5's workload writes them.
        let table = 7;
        put(BOOT_TABLES, (BOOT_TABLES + 0x1000) | table);
        for g in 0..4 {
            put(BOOT_TABLES + 0x1000 + 8 * g, (BOOT_TABLES + 0x2000 + 0x1000 * g) | table);
            for p in 0..512 {
                put(BOOT_TABLES + 0x2000 + 0x1000 * g + 8 * p, (g << 30 | p << 21) | 0x87);
            }
        }
        put(BOOT_GDT, 0);
        put(BOOT_GDT + 8, 0x00af_9b00_0000_ffff);
        put(BOOT_GDT + 16, 0x00cf_9300_0000_ffff);
        put(BOOT_GDT + 24, 0x0000_8b00_0000_ffff);
        put(BOOT_GDT + 32, 0);
    }

    #[inline(always)]
    pub fn rip(&self) -> u64 {
        self.c.r[usize::from(RIP)]
    }
    #[inline(always)]
    pub fn set_rip(&mut self, v: u64) {
        self.c.r[usize::from(RIP)] = v;
    }
    /// Some steps of the next instruction are done. The rest must execute as steps, too: begun anew by the fast path, an
    /// instruction that faults would restart for ever.
    pub fn in_progress(&self) -> bool {
        self.c.run.pc == self.rip() || self.in_microcode()
    }
    /// Some steps of the next instruction, a loop of gem5's microcode, are done.
    #[inline]
    pub fn in_microcode(&self) -> bool {
        self.c.micro.pc == self.rip()
    }
    /// An instruction of several steps restarts.
    pub fn restart_instruction(&mut self) {
        self.c.run = Run::default();
        self.c.micro = Micro::default();
    }
    #[inline(always)]
    pub fn speculative(&self) -> bool {
        self.spec.depth() != 0
    }

    /// Call after a change of privilege, CR0, CR4, or EFLAGS.AC.
    pub fn context_changed(&mut self) {
        self.xlat.bank = self.data_bank();
    }

    /// RFLAGS as pushf and syscall see it.
    pub fn rflags(&self) -> Rflags {
        let mut v = self.c.f.rflags() | self.c.sys | Rflags::ONE;
        v.set(Rflags::DF, self.c.backwards);
        v
    }

    /// Replaces the flags in `which`.
    pub fn set_rflags(&mut self, v: Rflags, which: Rflags) {
        let v = self.rflags().difference(which) | v & which;
        self.c.f.set(v);
        self.c.backwards = v.contains(Rflags::DF);
        let sys = Rflags::IF | Rflags::AC | Rflags::NT | Rflags::ID | Rflags::IOPL | Rflags::TF;
        let old = self.c.sys;
        self.c.sys = v & sys;
        if (old ^ self.c.sys).contains(Rflags::AC) {
            self.context_changed();
        }
    }
}
