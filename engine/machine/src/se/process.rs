//! A process: its memory, its files, and what becomes of its system calls and faults.

use std::collections::BTreeSet;

use breakeven_base::bus::ExitCause;
use breakeven_base::{FaultAnswer, Now, PhysMem, ProcessStart, SysEffect, Syscall, SyscallDone, UserAccess, UserFault};

use super::calls::{self, Call};
use super::errno::ENOSYS;
use super::files::Files;
use super::host::Host;
use super::loader::{self, Hardware};
use super::memory::{AddressSpace, Prot, Refused, PAGE};
use super::random::Random;
use super::ProcessConfig;
use crate::platform::Sink;
use crate::{Elf, EngineError, IsaName};

/// Where x86-64 Linux has the calls that need no kernel.
const VSYSCALL: u64 = 0xffff_ffff_ff60_0000;
/// Warnings kept.
const MOST_WARNINGS: usize = 100;

pub(super) mod signal {
    pub const ILL: u32 = 4;
    pub const TRAP: u32 = 5;
    pub const ABRT: u32 = 6;
    pub const BUS: u32 = 7;
    pub const FPE: u32 = 8;
    pub const KILL: u32 = 9;
    pub const SEGV: u32 = 11;
    pub const PIPE: u32 = 13;
    pub const XFSZ: u32 = 25;
    pub const COUNT: usize = 65;

    pub fn name(n: u32) -> &'static str {
        match n {
            ILL => "SIGILL",
            TRAP => "SIGTRAP",
            ABRT => "SIGABRT",
            BUS => "SIGBUS",
            FPE => "SIGFPE",
            KILL => "SIGKILL",
            SEGV => "SIGSEGV",
            2 => "SIGINT",
            PIPE => "SIGPIPE",
            XFSZ => "SIGXFSZ",
            14 => "SIGALRM",
            15 => "SIGTERM",
            _ => "a signal",
        }
    }
}

/// The data segment's end, as `brk` moves it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Break {
    pub start: u64,
    pub now: u64,
}

/// See the module.
#[derive(Debug)]
pub struct Process {
    pub(super) config: ProcessConfig,
    pub(super) isa: IsaName,
    pub(super) space: AddressSpace,
    pub(super) files: Files,
    pub(super) random: Random,
    /// Seconds since 1970 at the start.
    pub(super) epoch: u64,
    /// Saved user and group.
    pub(super) saved: [u32; 2],
    pub(super) brk: Break,
    /// `struct sigaction` as the process gave it, by signal; never called.
    pub(super) actions: Vec<Option<Vec<u8>>>,
    pub(super) signal_mask: u64,
    pub(super) alternate_stack: Option<[u64; 3]>,
    /// `prctl`'s.
    pub(super) name: Vec<u8>,
    ended: Option<SysEffect>,
    detail: String,
    warned: BTreeSet<String>,
    warnings: Vec<String>,
}

impl Process {
    /// Loads a program.
    ///
    /// # Errors
    /// An ELF that is no such program, memory too small for it, an allowed directory that cannot be used.
    pub(crate) fn new(
        config: &ProcessConfig,
        elf: &Elf,
        host: &Host,
        hardware: Hardware,
        ram: &mut PhysMem,
    ) -> Result<(Process, ProcessStart), EngineError> {
        let small = EngineError::Process(format!("{} bytes of memory are too little", ram.len()));
        let mut space = AddressSpace::new(ram, elf.isa).ok_or(small)?;
        let mut random = Random::default();
        let mut seed = [0; 16];
        random.fill(&mut seed);
        let image = loader::load(&mut space, ram, elf, config, hardware, seed)?;
        let start = ProcessStart {
            entry: image.entry,
            stack: image.stack,
            page_table: space.root(),
            timed_translation: config.timed_translation,
        };
        let name = config.executable.rsplit('/').next().unwrap_or_default();
        let process = Process {
            config: config.clone(),
            isa: elf.isa,
            space,
            files: Files::new(host, &config.cwd)?,
            random,
            epoch: host.start_time,
            saved: [config.ids.euid, config.ids.egid],
            brk: Break { start: image.end, now: image.end },
            actions: vec![None; signal::COUNT],
            signal_mask: 0,
            alternate_stack: None,
            name: name.bytes().take(15).collect(),
            ended: None,
            detail: String::new(),
            warned: BTreeSet::new(),
            warnings: Vec::new(),
        };
        Ok((process, start))
    }

