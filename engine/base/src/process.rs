//! Syscall emulation as a front end sees it: a process runs in user mode, and what would enter the kernel goes to the
//! [`crate::Bus`] instead.

use crate::bus::SysEffect;

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
    /// Goes into the return register; above -4096: an error.
    pub ret: u64,
    /// x86: the new bases of FS and GS.
    pub bases: [u64; 2],
    /// Translations, or memory behind them, have changed: nothing that was remembered of them holds.
    pub stale: bool,
    pub effect: SysEffect,
}

/// What a process did wrong.
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
    /// The process ends.
    End(SysEffect),
}
