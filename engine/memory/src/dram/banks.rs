//! The DRAM behind the controller (gem5 `DRAMInterface`): banks with open rows, what each command allows when, refresh.

mod geometry;
mod timing;

use breakeven_base::{StatSink, Tick, Unit};

use crate::config::{DramConfig, PagePolicy};
use educe::Educe;
pub(super) use geometry::{DramLocation, Geometry};
use timing::Timing;

const CLOSED: u64 = u64::MAX;

#[derive(Clone, Copy, Debug)]
struct Bank {
    group: u32,
    /// [`CLOSED`] when precharged.
    row: u64,
    accesses: u32,
    read_at: Tick,
    write_at: Tick,
    precharge_at: Tick,
    activate_at: Tick,
    /// The row that was open before, closed for a read.
    closed: ClosedRow,
}

/// A row that was closed for a read to another one.
#[derive(Clone, Copy, Debug)]
struct ClosedRow {
    row: u64,
    accesses: u32,
    /// The controller chose that read then: hits that have arrived by then would have gone first.
    chosen_at: Tick,
    /// The next burst of this row could have gone then.
    read_at: Tick,
}

const NO_CLOSED_ROW: ClosedRow = ClosedRow { row: CLOSED, accesses: 0, chosen_at: Tick::ZERO, read_at: Tick::ZERO };

/// The command bus: so many commands in each window.
#[derive(Educe)]
#[educe(Clone)]
struct CommandBus {
    window: u64,
    per_window: u32,
    /// Commands issued in windows that are not over, by their start.
    windows: Vec<(Tick, u32)>,
}

impl CommandBus {
    fn new(window: u64, tck: u64) -> Self {
        let per_window = window.checked_div(tck).unwrap_or(u64::MAX).clamp(2, u64::from(u32::MAX)) as u32;
        CommandBus { window: window.max(1), per_window, windows: Vec::new() }
    }

    /// Takes a slot on the command bus at `at` or later.
    fn book(&mut self, at: Tick, now: Tick) -> Tick {
        self.windows.retain(|w| w.0 + self.window > now);
        let mut start = at - at.0 % self.window;
        let mut when = at;
        loop {
            match self.windows.iter_mut().find(|w| w.0 == start) {
                Some(w) if w.1 >= self.per_window => {
                    start += self.window;
                    when = start;
                }
                Some(w) => {
                    w.1 += 1;
                    return when;
                }
                None => {
                    self.windows.push((start, 1));
                    return when;
                }
            }
        }
    }
}

/// What is known of a rank besides its banks.
#[derive(Clone, Copy, Debug)]
struct Rank {
    last_burst: Tick,
    refresh_at: Tick,
    refreshed_at: Tick,
    /// Last data of its bursts: a refresh waits for it.
    busy_until: Tick,
}

#[derive(Clone, Copy, Debug, Default)]
struct DramStats {
    bursts: [u64; 2],
    row_hits: [u64; 2],
    bytes: [u64; 2],
    queue_ticks: u64,
    access_ticks: u64,
    bus_ticks: u64,
    refreshes: u64,
}

/// The ranks and banks of one channel.
#[derive(Educe)]
#[educe(Clone)]
pub(super) struct Banks {
    geometry: Geometry,
    t: Timing,
    policy: PagePolicy,
    max_accesses: u32,
    grouped: bool,
    per_rank: usize,
    banks: Vec<Bank>,
    /// `activation_limit` last activations of each rank, newest first.
    activations: Vec<Tick>,
    activation_limit: usize,
    ranks: Vec<Rank>,
    commands: CommandBus,
    commands_per_activate: u32,
    /// The data bus takes the next burst then.
    pub next_burst_at: Tick,
    stats: DramStats,
}
impl Banks {
    pub fn new(c: &DramConfig, window: u64) -> Self {
        let (ranks, per_rank) = (c.ranks_per_channel as usize, c.banks_per_rank as usize);
        let groups = c.bank_groups_per_rank;
        let bank = |n: usize| Bank {
            group: (n % per_rank) as u32 % if groups > 0 { groups } else { u32::MAX },
            row: CLOSED,
            accesses: 0,
            read_at: Tick::ZERO,
            write_at: Tick::ZERO,
            precharge_at: Tick::ZERO,
            activate_at: Tick::ZERO,
            closed: NO_CLOSED_ROW,
        };
        let t = Timing::new(c);
        let first_refresh = if c.tREFI == 0 { Tick::MAX } else { Tick(t.refresh_every) };
        let (last_burst, refreshed_at, busy_until) = (Tick::ZERO, Tick::ZERO, Tick::ZERO);
        let rank = Rank { last_burst, refresh_at: first_refresh, refreshed_at, busy_until };
        Banks {
            geometry: Geometry::new(c),
            t,
            policy: c.page_policy,
            max_accesses: c.max_accesses_per_row,
            grouped: groups > 0,
            per_rank,
            banks: (0..ranks * per_rank).map(bank).collect(),
            activations: vec![Tick::ZERO; ranks * c.activation_limit as usize],
            activation_limit: c.activation_limit as usize,
            ranks: vec![rank; ranks],
            commands: CommandBus::new(window, c.tCK),
            commands_per_activate: if c.two_cycle_activate { 2 } else { 1 },
            next_burst_at: Tick(t.row.rp + t.row.rcd_rd),
            stats: DramStats::default(),
        }
    }

