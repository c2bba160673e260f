//! A process: its memory, its files, and what becomes of its system calls and faults.

use std::collections::BTreeSet;
use std::sync::Arc;

use breakeven_base::{PhysMem, ProcessStart, SysEffect, UserState};

use super::files::Files;
use super::host::Host;
use super::loader::{self, Hardware, Launch};
use super::memory::{AddressSpace, Prot, PAGE};
use super::random::Random;
use super::signals::{Info, Signals};
use super::task::{Break, End, Ended, Others, PendingCall, Stop, Task, Used};
use super::ProcessConfig;
use crate::platform::Sink;
use crate::{Elf, EngineError, IsaName};

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
    pub(super) clock: Clock,
    pub(super) task: Task,
    pub(super) processes: Processes,
    /// The state to go on with behind the call, where that is another one.
    pub(super) replaced: Option<Box<UserState>>,
    pub(super) end_of_first: Option<End>,
    pub(super) ended: Option<SysEffect>,
    pub(super) detail: String,
    warnings: Warnings,
}

/// A process's time.
#[derive(Debug)]
pub(super) struct Clock {
    /// Seconds since 1970 at the start.
    pub epoch: u64,
    /// Simulated time at the last call, and what was slept on top of it: ticks, nanoseconds.
    pub tick: u64,
    pub slept: u64,
}

/// The processes besides the running one, and the scheduler's state.
#[derive(Debug)]
pub(super) struct Processes {
    pub others: Others,
    pub zombies: Vec<Ended>,
    /// Number of the last process that was made, and how many pages all forks have copied.
    pub last_pid: u32,
    pub pages_copied: u64,
    /// Since when the running process has run, in nanoseconds; whether it lets others go first.
    pub since: u64,
    pub yielded: bool,
    /// Up to when its processor time is counted: nanoseconds without what was slept.
    pub simulated: u64,
    /// The first alarm of all processes: nanoseconds.
    pub next_alarm: u64,
}

/// Refused requests, each once.
#[derive(Debug, Default)]
struct Warnings {
    seen: BTreeSet<String>,
    list: Vec<String>,
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
            call: PendingCall::default(),
            woken: false,
            end: None,
            alarm: None,
            used: Used::default(),
            stop: Stop::default(),
            personality: 0,
            vfork_parent: None,
        };
        let process = Process {
            config: config.clone(),
            isa: elf.isa,
            hardware,
            program: elf.file.into(),
            space,
            files: Files::new(host, &config.cwd, config.ids.pid)?,
            random,
            clock: Clock { epoch: host.start_time, tick: 0, slept: 0 },
            task,
            processes: Processes {
                others: Others::new(),
                zombies: Vec::new(),
                last_pid: config.ids.pid,
                pages_copied: 0,
                since: 0,
                simulated: 0,
                yielded: false,
                next_alarm: u64::MAX,
            },
            replaced: None,
            end_of_first: None,
            ended: None,
            detail: String::new(),
            warnings: Warnings::default(),
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
    /// Its refused requests, each once.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings.list
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
        if self.warnings.list.len() < MOST_WARNINGS && self.warnings.seen.insert(what.clone()) {
            self.warnings.list.push(what);
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
