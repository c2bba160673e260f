//! The load-store queue and the memory-dependence unit, as the pipeline sees them.
//!
//! The pipeline owns issue and commit; the queue owns everything between a memory micro-op's execution and its data.
//!
//! ```text
//! dispatch   Lsq::dispatch    an entry; is it held back by memory order?            (false: a later LsqOut::ready names it)
//! issue      (pipeline)       operands there, memory order satisfied, a unit free; then issueToExecuteDelay
//! execute    Lsq::execute     translation, search, cache access                      -> MemOutcome
//! write back Lsq::written_back  wakes what waited for it by memory order             (called in the cycle of its write-back)
//! commit     Lsq::commit      loads leave, stores may be written to the cache
//! every cycle in which `next_event() <= now`:  Lsq::events (before the stages), Lsq::tick (after issue)
//! ```
//!
//! One file a concern: `loads` (load queue, speculative loads, forwarding), `stores` (store queue, violations, drain),
//! `depend` (barriers and store sets), `translate` (the page walker's queue), `dcache_port` (the way into the cache), `ports`, `filter`. The rules are gem5's
//! (24.0 `src/cpu/o3/lsq_unit.cc`, `lsq.cc`, `mem_dep_unit.cc`, `store_set.cc`) where gem5 has one; `docs/cores.md` has them on
//! one page, with what differs.

mod archive;
pub mod config;
mod dcache_port;
mod depend;
mod filter;
mod loads;
mod ports;
mod stats;
mod store_sets;
mod stores;
#[cfg(test)]
mod tests;
mod translate;

pub use config::{LsqConfig, PartialForward};

use breakeven_base::{Cycle, MemRef, UopFlags, PAGE};
use educe::Educe;

use super::config::O3Config;
use super::inst::{InstRing, Wait};
use super::quirks::Gem5Quirks;
use super::seq::{Seq, StorePos};
use crate::misaligned::{AccessCosts, Split};
use crate::outside::Outside;
use crate::when::When;
use dcache_port::{DcachePort, Sent, SplitAccess};
use depend::{Dependences, Entry};
use loads::{Loads, PendingLoad};
use stats::Counts;
use stores::Stores;
use translate::Walker;

/// What became of a memory micro-op that executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemOutcome {
    /// It writes back in this cycle (the present one for a store, whose execution is then over, and for a reference that goes
    /// nowhere; later for a load).
    Done(Cycle),
    /// Not known yet: a later [`LsqOut`] names it, in `done` or, when it has to be issued again, in `ready`.
    Pending,
}

/// The queue's messages to the pipeline, which empties them after each call.
#[derive(Debug, Default, Educe)]
#[educe(Clone)]
pub struct LsqOut {
    /// Writes back in that cycle (not before the present one).
    pub done: Vec<(Seq, Cycle)>,
    /// Its memory-order dependence is satisfied (first time), or it must be issued again (blocked by the cache, replayed).
    pub ready: Vec<Seq>,
}

/// A load that read before an older store to the same place: everything from it on is fetched again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Violation {
    pub load: Seq,
}

/// Whether a micro-op needs an entry of the load queue. Prefetches do, as in gem5 (the ring marks them as loads).
#[inline]
#[must_use]
pub fn uses_load_queue(flags: UopFlags) -> bool {
    flags.any(UopFlags::LOAD) && !flags.any(UopFlags::STORE | UopFlags::TRAP)
}

/// Whether a micro-op needs an entry of the store queue. Atomics and cache-block operations do, as in gem5.
#[inline]
#[must_use]
pub fn uses_store_queue(flags: UopFlags) -> bool {
    flags.any(UopFlags::STORE | UopFlags::CACHE_OP) && !flags.any(UopFlags::TRAP) && !uses_load_queue(flags)
}

const NEVER: Cycle = Cycle::MAX;

/// What all of the queue works with and nothing changes.
#[derive(Clone, Debug)]
struct Rules {
    cfg: LsqConfig,
    costs: AccessCosts,
    line: u32,
    /// log2 bytes of the granule by which violations are found.
    check_shift: u32,
    /// Stores complete in order.
    tso: bool,
    quirks: Gem5Quirks,
}

