//! The load-store queue: requests (addresses being translated and sent), transfers (waiting for their response or, as
//! stores, for their commit), the store buffer.
//! Fact source: gem5 24.0 `src/cpu/minor/lsq.cc`; each rule below is one of its.
//!
//! - References enter in order; only the head of the requests queue is sent, one fragment at a time.
//! - At most `executeMaxAccessesInMemory` fragments are in memory, stores of the store buffer included.
//! - A load waits while a store is in the transfers queue; it takes its value from the store buffer when one store has all
//!   of it, waits when one has part of it.
//! - A store across lines is translated piece by piece, the second behind the core's cycle: it commits in the next one.
//! - Atomics and uncacheable references are sent only when they are the oldest instruction, and after overlapping stores.

mod archive;
mod describe;
mod request;
mod store_buffer;

use breakeven_base::{Cycle, UopFlags};
use breakeven_memory::{Request, Response};
use educe::Educe;

use super::config::{MinorConfig, MAX_QUEUE};
use super::inst::{InstRing, Seq};
use super::latch::Ring;
use crate::misaligned::AccessCosts;
use crate::outside::{Outside, Packet};
pub use crate::when::When;
use request::{Coverage, Fragments, LsqRequest, State};

/// What the LSQ knows of execute: the stream that counts and the oldest instruction.
#[derive(Clone, Copy, Debug)]
pub struct Head {
    pub stream: u32,
    pub seq: Seq,
}

/// Requests by their place in the pool.
type Slots = Ring<u8, { MAX_QUEUE as usize }>;

/// What does not change after construction.
#[derive(Clone, Copy, Debug)]
struct Params {
    requests_size: usize,
    transfers_size: usize,
    store_buffer_size: usize,
    stores_per_cycle: u32,
    max_in_memory: usize,
    /// Bytes that the memory port carries.
    width: u32,
    line: u32,
    costs: AccessCosts,
    /// `gem5SplitTranslation`, where the costs of references in two pieces are not described.
    splits_late: bool,
}

impl Params {
    fn new(cfg: &MinorConfig, line: u32) -> Self {
        let costs = AccessCosts::new(cfg.misaligned, cfg.vector_misaligned);
        Params {
            requests_size: cfg.executeLSQRequestsQueueSize as usize,
            transfers_size: cfg.executeLSQTransfersQueueSize as usize,
            store_buffer_size: cfg.executeLSQStoreBufferSize as usize,
            stores_per_cycle: cfg.executeLSQMaxStoreBufferStoresPerCycle,
            max_in_memory: cfg.executeMaxAccessesInMemory as usize,
            width: if cfg.executeMemoryWidth == 0 { line } else { cfg.executeMemoryWidth },
            line,
            costs,
            splits_late: cfg.quirks.gem5SplitTranslation && costs.are_gem5s(),
        }
    }
}

/// The port to the data cache: what is in memory, and when more can be sent.
#[derive(Debug, Educe)]
#[educe(Clone)]
struct DataPort {
    /// Fragments in memory: when their response comes, and whose they are.
    in_memory: Vec<(Cycle, u8)>,
    next_response: Cycle,
    /// The cache refused this request until `retry_at`.
    retry_slot: u8,
    /// [`Cycle::MAX`]: it has refused none.
    retry_at: Cycle,
    /// It is taken by a split access until then.
    free_from: Cycle,
}

#[derive(Debug, Educe)]
#[educe(Clone)]
pub struct Lsq {
    p: Params,
    pool: Box<[LsqRequest]>,
    free: Vec<u8>,
    requests: Slots,
    transfers: Slots,
    stores: Slots,
    port: DataPort,
    /// Earliest end of a translation; [`Cycle::MAX`]: none under way.
    next_translation: Cycle,
    stores_in_transfers: u32,
    /// Stores and barriers of the store buffer that have not been sent.
    unissued: u32,
    last_barrier: Seq,
    /// Execute has to be evaluated next cycle.
    pub wake: bool,
    /// It has to be in the cycle after the next, too.
    wake_later: bool,
    /// Loads that took their value from the store buffer.
    pub forwarded: u64,
}

const NEVER: Cycle = Cycle::MAX;

