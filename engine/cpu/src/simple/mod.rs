//! gem5's simple cores: no pipeline, one instruction at a time.
//!
//! [`AtomicSimple`]: every instruction takes one cycle (`width` of them with `width`), memory takes none.
//! [`TimingSimple`]: an instruction is fetched through the instruction cache, then its memory accesses go through the
//! data cache one after another; nothing overlaps, everything else takes no time.
//!
//! Fact source: gem5 24.0 `src/cpu/simple/{base,atomic,timing}.cc`.

mod atomic;
mod counts;
mod functional;
#[cfg(test)]
mod tests;
mod timing;

pub use atomic::AtomicSimple;
pub use functional::Functional;
pub use timing::TimingSimple;

use breakeven_base::units::Clock;
use breakeven_base::{Bus, ConfigError, FrontEnd, MemRef, PhysAddr, Step, SysEffect, Tick, UopFlags, PAGE};
use breakeven_memory::{MemorySystem, Port, Request, Response, Side, TlbResult};

use crate::bpred::BranchPredictorParams;
use crate::misaligned::{check_costs, MisalignedCosts};
use crate::CoreCtx;

/// gem5 `BaseSimpleCPU` and what its two kinds add.
#[derive(Clone, Debug)]
pub struct SimpleConfig {
    /// The object's path (`system.cpu`): where its statistics go.
    pub path: String,
    pub clock: Clock,
    /// gem5 `BaseAtomicSimpleCPU.width`: instructions a cycle.
    pub width: u32,
    /// Only counted (gem5 `branchPred`): a simple core never waits for a branch.
    pub branch_pred: Option<BranchPredictorParams>,
    /// Acts on [`TimingSimple`] alone: an atomic core knows no memory latency.
    pub misaligned: MisalignedCosts,
    /// Of vector accesses; `None`: as scalar ones.
    pub vector_misaligned: Option<MisalignedCosts>,
    /// Bytes that one instruction fetch brings, a power of two: the decoder's word (gem5: 4 on RISC-V, 8 on x86). An
    /// instruction that lies in two words takes two fetches.
    pub fetch_bytes: u32,
}

impl Default for SimpleConfig {
    fn default() -> Self {
        SimpleConfig {
            path: "system.cpu".to_owned(),
            clock: Clock::new(500),
            width: 1,
            branch_pred: None,
            misaligned: MisalignedCosts::default(),
            vector_misaligned: None,
            fetch_bytes: 4,
        }
    }
}

impl SimpleConfig {
    /// All that cannot be built, one error each.
    ///
    /// # Errors
    /// A parameter out of its range; the message names it and the range.
    pub fn check(&self) -> Result<(), Vec<ConfigError>> {
        let mut errors = Vec::new();
        if !(1..=64).contains(&self.width) {
            errors
                .push(ConfigError::new(format!("{}.width", self.path), format!("is {}; must be 1 to 64", self.width)));
        }
        if !self.fetch_bytes.is_power_of_two() || self.fetch_bytes > 64 {
            errors.push(ConfigError::new(
                &self.path,
                format!("fetches of {} bytes; must be a power of two, at most 64", self.fetch_bytes),
            ));
        }
        errors.extend(check_costs(&self.path, &self.misaligned, self.vector_misaligned.as_ref()));
        if errors.is_empty() {
            Ok(())
        } else {
            Err(errors)
        }
    }
}

/// What both cores say of themselves, written once: totals since reset.
macro_rules! totals {
    () => {
        /// Instructions since reset.
        #[must_use]
        pub fn insts(&self) -> u64 {
            self.counts.insts
        }

        /// Cycles since reset.
        #[must_use]
        pub fn cycles(&self) -> u64 {
            self.counts.cycles
        }
    };
}
use totals;

/// Refusals in a row after which a cache will never accept: no cache is busy for so long.
const MAX_RETRIES: u32 = 1 << 20;

/// A cache that never accepts a request.
struct Stuck;

/// Sends a request at `now`, again and again while the cache refuses it; when the response comes.
fn response(mem: &mut MemorySystem, port: Port, mut now: Tick, request: &Request) -> Result<Tick, Stuck> {
    for _ in 0..MAX_RETRIES {
        match mem.access(port, now, request) {
            Response::Done { at, .. } => return Ok(at.max(now)),
            Response::Blocked { retry } | Response::Pending { until: retry, .. } => now = retry.max(now + 1),
        }
    }
    Err(Stuck)
}

/// When the translation of `vaddr` is known that is asked for at `now`.
fn translation<F: FrontEnd, B: Bus>(
    ctx: &mut CoreCtx<'_, F, B>,
    side: Side,
    now: Tick,
    vaddr: u64,
    page_shift: u8,
    is_store: bool,
) -> Tick {
    let asid = ctx.fe.asid();
    match ctx.mem.tlb_lookup(side, now, vaddr, page_shift, asid, is_store) {
        TlbResult::Hit { at } => at,
        TlbResult::Miss { at } => {
            let path = ctx.fe.walk_path(ctx.bus, vaddr);
            ctx.mem.tlb_walk(side, at, vaddr, page_shift, asid, &path)
        }
    }
}

/// Physical address of the second packet of a split access.
fn second_part(m: &MemRef, first: u16, crosses_page: bool) -> PhysAddr {
    if crosses_page {
        m.paddr2
    } else {
        m.paddr.wrapping_add(u64::from(first))
    }
}

/// Carries out what concerns the core in a committed step's effect; what is left is the caller's.
fn apply_effect(step: &Step, mem: &mut MemorySystem) -> Option<SysEffect> {
    match step.effect {
        SysEffect::None => None,
        SysEffect::TlbFlush { vaddr } => {
            mem.tlb_flush(vaddr);
            None
        }
        SysEffect::FetchFlush => {
            mem.fetch_flush();
            None
        }
        SysEffect::CacheFlush { at, line_cycles } => {
            mem.flush_caches(at, line_cycles);
            None
        }
        other => Some(other),
    }
}

/// The step carried an instruction through to its end (not a trap, nor a part of a long one).
fn completes(step: &Step) -> bool {
    step.len != 0
        && step.n != 0
        && step.uops[step.n as usize - 1].flags.any(UopFlags::LAST)
        && !step.uops[step.n as usize - 1].flags.any(UopFlags::TRAP)
}

/// Traps in a row after which nothing will come any more: a handler that faults on its first instruction.
const MAX_TRAPS: u32 = 1 << 20;

/// Notices that no instruction ever completes.
#[derive(Clone, Debug, Default)]
struct Progress {
    /// Since the last instruction that completed.
    traps: u32,
}

impl Progress {
    /// After a step; what to report when it was one trap too many.
    fn after(&mut self, step: &Step, completes: bool) -> Option<String> {
        // A part of a long instruction is no trap: its end comes, unless a trap comes before, again and again.
        let trapped = step.len == 0 || step.uops.iter().take(step.n.into()).any(|u| u.flags.any(UopFlags::TRAP));
        self.traps = if completes { 0 } else { self.traps.saturating_add(u32::from(trapped)) };
        (self.traps > MAX_TRAPS).then(|| {
            format!(
                "execute: {MAX_TRAPS} traps in a row; the last at pc {:#x}, handler at {:#x}\n",
                step.pc, step.next_pc
            )
        })
    }
}
