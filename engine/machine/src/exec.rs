//! Records of the instructions of the right path: gem5's `Exec` trace, in program order, or code coverage.
//!
//! A front end executes an instruction when the core fetches it, so a line has the tick of the fetch (gem5's: of the
//! execution or, out of order, of the commit); on the simple cores that is the same. What a core fetches again (after a
//! violation of memory order) has a line each time.

use std::fmt::Write;

use breakeven_base::frontend::{FetchXlat, PathEnd, PathInst, Predecode, StepResult, WalkPath};
use breakeven_base::uop::{MemRef, Step, UopFlags};
use breakeven_base::{BranchKind, Bus, FrontEnd, Now, OpClass, References};

/// The trace window, and the lines that have not been taken yet.
#[derive(Debug)]
pub(crate) struct Log {
    /// Path of the core.
    pub cpu: String,
    /// Ticks: from the first up to, not including, the last.
    pub first: u64,
    pub last: u64,
    pub text: String,
}

/// Coverage: which instructions between two addresses have executed.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    start: u64,
    end: u64,
    /// A bit for each address from `start` on at which an instruction began.
    seen: Vec<u64>,
    /// How often it was left by a return, and how often with [`FrontEnd::upper_vector_state`].
    pub returns: u64,
    pub returns_with_upper: u64,
}

impl Coverage {
    /// No coverage yet, of the code in `start..end`.
    #[must_use]
    pub fn new(start: u64, end: u64) -> Coverage {
        let words = end.saturating_sub(start).div_ceil(64).min(MAX_COVERED / 64);
        let end = end.min(start.saturating_add(64 * words));
        Coverage { start, end, seen: vec![0; words as usize], ..Coverage::default() }
    }

    fn holds(&self, pc: u64) -> bool {
        (self.start..self.end).contains(&pc)
    }

    /// Where instructions began that have run.
    #[must_use]
    pub fn executed(&self) -> Vec<u64> {
        let bits = |(i, word): (usize, &u64)| {
            let (word, first) = (*word, self.start + 64 * i as u64);
            (0..64).filter(move |bit| word >> bit & 1 != 0).map(move |bit| first + bit)
        };
        self.seen.iter().enumerate().flat_map(bits).collect()
    }
}

/// Bytes of code that coverage is kept of: more than a guest has.
const MAX_COVERED: u64 = 64 << 20;

/// What a front end records.
#[derive(Debug)]
enum Record {
    Text(Box<Log>),
    Coverage(Box<Coverage>),
}

/// A front end that records what it executes, on request.
#[derive(Debug)]
pub(crate) struct Logged<F> {
    pub inner: F,
    record: Option<Record>,
    /// Every instruction of a wrong path is executed, though a description would do.
    pub executes_wrong_paths: bool,
}

impl<F> Logged<F> {
    pub fn new(inner: F) -> Self {
        Logged { inner, record: None, executes_wrong_paths: false }
    }
    /// Starts a trace, or ends it.
    pub fn set_log(&mut self, log: Option<Log>) {
        self.record = log.map(|log| Record::Text(Box::new(log)));
    }
    /// The lines since the last call.
    pub fn take_log(&mut self) -> String {
        match &mut self.record {
            Some(Record::Text(log)) => std::mem::take(&mut log.text),
            _ => String::new(),
        }
    }
    /// Starts recording coverage.
    pub fn set_coverage(&mut self, coverage: Coverage) {
        self.record = Some(Record::Coverage(Box::new(coverage)));
    }
    pub fn coverage(&self) -> Option<&Coverage> {
        match &self.record {
            Some(Record::Coverage(coverage)) => Some(coverage),
            _ => None,
        }
    }
}

impl<F: Clone> Clone for Logged<F> {
    /// A snapshot is not traced.
    fn clone(&self) -> Self {
        Logged::new(self.inner.clone())
    }
    fn clone_from(&mut self, from: &Self) {
        self.inner.clone_from(&from.inner);
    }
}

impl<F: FrontEnd> FrontEnd for Logged<F> {
    fn pc(&self) -> u64 {
        self.inner.pc()
    }

    #[inline(always)]
    fn step<B: Bus>(&mut self, bus: &mut B, now: Now, out: &mut Step) -> StepResult {
        let Logged { inner, record, .. } = self;
        match record {
            None => inner.step(bus, now, out),
            Some(Record::Text(log)) => step_logged(inner, log, bus, now, out),
            Some(Record::Coverage(coverage)) => step_covered(inner, coverage, bus, now, out),
        }
    }

