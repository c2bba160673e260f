//! Dispatch: puts `dispatchWidth` renamed micro-ops a cycle into the issue queue and the load-store queue.
//! Fact source: gem5 24.0 `src/cpu/o3/iew.cc`.

use breakeven_base::{OpClass, UopFlags};

use super::decode::Status;
use super::inst::{note, state, Seq};
use super::lsq::{uses_load_queue, uses_store_queue};
use super::wires::{Wire, BLOCK, UNBLOCK};
use super::O3;

#[derive(Clone, Copy, Debug, Default)]
pub struct DispatchStats {
    pub dispatched: u64,
    pub loads: u64,
    pub stores: u64,
    pub non_spec: u64,
    pub iq_full: u64,
    pub lsq_full: u64,
    pub block_cycles: u64,
    pub unblock_cycles: u64,
    pub squash_cycles: u64,
}

#[derive(Clone, Debug, Default)]
pub struct Dispatch {
    pub status: Status,
    pub stats: DispatchStats,
}

const BARRIER: u32 = UopFlags::READ_BARRIER | UopFlags::WRITE_BARRIER;

impl O3 {
    pub(super) fn dispatch_tick(&mut self, now: u64, wire: &Wire) {
        let arrived = u64::from(wire.renamed);
        self.at.iew_in += arrived;
        let to_rename = now + self.rules.iew_to_rename;
        let status = self.dispatch.status;
        if wire.squash.is_some() {
            if matches!(status, Status::Blocked | Status::Unblocking) {
                self.wires.at(to_rename).stall_rename = UNBLOCK;
            }
            self.dispatch.status = Status::Squashing;
            self.dispatch.stats.squash_cycles += 1;
            return;
        }
        if wire.rob_squashing_iew && !matches!(status, Status::Blocked | Status::Unblocking) {
            self.dispatch.status = Status::Squashing;
        }
        if wire.rob_squashing_iew || self.iq.free == 0 {
            self.block_dispatch(to_rename);
            self.dispatch.stats.block_cycles += 1;
            return;
        }
        let skid = self.at.iew_in - arrived - self.at.dispatch;
        let was_blocked = self.dispatch.status == Status::Blocked;
        match self.dispatch.status {
            Status::Blocked => {
                self.dispatch.status = Status::Unblocking;
                if skid == 0 {
                    self.unblock_dispatch(to_rename);
                }
            }
            Status::Squashing => self.dispatch.status = Status::Running,
            _ => {}
        }
        let unblocking = self.dispatch.status == Status::Unblocking;
        let end = if unblocking { self.at.iew_in - arrived } else { self.at.iew_in };
        let first = self.at.dispatch;
        if first < end {
            self.dispatch_until(end, now);
        }
        if self.at.dispatch < end {
            self.stalled_retry |= was_blocked && self.at.dispatch == first;
            self.block_dispatch(to_rename);
        } else if unblocking {
            self.dispatch.stats.unblock_cycles += 1;
            if self.at.dispatch == self.at.iew_in {
                self.unblock_dispatch(to_rename);
            }
        }
    }

    fn block_dispatch(&mut self, to_rename: u64) {
        if self.dispatch.status != Status::Blocked && self.dispatch.status != Status::Unblocking {
            self.wires.at(to_rename).stall_rename = BLOCK;
            self.moved = true;
        }
        self.dispatch.status = Status::Blocked;
    }

    fn unblock_dispatch(&mut self, to_rename: u64) {
        self.wires.at(to_rename).stall_rename = UNBLOCK;
        self.dispatch.status = Status::Running;
        self.moved = true;
    }

    fn dispatch_until(&mut self, end: Seq, now: u64) {
        let first = self.at.dispatch;
        let (mut slots, mut rob, mut loads, mut stores) = (0, 0, 0, 0);
        while self.at.dispatch < end {
            let seq = self.at.dispatch;
            let cost = self.cost(seq);
            if slots + cost > self.rules.dispatch_width {
                break;
            }
            let flags = self.ring.flags(seq);
            let reference = flags.any(UopFlags::MEM);
            let (load, store) = (reference && uses_load_queue(flags), reference && uses_store_queue(flags));
            if self.iq.free == 0 {
                self.dispatch.stats.iq_full += 1;
                break;
            }
            if load && self.lsq.free_loads() == 0 || store && self.lsq.free_stores() == 0 {
                self.dispatch.stats.lsq_full += 1;
                break;
            }
            loads += u16::from(load);
            stores += u16::from(store);
            #[allow(clippy::cast_possible_truncation)] // 0 or 1
            {
                rob += cost as u16;
            }
            slots += cost;
            self.dispatch_one(seq, now);
            self.at.dispatch += 1;
        }
        let n = self.at.dispatch - first;
        if n > 0 {
            self.moved = true;
            self.dispatch.stats.dispatched += n;
            self.dispatch.stats.loads += u64::from(loads);
            self.dispatch.stats.stores += u64::from(stores);
            let wire = self.wires.at(now + self.rules.iew_to_rename);
            #[allow(clippy::cast_possible_truncation)] // a few
            {
                wire.dispatched += n as u16;
            }
            wire.dispatched_rob += rob;
            wire.to_load_queue += loads;
            wire.to_store_queue += stores;
        }
    }

