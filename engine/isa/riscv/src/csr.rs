//! Control and status registers (privileged specification 1.12): numbers, masks, reads and writes.
//!
//! What this hart implements and how its WARL fields behave: misa is read-only; mtvec and stvec take modes 0 and 1 only;
//! satp takes Bare and Sv39 only (a write of another mode changes nothing); hpm counters read zero; A and D bits are
//! always updated by hardware, so menvcfg.ADUE does not exist.

use breakeven_base::{Bus, Now};

use crate::hart::Hart;
use crate::mode::Mode;

/// CSR numbers.
pub mod num {
    pub const FFLAGS: u16 = 0x001;
    pub const FRM: u16 = 0x002;
    pub const FCSR: u16 = 0x003;
    pub const VSTART: u16 = 0x008;
    pub const VXSAT: u16 = 0x009;
    pub const VXRM: u16 = 0x00a;
    pub const VCSR: u16 = 0x00f;
    pub const SSTATUS: u16 = 0x100;
    pub const SIE: u16 = 0x104;
    pub const STVEC: u16 = 0x105;
    pub const SCOUNTEREN: u16 = 0x106;
    pub const SENVCFG: u16 = 0x10a;
    pub const SSCRATCH: u16 = 0x140;
    pub const SEPC: u16 = 0x141;
    pub const SCAUSE: u16 = 0x142;
    pub const STVAL: u16 = 0x143;
    pub const SIP: u16 = 0x144;
    pub const SATP: u16 = 0x180;
    pub const MSTATUS: u16 = 0x300;
    pub const MISA: u16 = 0x301;
    pub const MEDELEG: u16 = 0x302;
    pub const MIDELEG: u16 = 0x303;
    pub const MIE: u16 = 0x304;
    pub const MTVEC: u16 = 0x305;
    pub const MCOUNTEREN: u16 = 0x306;
    pub const MENVCFG: u16 = 0x30a;
    pub const MCOUNTINHIBIT: u16 = 0x320;
    pub const MHPMEVENT3: u16 = 0x323;
    pub const MHPMEVENT31: u16 = 0x33f;
    pub const MSCRATCH: u16 = 0x340;
    pub const MEPC: u16 = 0x341;
    pub const MCAUSE: u16 = 0x342;
    pub const MTVAL: u16 = 0x343;
    pub const MIP: u16 = 0x344;
    pub const PMPCFG0: u16 = 0x3a0;
    pub const PMPCFG15: u16 = 0x3af;
    pub const PMPADDR0: u16 = 0x3b0;
    pub const PMPADDR63: u16 = 0x3ef;
    pub const TSELECT: u16 = 0x7a0;
    pub const TDATA3: u16 = 0x7a3;
    pub const MCYCLE: u16 = 0xb00;
    pub const MINSTRET: u16 = 0xb02;
    pub const MHPMCOUNTER3: u16 = 0xb03;
    pub const MHPMCOUNTER31: u16 = 0xb1f;
    pub const CYCLE: u16 = 0xc00;
    pub const TIME: u16 = 0xc01;
    pub const INSTRET: u16 = 0xc02;
    pub const HPMCOUNTER31: u16 = 0xc1f;
    pub const VL: u16 = 0xc20;
    pub const VTYPE: u16 = 0xc21;
    pub const VLENB: u16 = 0xc22;
    pub const MVENDORID: u16 = 0xf11;
    pub const MARCHID: u16 = 0xf12;
    pub const MIMPID: u16 = 0xf13;
    pub const MHARTID: u16 = 0xf14;
    pub const MCONFIGPTR: u16 = 0xf15;
}

/// Bits of mstatus.
pub(crate) mod status {
    pub const SIE: u64 = 1 << 1;
    pub const MIE: u64 = 1 << 3;
    pub const SPIE: u64 = 1 << 5;
    pub const MPIE: u64 = 1 << 7;
    pub const SPP: u64 = 1 << 8;
    pub const MPP_SHIFT: u32 = 11;
    pub const MPP: u64 = 3 << MPP_SHIFT;
    /// Both bits; all set: dirty.
    pub const FS: u64 = 3 << 13;
    /// As FS, of the vector state; there only with vectors.
    pub const VS: u64 = 3 << 9;
    pub const MPRV: u64 = 1 << 17;
    pub const SUM: u64 = 1 << 18;
    pub const MXR: u64 = 1 << 19;
    pub const TVM: u64 = 1 << 20;
    pub const TW: u64 = 1 << 21;
    pub const TSR: u64 = 1 << 22;
    /// UXL and SXL: 64 bits, fixed.
    pub const XL: u64 = 2 << 32 | 2 << 34;
    pub const UXL: u64 = 2 << 32;
    pub const SD: u64 = 1 << 63;
    pub const S_MASK: u64 = SIE | SPIE | SPP | FS | SUM | MXR;
    pub const M_MASK: u64 = S_MASK | MIE | MPIE | MPP | MPRV | TVM | TW | TSR;
}