impl Lsq {
    pub fn new(cfg: &MinorConfig, line: u32) -> Self {
        let p = Params::new(cfg, line);
        // Never more than 3 * MAX_QUEUE, so that a slot number fits a byte.
        let slots = (p.requests_size + p.transfers_size + p.store_buffer_size).min(255);
        #[allow(clippy::cast_possible_truncation)] // just limited
        let free = (0..slots).rev().map(|s| s as u8).collect();
        Lsq {
            p,
            pool: vec![LsqRequest::default(); slots].into_boxed_slice(),
            free,
            requests: Ring::new(),
            transfers: Ring::new(),
            stores: Ring::new(),
            port: DataPort {
                in_memory: Vec::with_capacity(p.max_in_memory),
                next_response: NEVER,
                retry_slot: 0,
                retry_at: NEVER,
                free_from: Cycle::ZERO,
            },
            next_translation: NEVER,
            stores_in_transfers: 0,
            unissued: 0,
            last_barrier: Seq::NONE,
            wake: false,
            wake_later: false,
            forwarded: 0,
        }
    }

    fn release(&mut self, slot: u8) {
        self.free.push(slot);
    }

    /// Whether another reference can enter.
    #[inline]
    pub fn can_request(&self) -> bool {
        self.requests.len() < self.p.requests_size && !self.free.is_empty()
    }
    #[inline]
    fn can_send(&self, now: Cycle) -> bool {
        self.port.retry_at == NEVER && self.port.in_memory.len() < self.p.max_in_memory && now >= self.port.free_from
    }
    #[inline]
    pub fn last_barrier(&self) -> Seq {
        self.last_barrier
    }
    #[inline]
    pub fn issued_barrier(&mut self, seq: Seq) {
        self.last_barrier = seq;
    }
    fn clear_barrier(&mut self, seq: Seq) {
        if seq >= self.last_barrier {
            self.last_barrier = Seq::NONE;
        }
    }

    /// A barrier has left execute; a committed one waits in the store buffer until all older stores are out.
    #[cold]
    pub fn complete_barrier(&mut self, seq: Seq, committed: bool) {
        if !committed {
            self.clear_barrier(seq);
        } else if let Some(slot) = self.free.pop() {
            self.pool[slot as usize] = LsqRequest { seq, barrier: true, barrier_only: true, ..LsqRequest::default() };
            self.insert_store(slot);
        }
    }

    /// Nothing is on its way.
    pub fn is_drained(&self) -> bool {
        self.requests.is_empty() && self.transfers.is_empty() && self.stores.is_empty()
    }

    /// A reference comes from execute. `translated` is the cycle at which its translation is known.
    pub fn push<X: Outside>(
        &mut self,
        seq: Seq,
        ring: &InstRing,
        translated: Cycle,
        head: Head,
        when: &When,
        cx: &mut X,
    ) {
        let (inst, mem) = (ring.get(seq), ring.mem(seq));
        let Some(slot) = self.free.pop() else { return };
        let flags = inst.uop.flags;
        let is_store = flags.any(UopFlags::STORE) || (flags.any(UopFlags::CACHE_OP) && !mem.kind.is_prefetch());
        let split = self.p.costs.split(mem, is_store, self.p.width, self.p.line);
        let state = if !mem.valid {
            State::Failed
        } else if translated > when.cycle {
            self.next_translation = self.next_translation.min(translated);
            State::InTranslation
        } else {
            State::Translated
        };
        // Field by field: a request put together elsewhere would have to be copied here.
        let r = &mut self.pool[slot as usize];
        r.seq = seq;
        r.pc = inst.pc;
        r.mem = *mem;
        r.stream = inst.stream;
        r.state = state;
        r.is_load = !is_store;
        r.bufferable = !(flags.any(UopFlags::ATOMIC) || mem.uncacheable);
        r.barrier = inst.is_barrier();
        r.non_temporal = flags.any(UopFlags::NON_TEMPORAL);
        r.barrier_only = false;
        r.translated = translated;
        r.fragments = Fragments::of(&split);
        self.requests.push(slot);
        if state == State::Translated {
            self.wake = true;
            if self.p.splits_late && split.first != mem.size {
                // Its event wakes the core behind this cycle: the next one is evaluated, and ends awake.
                self.wake_later = true;
                if is_store {
                    return;
                }
            }
            // The end of its translation sends this reference on, not an older one in front of it, whose turn is in `step`.
            if self.requests.len() == 1 {
                self.try_to_send_to_transfers(head, when, cx);
            }
        }
    }

