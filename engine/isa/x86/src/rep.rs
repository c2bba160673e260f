//! Repeated string instructions: the microcode engine of `rep movs` and `rep stos`, and the micro-ops of their steps.
//!
//! A family's engine is a list of modes ([`StringMode`]); the first whose conditions hold when the instruction begins (or
//! begins again behind a fault) runs it to its end. A mode has a start-up (cycles before the first access, and micro-ops
//! that pass through the front end), moves blocks of up to a line at a number of bytes a cycle that depends on alignment,
//! and may write whole lines without reading them. Without a mode there is one load and store an element; scas, cmps and lods
//! always do. gem5's own microcode is in [`crate::microcode`].
//!
//! In the pipeline a step is a sequencer micro-op, whose latency is the step's share of time and which waits for the
//! sequencer before it ([`STRING`]), then the load and the store, which wait for it. So the engine paces the accesses, and
//! caches, store queue and buses may slow it further. Blocks end where the destination's blocks do, once it is aligned to
//! its elements; with DF set, or where the destination overlaps the bytes just ahead of the source, it is element by element.

use breakeven_base::{MemKind, MemRef, OpClass, PhysAddr, Reg, UopFlags, MAX_UOPS, PAGE};
use iced_x86::Mnemonic;

use crate::config::{Pace, StringMode, CYCLE};
use crate::crack::{uop, Uops};
use crate::flags::FlagGroups;
use crate::inst::{Inst, Piece};
use crate::regs::{gpr, C, STRING, T0, T2};

type F = UopFlags;

/// A `rep movs` or `rep stos` (then `src` is `dst`) about to begin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job {
    pub count: u64,
    pub size: u8,
    pub src: u64,
    pub dst: u64,
    pub movs: bool,
    pub backwards: bool,
}

impl StringMode {
    fn takes(&self, j: &Job) -> bool {
        let bytes = j.count.saturating_mul(u64::from(j.size));
        let ends = j.src | j.dst;
        (u64::from(self.min_count)..=u64::from(self.max_count)).contains(&j.count.min(u64::from(u32::MAX)))
            && (self.max_bytes == u32::MAX || bytes <= u64::from(self.max_bytes))
            && j.size >= self.min_element
            && (self.backwards || !j.backwards)
            && ends & (u64::from(self.co_alignment) - 1) == 0
            && j.dst & (u64::from(self.destination_alignment) - 1) == 0
            && (!j.movs || j.dst.abs_diff(j.src) >= u64::from(self.min_distance))
            && (!j.movs || self.takes_offset(j.dst.wrapping_sub(j.src) & 0xfff))
    }

    /// Destination less source within a page.
    fn takes_offset(&self, offset: u64) -> bool {
        offset >= u64::from(self.min_page_offset) || self.equal_page_offset && offset == 0
    }

    fn pace_of(&self, j: &Job) -> Pace {
        let m = u64::from(self.alignment) - 1;
        match (j.dst & m == 0 && j.src & m == 0, j.dst.wrapping_sub(j.src) & m == 0) {
            (true, _) => self.pace,
            (_, true) => self.pace_misaligned,
            _ => self.pace_crossed,
        }
    }
}

/// A repeated instruction in progress, at `pc`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    pub pc: u64,
    mode: u8,
    pace: Pace,
    /// Start-up still to come.
    startup: u8,
    startup_uops: u16,
    /// Time not yet charged, in 1/[`CYCLE`].
    owed: u64,
}

impl Default for Run {
    fn default() -> Self {
        // No instruction is there.
        Run { pc: u64::MAX, mode: 0, pace: Pace(0), startup: 0, startup_uops: 0, owed: 0 }
    }
}

impl Run {
    /// The engine begins; `None`: no mode takes it, the generic microcode does.
    pub fn begin(modes: &[StringMode], j: &Job, pc: u64) -> Option<Run> {
        let (k, m) = modes.iter().enumerate().find(|(_, m)| m.takes(j))?;
        let mode = u8::try_from(k).ok()?;
        let (startup, startup_uops) = (m.startup, m.startup_uops);
        Some(Run { pc, mode, pace: m.pace_of(j), startup, startup_uops, owed: 0 })
    }

    pub fn mode<'a>(&self, modes: &'a [StringMode]) -> Option<&'a StringMode> {
        modes.get(usize::from(self.mode))
    }

    /// Start-up micro-ops for a step of their own, 0 when there are none left.
    pub fn startup_step(&mut self) -> u8 {
        let n = self.startup_uops.min(MAX_UOPS as u16);
        self.startup_uops -= n;
        n as u8
    }

    /// Cycles for the next `elements` of `bytes` together.
    pub fn charge(&mut self, m: &StringMode, elements: u64, bytes: u64) -> u8 {
        self.owed += bytes * u64::from(self.pace.0) + elements * u64::from(m.element_cycles) * u64::from(CYCLE);
        let whole = self.owed / u64::from(CYCLE);
        self.owed %= u64::from(CYCLE);
        (whole + u64::from(std::mem::take(&mut self.startup))).min(255) as u8
    }
}