/// menvcfg and senvcfg: FIOM, CBIE, CBCFE, CBZE.
pub(crate) mod envcfg {
    pub const CBIE: u64 = 3 << 4;
    pub const CBIE_FLUSH: u64 = 1 << 4;
    pub const CBCFE: u64 = 1 << 6;
    pub const CBZE: u64 = 1 << 7;
    pub const MASK: u64 = 1 | CBIE | CBCFE | CBZE;
}

const S_INTERRUPTS: u64 = 0x222;
const ALL_INTERRUPTS: u64 = 0xaaa;
/// Software-writable bits of mip.
const MIP_WRITABLE: u64 = S_INTERRUPTS;
/// Every synchronous exception but ecall from M.
const DELEGABLE: u64 = 0xb3ff;
/// A, C, D, F, I, M, S, U; MXL 64.
const MISA: u64 = 2 << 62 | 1 | 1 << 2 | 1 << 3 | 1 << 5 | 1 << 8 | 1 << 12 | 1 << 18 | 1 << 20;
const COUNT_CYCLES: u64 = 1;
const COUNT_INSTRET: u64 = 4;

/// Why a CSR instruction does not execute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CsrError {
    Illegal,
    /// Depends on the present cycle (mcycle, time, mip): the pipeline must be empty.
    NeedsDrain,
}

use CsrError::{Illegal, NeedsDrain};

impl Hart {
    fn status(&self) -> u64 {
        let dirty = |field| self.mstatus & field == field;
        let sd = if dirty(status::FS) || dirty(status::VS) { status::SD } else { 0 };
        self.mstatus | status::XL | sd
    }

    /// The hart's cycle counter.
    fn cycles(&self, now: &Now) -> u64 {
        if self.counters.inhibit & COUNT_CYCLES != 0 {
            self.counters.mcycle
        } else {
            now.cycle.0.wrapping_add(self.counters.mcycle)
        }
    }

    /// Instructions retired before the present one.
    fn instret(&self) -> u64 {
        if self.counters.inhibit & COUNT_INSTRET != 0 {
            self.counters.minstret
        } else {
            self.counters.retired.wrapping_add(self.counters.minstret)
        }
    }

    /// Whether the mode may access this CSR.
    fn csr_allowed(&self, csr: u16, write: bool) -> Result<(), CsrError> {
        let lowest = csr >> 8 & 3;
        let read_only = csr >> 10 == 3;
        if (self.mode as u16) < lowest || (write && read_only) {
            return Err(Illegal);
        }
        match csr {
            num::FFLAGS..=num::FCSR if self.mstatus & status::FS == 0 => Err(Illegal),
            num::VSTART..=num::VCSR | num::VL..=num::VLENB
                if !self.vector.exists() || self.mstatus & status::VS == 0 =>
            {
                Err(Illegal)
            }
            num::SATP if self.mode == Mode::S && self.mstatus & status::TVM != 0 => Err(Illegal),
            num::CYCLE..=num::HPMCOUNTER31 => {
                let bit = 1u64 << (csr & 31);
                let m = self.mode == Mode::M || self.machine.counteren & bit != 0;
                let s = self.mode != Mode::U || self.supervisor.counteren & bit != 0;
                if m && s {
                    Ok(())
                } else {
                    Err(Illegal)
                }
            }
            _ => Ok(()),
        }
    }