    #[inline]
    fn run_fast<B: Bus>(&mut self, bus: &mut B, now: Now, max: u64) -> u64 {
        if self.record.is_some() {
            return 0;
        }
        self.inner.run_fast(bus, now, max)
    }
    #[inline]
    fn run_noting<B: Bus>(&mut self, bus: &mut B, now: Now, max: u64, used: &mut References) -> u64 {
        if self.record.is_some() {
            return 0;
        }
        self.inner.run_noting(bus, now, max, used)
    }
    #[inline]
    fn run_path<B: Bus>(
        &mut self,
        bus: &mut B,
        out: &mut Step,
        path: impl FnMut(usize) -> Option<PathInst>,
        visit: impl FnMut(usize, &[MemRef]) -> bool,
    ) -> PathEnd {
        if self.record.is_some() {
            return PathEnd::default();
        }
        self.inner.run_path(bus, out, path, visit)
    }
    #[inline]
    fn fork(&mut self, wrong_pc: u64) -> u32 {
        self.inner.fork(wrong_pc)
    }
    #[inline]
    fn redirect(&mut self, pc: u64) {
        self.inner.redirect(pc);
    }
    /// Wrong paths are not traced.
    #[inline]
    fn predecode<B: Bus>(&mut self, bus: &mut B, out: &mut Step) -> Predecode<'_> {
        if self.executes_wrong_paths {
            return Predecode::MustExecute;
        }
        self.inner.predecode(bus, out)
    }
    #[inline]
    fn execute_deferred<B: Bus>(&mut self, bus: &mut B, now: Now, out: &mut Step) -> bool {
        self.inner.execute_deferred(bus, now, out)
    }
    #[inline]
    fn rollback(&mut self, depth: u32) {
        self.inner.rollback(depth);
    }
    #[inline]
    fn depth(&self) -> u32 {
        self.inner.depth()
    }
    #[inline]
    fn in_microcode(&self) -> bool {
        self.inner.in_microcode()
    }
    #[inline]
    fn fetch_translate<B: Bus>(&mut self, bus: &mut B, vaddr: u64) -> Option<FetchXlat> {
        self.inner.fetch_translate(bus, vaddr)
    }
    #[inline]
    fn translations(&self) -> Option<u64> {
        self.inner.translations()
    }
    #[inline]
    fn walk_path<B: Bus>(&self, bus: &B, vaddr: u64) -> WalkPath {
        self.inner.walk_path(bus, vaddr)
    }
    #[inline]
    fn asid(&self) -> u16 {
        self.inner.asid()
    }
    fn disassemble<B: Bus>(&mut self, bus: &mut B, pc: u64, out: &mut String) {
        self.inner.disassemble(bus, pc, out);
    }
    fn upper_vector_state(&self) -> bool {
        self.inner.upper_vector_state()
    }
    const INST_SHIFT: u32 = F::INST_SHIFT;
}

/// One step, and where it was.
#[cold]
fn step_covered<F: FrontEnd, B: Bus>(
    inner: &mut F,
    coverage: &mut Coverage,
    bus: &mut B,
    now: Now,
    out: &mut Step,
) -> StepResult {
    let (pc, right) = (inner.pc(), inner.depth() == 0);
    let result = inner.step(bus, now, out);
    if right && result == StepResult::Done && coverage.holds(pc) {
        let bit = pc - coverage.start;
        coverage.seen[(bit / 64) as usize] |= 1 << (bit % 64);
        if out.branch.kind == BranchKind::Return && !coverage.holds(inner.pc()) {
            coverage.returns += 1;
            coverage.returns_with_upper += u64::from(inner.upper_vector_state());
        }
    }
    result
}

/// One step, and its line: `tick: core: T0 : pc    : instruction : class : A=address`.
#[cold]
fn step_logged<F: FrontEnd, B: Bus>(inner: &mut F, log: &mut Log, bus: &mut B, now: Now, out: &mut Step) -> StepResult {
    let traced = inner.depth() == 0 && (log.first..log.last).contains(&now.tick.0);
    let (pc, mut text) = (inner.pc(), String::new());
    if traced {
        // Before it executes: afterwards the mode may be another.
        inner.disassemble(bus, pc, &mut text);
    }
    let result = inner.step(bus, now, out);
    // An interrupt has no instruction; a long instruction's later steps belong to a line already written.
    let begins = out.n > 0 && out.uops[0].flags.any(UopFlags::FIRST) && out.len > 0;
    if traced && result == StepResult::Done && begins {
        // RISC-V's disassembly begins with the instruction's word.
        let words = if F::INST_SHIFT > 0 { text.split_once(' ').map_or("", |(_, rest)| rest) } else { text.as_str() };
        // Of several micro-ops the class of the first that is more than an addition.
        let classes = || out.uops[..usize::from(out.n)].iter().map(|uop| uop.class);
        let class = classes().find(|class| *class != OpClass::IntAlu).unwrap_or(OpClass::IntAlu).name();
        // Writing to a string cannot fail.
        let _ = write!(log.text, "{:7}: {}: T0 : {pc:#x}    : {words:<26} : {class} :", now.tick.0, log.cpu);
        let uops = out.uops.iter().zip(&out.mem).take(usize::from(out.n));
        for (_, at) in uops.filter(|(uop, at)| uop.flags.any(UopFlags::MEM) && at.valid) {
            let _ = write!(log.text, "  A={:#x}", at.vaddr);
        }
        log.text.push('\n');
    }
    result
}
