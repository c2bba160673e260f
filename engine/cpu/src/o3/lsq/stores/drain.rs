//! Stores on their way to the cache: sent in order once they have committed, written when the cache has answered.
//! Fact source: gem5 24.0 `LSQUnit::writebackStores`, `completeStore`.

use breakeven_base::{Cycle, UopFlags};

use crate::o3::inst::{InstRing, Wait};
use crate::o3::lsq::{Lsq, LsqOut, Sent, NEVER};
use crate::o3::seq::StorePos;
use crate::outside::{Outside, Packet};
use crate::when::When;

impl Lsq {
    /// Sends committed stores in order until something is in the way.
    pub(in crate::o3::lsq) fn drain<X: Outside>(
        &mut self,
        cx: &mut X,
        when: &When,
        ring: &mut InstRing,
        out: &mut LsqOut,
    ) {
        self.stores.may_send = false;
        let limit = if self.rules.tso { u64::from(self.rules.cfg.tsoStoresInFlight) } else { 0 };
        while self.stores.sent < self.stores.committed {
            if limit != 0 && self.stores.sent - self.stores.head >= limit {
                return;
            }
            if !self.drain_one(cx, when, ring, out) {
                return;
            }
        }
    }

    /// Sends the first store that has not been sent. Whether the next one may follow.
    pub(in crate::o3::lsq) fn drain_one<X: Outside>(
        &mut self,
        cx: &mut X,
        when: &When,
        ring: &mut InstRing,
        out: &mut LsqOut,
    ) -> bool {
        let position = self.stores.sent;
        let slot = self.stores.slot(position);
        let is_head = position == self.stores.head && self.stores.in_fills == Cycle::ZERO;
        let s = &mut self.stores.entries[slot];
        if !s.mem.valid {
            self.stores.sent += 1;
            self.store_written(position, when.cycle + 1, when, ring, out);
            return true;
        }
        // A store-conditional writes a register; other atomics need not wait for the stores before them.
        let conditional = s.flags.any(UopFlags::ATOMIC) && !s.flags.any(UopFlags::LOAD);
        if conditional && !is_head {
            return false;
        }
        loop {
            let s = &self.stores.entries[slot];
            let packet = Packet { seq: s.seq, sent: s.access.sent };
            let (request, sent) = s.access.next(&s.mem, self.rules.line, s.flags, s.pc);
            match self.dcache_port.send(false, packet, request, cx, when, &mut self.counts) {
                Sent::NoPort => {
                    self.stores.may_send = true;
                    return false;
                }
                Sent::Blocked => {
                    self.stores.refused = true;
                    return false;
                }
                Sent::Done { at, level } => self.stores.entries[slot].access.sent(sent, at, level),
                Sent::Pending => self.stores.entries[slot].access.waits(sent, request.paddr),
            }
            let s = &self.stores.entries[slot];
            if sent < s.mem.size {
                self.counts.split_accesses += 1;
                continue;
            }
            let (slots, size) = (s.slots, s.mem.size);
            let arrives = (s.access.pending == 0).then(|| s.arrives(when));
            self.stores.refused = false;
            self.stores.sent += 1;
            if slots > 0 {
                self.dcache_port.store_ports.hold(when.cycle, slots);
            }
            match arrives {
                Some(at) => self.store_written(position, at, when, ring, out),
                None => {
                    if request.size < size {
                        // The miss of its first half may have left before the second half was taken.
                        self.dcache_port.pending_until = self.dcache_port.pending_until.min(when.cycle + 1);
                    }
                    self.store_sent(position, out);
                }
            }
            return true;
        }
    }

    /// Misses leave the cache: what waited with them is told when it will be written.
    #[cold]
    pub(in crate::o3::lsq) fn end_pending<X: Outside>(
        &mut self,
        cx: &mut X,
        when: &When,
        ring: &mut InstRing,
        out: &mut LsqOut,
    ) {
        let next = cx.send_pending(when.tick);
        self.dcache_port.pending_until = next.map_or(NEVER, |t| when.cycle_of(t).max(when.cycle + 1));
        if !self.pending.is_empty() {
            self.end_pending_loads(cx, when, ring, out);
        }
        let mut known = None;
        for position in self.stores.head.until(self.stores.sent) {
            let slot = self.stores.slot(position);
            let s = &mut self.stores.entries[slot];
            if s.access.pending > 0
                && self.dcache_port.end_pending(s.seq, &mut s.access, self.rules.line, &mut known, cx, when)
            {
                s.leaves = s.arrives(when);
                if let Some(log) = &mut self.store_log {
                    log.push((s.seq, s.leaves));
                }
            }
        }
    }

    /// The store at `position` has been sent and will have been written in cycle `at`.
    fn store_written(&mut self, position: StorePos, at: Cycle, when: &When, ring: &mut InstRing, out: &mut LsqOut) {
        let at = self.stores.complete(at, self.rules.tso);
        let slot = self.stores.slot(position);
        let s = &mut self.stores.entries[slot];
        let seq = s.seq;
        s.leaves = at;
        let missed = s.mem.valid && s.access.level > 0 && !s.flags.any(UopFlags::ATOMIC);
        if missed && self.rules.cfg.storesLeaveOnMiss {
            s.leaves = at.min(when.cycle + 1);
            self.stores.in_fills = self.stores.in_fills.max(at);
        }
        if s.flags.any(UopFlags::ATOMIC) && s.mem.valid {
            ring.set_wait(seq, Wait::StoreQueue);
            out.done.push((seq, at));
        }
        if let Some(log) = &mut self.store_log {
            log.push((seq, at));
        }
        debug_assert!(at > when.cycle);
        self.store_sent(position, out);
    }

    /// The store at `position` has been sent: loads find its bytes in the cache.
    fn store_sent(&mut self, position: StorePos, out: &mut LsqOut) {
        let slot = self.stores.slot(position);
        self.stores.clear_range(slot);
        if !self.rules.quirks.gem5ReplaysTogether {
            out.ready.extend(self.replays.iter().filter(|r| r.store == position).map(|r| r.load));
            self.replays.retain(|r| r.store != position);
        } else if self.stalled.is_some_and(|s| s.store == position) {
            self.stalled = None;
            out.ready.extend(self.replays.drain(..).map(|r| r.load));
        }
    }
}