    pub fn geometry(&self) -> Geometry {
        self.geometry
    }

    pub fn burst_bytes(&self) -> u64 {
        self.geometry.burst
    }

    /// The controller need not look at its queues before this.
    pub fn next_request_at(&self) -> Tick {
        self.next_burst_at - (self.t.row.rp + self.t.row.rcd_rd)
    }

    /// Extra time on the bus when its direction has just changed.
    pub fn turnaround(&self, to_read: bool) -> u64 {
        if to_read {
            self.t.bus.write_to_read_gap
        } else {
            self.t.bus.read_to_write_gap
        }
    }

    /// Carries out the refreshes that are due by `now`.
    pub fn refresh_until(&mut self, now: Tick) {
        for rank in 0..self.ranks.len() {
            while self.ranks[rank].refresh_at <= now {
                self.refresh(rank);
                // After a long silence nothing is open: the refreshes between change nothing.
                let late = (now - self.ranks[rank].refresh_at) / self.t.refresh_every.max(1);
                if late > 1 {
                    self.ranks[rank].refresh_at += (late - 1) * self.t.refresh_every;
                    self.stats.refreshes += late - 1;
                }
            }
        }
    }

    fn refresh(&mut self, rank: usize) {
        let due = self.ranks[rank].refresh_at;
        let banks = &mut self.banks[rank * self.per_rank..][..self.per_rank];
        let mut start = due.max(self.ranks[rank].busy_until);
        if banks.iter().any(|b| b.row != CLOSED) {
            let precharge = banks.iter().map(|b| b.precharge_at).max().unwrap_or(Tick::ZERO).max(due);
            start = start.max(precharge + self.t.row.rp);
        }
        let done = start + self.t.rfc;
        for b in banks {
            (b.row, b.closed) = (CLOSED, NO_CLOSED_ROW);
            b.activate_at = b.activate_at.max(done);
            b.precharge_at = b.precharge_at.max(start);
        }
        self.ranks[rank].refreshed_at = done;
        self.ranks[rank].refresh_at = due + self.t.refresh_every.max(1);
        self.stats.refreshes += 1;
    }

    /// When the rank takes commands again.
    pub fn rank_free_at(&self, location: DramLocation) -> Tick {
        self.ranks[usize::from(location.rank)].refreshed_at
    }

    pub fn row_hit(&self, location: DramLocation) -> bool {
        self.banks[usize::from(location.bank)].row == location.row
    }

    pub fn write_allowed_at(&self, location: DramLocation) -> Tick {
        self.banks[usize::from(location.bank)].write_at
    }

    /// When a bank could activate another row for a write, and when it could then take the burst.
    pub fn prepared_at(&self, location: DramLocation, now: Tick) -> (Tick, Tick) {
        let b = &self.banks[usize::from(location.bank)];
        let activate = if b.row == CLOSED { b.activate_at.max(now) } else { b.precharge_at.max(now) + self.t.row.rp };
        (activate, b.write_at.max(activate + self.t.row.rcd_wr))
    }

    /// The latest activation that costs a burst at `column_at` nothing.
    pub fn hidden_activate_max(&self, column_at: Tick, now: Tick) -> Tick {
        (column_at - self.t.row.rcd_wr).max(now)
    }

    fn activate(&mut self, location: DramLocation, at: Tick, now: Tick) {
        let mut at = self.commands.book(at, now);
        for _ in 1..self.commands_per_activate {
            at = at.max(self.commands.book(at, now));
        }
        let rank = usize::from(location.rank);
        let group = self.banks[usize::from(location.bank)].group;
        let t = self.t;
        let b = &mut self.banks[usize::from(location.bank)];
        b.row = location.row;
        b.accesses = 0;
        b.precharge_at = at + t.row.ras;
        b.read_at = b.read_at.max(at + t.row.rcd_rd);
        b.write_at = b.write_at.max(at + t.row.rcd_wr);
        let mut next = Tick::ZERO;
        if self.activation_limit > 0 {
            let ring = &mut self.activations[rank * self.activation_limit..][..self.activation_limit];
            ring.rotate_right(1);
            ring[0] = at;
            let oldest = ring[self.activation_limit - 1];
            if oldest > Tick::ZERO && at - oldest < t.row.xaw {
                next = oldest + t.row.xaw;
            }
        }
        for b in &mut self.banks[rank * self.per_rank..][..self.per_rank] {
            let gap = if b.group == group { t.row.rrd_l } else { t.row.rrd };
            b.activate_at = b.activate_at.max(at + gap).max(next);
        }
    }