#[derive(Debug, Educe)]
#[educe(Clone)]
pub struct Lsq {
    rules: Rules,
    loads: Loads,
    stores: Stores,
    depend: Dependences,
    walker: Walker,
    dcache_port: DcachePort,
    violation: Option<Found>,
    /// Loads that the cache has refused.
    blocked: Vec<Seq>,
    /// Loads that found no port in the last cycle (`gem5PortRetries`).
    portless: Vec<Seq>,
    /// Loads with a pending MSHR.
    pending: Vec<PendingLoad>,
    /// Loads that wait for a store that has part of their data, and which store must be sent for them to try again.
    replays: Vec<Replay>,
    stalled: Option<Stalled>,
    /// A fence that executes completes in this cycle at the earliest, by what it waited for.
    fence_after: Cycle,
    counts: Counts,
    /// Sequence number and cycle of each store that has been written to the cache; kept only when asked for.
    store_log: Option<Vec<(Seq, Cycle)>>,
}

/// A violation not yet taken.
#[derive(Clone, Copy, Debug)]
struct Found {
    load: Seq,
    load_pc: u64,
    store_pc: u64,
}

/// A load that waits for the store at position `store` of the store queue, which has part of its bytes.
#[derive(Clone, Copy, Debug)]
struct Replay {
    load: Seq,
    store: StorePos,
}

/// gem5's `stallingStoreIsn`, `stallingLoadIdx`: the oldest load that a store has only part of.
#[derive(Clone, Copy, Debug)]
struct Stalled {
    store: StorePos,
    load: Seq,
}

impl Lsq {
    pub fn new(cfg: &O3Config, line_bytes: u32) -> Self {
        let queues = (cfg.LQEntries + cfg.SQEntries) as usize;
        Lsq {
            rules: Rules {
                cfg: cfg.lsq,
                costs: AccessCosts::new(cfg.misaligned, cfg.vector_misaligned),
                line: line_bytes,
                check_shift: cfg.LSQDepCheckShift,
                tso: cfg.needsTSO,
                quirks: cfg.quirks,
            },
            loads: Loads::new(cfg.LQEntries, cfg.LSQDepCheckShift),
            stores: Stores::new(cfg.SQEntries, cfg.cacheStorePorts, cfg.lsq.aliasCheckBits),
            depend: Dependences::new(cfg),
            walker: Walker::new(),
            dcache_port: DcachePort::new(cfg),
            violation: None,
            blocked: Vec::with_capacity(queues),
            portless: Vec::with_capacity(queues),
            pending: Vec::with_capacity(queues),
            replays: Vec::with_capacity(queues),
            stalled: None,
            fence_after: Cycle::ZERO,
            counts: Counts::default(),
            store_log: None,
        }
    }

    /// Entries that are free.
    #[inline]
    pub fn free_loads(&self) -> u32 {
        self.loads.free()
    }
    #[inline]
    pub fn free_stores(&self) -> u32 {
        self.stores.free()
    }

    /// Whether a reference may execute only when it is the oldest instruction and all stores have been written: atomics,
    /// uncacheable references, misaligned ones that firmware emulates (gem5: non-speculative or strictly ordered).
    #[must_use]
    pub fn only_when_oldest(&self, seq: Seq, ring: &InstRing) -> bool {
        let (flags, m) = (ring.flags(seq), ring.mem(seq));
        if !flags.any(UopFlags::MEM) || !m.valid {
            return false;
        }
        let is_store = uses_store_queue(flags);
        m.uncacheable && !is_store
            || flags.any(UopFlags::ATOMIC) && is_store
            || self.rules.costs.emulate() && self.split(m, is_store).stall > 0
    }

    #[inline]
    fn split(&self, m: &MemRef, is_store: bool) -> Split {
        self.rules.costs.split(m, is_store, self.rules.line, self.rules.line)
    }