    /// What it wrote to standard output.
    #[must_use]
    pub fn stdout(&self) -> &[u8] {
        &self.files.stdout.bytes
    }
    /// What it wrote to standard error.
    #[must_use]
    pub fn stderr(&self) -> &[u8] {
        &self.files.stderr.bytes
    }
    /// Both, as they came.
    #[must_use]
    pub fn output(&self) -> &[u8] {
        &self.files.both
    }
    /// From now on its standard output goes there, and is not kept.
    pub fn set_stdout(&mut self, sink: Box<dyn Sink>) {
        self.files.stdout.set_sink(sink);
    }
    /// As [`Process::set_stdout`], its standard error.
    pub fn set_stderr(&mut self, sink: Box<dyn Sink>) {
        self.files.stderr.set_sink(sink);
    }
    /// What it asked for in vain, each thing once.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }
    /// How it ended.
    #[must_use]
    pub fn ended(&self) -> Option<SysEffect> {
        self.ended
    }
    /// Why a signal ended it.
    #[must_use]
    pub fn detail(&self) -> &str {
        &self.detail
    }

    pub(super) fn warn(&mut self, what: String) {
        if self.warnings.len() < MOST_WARNINGS && self.warned.insert(what.clone()) {
            self.warnings.push(what);
        }
    }

    pub(super) fn exit(&mut self, status: u64) {
        self.ended = Some(SysEffect::Exit { cause: ExitCause::ProcessExit, code: i64::from(status as u8) });
    }
    /// Ends the process as a signal does whose default it is. Handlers are not run.
    pub(super) fn die(&mut self, number: u32, why: &str) -> SysEffect {
        let handled = matches!(self.actions.get(number as usize), Some(Some(a)) if a.iter().take(8).any(|b| *b > 1));
        let handled = if handled { "; its handler was not run: signals are not delivered" } else { "" };
        self.detail = format!("{} ({number}): {why}{handled}", signal::name(number));
        let effect = SysEffect::Exit { cause: ExitCause::ProcessSignal, code: 128 + i64::from(number) };
        self.ended = Some(effect);
        effect
    }
    /// A signal to the process: ignored, or the end.
    pub(super) fn raise(&mut self, number: u32, why: &str) {
        /// SIGCHLD, SIGCONT, SIGURG, SIGWINCH.
        const IGNORED: [u32; 4] = [17, 18, 23, 28];
        const SIG_IGN: u8 = 1;
        let ignores = |a: &Vec<u8>| a.first() == Some(&SIG_IGN) && a.iter().take(8).skip(1).all(|b| *b == 0);
        let ignored = self.actions.get(number as usize).and_then(Option::as_ref).is_some_and(ignores);
        if number != 0 && (number == signal::KILL || !(ignored || IGNORED.contains(&number))) {
            self.die(number, why);
        }
    }
    fn out_of_memory(&mut self, ram: &PhysMem) -> SysEffect {
        let why = format!("the process uses all of its {} bytes of memory; enlarge system.mem_ranges", ram.len());
        self.die(signal::KILL, &why)
    }