    /// Opens the burst's row if it is not open.
    fn open(&mut self, location: DramLocation, now: Tick) -> bool {
        let n = usize::from(location.bank);
        if self.banks[n].row == location.row {
            return true;
        }
        if self.banks[n].row != CLOSED {
            let at = self.banks[n].precharge_at.max(now);
            let at = self.commands.book(at, now);
            let rank = usize::from(location.rank);
            if self.t.row.ppd > 0 {
                for b in &mut self.banks[rank * self.per_rank..][..self.per_rank] {
                    b.precharge_at = b.precharge_at.max(at + self.t.row.ppd);
                }
            }
            let b = &mut self.banks[n];
            b.activate_at = b.activate_at.max(at + self.t.row.rp);
        }
        let at = self.banks[n].activate_at.max(now);
        self.activate(location, at, now);
        false
    }

    /// Issues a burst at `now` or as soon as the bank and the bus allow. `others`: what else waits in the queue (for the
    /// adaptive policies). When its data is through.
    pub fn burst(
        &mut self,
        location: DramLocation,
        read: bool,
        arrived: Tick,
        now: Tick,
        others: impl Iterator<Item = DramLocation>,
    ) -> Tick {
        let n = usize::from(location.bank);
        let b = &mut self.banks[n];
        if b.row != location.row {
            let (row, accesses, read_at) = (b.row, b.accesses, b.read_at.max(self.next_burst_at));
            b.closed = if read { ClosedRow { row, accesses, chosen_at: now, read_at } } else { NO_CLOSED_ROW };
        }
        let hit = self.open(location, now);
        let t = self.t;
        let allowed = if read { self.banks[n].read_at } else { self.banks[n].write_at };
        let mut at = self.commands.book(allowed.max(self.next_burst_at).max(now), now);
        let rank = usize::from(location.rank);
        let mut gap = t.bus.burst_min;
        if t.bus.burst != t.bus.burst_min {
            // Bursts of two bank groups interleave on the bus: at the boundaries only.
            let last = self.ranks[rank].last_burst;
            if at == last + t.bus.burst_min {
                gap = t.bus.burst;
            } else if at < last + t.bus.burst {
                at = last + t.bus.burst;
            }
        }
        let ready = at + t.bus.burst + if read { t.cl } else { t.cwl };
        self.ranks[rank].last_burst = at;
        self.ranks[rank].busy_until = self.ranks[rank].busy_until.max(ready);
        self.constrain_banks(location, read, at, gap);
        let b = &mut self.banks[n];
        b.precharge_at = b.precharge_at.max(if read { at + t.rtp } else { ready + t.wr });
        b.accesses += 1;
        if self.closes_after(location, others) {
            let b = &mut self.banks[n];
            b.row = CLOSED;
            b.precharge_at = b.precharge_at.max(now);
            b.activate_at = b.activate_at.max(b.precharge_at + t.row.rp);
        }
        let s = &mut self.stats;
        let w = usize::from(!read);
        s.bursts[w] += 1;
        s.row_hits[w] += u64::from(hit);
        s.bytes[w] += self.geometry.burst;
        if read {
            s.queue_ticks += at - arrived;
            s.access_ticks += ready - arrived;
            s.bus_ticks += t.bus.burst;
        }
        self.next_burst_at = at + gap;
        ready
    }

    /// A read that arrived at `arrived` hits the row that was closed for a read chosen later: first-ready takes the hit
    /// first. The answer to the other one has been given, so what it loses (a burst on the bus) comes after it. When the data is through.
    pub fn overtake(&mut self, location: DramLocation, arrived: Tick) -> Option<Tick> {
        let t = self.t;
        let b = &mut self.banks[usize::from(location.bank)];
        let c = &mut b.closed;
        if c.row != location.row || c.row == CLOSED || arrived > c.chosen_at || c.accesses == self.max_accesses {
            return None;
        }
        c.accesses += 1;
        let at = c.read_at.max(arrived);
        c.read_at = at + t.bus.burst;
        self.next_burst_at += t.bus.burst;
        for b in &mut self.banks {
            b.read_at = b.read_at.max(self.next_burst_at);
        }
        let s = &mut self.stats;
        s.bursts[0] += 1;
        s.row_hits[0] += 1;
        s.bytes[0] += self.geometry.burst;
        s.queue_ticks += at - arrived;
        s.access_ticks += at + t.bus.burst + t.cl - arrived;
        s.bus_ticks += t.bus.burst;
        Some(at + t.bus.burst + t.cl)
    }