    /// What arrives up to this cycle, before execute is evaluated: responses, translations, the cache's permission to retry.
    #[inline(never)]
    pub fn events<X: Outside>(&mut self, head: Head, when: &When, cx: &mut X) {
        if self.port.next_response <= when.cycle {
            self.receive_responses(when.cycle);
        }
        if self.next_translation <= when.cycle {
            self.finish_translations(head, when, cx);
        }
        if self.port.retry_at <= when.cycle {
            self.resend(self.port.retry_slot, when, cx);
        }
    }

    fn receive_responses(&mut self, now: Cycle) {
        let mut i = 0;
        while i < self.port.in_memory.len() {
            let (at, slot) = self.port.in_memory[i];
            if at > now {
                i += 1;
                continue;
            }
            // Order does not matter within a cycle.
            self.port.in_memory.swap_remove(i);
            self.wake = true;
            let r = &mut self.pool[slot as usize];
            r.fragments.retired += 1;
            if r.in_memory() || !r.sent_all() {
                continue;
            }
            let from_store_buffer = matches!(r.state, State::StoreBufferIssuing | State::StoreBufferNeedsRetry);
            r.state = State::Complete;
            if from_store_buffer && !r.barrier {
                self.remove_store(slot);
            }
        }
        self.port.next_response = self.port.in_memory.iter().map(|(at, _)| *at).min().unwrap_or(NEVER);
    }

    #[cold]
    fn finish_translations<X: Outside>(&mut self, head: Head, when: &When, cx: &mut X) {
        let mut next = NEVER;
        let mut front_done = false;
        for i in 0..self.requests.len() {
            let Some(&slot) = self.requests.get(i) else { break };
            let r = &mut self.pool[slot as usize];
            if r.state != State::InTranslation {
                continue;
            }
            if r.translated > when.cycle {
                next = next.min(r.translated);
            } else {
                r.state = State::Translated;
                front_done |= i == 0;
                self.wake = true;
            }
        }
        self.next_translation = next;
        if front_done {
            self.try_to_send_to_transfers(head, when, cx);
        }
    }

    #[cold]
    fn resend<X: Outside>(&mut self, slot: u8, when: &When, cx: &mut X) {
        self.port.retry_at = NEVER;
        let r = &mut self.pool[slot as usize];
        let barrier = r.barrier;
        let from_requests = r.state == State::RequestNeedsRetry;
        r.state = if from_requests { State::Translated } else { State::StoreInStoreBuffer };
        if self.try_to_send(slot, when, cx) {
            if from_requests {
                self.move_to_transfers();
            } else {
                self.unissued -= u32::from(!barrier);
            }
        }
    }

    /// Whether [`Lsq::step`] can do anything.
    #[inline]
    pub fn has_work(&self) -> bool {
        (self.unissued as usize | self.requests.len()) != 0 && self.port.retry_at == NEVER
    }

    /// One cycle: the head of the requests queue, then the store buffer.
    #[inline]
    pub fn step<X: Outside>(&mut self, head: Head, when: &When, cx: &mut X) {
        if !self.requests.is_empty() {
            self.try_to_send_to_transfers(head, when, cx);
        }
        self.step_store_buffer(when, cx);
    }

    fn move_to_transfers(&mut self) {
        if let Some(slot) = self.requests.pop() {
            self.stores_in_transfers += u32::from(!self.pool[slot as usize].is_load);
            self.transfers.push(slot);
        }
    }

    /// Tries to get the head of the requests queue on: into memory, past it, or into the transfers queue as a store.
    fn try_to_send_to_transfers<X: Outside>(&mut self, head: Head, when: &When, cx: &mut X) {
        let Some(&slot) = self.requests.front() else { return };
        let r = &self.pool[slot as usize];
        if self.port.retry_at != NEVER
            || r.state == State::InTranslation
            || self.transfers.len() >= self.p.transfers_size
        {
            return;
        }
        let wrong_path = r.stream != head.stream;
        if r.is_complete() || r.state == State::Failed || wrong_path {
            // A wrong-path access that is under way waits for its responses.
            if !(wrong_path && r.in_memory()) {
                self.pool[slot as usize].state = State::Complete;
                self.move_to_transfers();
            }
            return;
        }
        if r.is_load {
            if self.stores_in_transfers != 0 {
                return;
            }
        } else if r.bufferable {
            self.pool[slot as usize].state = State::StoreToStoreBuffer;
            self.move_to_transfers();
            return;
        }
        let coverage = if r.is_load || !r.bufferable { self.forwarding(r) } else { Coverage::None };
        if !r.bufferable && (head.seq != r.seq || coverage != Coverage::None) {
            return;
        }
        match coverage {
            Coverage::Partial if !r.is_prefetch() => {}
            Coverage::Full => {
                self.forwarded += 1;
                self.pool[slot as usize].state = State::Complete;
                self.move_to_transfers();
            }
            _ => {
                if self.try_to_send(slot, when, cx) {
                    self.move_to_transfers();
                }
            }
        }
    }

