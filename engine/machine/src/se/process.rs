//! A process: its memory, its files, and what becomes of its system calls and faults.

use std::collections::BTreeSet;
use std::sync::Arc;

use breakeven_base::{
    FaultAnswer, Now, PhysMem, ProcessStart, SysEffect, Syscall, SyscallDone, UserAccess, UserContext, UserFault,
    UserState,
};

use super::calls::{self, Call};
use super::errno::ENOSYS;
use super::files::Files;
use super::host::Host;
use super::loader::{self, Hardware, Launch};
use super::memory::{AddressSpace, Prot, Refused, PAGE};
use super::random::Random;
use super::schedule::set_result;
use super::signals::{self, Info, Signals};
use super::task::{Break, End, Ended, Others, Task};
use super::ProcessConfig;
use crate::platform::Sink;
use crate::{Elf, EngineError, IsaName};

/// Where x86-64 Linux has the calls that need no kernel.
const VSYSCALL: u64 = 0xffff_ffff_ff60_0000;
/// Warnings kept.
const MOST_WARNINGS: usize = 100;

/// The process that a machine runs, and those that it has started. What is a process's own ([`Task`], the descriptors in
/// [`Files`], the map in [`AddressSpace`]) is that of the one that runs now; `others` wait for their turn.
#[derive(Debug)]
pub struct Process {
    pub(super) config: ProcessConfig,
    pub(super) isa: IsaName,
    pub(super) hardware: Hardware,
    /// The ELF of the first program, which may run itself again wherever it lies.
    pub(super) program: Arc<[u8]>,
    pub(super) space: AddressSpace,
    pub(super) files: Files,
    pub(super) random: Random,
    /// Seconds since 1970 at the start.
    pub(super) epoch: u64,
    /// Simulated time at the last call, and what was slept on top of it: ticks, nanoseconds.
    pub(super) tick: u64,
    pub(super) slept: u64,
    pub(super) task: Task,
    pub(super) others: Others,
    pub(super) zombies: Vec<Ended>,
    /// Number of the last process that was made, and how many pages all forks have copied.
    pub(super) last_pid: u32,
    pub(super) pages_copied: u64,
    /// Since when the running process has run, in nanoseconds; whether it lets others go first.
    pub(super) since: u64,
    pub(super) yielded: bool,
    /// The first alarm of all processes: nanoseconds.
    pub(super) next_alarm: u64,
    /// The state to go on with behind the call, where that is another one.
    pub(super) replaced: Option<Box<UserState>>,
    pub(super) end_of_first: Option<End>,
    pub(super) ended: Option<SysEffect>,
    pub(super) detail: String,
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
        let launch = Launch::of(config);
        let image = loader::load(&mut space, ram, elf, &launch, hardware, seed)?;
        let start = ProcessStart {
            entry: image.entry,
            stack: image.stack,
            page_table: space.root(),
            timed_translation: config.timed_translation,
        };
        let name = config.executable.rsplit('/').next().unwrap_or_default();
        let task = Task {
            ids: config.ids,
            saved: [config.ids.euid, config.ids.egid],
            brk: Break { start: image.end, now: image.end },
            executable: config.executable.clone(),
            name: name.bytes().take(15).collect(),
            signals: Signals::default(),
            wait: None,
            deadline: None,
            done: 0,
            again: false,
            woken: false,
            end: None,
            alarm: None,
            lender: None,
        };
        let process = Process {
            config: config.clone(),
            isa: elf.isa,
            hardware,
            program: elf.file.into(),
            space,
            files: Files::new(host, &config.cwd, config.ids.pid)?,
            random,
            epoch: host.start_time,
            tick: 0,
            slept: 0,
            task,
            others: Others::new(),
            zombies: Vec::new(),
            last_pid: config.ids.pid,
            pages_copied: 0,
            since: 0,
            yielded: false,
            next_alarm: u64::MAX,
            replaced: None,
            end_of_first: None,
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

    /// The running process ends behind its call.
    pub(super) fn exit(&mut self, status: u64) {
        self.task.end = Some(End::Exit(status as u8));
    }
    /// As [`Process::exit`], by a signal that cannot be handled.
    pub(super) fn die(&mut self, number: u32, why: &str) {
        self.task.end = Some(End::Signal { number, why: why.to_owned() });
    }
    /// A signal to the running process.
    pub(super) fn raise(&mut self, number: u32, why: &str) {
        self.task.signals.post(number, Info::kernel(why));
    }

    /// Answers a system call.
    pub(crate) fn syscall(
        &mut self,
        ram: &mut PhysMem,
        call: &Syscall,
        now: Now,
        context: &mut dyn UserContext,
    ) -> SyscallDone {
        self.tick = now.tick.0;
        self.task.again = false;
        let name = calls::name(self.isa, call.number);
        let mut c = Call { p: self, ram, context, args: call.args, bases: call.bases, pc: call.pc };
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
        if self.goes_on() {
            return SyscallDone { ret: Some(ret), bases, stale: self.space.take_stale(), effect: SysEffect::None };
        }
        let state = self.replaced.take().unwrap_or_else(|| {
            let mut state = Box::new(context.save());
            state.bases = bases;
            if self.task.wait.is_some() {
                state.pc = call.pc;
            } else {
                set_result(self.isa, &mut state, ret);
            }
            state
        });
        match self.resume(ram, state) {
            Ok(state) => {
                context.load(&state);
                self.space.take_stale();
                SyscallDone { ret: None, bases, stale: true, effect: SysEffect::None }
            }
            Err(effect) => SyscallDone { ret: Some(ret), bases, stale: self.space.take_stale(), effect },
        }
    }

    /// Answers a fault.
    pub(crate) fn fault(
        &mut self,
        ram: &mut PhysMem,
        pc: u64,
        fault: UserFault,
        context: &mut dyn UserContext,
    ) -> FaultAnswer {
        // The codes of `siginfo_t`.
        const MAPERR: i32 = 1;
        const ACCERR: i32 = 2;
        const ADRERR: i32 = 2;
        const FIRST: i32 = 1;
        let mut behind = 0;
        let (number, code, addr, what) = match fault {
            UserFault::Page { addr, access } => {
                let (wanted, doing) = match access {
                    UserAccess::Load => (Prot::READ, "read from"),
                    UserAccess::Store => (Prot::WRITE, "written to"),
                    UserAccess::Fetch => (Prot::EXEC, "executed"),
                };
                match self.touch(ram, addr, wanted) {
                    Ok(_) => return FaultAnswer::Retry,
                    Err(Refused::OutOfMemory) => {
                        let why = self.out_of_memory(ram);
                        self.die(signals::KILL, &why);
                        return self.answer(ram, context, 0);
                    }
                    Err(refused) => {
                        let (number, code, why) = match refused {
                            Refused::Beyond => (signals::BUS, ADRERR, "lies behind the end of what is mapped there"),
                            _ if self.space.rights(addr).is_some() => {
                                (signals::SEGV, ACCERR, "is mapped without that right")
                            }
                            _ => (signals::SEGV, MAPERR, "is not mapped"),
                        };
                        (number, code, addr, format!("address {addr:#x} cannot be {doing}: it {why}"))
                    }
                }
            }
            UserFault::Bus { addr } => (signals::BUS, FIRST, addr, format!("address {addr:#x} cannot be accessed so")),
            UserFault::Protection => {
                let what = "an address or an instruction that a process may not use";
                // `SI_KERNEL`: there is no address.
                (signals::SEGV, 0x80, 0, what.to_owned())
            }
            UserFault::Illegal => {
                (signals::ILL, FIRST, pc, "an instruction that this processor does not have".to_owned())
            }
            UserFault::Breakpoint => {
                // x86's is a trap: it has been executed.
                behind = u64::from(self.isa == IsaName::X86);
                (signals::TRAP, FIRST, pc, "a breakpoint".to_owned())
            }
            UserFault::Arithmetic => (signals::FPE, FIRST, pc, "a division by zero or its overflow".to_owned()),
        };
        let info = Info { code, fields: [addr, 0], why: format!("{what}, at pc {pc:#x}") };
        self.task.signals.force(number, info);
        self.answer(ram, context, behind)
    }

    /// Looks at the clock between two instructions; `None`: the running process goes on.
    pub(crate) fn turn(&mut self, ram: &mut PhysMem, now: Now, context: &mut dyn UserContext) -> Option<FaultAnswer> {
        self.tick = now.tick.0;
        self.is_due().then(|| self.answer(ram, context, 0))
    }

    /// What becomes of the running process, `behind` bytes after its pc.
    fn answer(&mut self, ram: &mut PhysMem, context: &mut dyn UserContext, behind: u64) -> FaultAnswer {
        let mut state = Box::new(context.save());
        state.pc = state.pc.wrapping_add(behind);
        match self.resume(ram, state) {
            Ok(state) => {
                context.load(&state);
                self.space.take_stale();
                FaultAnswer::Loaded
            }
            Err(effect) => FaultAnswer::End(effect),
        }
    }

    fn out_of_memory(&self, ram: &PhysMem) -> String {
        let processes = if self.others.is_empty() { "the process uses" } else { "the processes use" };
        format!("{processes} all of its {} bytes of memory; enlarge system.mem_ranges", ram.len())
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

    /// What was stored to mapped files goes back to them.
    pub(crate) fn write_back(&mut self, ram: &PhysMem) {
        self.space.shared.write_back_all(ram);
        if let Some(e) = self.space.shared.lost.take() {
            let why = std::io::Error::from_raw_os_error(e.0);
            self.warn(format!("what was stored to a mapped file is not in it: {why}"));
        }
    }

    /// Makes a page present for the simulator's own access on the process's behalf (pseudo-ops).
    pub(crate) fn present(&mut self, ram: &mut PhysMem, vaddr: u64, write: bool) -> bool {
        let wanted = if write { Prot::WRITE } else { Prot::READ };
        self.space.touch(ram, vaddr & !(PAGE - 1), wanted).is_ok()
    }
}
