//! The contract between an instruction set and a pipeline.
//!
//! A front end executes each instruction when the pipeline *fetches* it and describes it as micro-ops. The pipeline
//! predicts; when its prediction differs from what the step says happened, it forks the front end onto the predicted
//! (wrong) path, keeps fetching there, and rolls back when the branch resolves. Forks nest.

use crate::addr::PhysAddr;
use crate::bus::Bus;
use crate::references::References;
use crate::units::Now;
use crate::uop::{MemRef, Predecoded, Step};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepResult {
    /// `out` describes the executed instruction and the front end stands at `out.next_pc`.
    Done,
    /// Nothing happened: the instruction depends on time (counters, devices, pseudo-ops). Call again with `drained`.
    /// `out.pc`, `out.len` and `out.uops[..n]` describe the instruction as decoded, for a pipeline that keeps it in flight
    /// meanwhile (`n` 0 when that is not known); so they do for `Paused` and `Blocked`.
    NeedsDrain,
    /// On a speculative path something was met that cannot be executed speculatively (a fault, a system
    /// instruction, unmapped code): nothing more comes until a rollback.
    Blocked,
    /// The bus asked to stop before this instruction ([`crate::PseudoOutcome::Pause`]).
    Paused,
}

/// What [`FrontEnd::predecode`] says of an instruction.
#[derive(Clone, Copy, Debug)]
pub enum Predecode<'a> {
    Described(Predecoded<'a>),
    /// As [`StepResult::Blocked`].
    Blocked,
    /// It cannot be deferred: execute it.
    MustExecute,
}

/// Where an instruction fetch goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FetchXlat {
    pub paddr: PhysAddr,
    /// log2 of the page; 0 when translation is off.
    pub page_shift: u8,
}

/// An instruction that has been executed before, as [`FrontEnd::run_path`] expects it again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct PathInst {
    pub pc: u64,
    /// Its [`Step::decoded`], not 0.
    pub decoded: u64,
    /// Where execution went on. A branch that goes on at the same address taken or not is none of these.
    pub next_pc: u64,
    /// It makes memory references.
    pub has_references: bool,
}

/// How far [`FrontEnd::run_path`] came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct PathEnd {
    /// So many instructions were as expected.
    pub done: usize,
    /// One more has been executed, and was not.
    pub other: bool,
}

/// The page-table entries that a walk reads, root first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct WalkPath {
    pub n: u8,
    pub ptes: [PhysAddr; 5],
}

/// An instruction set. Cloning it clones the architectural state (the snapshot that every point starts from).
pub trait FrontEnd: Clone {
    /// The program counter of the path being followed.
    fn pc(&self) -> u64;

    /// Executes the instruction at [`FrontEnd::pc`], on the architectural path or on the innermost fork.
    /// Takes a pending interrupt first when there is one.
    fn step<B: Bus>(&mut self, bus: &mut B, now: Now, out: &mut Step) -> StepResult;

    /// Executes up to `max` instructions functionally, without describing them: the atomic core's fast path.
    /// Stops early, before an instruction, at anything for which [`FrontEnd::step`] would matter to the caller
    /// (an effect, a pause, an instruction that needs the time). Returns how many were executed.
    fn run_fast<B: Bus>(&mut self, bus: &mut B, now: Now, max: u64) -> u64;

    /// As [`FrontEnd::run_fast`]; `used` gets the memory references and the fetched lines, in order. Stops, too, before an
    /// instruction whose micro-ops say more of its references than the references do (a non-temporal store).
    /// By default nothing is executed.
    fn run_noting<B: Bus>(&mut self, _bus: &mut B, _now: Now, _max: u64, _used: &mut References) -> u64 {
        0
    }

    /// Executes instructions of a path that is known, one after the other, without describing them, as long as they are those
    /// and go on where they should. `path` says which is number n, up to the end. `visit` gets the number of each one with
    /// references, and those in the order of its micro-ops; false ends the path there. The instruction that came out otherwise,
    /// or that `visit` refused, is described in `out` as by
    /// [`FrontEnd::step`]. Ends before an instruction that [`FrontEnd::step`] must execute: by default each.
    fn run_path<B: Bus>(
        &mut self,
        _bus: &mut B,
        _out: &mut Step,
        _path: impl FnMut(usize) -> Option<PathInst>,
        _visit: impl FnMut(usize, &[MemRef]) -> bool,
    ) -> PathEnd {
        PathEnd::default()
    }

    /// Starts following `wrong_pc` speculatively. Returns the depth to give to [`FrontEnd::rollback`].
    fn fork(&mut self, wrong_pc: u64) -> u32;

    /// On a fork: redirects the speculative program counter to `pc`. For a pipeline that only ever rolls back the outermost
    /// fork; another one forks again.
    fn redirect(&mut self, pc: u64) {
        self.fork(pc);
    }

    /// On a fork: describes the instruction at [`FrontEnd::pc`] as [`FrontEnd::step`] would, but for its references and for
    /// where a branch goes, and advances, without executing it: most of a wrong path is squashed before anything
    /// depends on a value in it. Only for `Blocked` is something in `out`. What has been predecoded before an instruction that
    /// must be executed is executed first ([`FrontEnd::execute_deferred`]). By default every instruction must be executed.
    fn predecode<B: Bus>(&mut self, _bus: &mut B, _out: &mut Step) -> Predecode<'_> {
        Predecode::MustExecute
    }

    /// Executes the oldest instruction that has only been predecoded; `out` describes it, with its references. False: there is
    /// none. A rollback forgets them all. No fork may be opened before they are executed ([`FrontEnd::redirect`] may be used).
    fn execute_deferred<B: Bus>(&mut self, _bus: &mut B, _now: Now, _out: &mut Step) -> bool {
        false
    }

    /// Forgets everything since the fork that returned `depth`, and any later one: the state is as it was just before it.
    fn rollback(&mut self, depth: u32);

    /// Open forks; 0 on the architectural path.
    fn depth(&self) -> u32;

    /// The next step belongs to an instruction that has been decoded: it needs no bytes (gem5's macro-op under way).
    fn in_microcode(&self) -> bool;

    /// Translates an instruction address without executing; `None` when it cannot be fetched.
    fn fetch_translate<B: Bus>(&mut self, bus: &mut B, vaddr: u64) -> Option<FetchXlat>;

    /// How often it has translated an instruction address that it did not keep the translation of, or forgotten those that it
    /// kept: while this stays, [`FrontEnd::fetch_translate`] says of an address what it said before. `None`: that is not known.
    fn translations(&self) -> Option<u64> {
        None
    }

    /// The entries a hardware walk for `vaddr` would read now. Empty when translation is off.
    fn walk_path<B: Bus>(&self, bus: &B, vaddr: u64) -> WalkPath;

    /// The current address-space number, the timing TLBs' tag.
    fn asid(&self) -> u16;

    /// Appends one line (no newline) for the instruction at `pc`, as an assembler would write it; for traces.
    /// Nothing when it cannot be read in the present mode.
    fn disassemble<B: Bus>(&mut self, _bus: &mut B, _pc: u64, _out: &mut String) {}

    /// Whether registers that only the widest vector instructions reach hold something: on x86 the upper halves of ymm
    /// registers, which `vzeroupper` clears and which make a processor slow down SSE code that follows.
    fn upper_vector_state(&self) -> bool {
        false
    }

    /// log2 of the smallest instruction alignment (RISC-V with C: 1; x86: 0).
    const INST_SHIFT: u32;
}