    #[inline]
    fn dispatch_one(&mut self, seq: Seq, now: u64) {
        if let Some(trace) = &mut self.trace {
            trace.dispatched(self.ring.slot(seq), now);
        }
        let head = self.at.head;
        let s = self.ring.at_mut(seq);
        s.waiting = [0; 2];
        s.pending = 0;
        let noted = s.note;
        let by_head = noted & (note::FUSED_WITH_PREV | note::UNFUSED) == note::FUSED_WITH_PREV;
        if noted & note::ELIMINATED != 0 || by_head {
            if noted & note::ELIMINATED != 0 {
                s.state |= state::DONE | state::WRITTEN;
                s.ready_at = now;
            }
            return;
        }
        for (i, from) in s.sources.into_iter().enumerate() {
            if from != 0 {
                let by = from >> 1;
                if by < head || self.ring.state(by) & state::WRITTEN != 0 {
                    self.ring.at_mut(seq).sources[i] = 0;
                } else {
                    self.ring.link(seq, i, from);
                }
            }
        }
        let flags = self.ring.flags(seq);
        let mut bits = state::IN_IQ;
        let in_lsq = flags.any(UopFlags::MEM | BARRIER) && !flags.any(UopFlags::TRAP);
        let mut hold = 0;
        if in_lsq && !self.lsq.dispatch(seq, &self.ring) {
            hold += 1;
        }
        if flags.any(UopFlags::NON_SPECULATIVE | BARRIER | UopFlags::MEM) && self.only_when_oldest(seq, flags) {
            bits |= state::NON_SPEC;
            hold += 1;
            self.dispatch.stats.non_spec += 1;
        }
        self.iq.free -= 1;
        let s = self.ring.at_mut(seq);
        s.state |= bits;
        s.pending += hold;
        if s.pending == 0 {
            let class = s.uop.class;
            self.make_ready(self.ring.slot(seq), class);
        }
    }

    fn only_when_oldest(&self, seq: Seq, flags: UopFlags) -> bool {
        let barrier = flags.any(BARRIER) && !flags.any(UopFlags::MEM);
        barrier
            || flags.any(UopFlags::NON_SPECULATIVE)
            || flags.any(UopFlags::MEM) && !flags.any(UopFlags::TRAP) && self.lsq.only_when_oldest(seq, &self.ring)
    }

    #[inline]
    pub(super) fn make_ready(&mut self, slot: usize, class: OpClass) {
        self.iq.set_ready(slot, self.units.group(class));
    }

    /// Free entries as rename hears of them.
    pub(super) fn return_credits(&mut self, now: u64) {
        let free = [self.iq.free, self.lsq.free_loads(), self.lsq.free_stores()];
        self.wires.at(now + self.rules.iew_to_rename).free_queues = Some(free);
    }

    /// Micro-ops that a squash takes on their way to dispatch: rename hears of them as if they had been dispatched.
    pub(super) fn report_squashed(&mut self, from: Seq, to: Seq, at: u64) {
        let mut counts = [0u16; 4];
        for seq in from..to {
            let flags = self.ring.flags(seq);
            counts[0] += 1;
            #[allow(clippy::cast_possible_truncation)] // 0 or 1
            {
                counts[1] += self.cost(seq) as u16;
            }
            counts[2] += u16::from(uses_load_queue(flags));
            counts[3] += u16::from(uses_store_queue(flags));
        }
        let wire = self.wires.at(at);
        wire.dispatched += counts[0];
        wire.dispatched_rob += counts[1];
        wire.to_load_queue += counts[2];
        wire.to_store_queue += counts[3];
    }
}