    /// Sends the next fragment. Whether that was the last.
    fn try_to_send<X: Outside>(&mut self, slot: u8, when: &When, cx: &mut X) -> bool {
        if !self.can_send(when.cycle) {
            return false;
        }
        let r = &mut self.pool[slot as usize];
        let (paddr, size) = r.fragment(self.p.width);
        let request = Request {
            paddr,
            size,
            kind: r.mem.kind,
            uncacheable: r.mem.uncacheable,
            non_temporal: r.non_temporal,
            pc: r.pc,
            may_wait: false,
        };
        let from_requests = matches!(r.state, State::Translated | State::RequestIssuing);
        match cx.access(Packet { seq: r.seq, sent: r.fragments.sent }, when.tick, &request) {
            Response::Done { at, level } => {
                r.fragments.sent += size;
                r.fragments.level = r.fragments.level.max(level);
                r.fragments.issued += 1;
                r.state = if from_requests { State::RequestIssuing } else { State::StoreBufferIssuing };
                let mut done = when.cycle_of(at).max(when.cycle + 1);
                if r.is_prefetch() {
                    done = when.cycle + 1;
                }
                if r.sent_all() {
                    done += u64::from(r.fragments.extra);
                    if r.fragments.slots > 0 {
                        self.port.free_from = when.cycle + 1 + u64::from(r.fragments.slots);
                    }
                }
                let all = r.sent_all();
                self.port.in_memory.push((done, slot));
                self.port.next_response = self.port.next_response.min(done);
                all
            }
            Response::Blocked { retry } | Response::Pending { until: retry, .. } => {
                r.state = if from_requests { State::RequestNeedsRetry } else { State::StoreBufferNeedsRetry };
                self.port.retry_at = when.cycle_of(retry).max(when.cycle + 1);
                self.port.retry_slot = slot;
                false
            }
        }
    }

    /// Whether the oldest transfer is `seq`'s and it can leave now: complete, or a store with room in the store buffer.
    #[inline]
    pub fn has_response(&self, seq: Seq) -> bool {
        let Some(&slot) = self.transfers.front() else { return false };
        let r = &self.pool[slot as usize];
        if r.seq != seq {
            return false;
        }
        let room = self.can_push_into_store_buffer();
        (r.is_complete() && (!r.barrier || room)) || (r.state == State::StoreToStoreBuffer && room)
    }

    /// The oldest transfer leaves; a store that commits goes to the store buffer. Returns whether it went there.
    pub fn pop_response(&mut self, committed: bool) -> bool {
        let Some(slot) = self.transfers.pop() else { return false };
        let r = &self.pool[slot as usize];
        self.stores_in_transfers -= u32::from(!r.is_load);
        if committed && r.state == State::StoreToStoreBuffer {
            self.insert_store(slot);
            return true;
        }
        self.release(slot);
        false
    }

    /// Whether execute has to be evaluated next cycle on the LSQ's account.
    #[inline]
    pub fn needs_to_tick(&self, now: Cycle) -> bool {
        if !self.can_send(now) {
            // A port taken by a split access frees itself.
            return now < self.port.free_from;
        }
        self.unissued != 0
            || self.requests.front().is_some_and(|s| self.pool[*s as usize].state != State::InTranslation)
                && self.transfers.len() < self.p.transfers_size
    }

    /// The end of a cycle: whether execute has to be evaluated in the next.
    #[inline]
    pub fn end_of_cycle(&mut self) -> bool {
        std::mem::replace(&mut self.wake, std::mem::take(&mut self.wake_later))
    }

    /// Nothing changes here until something arrives: there is nothing to be sent, or no room in memory for what there is.
    pub fn is_still(&self, now: Cycle) -> bool {
        let full = self.port.in_memory.len() >= self.p.max_in_memory && now >= self.port.free_from;
        !self.has_work() || full && self.requests.is_empty() && !self.barrier_is_first()
    }

    /// When something arrives next.
    #[inline]
    pub fn next_event(&self) -> Cycle {
        self.port.next_response.min(self.next_translation).min(self.port.retry_at)
    }
}