    /// The least time that every bank keeps from a burst at `at`.
    fn constrain_banks(&mut self, location: DramLocation, read: bool, at: Tick, gap: u64) {
        let t = self.t;
        let group = self.banks[usize::from(location.bank)].group;
        let own = usize::from(location.rank) * self.per_rank..(usize::from(location.rank) + 1) * self.per_rank;
        for (i, b) in self.banks.iter_mut().enumerate() {
            let (to_read, to_write) = if !own.contains(&i) {
                (t.bus.rank_to_rank, t.bus.rank_to_rank)
            } else if self.grouped && b.group == group {
                match read {
                    true => (t.bus.ccd_l, t.bus.ccd_l.max(t.bus.read_to_write)),
                    false => (t.bus.ccd_l.max(t.bus.write_to_read_l), t.bus.ccd_l_wr),
                }
            } else {
                match read {
                    true => (gap, t.bus.read_to_write),
                    false => (t.bus.write_to_read, gap),
                }
            };
            b.read_at = b.read_at.max(at + to_read);
            b.write_at = b.write_at.max(at + to_write);
        }
    }

    fn closes_after(&self, location: DramLocation, others: impl Iterator<Item = DramLocation>) -> bool {
        let b = &self.banks[usize::from(location.bank)];
        if self.policy == PagePolicy::Close || b.accesses == self.max_accesses {
            return true;
        }
        if self.policy == PagePolicy::Open {
            return false;
        }
        let (mut hits, mut conflicts) = (false, false);
        for o in others.filter(|o| o.bank == location.bank) {
            hits |= o.row == location.row;
            conflicts |= o.row != location.row;
        }
        !hits && (conflicts || self.policy == PagePolicy::CloseAdaptive)
    }

    pub fn reset_stats(&mut self) {
        self.stats = DramStats::default();
    }

    #[allow(clippy::cast_precision_loss)] // counters stay far below 2^53
    pub fn collect(&self, sink: &mut StatSink) {
        let s = &self.stats;
        let [reads, writes] = s.bursts;
        sink.count("readBursts", reads, Unit::Count, "Number of DRAM read bursts");
        sink.count("writeBursts", writes, Unit::Count, "Number of DRAM write bursts");
        sink.count("readRowHits", s.row_hits[0], Unit::Count, "Number of row buffer hits during reads");
        sink.count("writeRowHits", s.row_hits[1], Unit::Count, "Number of row buffer hits during writes");
        sink.count("dramBytesRead", s.bytes[0], Unit::Byte, "Total bytes read from DRAM");
        sink.count("dramBytesWritten", s.bytes[1], Unit::Byte, "Total bytes written to DRAM");
        sink.count("totQLat", s.queue_ticks, Unit::Tick, "Total ticks spent queuing");
        sink.count("totBusLat", s.bus_ticks, Unit::Tick, "Total ticks spent in databus transfers");
        let d = "Total ticks spent from burst creation until serviced by the DRAM";
        sink.count("totMemAccLat", s.access_ticks, Unit::Tick, d);
        sink.count("numRefreshes", s.refreshes, Unit::Count, "Number of refreshes");
        let mut ratio = |name, a: u64, b: u64, unit, d| {
            if b > 0 {
                sink.real(name, a as f64 / b as f64, unit, d);
            }
        };
        ratio("avgQLat", s.queue_ticks, reads, Unit::TickPerCount, "Average queueing delay per DRAM burst");
        ratio(
            "avgMemAccLat",
            s.access_ticks,
            reads,
            Unit::TickPerCount,
            "Average memory access latency per DRAM burst",
        );
        ratio("readRowHitRate", s.row_hits[0] * 100, reads, Unit::Ratio, "Row buffer hit rate for reads");
        ratio("writeRowHitRate", s.row_hits[1] * 100, writes, Unit::Ratio, "Row buffer hit rate for writes");
        let all = s.row_hits[0] + s.row_hits[1];
        ratio("pageHitRate", all * 100, reads + writes, Unit::Ratio, "Row buffer hit rate, read and write combined");
    }

    pub fn audit(&self) -> Result<(), String> {
        match self.banks.iter().position(|b| b.row != CLOSED && b.row >= self.geometry.rows) {
            Some(n) => Err(format!("bank {n} has row {} of {} open", self.banks[n].row, self.geometry.rows)),
            None => Ok(()),
        }
    }
}
