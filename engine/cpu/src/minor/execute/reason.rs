//! What execute waits for, for the account of cycles.

use super::{Bundle, Execute};
use crate::account::Reason;
use crate::minor::inst::{InstRing, Outcome, Placeholder, NO_UNIT};
use breakeven_base::Cycle;

impl Execute {
    /// What the oldest micro-op waits for at `now`; `levels`: caches in front of the memory. `None`: nothing is here that
    /// could have been committed sooner, so it is the front end that is waited for.
    pub fn waits_for(&self, now: Cycle, ring: &InstRing, levels: u8) -> Option<Reason> {
        if !self.in_flight.head().is_some() {
            return self.next_waits_for(now, ring);
        }
        let inst = ring.get(self.in_flight.head());
        if inst.stream != self.stream {
            return Some(self.refill());
        }
        if inst.in_lsq {
            return Some(self.lsq.waits_for(self.in_flight.head(), now, levels));
        }
        if inst.placeholder != Placeholder::No {
            return Some(Reason::Serialize);
        }
        if inst.unit != NO_UNIT && !self.units.at_end(inst.unit, now) {
            // It is on its way through its unit. That holds up commit if what follows waits as well, for its result or
            // for a unit; if nothing follows, more micro-ops would have filled the slot.
            return self.input.has(now).then(|| self.next_waits_for(now, ring).unwrap_or(Reason::Execution));
        }
        if inst.is_mem() || inst.is_barrier() {
            let full = !self.lsq.can_request() || !self.lsq.can_push_into_store_buffer();
            return Some(if full { Reason::StoreQueue } else { Reason::Serialize });
        }
        Some(Reason::Execution)
    }

    /// What keeps the next micro-op from being issued.
    fn next_waits_for(&self, now: Cycle, ring: &InstRing) -> Option<Reason> {
        let &Bundle { next, end, .. } = self.input.front(now)?;
        if next == end {
            return None;
        }
        if next.max(end.min(self.fresh)) == end {
            return Some(self.refill());
        }
        let class = ring.get(next).uop.class;
        let taken = self.units.all_stalled(self.units.capable(class), now);
        Some(if taken { Reason::Unit } else { Reason::Execution })
    }

    /// What the pipeline is refilled after.
    pub fn refill(&self) -> Reason {
        if self.left_by == Outcome::Refetch {
            Reason::Serialize
        } else {
            Reason::BadSpeculation
        }
    }

    /// Fetches are of another stream since the last time that this number was another.
    pub fn stream(&self) -> u32 {
        self.stream
    }

    /// Whether something of the present stream has been issued and not committed yet.
    pub fn holds_present(&self, ring: &InstRing) -> bool {
        self.in_flight.head().is_some() && ring.get(self.in_flight.head()).stream == self.stream
    }
}
