//! The controller's events: which burst goes next, when the bus turns around.

use super::{Burst, Bus, MemCtrl};
use crate::config::SchedPolicy;
use breakeven_base::Tick;

impl MemCtrl {
    /// When something happens next without a read.
    pub(super) fn next_event(&self) -> Option<Tick> {
        let coming = self.coming.first().map(|w| w.arrived);
        match (self.next, coming) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// Lets everything happen that is due by `t`.
    pub(super) fn run_until(&mut self, t: Tick) {
        while let Some(event) = self.next_event().filter(|&e| e <= t) {
            self.arrivals(event);
            if self.next.is_some_and(|n| n <= event) {
                self.event(event, None);
            }
        }
    }

    /// Queues the writes that have arrived by `t`.
    fn arrivals(&mut self, t: Tick) {
        let n = self.coming.partition_point(|w| w.arrived <= t);
        for i in 0..n {
            let w = self.coming[i];
            if self.writes.iter().any(|q| q.addr == w.addr) {
                self.stats.merged_write_bursts += 1;
            } else {
                self.writes.push(w);
            }
            self.next.get_or_insert(w.arrived);
        }
        self.coming.drain(..n);
    }

    /// First-ready: a hit on a row that has been closed for a read, chosen when this one was already here.
    pub(super) fn overtaking_read(&mut self, read: &Burst) -> Option<Tick> {
        if self.p.policy == SchedPolicy::Fcfs {
            return None;
        }
        let ready = self.banks.overtake(read.location, read.arrived)?;
        let earliest = self.banks.next_request_at();
        self.next = self.next.map(|n| n.max(earliest));
        Some(ready)
    }

    /// Runs until the read has been issued; when its data is through.
    pub(super) fn issue_read(&mut self, read: &Burst) -> Tick {
        loop {
            let t = *self.next.get_or_insert(read.arrived);
            self.arrivals(t);
            if let Some(ready) = self.event(t.max(read.arrived), Some(read)) {
                return ready;
            }
        }
    }

    /// The controller looks at its queues at `now`: one burst at most. When the data of `read` is through, if that was it.
    fn event(&mut self, now: Tick, read: Option<&Burst>) -> Option<Tick> {
        let switched = self.bus != self.bus_next;
        if switched {
            self.writes_this_time = 0;
        }
        self.bus = self.bus_next;
        self.banks.refresh_until(now);
        match self.bus {
            Bus::Read => self.read_event(now, read),
            Bus::Write => {
                self.write_event(now, read.is_some(), switched);
                None
            }
        }
    }

    fn read_event(&mut self, now: Tick, read: Option<&Burst>) -> Option<Tick> {
        let Some(read) = read else {
            if self.writes.len() > self.p.write_low {
                self.bus_next = Bus::Write;
                self.next = Some(self.banks.next_request_at().max(now));
            } else {
                self.next = None;
            }
            return None;
        };
        let free = self.banks.rank_free_at(read.location);
        if free > now {
            self.next = Some(free);
            return None;
        }
        let ready = self.banks.burst(read.location, true, read.arrived, now, std::iter::empty());
        // The read queue is empty now, so `min_reads_per_switch` holds nothing back.
        if self.writes.len() > self.p.write_high {
            self.bus_next = Bus::Write;
        }
        self.next = Some(self.banks.next_request_at().max(now));
        Some(ready)
    }

    fn write_event(&mut self, now: Tick, read_waits: bool, switched: bool) {
        let Some(n) = self.choose_write(now, switched) else {
            let free = self.writes.iter().map(|w| self.banks.rank_free_at(w.location)).min();
            match free {
                Some(t) => self.next = Some(t.max(now + 1)),
                None => {
                    self.bus_next = Bus::Read;
                    self.next = if read_waits { Some(now) } else { None };
                }
            }
            return;
        };
        let w = self.writes.remove(n);
        let others = self.writes.iter().map(|o| o.location);
        self.banks.burst(w.location, false, w.arrived, now, others);
        self.writes_this_time += 1;
        let below = self.writes.len() + self.p.min_writes < self.p.write_low;
        if self.writes.is_empty() || below || (read_waits && self.writes_this_time >= self.p.min_writes) {
            self.bus_next = Bus::Read;
        }
        self.next = Some(self.banks.next_request_at().max(now));
    }

    /// First-come, or first-ready: a row hit that the bus need not wait for; else a bank that can be prepared while the
    /// bus is busy; else a row hit; else the bank that is ready soonest.
    fn choose_write(&self, now: Tick, switched: bool) -> Option<usize> {
        let free = |w: &Burst| self.banks.rank_free_at(w.location) <= now;
        if self.p.policy == SchedPolicy::Fcfs || self.writes.len() == 1 {
            return self.writes.iter().position(free);
        }
        let extra = if switched { self.banks.turnaround(false) } else { 0 };
        let column_at = (self.banks.next_burst_at + extra).max(now);
        let mut prepared_hit = None;
        for (i, w) in self.writes.iter().enumerate().filter(|(_, w)| free(w) && self.banks.row_hit(w.location)) {
            if self.banks.write_allowed_at(w.location) <= column_at {
                return Some(i);
            }
            prepared_hit = prepared_hit.or(Some(i));
        }
        let hidden_max = self.banks.hidden_activate_max(column_at, now);
        let key = |w: &Burst| {
            let (activate, column) = self.banks.prepared_at(w.location, now);
            (column > column_at, activate)
        };
        let misses = self.writes.iter().enumerate().filter(|(_, w)| free(w) && !self.banks.row_hit(w.location));
        let soonest = misses.min_by_key(|(_, w)| key(w));
        match (soonest, prepared_hit) {
            (Some((i, w)), hit) if hit.is_none() || key(w).1 <= hidden_max => Some(i),
            (_, hit) => hit,
        }
    }
}
