//! Access to the front end's state for tests, traces and reports of failed runs.

use breakeven_base::Bus;

use super::{X86FrontEnd, NO_PAGE};
use crate::cpu::Halt;
use crate::decode::MAX_LEN;
use crate::flags::Rflags;
use crate::mmu::Access;
use crate::simd::XCR0;

impl X86FrontEnd {
    /// A general register: 0..16 are rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8..r15.
    #[must_use]
    pub fn gpr(&self, n: usize) -> u64 {
        self.cpu.c.r[n & 15]
    }
    pub fn set_gpr(&mut self, n: usize, v: u64) {
        self.cpu.c.r[n & 15] = v;
    }
    /// A ymm register, low word first.
    #[must_use]
    pub fn ymm(&self, n: usize) -> [u64; 4] {
        self.cpu.c.v[n & 15].0
    }
    pub fn set_ymm(&mut self, n: usize, v: [u64; 4]) {
        self.cpu.c.v[n & 15].0 = v;
    }
    /// All of zmm0 to zmm31.
    #[must_use]
    pub fn zmm(&self, n: usize) -> [u64; 8] {
        self.cpu.wide_register(n as u8, 64).0
    }
    /// k0 to k7.
    #[must_use]
    pub fn opmask(&self, n: usize) -> u64 {
        self.cpu.wide.k[n & 7]
    }
    #[must_use]
    pub fn mm(&self, n: usize) -> u64 {
        self.cpu.c.x87.mm[n & 7]
    }
    pub fn set_mm(&mut self, n: usize, v: u64) {
        self.cpu.c.x87.mm[n & 7] = v;
    }
    #[must_use]
    pub fn rflags(&self) -> u64 {
        self.cpu.rflags().bits()
    }
    pub fn set_rflags(&mut self, v: u64) {
        self.cpu.set_rflags(Rflags::from_bits_truncate(v), Rflags::all());
    }
    #[must_use]
    pub fn mxcsr(&self) -> u32 {
        self.cpu.c.mxcsr
    }
    pub fn set_mxcsr(&mut self, v: u32) {
        self.cpu.c.mxcsr = v & 0xffff;
    }
    /// FS and GS bases.
    pub fn set_segment_bases(&mut self, fs: u64, gs: u64) {
        (self.cpu.c.base[1], self.cpu.c.base[2]) = (fs, gs);
    }
    /// Continues at `pc`, also after the machine had ended.
    pub fn set_pc(&mut self, pc: u64) {
        self.cpu.halted = None;
        self.cpu.set_rip(pc);
        self.page = NO_PAGE;
    }
    /// Turns on AVX state, with AVX-512's, as an operating system does it (CR4.OSXSAVE, XCR0), where CPUID has it.
    pub fn enable_avx(&mut self) {
        if self.cpu.options.features.avx {
            self.cpu.ctl.cr4 |= crate::cpu::cr4::OSXSAVE;
            self.cpu.ctl.xcr0 = 7 | if self.cpu.options.features.avx512 { XCR0 } else { 0 };
        }
    }
    /// The faulting address of the last page fault.
    #[must_use]
    pub fn cr2(&self) -> u64 {
        self.cpu.ctl.cr2
    }
    /// Vector, error code and address of the exception that no handler took.
    #[must_use]
    pub fn last_fault(&self) -> Option<(u8, u32, u64)> {
        match self.cpu.halted? {
            Halt::TripleFault { fault, .. } => Some((fault.vector, fault.error, fault.addr)),
            _ => None,
        }
    }
    /// 0 supervisor, 3 user.
    #[must_use]
    pub fn ring(&self) -> u8 {
        self.cpu.cpl
    }
    /// Instructions retired since reset on the architectural path.
    #[must_use]
    pub fn retired(&self) -> u64 {
        self.cpu.c.retired
    }

    /// Call when something other than the hart has changed code in RAM.
    pub fn invalidate_code(&mut self) {
        self.cpu.xlat.code_stale = true;
        self.after_cold();
    }

    /// Why the machine ended ([`ExitCause::Unimplemented`], [`ExitCause::TripleFault`], [`ExitCause::HaltedForever`]).
    #[must_use]
    pub fn halt_reason<B: Bus>(&self, bus: &mut B) -> Option<String> {
        Some(match self.cpu.halted? {
            Halt::Unknown { pc } => format!("instruction not implemented at {pc:#x}: {}", self.describe(bus, pc)),
            Halt::TripleFault { pc, fault } => format!(
                "no handler for exception {} (error code {:#x}, cr2 {:#x}) at {pc:#x}: {}",
                fault.vector,
                fault.error,
                fault.addr,
                self.describe(bus, pc)
            ),
            Halt::Hlt { pc } => format!("hlt at {pc:#x} with no interrupt that could come"),
        })
    }

    /// Bytes and disassembly of the instruction at `pc`.
    #[must_use]
    pub fn describe<B: Bus>(&self, bus: &mut B, pc: u64) -> String {
        crate::inst::describe(&self.bytes_at(bus, pc), pc)
    }

    /// The bytes of the longest instruction at `pc`, as far as they can be read.
    pub(super) fn bytes_at<B: Bus>(&self, bus: &mut B, pc: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        for k in 0..MAX_LEN as u64 {
            let x = self.cpu.translate(bus.ram_mut(), pc.wrapping_add(k), Access::Fetch, self.cpu.cpl == 3, false);
            match x.ok().and_then(|x| bus.ram().read::<u8>(x.paddr)) {
                Some(b) => bytes.push(b),
                None => break,
            }
        }
        bytes
    }

    /// Invalidates what the last instruction may have made stale.
    #[cold]
    pub(crate) fn after_cold(&mut self) {
        self.page = NO_PAGE;
        if std::mem::take(&mut self.cpu.xlat.code_stale) {
            self.code.mark_stale();
            self.cpu.xlat.fetch_stale = true;
        }
        if std::mem::take(&mut self.cpu.xlat.fetch_stale) {
            self.forget_translations();
        }
    }
}