    /// Dispatch of a memory reference or barrier, in program order; the pipeline has seen that there is room. Whether memory
    /// order lets it issue (store sets, barriers); else `LsqOut::ready` names it later.
    pub fn dispatch(&mut self, seq: Seq, ring: &InstRing) -> bool {
        let flags = ring.flags(seq);
        let entry = if uses_load_queue(flags) {
            self.counts.inserted_loads += 1;
            Entry::Load(self.loads.push(seq, self.stores.tail()))
        } else if uses_store_queue(flags) {
            self.counts.inserted_stores += 1;
            Entry::Store(self.stores.push(seq, self.loads.tail()))
        } else {
            Entry::None
        };
        let free = self.depend.dispatch(seq, ring, entry);
        if !free {
            self.counts.conflicting_loads += u64::from(matches!(entry, Entry::Load(_)));
            self.counts.conflicting_stores += u64::from(matches!(entry, Entry::Store(_)));
        }
        free
    }

    /// A memory reference executes, `issueToExecuteDelay` after its issue.
    #[inline]
    pub fn execute<X: Outside>(
        &mut self,
        seq: Seq,
        cx: &mut X,
        when: &When,
        ring: &mut InstRing,
        out: &mut LsqOut,
    ) -> MemOutcome {
        if uses_load_queue(ring.flags(seq)) {
            self.execute_load(seq, cx, when, ring, out)
        } else {
            self.execute_store(seq, cx, when, ring)
        }
    }

    /// A barrier executes; the cycle in which it writes back: when the write-combining buffers are empty, if it orders stores,
    /// and a fence's own work is done.
    #[inline]
    pub fn execute_barrier<X: Outside>(&self, seq: Seq, ring: &InstRing, cx: &mut X, when: &When) -> Cycle {
        const FENCE: UopFlags =
            UopFlags::READ_BARRIER.union(UopFlags::WRITE_BARRIER).union(UopFlags::FIRST).union(UopFlags::LAST);
        let flags = ring.flags(seq);
        let mut at = when.cycle;
        if flags.any(UopFlags::WRITE_BARRIER) {
            at = when.cycle_of(cx.flush_write_combining(when.tick));
        }
        if flags.contains(FENCE) {
            at = at.max(ring.ready_at(seq)).max(self.fence_after);
        }
        at
    }

    /// The first cycle in which a barrier dispatched in cycle `now` may write back.
    #[inline]
    pub fn barrier_ready_at(&self, now: Cycle) -> Cycle {
        now + u64::from(self.rules.cfg.fenceLatency)
    }

    /// The violation that the last `execute` of a store found, once: the oldest load. The two are of one store set from now on.
    #[inline]
    pub fn take_violation(&mut self) -> Option<Violation> {
        let found = self.violation.take()?;
        self.depend.store_sets.violation(found.store_pc, found.load_pc);
        Some(Violation { load: found.load })
    }

    /// A memory reference or barrier writes back in this cycle: what memory order held back for it becomes ready.
    #[inline]
    pub fn written_back(&mut self, seq: Seq, out: &mut LsqOut) {
        self.depend.completed(seq, &mut out.ready);
    }

    /// What arrives up to this cycle (ends of walks, the cache taking accesses again, responses for stores), before the stages.
    pub fn events<X: Outside>(&mut self, cx: &mut X, when: &When, ring: &mut InstRing, out: &mut LsqOut) {
        let written = self.stores.retire_written(when.cycle);
        let after = self.rules.cfg.fenceAfterStores;
        if after > 0 && written {
            self.fence_after = self.fence_after.max(when.cycle + u64::from(after));
        }
        if self.dcache_port.pending_until <= when.cycle {
            self.end_pending(cx, when, ring, out);
        }
        if self.walker.next_event() <= when.cycle {
            self.walker.events(cx, when, &mut out.ready);
        }
        if self.dcache_port.blocked_until <= when.cycle {
            self.dcache_port.blocked_until = NEVER;
            out.ready.append(&mut self.blocked);
            if self.stores.refused && self.rules.quirks.gem5RefusedStoreFirst {
                self.drain_one(cx, when, ring, out);
            }
            self.stores.may_send = true;
        }
        if !self.portless.is_empty() {
            let again = if self.dcache_port.blocked_until == NEVER { &mut out.ready } else { &mut self.blocked };
            again.append(&mut self.portless);
        }
    }

    /// One cycle, after issue: committed stores go to the cache as far as ports allow. Wanted when `next_event` says so then: an
    /// atomic that executes in this cycle is sent in it.
    #[inline]
    pub fn tick<X: Outside>(&mut self, cx: &mut X, when: &When, ring: &mut InstRing, out: &mut LsqOut) {
        if self.stores.may_send {
            self.drain(cx, when, ring, out);
        }
    }

