//! The front ends behind one interface. The choice is made once per slice of a run, never per micro-op.

use breakeven_base::{Bus, ConfigError, FrontEnd, ProcessStart};
use breakeven_cpu::{Budget, CoreCtx, Stop};
use breakeven_memory::MemorySystem;
use breakeven_riscv::{RiscvConfig, RiscvFrontEnd};
use breakeven_x86::{X86Config, X86FrontEnd};

use crate::core::Core;
use crate::exec::{Coverage, Log, Logged};
use crate::isa_name::IsaName;
use crate::platform::Platform;
use crate::se::Hardware;

/// What the core's instruction set is built from; `reset_pc` is the ELF's to say.
#[derive(Clone, Debug)]
pub enum IsaConfig {
    Riscv(RiscvConfig),
    X86(Box<X86Config>),
}

impl IsaConfig {
    #[must_use]
    pub fn name(&self) -> IsaName {
        match self {
            IsaConfig::Riscv(_) => IsaName::Riscv,
            IsaConfig::X86(_) => IsaName::X86,
        }
    }
    /// # Errors
    /// What the front end cannot be built with.
    pub fn check(&self) -> Result<(), ConfigError> {
        match self {
            IsaConfig::Riscv(c) => c.check(),
            IsaConfig::X86(c) => c.check(),
        }
    }
}

/// An instruction set's state.
#[derive(Debug)]
pub(crate) enum Isa {
    Riscv(Box<Logged<RiscvFrontEnd>>),
    X86(Box<Logged<X86FrontEnd>>),
}

impl Clone for Isa {
    fn clone(&self) -> Self {
        match self {
            Isa::Riscv(f) => Isa::Riscv(f.clone()),
            Isa::X86(f) => Isa::X86(f.clone()),
        }
    }
    /// Reuses shared buffers: every point of a sweep restores a snapshot by this.
    fn clone_from(&mut self, from: &Self) {
        match (self, from) {
            (Isa::Riscv(to), Isa::Riscv(from)) => to.clone_from(from),
            (Isa::X86(to), Isa::X86(from)) => to.clone_from(from),
            (to, from) => *to = from.clone(),
        }
    }
}

impl Isa {
    /// A hart about to execute at `entry`, with what its firmware would have left in RAM.
    ///
    /// # Errors
    /// See [`IsaConfig::check`].
    pub fn boot(config: &IsaConfig, entry: u64, bus: &mut Platform) -> Result<Isa, ConfigError> {
        Ok(match config {
            IsaConfig::Riscv(c) => {
                let config = RiscvConfig { reset_pc: entry, ..c.clone() };
                Isa::Riscv(Box::new(Logged::new(RiscvFrontEnd::new(&config)?)))
            }
            IsaConfig::X86(c) => {
                X86FrontEnd::boot(bus);
                let config = X86Config { reset_pc: entry, ..(**c).clone() };
                Isa::X86(Box::new(Logged::new(X86FrontEnd::new(&config)?)))
            }
        })
    }

    /// A hart for a process, which [`Isa::start`] starts.
    ///
    /// # Errors
    /// See [`IsaConfig::check`].
    pub fn for_process(config: &IsaConfig) -> Result<Isa, ConfigError> {
        Ok(match config {
            IsaConfig::Riscv(c) => Isa::Riscv(Box::new(Logged::new(RiscvFrontEnd::new(c)?))),
            IsaConfig::X86(c) => Isa::X86(Box::new(Logged::new(X86FrontEnd::new(c)?))),
        })
    }

    /// What a program is told of its processor.
    pub fn hardware(&self) -> Hardware {
        match self {
            Isa::Riscv(_) => Hardware::default(),
            Isa::X86(fe) => {
                let [_, _, _, capabilities] = fe.inner.cpuid(1, 0);
                let [_, extended, _, _] = fe.inner.cpuid(7, 0);
                Hardware { capabilities: u64::from(capabilities), fsgsbase: extended & 1 != 0 }
            }
        }
    }

    pub fn start(&mut self, process: &ProcessStart) {
        match self {
            Isa::Riscv(fe) => fe.inner.start_process(process),
            Isa::X86(fe) => fe.inner.start_process(process),
        }
    }

    /// Starts the trace of instructions, or ends it.
    pub fn set_log(&mut self, log: Option<Log>) {
        match self {
            Isa::Riscv(fe) => fe.set_log(log),
            Isa::X86(fe) => fe.set_log(log),
        }
    }
    /// The trace since the last call.
    pub fn take_log(&mut self) -> String {
        match self {
            Isa::Riscv(fe) => fe.take_log(),
            Isa::X86(fe) => fe.take_log(),
        }
    }

    /// See [`Logged::executes_wrong_paths`].
    pub fn execute_wrong_paths(&mut self) {
        match self {
            Isa::Riscv(fe) => fe.executes_wrong_paths = true,
            Isa::X86(fe) => fe.executes_wrong_paths = true,
        }
    }

    /// Starts recording coverage.
    pub fn set_coverage(&mut self, coverage: Coverage) {
        match self {
            Isa::Riscv(fe) => fe.set_coverage(coverage),
            Isa::X86(fe) => fe.set_coverage(coverage),
        }
    }
    pub fn coverage(&self) -> Option<&Coverage> {
        match self {
            Isa::Riscv(fe) => fe.coverage(),
            Isa::X86(fe) => fe.coverage(),
        }
    }

    pub fn run<B: Bus>(&mut self, core: &mut Core, bus: &mut B, mem: &mut MemorySystem, budget: Budget) -> Stop {
        match self {
            Isa::Riscv(fe) => core.run(&mut CoreCtx { fe: &mut **fe, bus, mem }, budget),
            Isa::X86(fe) => core.run(&mut CoreCtx { fe: &mut **fe, bus, mem }, budget),
        }
    }

    /// Where the path being followed stands.
    pub fn pc(&self) -> u64 {
        match self {
            Isa::Riscv(fe) => fe.pc(),
            Isa::X86(fe) => fe.pc(),
        }
    }

    /// Why the guest ended, when the front end knows more than the cause says.
    pub fn halt_reason<B: Bus>(&self, bus: &mut B) -> Option<String> {
        match self {
            Isa::Riscv(_) => None,
            Isa::X86(fe) => fe.inner.halt_reason(bus),
        }
    }
}