    /// Reads a CSR; `write` says whether the instruction also writes it.
    pub(crate) fn csr_read<B: Bus>(&mut self, bus: &B, now: &Now, csr: u16, write: bool) -> Result<u64, CsrError> {
        self.csr_allowed(csr, write)?;
        let timed = |v| if now.drained { Ok(v) } else { Err(NeedsDrain) };
        Ok(match csr {
            num::FFLAGS => u64::from(self.fcsr.fflags),
            num::FRM => u64::from(self.fcsr.frm),
            num::FCSR => u64::from(self.fcsr.frm) << 5 | u64::from(self.fcsr.fflags),
            num::VSTART => self.vector.vstart,
            num::VXSAT => u64::from(self.vector.vxsat),
            num::VXRM => u64::from(self.vector.vxrm),
            num::VCSR => u64::from(self.vector.vxrm) << 1 | u64::from(self.vector.vxsat),
            num::VL => self.vector.vl,
            num::VTYPE => self.vector.vtype.bits(),
            num::VLENB => self.vector.vlenb as u64,
            num::SSTATUS => self.status() & (status::S_MASK | status::VS | status::UXL | status::SD),
            num::SIE => self.irq.mie & self.irq.mideleg,
            num::STVEC => self.supervisor.tvec,
            num::SCOUNTEREN => self.supervisor.counteren,
            num::SENVCFG => self.supervisor.envcfg,
            num::SSCRATCH => self.supervisor.scratch,
            num::SEPC => self.supervisor.epc,
            num::SCAUSE => self.supervisor.cause,
            num::STVAL => self.supervisor.tval,
            num::SIP => timed(self.pending(bus, now) & self.irq.mideleg)?,
            num::SATP => self.xlat.satp,
            num::MSTATUS => self.status(),
            num::MISA => MISA | u64::from(self.vector.exists()) << 21,
            num::MEDELEG => self.irq.medeleg,
            num::MIDELEG => self.irq.mideleg,
            num::MIE => self.irq.mie,
            num::MTVEC => self.machine.tvec,
            num::MCOUNTEREN => self.machine.counteren,
            num::MENVCFG => self.machine.envcfg,
            num::MCOUNTINHIBIT => self.counters.inhibit,
            num::MSCRATCH => self.machine.scratch,
            num::MEPC => self.machine.epc,
            num::MCAUSE => self.machine.cause,
            num::MTVAL => self.machine.tval,
            num::MIP => timed(self.pending(bus, now))?,
            num::PMPCFG0..=num::PMPCFG15 => self.xlat.pmp.read_cfg(usize::from(csr - num::PMPCFG0)).ok_or(Illegal)?,
            num::PMPADDR0..=num::PMPADDR63 => {
                self.xlat.pmp.read_addr(usize::from(csr - num::PMPADDR0)).ok_or(Illegal)?
            }
            num::MCYCLE | num::CYCLE => timed(self.cycles(now))?,
            num::TIME => timed(bus.timer(now.tick))?,
            num::MINSTRET | num::INSTRET => self.instret(),
            num::MHARTID => self.options.hart_id,
            num::MVENDORID | num::MARCHID | num::MIMPID | num::MCONFIGPTR => 0,
            // No events, no triggers: read as zero, ignore writes.
            num::MHPMEVENT3..=num::MHPMEVENT31
            | num::MHPMCOUNTER3..=num::MHPMCOUNTER31
            | num::CYCLE..=num::HPMCOUNTER31
            | num::TSELECT..=num::TDATA3 => 0,
            _ => return Err(Illegal),
        })
    }