    /// Everything up to and including `seq` has committed: those loads leave, those stores may be written.
    /// Called at most once a cycle, `commitToIEWDelay` after commit, after `tick`.
    #[inline]
    pub fn commit(&mut self, seq: Seq) {
        self.loads.commit(seq);
        self.stores.commit(seq);
    }

    /// Squashes everything younger than `seq`.
    pub fn squash(&mut self, seq: Seq) {
        while let Some(load) = self.loads.squash_one(seq) {
            self.counts.squashed_loads += 1;
            self.depend.squash(load, seq);
        }
        while let Some(store) = self.stores.squash_one(seq) {
            self.counts.squashed_stores += 1;
            self.depend.squash(store, seq);
        }
        self.depend.squash_barriers(seq);
        self.walker.squash(seq);
        self.blocked.retain(|s| *s <= seq);
        self.portless.retain(|s| *s <= seq);
        self.pending.retain(|l| l.seq <= seq);
        self.replays.retain(|r| r.load <= seq);
        if self.stalled.is_some_and(|s| s.load > seq) {
            self.stalled = None;
        }
        if self.violation.is_some_and(|v| v.load > seq) {
            self.violation = None;
        }
    }

    /// Committed stores that have not been written yet (gem5 `hasStoresToWB`). The oldest store sent is always one whose
    /// response is still to come: what has been written leaves in order.
    #[inline]
    pub fn has_stores_to_write(&self) -> bool {
        self.stores.has_committed()
    }

    /// Both queues are empty.
    #[inline]
    pub fn drained(&self) -> bool {
        self.loads.is_empty() && self.stores.is_empty()
    }

    /// The first cycle in which `events` or `tick` has something to do (0: the next one); `u64::MAX`: none until called otherwise.
    #[inline]
    pub fn next_event(&self) -> Cycle {
        if self.stores.may_send || !self.portless.is_empty() {
            return Cycle::ZERO;
        }
        self.stores
            .next_written()
            .min(self.dcache_port.pending_until)
            .min(self.dcache_port.blocked_until)
            .min(self.walker.next_event())
    }

    /// Starts (or ends) keeping when stores are written, for the pipeline trace.
    pub fn log_stores(&mut self, on: bool) {
        self.store_log = on.then(Vec::new);
    }

    /// Stores written since the last call: sequence number, cycle. Empty unless [`Lsq::log_stores`] is on.
    pub fn take_store_log(&mut self) -> Vec<(Seq, Cycle)> {
        self.store_log.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Invariants of an empty queue; for tests.
    ///
    /// # Errors
    /// The first that does not hold.
    #[cfg(test)]
    fn audit(&self) -> Result<(), String> {
        let rest = [
            (self.loads.filter_is_empty(), "the loads' filter"),
            (self.stores.filter_is_empty(), "the stores' filter"),
            (
                self.blocked.is_empty() && self.portless.is_empty() && self.replays.is_empty(),
                "the lists of waiting loads",
            ),
            (self.stalled.is_none() && self.violation.is_none(), "a wait or a violation"),
        ];
        rest.iter().try_for_each(|(ok, what)| if *ok { Ok(()) } else { Err(format!("{what} is left")) })
    }

    /// For the deadlock report.
    pub fn describe(&self) -> String {
        let cache = match self.dcache_port.blocked_until {
            NEVER => "takes accesses".to_owned(),
            at => format!("refuses accesses until cycle {at}"),
        };
        format!(
            "loads: {}; stores: {}; memory order: {}; walks: {}; data cache {cache}, {} loads refused; {} loads wait for part of a store",
            self.loads.describe(),
            self.stores.describe(),
            self.depend.describe(),
            self.walker.describe(),
            self.blocked.len(),
            self.replays.len(),
        )
    }
}

/// What an answer from `level` of the memory side (0: first-level hit) makes a micro-op wait for; `levels` are caches.
#[inline]
fn wait_for(level: u8, levels: u8) -> Wait {
    match level {
        0 => Wait::Level1,
        n if n >= levels => Wait::Memory,
        1 => Wait::Level2,
        _ => Wait::Level3,
    }
}