    /// Answers a system call.
    pub(crate) fn syscall(&mut self, ram: &mut PhysMem, call: &Syscall, now: Now) -> SyscallDone {
        let name = calls::name(self.isa, call.number);
        let mut c = Call { p: self, ram, args: call.args, now, bases: call.bases, pc: call.pc };
        let ret = match name.and_then(|name| c.dispatch(name)) {
            Some(Ok(value)) => value,
            Some(Err(e)) => e.value(),
            None => {
                let name = name.map(|n| format!(" ({n})")).unwrap_or_default();
                c.p.warn(format!("system call {}{name} is not implemented: ENOSYS", call.number));
                ENOSYS.value()
            }
        };
        let bases = c.bases;
        let effect = self.ended.unwrap_or(SysEffect::None);
        SyscallDone { ret, bases, stale: self.space.take_stale(), effect }
    }

    /// Answers a fault.
    pub(crate) fn fault(&mut self, ram: &mut PhysMem, pc: u64, fault: UserFault) -> FaultAnswer {
        let (number, what) = match fault {
            UserFault::Page { addr, access } => {
                let (wanted, doing) = match access {
                    UserAccess::Load => (Prot::READ, "read from"),
                    UserAccess::Store => (Prot::WRITE, "written to"),
                    UserAccess::Fetch => (Prot::EXEC, "executed"),
                };
                match self.touch(ram, addr, wanted) {
                    Ok(_) => return FaultAnswer::Retry,
                    Err(Refused::OutOfMemory) => return FaultAnswer::End(self.out_of_memory(ram)),
                    Err(Refused::Fault) => {}
                }
                let mapped = self.space.rights(addr).is_some();
                let why = if mapped { "is mapped without that right" } else { "is not mapped" };
                (signal::SEGV, format!("address {addr:#x} cannot be {doing}: it {why}"))
            }
            UserFault::Bus { addr } => (signal::BUS, format!("address {addr:#x} cannot be accessed so")),
            UserFault::Protection => {
                (signal::SEGV, "an address or an instruction that a process may not use".to_owned())
            }
            UserFault::Illegal => (signal::ILL, "an instruction that this processor does not have".to_owned()),
            UserFault::Breakpoint => (signal::TRAP, "a breakpoint".to_owned()),
            UserFault::Arithmetic => (signal::FPE, "a division by zero or its overflow".to_owned()),
        };
        FaultAnswer::End(self.die(number, &format!("{what}, at pc {pc:#x}")))
    }

    fn touch(&mut self, ram: &mut PhysMem, addr: u64, wanted: Prot) -> Result<u64, Refused> {
        if self.isa == IsaName::X86 && addr & !(PAGE - 1) == VSYSCALL && self.space.rights(addr).is_none() {
            self.map_vsyscall(ram)?;
        }
        self.space.touch(ram, addr, wanted)
    }

    /// Linux's vsyscall page, when it is first used: `gettimeofday`, `time` and `getcpu` at fixed addresses.
    fn map_vsyscall(&mut self, ram: &mut PhysMem) -> Result<(), Refused> {
        const CALLS: [u32; 3] = [96, 201, 309];
        const APART: usize = 1024;
        // int3 wherever nothing is.
        let mut page = vec![0xcc; PAGE as usize];
        for (n, number) in CALLS.iter().enumerate() {
            // mov eax, number; syscall; ret
            let code = [&[0xb8], &number.to_le_bytes()[..], &[0x0f, 0x05, 0xc3]].concat();
            page[n * APART..n * APART + code.len()].copy_from_slice(&code);
        }
        self.space.map(ram, VSYSCALL, VSYSCALL + PAGE, Prot::READ.with(Prot::EXEC));
        self.space.put(ram, VSYSCALL, &page)
    }

    /// Makes a page present for the simulator's own access on the process's behalf (pseudo-ops).
    pub(crate) fn present(&mut self, ram: &mut PhysMem, vaddr: u64, write: bool) -> bool {
        let wanted = if write { Prot::WRITE } else { Prot::READ };
        self.space.touch(ram, vaddr & !(PAGE - 1), wanted).is_ok()
    }
}