    /// Writes a CSR that [`Hart::csr_read`] has accepted for writing.
    pub(crate) fn csr_write(&mut self, now: &Now, csr: u16, v: u64) -> Result<(), CsrError> {
        match csr {
            num::FFLAGS | num::FRM | num::FCSR => self.write_float_csr(csr, v),
            num::VSTART..=num::VCSR => self.write_vector_csr(csr, v),
            num::SSTATUS => {
                let mask = status::S_MASK | self.vector_status();
                self.mstatus = self.mstatus & !mask | v & mask;
            }
            num::MSTATUS => self.write_mstatus(v),
            num::SIE => self.irq.mie = self.irq.mie & !self.irq.mideleg | v & self.irq.mideleg,
            num::MIE => self.irq.mie = v & ALL_INTERRUPTS,
            num::SIP => {
                let mask = self.irq.mideleg & 2;
                self.irq.mip = self.irq.mip & !mask | v & mask;
            }
            num::MIP => self.irq.mip = v & MIP_WRITABLE,
            num::STVEC if v & 3 < 2 => self.supervisor.tvec = v,
            num::MTVEC if v & 3 < 2 => self.machine.tvec = v,
            num::SCOUNTEREN => self.supervisor.counteren = v & 0xffff_ffff,
            num::MCOUNTEREN => self.machine.counteren = v & 0xffff_ffff,
            num::MENVCFG => self.machine.envcfg = legal_envcfg(self.machine.envcfg, v),
            num::SENVCFG => self.supervisor.envcfg = legal_envcfg(self.supervisor.envcfg, v),
            num::SSCRATCH => self.supervisor.scratch = v,
            num::MSCRATCH => self.machine.scratch = v,
            num::SEPC => self.supervisor.epc = v & !1,
            num::MEPC => self.machine.epc = v & !1,
            num::SCAUSE => self.supervisor.cause = v,
            num::MCAUSE => self.machine.cause = v,
            num::STVAL => self.supervisor.tval = v,
            num::MTVAL => self.machine.tval = v,
            num::SATP => {
                if matches!(v >> 60, 0 | 8) {
                    self.xlat.satp = v;
                    self.xlat.flush();
                }
            }
            num::MEDELEG => self.irq.medeleg = v & DELEGABLE,
            num::MIDELEG => self.irq.mideleg = v & S_INTERRUPTS,
            num::MCOUNTINHIBIT => self.write_inhibit(now, v)?,
            num::PMPCFG0..=num::PMPCFG15 => {
                self.xlat.pmp.write_cfg(usize::from(csr - num::PMPCFG0), v);
                self.xlat.flush();
            }
            num::PMPADDR0..=num::PMPADDR63 => {
                self.xlat.pmp.write_addr(usize::from(csr - num::PMPADDR0), v);
                self.xlat.flush();
            }
            num::MCYCLE if !now.drained => return Err(NeedsDrain),
            num::MCYCLE if self.counters.inhibit & COUNT_CYCLES != 0 => self.counters.mcycle = v,
            num::MCYCLE => self.counters.mcycle = v.wrapping_sub(now.cycle.0),
            num::MINSTRET if self.counters.inhibit & COUNT_INSTRET != 0 => self.counters.minstret = v,
            // The writing instruction itself is not counted on top.
            num::MINSTRET => self.counters.minstret = v.wrapping_sub(self.counters.retired.wrapping_add(1)),
            _ => {}
        }
        self.context_changed();
        Ok(())
    }

    fn write_float_csr(&mut self, csr: u16, v: u64) {
        if csr != num::FRM {
            self.fcsr.fflags = v as u8 & 31;
        }
        if csr != num::FFLAGS {
            let rm = if csr == num::FRM { v } else { v >> 5 };
            self.fcsr.frm = rm as u8 & 7;
        }
        self.mstatus |= status::FS;
    }

    /// mstatus.VS where it exists.
    fn vector_status(&self) -> u64 {
        if self.vector.exists() {
            status::VS
        } else {
            0
        }
    }

    fn write_vector_csr(&mut self, csr: u16, v: u64) {
        let u = &mut self.vector;
        match csr {
            num::VSTART => u.vstart = v & (8 * u.vlenb as u64 - 1),
            num::VXSAT => u.vxsat = v & 1 != 0,
            num::VXRM => u.vxrm = v as u8 & 3,
            num::VCSR => (u.vxsat, u.vxrm) = (v & 1 != 0, (v >> 1) as u8 & 3),
            _ => {}
        }
        self.mstatus |= status::VS;
    }

    fn write_mstatus(&mut self, v: u64) {
        let mut mask = status::M_MASK | self.vector_status();
        if v >> status::MPP_SHIFT & 3 == 2 {
            mask &= !status::MPP;
        }
        self.mstatus = self.mstatus & !mask | v & mask;
    }

    fn write_inhibit(&mut self, now: &Now, v: u64) -> Result<(), CsrError> {
        let new = v & (COUNT_CYCLES | COUNT_INSTRET);
        let changed = self.counters.inhibit ^ new;
        if changed & COUNT_CYCLES != 0 && !now.drained {
            return Err(NeedsDrain);
        }
        let (cycles, instret) = (self.cycles(now), self.instret());
        self.counters.inhibit = new;
        if changed & COUNT_CYCLES != 0 {
            self.counters.mcycle = if new & COUNT_CYCLES != 0 { cycles } else { cycles.wrapping_sub(now.cycle.0) };
        }
        if changed & COUNT_INSTRET != 0 {
            self.counters.minstret =
                if new & COUNT_INSTRET != 0 { instret } else { instret.wrapping_sub(self.counters.retired) };
        }
        Ok(())
    }
}

/// CBIE = 2 is reserved: the field keeps its value.
fn legal_envcfg(old: u64, v: u64) -> u64 {
    let keep = if v & envcfg::CBIE == 2 << 4 { envcfg::CBIE } else { 0 };
    v & envcfg::MASK & !keep | old & keep
}
