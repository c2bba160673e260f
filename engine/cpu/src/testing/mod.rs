//! A scripted front end and a small outside world for the cores' tests: a program is a list of instructions that the
//! test writes down as the pipeline sees them, and the outcome of each branch is scripted too.

pub mod memoized;
pub mod programs;
mod rig;

use std::cell::Cell;
use std::sync::Arc;

use proptest::test_runner::{Config, RngSeed};

use breakeven_base::{
    decoded_at, number_of_page, BranchInfo, BranchKind, Bus, BusError, Cycle, FetchXlat, FrontEnd, MemKind, MemRef,
    Now, OpClass, PathEnd, PathInst, PhysAddr, PhysMem, PseudoOutcome, Reg, Step, StepResult, SysEffect, Tick, Uop,
    UopFlags, WalkPath,
};

pub use rig::{cached_memory_config, memory, memory_config, simple_memory, Run, PERIOD};

pub const BASE: u64 = 0x8000_0000;

/// So many cases of a property, the same in each run: a change, not chance, decides whether a test passes. For a longer run
/// by hand: `BREAKEVEN_CASES`.
pub fn cases(cases: u32) -> Config {
    let cases = std::env::var("BREAKEVEN_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(cases);
    Config { cases, rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..Config::default() }
}

/// RAM, one interrupt that rises at `irq_at`, nothing else.
#[derive(Debug)]
pub struct MockBus {
    ram: PhysMem,
    pub irq_at: Tick,
    /// How often it is still asked whether the slice is over; each 101st time it is.
    pub questions: Cell<u32>,
}

impl MockBus {
    pub fn new() -> Self {
        MockBus { ram: PhysMem::new(BASE, 1 << 20).expect("maps"), irq_at: Tick::MAX, questions: Cell::new(0) }
    }
}

impl Bus for MockBus {
    fn ram(&self) -> &PhysMem {
        &self.ram
    }
    fn ram_mut(&mut self) -> &mut PhysMem {
        &mut self.ram
    }
    fn device_read(&mut self, paddr: u64, size: u16, _now: Tick) -> Result<u64, BusError> {
        Err(BusError { paddr, size })
    }
    fn device_write(&mut self, paddr: u64, size: u16, _value: u64, _now: Tick) -> Result<SysEffect, BusError> {
        Err(BusError { paddr, size })
    }
    fn is_device(&self, _paddr: u64) -> bool {
        false
    }
    fn is_uncacheable(&self, _paddr: u64) -> bool {
        false
    }
    fn irq_deadline(&self) -> Tick {
        self.irq_at
    }
    fn irq_lines(&self, now: Tick) -> u64 {
        u64::from(now >= self.irq_at) << 7
    }
    fn timer(&self, now: Tick) -> u64 {
        now.0
    }
    fn slice_is_over(&self) -> bool {
        let left = self.questions.get();
        self.questions.set(left.saturating_sub(1));
        left % 101 == 1
    }
    fn pseudo_op(
        &mut self,
        _func: u8,
        _args: [u64; 6],
        _now: Now,
        _translate: &mut dyn FnMut(&mut PhysMem, u64, bool) -> Option<u64>,
    ) -> PseudoOutcome {
        PseudoOutcome::Unknown
    }
}

/// One instruction of a script.
#[derive(Clone, Debug)]
pub struct Inst {
    pub len: u8,
    pub uops: Vec<(Uop, MemRef)>,
    pub branch: BranchKind,
    /// Index of the instruction that the branch goes to.
    pub target: usize,
    /// Outcome per execution on the right path; the last one repeats.
    pub taken: Vec<bool>,
    pub effect: SysEffect,
    /// Its result depends on the time.
    pub timed: bool,
    /// The bus pauses before it, once.
    pub pause: bool,
    /// Steps that it takes on the right path, each with all of its micro-ops.
    pub steps: usize,
    /// Bytes by which its references move from one execution on the right path to the next, and behind how many they go back.
    pub stride: u64,
    pub rewinds: u64,
}

impl Inst {
    pub fn op(class: OpClass, dst: u8, src: &[u8]) -> Inst {
        let mut uop = Uop { class, dst: [Reg(dst), Reg::NONE], ..Uop::default() };
        for (slot, s) in uop.src.iter_mut().zip(src) {
            *slot = Reg(*s);
        }
        Inst {
            len: 4,
            uops: vec![(uop, MemRef::default())],
            branch: BranchKind::None,
            target: 0,
            taken: vec![],
            effect: SysEffect::None,
            timed: false,
            pause: false,
            steps: 1,
            stride: 0,
            rewinds: 1,
        }
    }
    pub fn nop() -> Inst {
        Inst::op(OpClass::IntAlu, 0, &[])
    }
    /// Two bytes long.
    pub fn short(mut self) -> Inst {
        self.len = 2;
        self
    }
    pub fn flags(mut self, flags: UopFlags) -> Inst {
        for (uop, _) in &mut self.uops {
            uop.flags |= flags;
        }
        self
    }
    fn memory(mut self, kind: MemKind, vaddr: u64, size: u16) -> Inst {
        let to_page = 4096 - (vaddr & 4095);
        let m = MemRef {
            vaddr,
            paddr: PhysAddr(vaddr),
            paddr2: PhysAddr(vaddr + to_page),
            size,
            page_shift: 0,
            kind,
            uncacheable: false,
            valid: true,
            element: 0,
        };
        self.uops[0].1 = m;
        self
    }
    pub fn load(dst: u8, base: u8, vaddr: u64, size: u16) -> Inst {
        Inst::op(OpClass::MemRead, dst, &[base]).flags(UopFlags::LOAD).memory(MemKind::Load, vaddr, size)
    }
    pub fn store(value: u8, base: u8, vaddr: u64, size: u16) -> Inst {
        Inst::op(OpClass::MemWrite, 0, &[base, value]).flags(UopFlags::STORE).memory(MemKind::Store, vaddr, size)
    }
    pub fn branch(kind: BranchKind, target: usize, taken: &[bool]) -> Inst {
        let mut inst = Inst::nop().flags(UopFlags::BRANCH);
        (inst.branch, inst.target, inst.taken) = (kind, target, taken.to_vec());
        inst
    }
    /// The instruction at index `at`: in each turn `n` operations and a branch back to the first, within it.
    pub fn micro_loop(n: usize, at: usize, taken: &[bool]) -> Inst {
        let mut inst = Inst::branch(BranchKind::Cond, at, taken).flags(UopFlags::MICRO_BRANCH);
        let operation = Inst::nop().uops[0];
        inst.uops.splice(0..0, std::iter::repeat_n(operation, n));
        inst
    }
    pub fn effect(effect: SysEffect) -> Inst {
        let mut inst = Inst::op(OpClass::IprAccess, 0, &[]).flags(UopFlags::EFFECT | UopFlags::SERIALIZE_AFTER);
        inst.effect = effect;
        inst.timed = true;
        inst
    }
    /// Goes `stride` bytes further each time, and behind so many times back.
    pub fn moving(mut self, stride: u64, rewinds: u64) -> Inst {
        (self.stride, self.rewinds) = (stride, rewinds);
        self
    }
    /// Translated through a page of 2^`shift` bytes.
    pub fn paged(mut self, shift: u8) -> Inst {
        for (_, m) in &mut self.uops {
            m.page_shift = shift;
        }
        self
    }
}

/// A scripted front end. Wrong paths follow the script with every conditional branch not taken.
#[derive(Clone, Debug)]
pub struct MockFe {
    program: Arc<Vec<Inst>>,
    pcs: Arc<Vec<u64>>,
    /// The program's, for [`Step::decoded`].
    number: u64,
    pc: u64,
    visits: Vec<usize>,
    /// Executions of each instruction on the right path.
    turns: Vec<u64>,
    forks: Vec<u64>,
    /// The pause has been.
    pub paused: bool,
    /// Instructions' steps.
    pub executed: u64,
    /// Of the instruction under way.
    pub steps_done: usize,
    /// Cycle seen by each timed instruction.
    pub times: Vec<u64>,
    /// log2 of the page instructions lie in; 0: translation off.
    pub fetch_page: u8,
    /// An interrupt is taken when its line is up.
    pub interruptible: bool,
}

impl MockFe {
    /// The first instruction lies at `start`.
    pub fn at(start: u64, program: Vec<Inst>) -> MockFe {
        let mut pcs = Vec::with_capacity(program.len());
        let mut pc = start;
        for inst in &program {
            pcs.push(pc);
            pc += u64::from(inst.len);
        }
        MockFe {
            visits: vec![0; program.len()],
            turns: vec![0; program.len()],
            program: Arc::new(program),
            pcs: Arc::new(pcs),
            number: number_of_page(),
            pc: start,
            forks: vec![],
            paused: false,
            executed: 0,
            steps_done: 0,
            times: vec![],
            fetch_page: 0,
            interruptible: false,
        }
    }
    pub fn new(program: Vec<Inst>) -> MockFe {
        MockFe::at(BASE, program)
    }
    pub fn pc_of(&self, index: usize) -> u64 {
        self.pcs[index]
    }

    fn index(&self) -> Option<usize> {
        self.pcs.binary_search(&self.pc).ok()
    }

    /// [`Step::decoded`] of instruction `i`: 0 where its micro-ops or whether it executes depend on more than that.
    fn decoded(&self, i: usize) -> u64 {
        let inst = &self.program[i];
        let is_plain = inst.steps == 1 && !inst.timed && !inst.pause && inst.effect == SysEffect::None;
        let last = inst.uops.last().map_or(UopFlags::empty(), |(uop, _)| uop.flags);
        if is_plain && !last.any(UopFlags::MICRO_BRANCH) {
            decoded_at(self.number, self.pcs[i])
        } else {
            0
        }
    }

    fn outcome(&mut self, i: usize) -> bool {
        let inst = &self.program[i];
        if inst.branch != BranchKind::Cond {
            return inst.branch != BranchKind::None;
        }
        if !self.forks.is_empty() {
            return false;
        }
        let n = self.visits[i];
        self.visits[i] += 1;
        inst.taken.get(n).or(inst.taken.last()).copied().unwrap_or(false)
    }
}

impl FrontEnd for MockFe {
    fn pc(&self) -> u64 {
        self.pc
    }

    fn step<B: Bus>(&mut self, bus: &mut B, now: Now, out: &mut Step) -> StepResult {
        let speculative = !self.forks.is_empty();
        if self.interruptible && !speculative && bus.irq_lines(now.tick) != 0 {
            *out = Step { pc: self.pc, n: 1, next_pc: self.pc, ..Step::default() };
            out.uops[0].flags = UopFlags::FIRST | UopFlags::LAST | UopFlags::TRAP;
            self.interruptible = false;
            self.times.push(now.cycle.0);
            return StepResult::Done;
        }
        let Some(i) = self.index() else { return StepResult::Blocked };
        let program = Arc::clone(&self.program);
        let inst = &program[i];
        if inst.pause && !self.paused {
            self.paused = true;
            return StepResult::Paused;
        }
        if inst.timed && (speculative || !now.drained) {
            // What it is, though not what it does: it goes down the pipeline until its time has come.
            *out = Step { pc: self.pc, len: inst.len, n: 1, ..Step::default() };
            out.uops[0] = inst.uops[0].0;
            return if speculative { StepResult::Blocked } else { StepResult::NeedsDrain };
        }
        if inst.timed {
            self.times.push(now.cycle.0);
        }
        let taken = self.outcome(i);
        let target = self.pcs[inst.target];
        let next_pc = if taken { target } else { self.pc + u64::from(inst.len) };
        *out = Step {
            pc: self.pc,
            len: inst.len,
            n: inst.uops.len() as u8,
            next_pc,
            branch: BranchInfo { kind: inst.branch, taken, target },
            decoded: self.decoded(i),
            effect: inst.effect,
            ..Step::default()
        };
        for (n, (uop, mem)) in inst.uops.iter().enumerate() {
            (out.uops[n], out.mem[n]) = (*uop, *mem);
            if inst.stride != 0 && mem.valid {
                let m = &mut out.mem[n];
                m.vaddr = m.vaddr.wrapping_add((self.turns[i] % inst.rewinds).wrapping_mul(inst.stride));
                (m.paddr, m.paddr2) = (PhysAddr(m.vaddr), PhysAddr(m.vaddr + 4096 - (m.vaddr & 4095)));
            }
        }
        self.turns[i] += u64::from(!speculative);
        if self.steps_done == 0 {
            out.uops[0].flags |= UopFlags::FIRST;
        }
        if !speculative && self.steps_done + 1 < inst.steps {
            (out.next_pc, out.branch) = (self.pc, BranchInfo::default());
            self.steps_done += 1;
            self.executed += 1;
            return StepResult::Done;
        }
        self.steps_done = 0;
        let last = &mut out.uops[inst.uops.len() - 1].flags;
        if !(taken && last.any(UopFlags::MICRO_BRANCH)) {
            *last |= UopFlags::LAST;
        }
        self.pc = next_pc;
        self.executed += u64::from(!speculative);
        StepResult::Done
    }

    fn run_path<B: Bus>(
        &mut self,
        bus: &mut B,
        out: &mut Step,
        mut path: impl FnMut(usize) -> Option<PathInst>,
        mut visit: impl FnMut(usize, &[MemRef]) -> bool,
    ) -> PathEnd {
        let mut done = 0;
        while let Some(known) = path(done) {
            let decoded = self.index().map_or(0, |i| self.decoded(i));
            if self.interruptible || !self.forks.is_empty() || (self.pc, decoded) != (known.pc, known.decoded) {
                break;
            }
            self.step(bus, Now { tick: Tick::ZERO, cycle: Cycle::ZERO, drained: false }, out);
            let mems: Vec<MemRef> =
                (0..usize::from(out.n)).filter(|i| out.uops[*i].flags.any(UopFlags::MEM)).map(|i| out.mem[i]).collect();
            if out.next_pc != known.next_pc || known.has_references && !visit(done, &mems) {
                return PathEnd { done, other: true };
            }
            done += 1;
        }
        PathEnd { done, other: false }
    }

    fn run_fast<B: Bus>(&mut self, bus: &mut B, now: Now, max: u64) -> u64 {
        let mut out = Step::default();
        for n in 0..max {
            let quiet = self.index().is_some_and(|i| {
                let inst = &self.program[i];
                !inst.timed && (!inst.pause || self.paused)
            });
            if !quiet || (self.interruptible && bus.irq_lines(now.tick) != 0) {
                return n;
            }
            self.step(bus, now, &mut out);
        }
        max
    }

    fn fork(&mut self, wrong_pc: u64) -> u32 {
        self.forks.push(self.pc);
        self.pc = wrong_pc;
        self.forks.len() as u32 - 1
    }

    fn rollback(&mut self, depth: u32) {
        self.pc = self.forks[depth as usize];
        self.forks.truncate(depth as usize);
    }

    fn depth(&self) -> u32 {
        self.forks.len() as u32
    }

    fn in_microcode(&self) -> bool {
        self.steps_done != 0 && self.forks.is_empty()
    }

    fn fetch_translate<B: Bus>(&mut self, _bus: &mut B, vaddr: u64) -> Option<FetchXlat> {
        Some(FetchXlat { paddr: PhysAddr(vaddr), page_shift: self.fetch_page })
    }

    fn translations(&self) -> Option<u64> {
        Some(0)
    }

    fn walk_path<B: Bus>(&self, _bus: &B, _vaddr: u64) -> WalkPath {
        WalkPath { n: 1, ptes: [BASE + 0x8_0000, 0, 0, 0, 0].map(PhysAddr) }
    }

    fn asid(&self) -> u16 {
        0
    }

    const INST_SHIFT: u32 = 1;
}