/// What a step of a repeated string instruction did.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StringStep {
    /// More steps of the same instruction follow.
    pub more: bool,
    /// The engine did it: so many cycles, so many micro-ops besides.
    pub engine: bool,
    pub cycles: u8,
    pub fillers: u8,
    /// Of gem5's microcode.
    pub piece: Piece,
}

/// The pointers that an instruction moves.
pub(crate) fn pointers(op: Mnemonic) -> [Reg; 2] {
    use Mnemonic::*;
    let (rsi, rdi) = (gpr(6), gpr(7));
    match op {
        Stosb | Stosw | Stosd | Stosq | Scasb | Scasw | Scasd | Scasq => [rdi, Reg::NONE],
        Lodsb | Lodsw | Lodsd | Lodsq => [rsi, Reg::NONE],
        _ => [rsi, rdi],
    }
}

fn close(mut u: Uops, last: bool) -> Uops {
    u.ends(true, last);
    u
}

/// A string instruction that compares.
pub(crate) fn compares(op: Mnemonic) -> bool {
    use Mnemonic::*;
    matches!(op, Scasb | Scasw | Scasd | Scasq | Cmpsb | Cmpsw | Cmpsd | Cmpsq)
}

/// The micro-ops for a step with these references.
pub(crate) fn crack(i: &Inst, refs: &[MemRef], step: &StringStep) -> Uops {
    if step.engine {
        return close(paced(i, refs, step), !step.more);
    }
    let (rax, rcx, rsi, rdi) = (gpr(0), gpr(1), gpr(6), gpr(7));
    let mut u = Uops::default();
    let mut loaded = rax;
    let none = [Reg::NONE; 2];
    for m in refs.iter().take(6) {
        if m.kind == MemKind::Load {
            loaded = T0;
            u.push(uop(OpClass::MemRead, [rsi, Reg::NONE, Reg::NONE], [T0, Reg::NONE], F::LOAD));
        } else {
            u.push(uop(OpClass::MemWrite, [rdi, Reg::NONE, loaded], none, F::STORE));
        }
    }
    if compares(i.op) {
        u.push(uop(OpClass::IntAlu, [T0, rax, Reg::NONE], [Reg::NONE, C], F::empty()));
        u.flags_written = FlagGroups::all();
    }
    let moved = pointers(i.op);
    u.push(uop(OpClass::IntAlu, [moved[0], moved[1], Reg::NONE], moved, F::empty()));
    u.push(uop(OpClass::IntAlu, [rcx, Reg::NONE, Reg::NONE], [rcx, Reg::NONE], F::empty()));
    close(u, !step.more)
}

/// The engine's micro-ops: sequencer, fillers, accesses; the registers when it is done.
fn paced(i: &Inst, refs: &[MemRef], step: &StringStep) -> Uops {
    let none = Reg::NONE;
    let mut u = Uops::default();
    let moved = pointers(i.op);
    if step.cycles > 0 {
        let mut sequencer = uop(OpClass::IntAlu, [STRING, gpr(1), moved[0]], [STRING, none], F::empty());
        sequencer.latency = step.cycles;
        u.push(sequencer);
    }
    let accesses = refs.len().min(2);
    // The accesses, the pointers and the counter must fit behind.
    let room = MAX_UOPS - u.n - accesses - if step.more { 0 } else { 2 };
    for _ in 0..usize::from(step.fillers).min(room) {
        u.push(uop(OpClass::IntAlu, [none; 3], [T2, none], F::empty()));
    }
    let mut data = gpr(0);
    for m in refs.iter().take(accesses) {
        if m.kind == MemKind::Load {
            data = T0;
            u.push(uop(OpClass::MemRead, [STRING, moved[0], none], [T0, none], F::LOAD));
        } else {
            u.push(uop(OpClass::MemWrite, [STRING, gpr(7), data], [none; 2], F::STORE));
        }
    }
    if !step.more || u.n == 0 {
        u.push(uop(OpClass::IntAlu, [STRING, moved[0], moved[1]], moved, F::empty()));
        u.push(uop(OpClass::IntAlu, [STRING, gpr(1), none], [gpr(1), none], F::empty()));
    }
    u
}

/// Merges two adjacent references of one kind.
pub(crate) fn join(a: &MemRef, b: &MemRef) -> MemRef {
    let room = PAGE - (a.vaddr & (PAGE - 1));
    let paddr2 = match u64::from(a.size).cmp(&room) {
        std::cmp::Ordering::Greater => a.paddr2,
        std::cmp::Ordering::Equal => b.paddr,
        std::cmp::Ordering::Less if u64::from(a.size + b.size) > room => b.paddr2,
        std::cmp::Ordering::Less => PhysAddr::ZERO,
    };
    MemRef {
        size: a.size + b.size,
        paddr2,
        uncacheable: a.uncacheable || b.uncacheable,
        valid: a.valid && b.valid,
        ..*a
    }
}
