//! Syscall emulation as a front end sees it: a process runs in user mode, and what would enter the kernel goes to the
//! [`crate::Bus`] instead.

use crate::effect::SysEffect;

/// How a process starts: user mode, translation on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessStart {
    pub entry: u64,
    pub stack: u64,
    /// Physical address of the root page table.
    pub page_table: u64,
    /// Translations are described to the pipeline (which then looks them up in its TLBs); else they cost nothing.
    pub timed_translation: bool,
}

/// A system call: its number and arguments, and what only the front end knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Syscall {
    pub number: u64,
    pub args: [u64; 6],
    /// x86: the bases of FS and GS.
    pub bases: [u64; 2],
    /// Of the instruction.
    pub pc: u64,
}

/// What a system call did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyscallDone {
    /// Goes into the return register; above -4096: an error. None: another context has been loaded, which has its own.
    pub ret: Option<u64>,
    /// x86: the new bases of FS and GS.
    pub bases: [u64; 2],
    /// Translations, or memory behind them, have changed: nothing cached of them is valid.
    pub stale: bool,
    pub effect: SysEffect,
}

/// A process's fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserFault {
    /// No page, or not for this.
    Page {
        addr: u64,
        access: UserAccess,
    },
    /// Memory that is not there behind the page, or an address that the instruction needs aligned.
    Bus {
        addr: u64,
    },
    /// Not an address, or an instruction for the kernel.
    Protection,
    Illegal,
    Breakpoint,
    Arithmetic,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserAccess {
    Load,
    Store,
    Fetch,
}

/// What becomes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultAnswer {
    /// The page is there now: the instruction is executed again.
    Retry,
    /// Another context has been loaded: a signal's handler, or another process.
    Loaded,
    /// The process ends.
    End(SysEffect),
}

/// Everything of a processor that a program sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserState {
    /// x86-64: rax to r15 by their encoding. RISC-V: x0 to x31.
    pub regs: [u64; 32],
    pub pc: u64,
    /// x86-64: RFLAGS.
    pub flags: u64,
    /// x86-64: the bases of FS and GS.
    pub bases: [u64; 2],
    /// RISC-V: f0 to f31.
    pub float: [u64; 32],
    /// RISC-V: rounding mode and flags.
    pub fcsr: u32,
    /// x86-64: x87 and SSE as FXSAVE writes them.
    pub fxsave: [u8; Self::FXSAVE],
    /// x86-64: the upper halves of ymm0 to ymm15.
    pub upper: [[u64; 2]; 16],
    /// Physical address of the root page table.
    pub page_table: u64,
}

impl UserState {
    /// Bytes of FXSAVE's area.
    pub const FXSAVE: usize = 512;
    /// Where MXCSR lies in it.
    pub const MXCSR: usize = 24;
}

impl Default for UserState {
    /// As a program starts: registers 0, exceptions masked.
    fn default() -> UserState {
        let mut fxsave = [0; Self::FXSAVE];
        fxsave[..2].copy_from_slice(&0x37f_u16.to_le_bytes());
        fxsave[Self::MXCSR..Self::MXCSR + 8].copy_from_slice(&0xffff_0000_1f80_u64.to_le_bytes());
        UserState {
            regs: [0; 32],
            pc: 0,
            flags: 2,
            bases: [0; 2],
            float: [0; 32],
            fcsr: 0,
            fxsave,
            upper: [[0; 2]; 16],
            page_table: 0,
        }
    }
}

/// A processor whose pipeline has drained, so that the emulation may take and put what the program sees: another process,
/// a signal's handler, another program.
pub trait UserContext {
    /// The state now; in a system call as it is behind the call, but for the return register.
    fn save(&self) -> UserState;
    /// Puts `state` in place, bits that a program may not set left out, and forgets translations and decoded code.
    fn load(&mut self, state: &UserState);
}
