//! The functional outside world as an instruction-set front end sees it: RAM, devices, interrupts, pseudo-ops.

use crate::phys::PhysMem;
use crate::process::{FaultAnswer, Syscall, SyscallDone, UserContext, UserFault};
use crate::units::{Now, Tick};

pub use crate::effect::{ExitCause, SysEffect};

/// A physical access that nothing answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no memory or device at physical address {paddr:#x} ({size} bytes)")]
pub struct BusError {
    pub paddr: u64,
    pub size: u16,
}

/// What a pseudo-op did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PseudoOutcome {
    /// Executed: `ret` goes into the return register when there is one.
    Done { ret: Option<u64>, effect: SysEffect },
    /// Its result depends on time or on the outside: try again once the pipeline has drained.
    NeedsDrain,
    /// The machine stops here, before the instruction, to be resumed later (the sweep's snapshot).
    Pause,
    /// No such function: an illegal instruction.
    Unknown,
}

/// The functional outside of one hart. RAM is reached directly; everything else is cold.
pub trait Bus {
    fn ram(&self) -> &PhysMem;
    fn ram_mut(&mut self) -> &mut PhysMem;
    /// Reads a device register. Called only once the pipeline has drained (`Now::drained`).
    ///
    /// # Errors
    /// No device answers there.
    fn device_read(&mut self, paddr: u64, size: u16, now: Tick) -> Result<u64, BusError>;
    /// Writes a device register, or the RAM line that [`PhysMem::watched`] names (HTIF) after the store has been done.
    ///
    /// # Errors
    /// No device answers there.
    fn device_write(&mut self, paddr: u64, size: u16, value: u64, now: Tick) -> Result<SysEffect, BusError>;
    /// Whether a device answers at `paddr`.
    fn is_device(&self, paddr: u64) -> bool;
    /// Whether accesses to `paddr` go past the caches (devices always do).
    fn is_uncacheable(&self, paddr: u64) -> bool;
    /// No interrupt line changes before this instant: a front end need not look at [`Bus::irq_lines`] earlier.
    /// Lowered by device writes.
    fn irq_deadline(&self) -> Tick;
    /// Bit n is interrupt line n (RISC-V: the numbering of `mip`: 3 software, 7 timer).
    fn irq_lines(&self, now: Tick) -> u64;
    /// The value of the platform's real-time counter (RISC-V `time`).
    fn timer(&self, now: Tick) -> u64;
    /// The guest read its cycle counter (RISC-V `cycle`, x86 `rdtsc`) at this core cycle: where measurements begin and end.
    fn cycle_read(&mut self, _cycle: u64) {}
    /// Executes gem5 pseudo-op `func`. `translate` maps a guest virtual address to a physical one (one page at a time),
    /// for reading (`false`) or writing (`true`).
    fn pseudo_op(
        &mut self,
        func: u8,
        args: [u64; 6],
        now: Now,
        translate: &mut dyn FnMut(&mut PhysMem, u64, bool) -> Option<u64>,
    ) -> PseudoOutcome;

    /// A system call of a process under emulation; called once the pipeline has drained. `context` is the processor that
    /// makes it. Without emulation: ENOSYS.
    fn syscall(&mut self, call: &Syscall, _now: Now, _context: &mut dyn UserContext) -> SyscallDone {
        const ENOSYS: u64 = 38;
        SyscallDone { ret: Some(ENOSYS.wrapping_neg()), bases: call.bases, stale: false, effect: SysEffect::None }
    }
    /// The host has worked on one instruction for as long as on thousands of others.
    fn worked_long(&mut self) {}
    /// Whether the host has worked so long on calls of the guest's and on long instructions that whoever observes the run is
    /// to be asked now: how long those take is not to be told from instructions.
    fn slice_is_over(&self) -> bool {
        false
    }
    /// When a process under emulation may have to be preempted: a timer or another process may be due.
    fn user_deadline(&self) -> Tick {
        Tick::MAX
    }
    /// That instant has come, between two instructions. `None`: the process goes on.
    fn user_preempt(&mut self, _now: Now, _context: &mut dyn UserContext) -> Option<FaultAnswer> {
        None
    }
    /// A process under emulation faulted at `pc`, where `context` stands.
    fn user_fault(&mut self, _pc: u64, _fault: UserFault, _context: &mut dyn UserContext) -> FaultAnswer {
        FaultAnswer::End(SysEffect::Exit { cause: ExitCause::ProcessSignal, code: 128 })
    }
}
