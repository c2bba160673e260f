//! gem5 `MemCtrl` with one `DRAMInterface`: a controller with a write queue in front of banks with open rows.
//!
//! The controller runs on its own events (next burst, refresh), caught up lazily: a write is queued and drained when the
//! queue passes its thresholds; a read runs the controller forward until its burst has been issued, so its answer is known at
//! once. Reads are therefore served in the order in which they arrive, except hits on a row that a waiting read is going to close
//! ([`Banks::overtake`]); writes are picked by FR-FCFS from the whole queue.

mod banks;
mod schedule;
mod stats;

use breakeven_base::{PhysAddr, StatSink, Tick};

use crate::config::{MemCtrlConfig, SchedPolicy};
use crate::packet::{Pkt, Reply};
use banks::{Banks, DramLocation};
use educe::Educe;
use stats::CtrlStats;

/// One DRAM burst's worth of a request.
#[derive(Clone, Copy, Debug)]
struct Burst {
    /// Aligned to a burst.
    addr: PhysAddr,
    /// The bytes of it that are meant, for reads that look into the write queue.
    from: PhysAddr,
    to: PhysAddr,
    location: DramLocation,
    arrived: Tick,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bus {
    Read,
    Write,
}

#[derive(Clone, Copy, Debug)]
struct Params {
    frontend: u64,
    backend: u64,
    write_capacity: usize,
    write_high: usize,
    write_low: usize,
    min_writes: usize,
    policy: SchedPolicy,
}

#[derive(Educe)]
#[educe(Clone)]
pub(crate) struct MemCtrl {
    p: Params,
    banks: Banks,
    writes: Vec<Burst>,
    /// Writes that will arrive later, in order of arrival.
    coming: Vec<Burst>,
    bus: Bus,
    bus_next: Bus,
    /// When the controller will look at its queues again; `None`: when something arrives.
    next: Option<Tick>,
    writes_this_time: usize,
    stats: CtrlStats,
}
impl MemCtrl {
    pub fn new(c: &MemCtrlConfig) -> Self {
        let capacity = c.dram.write_buffer_size as usize;
        let percent = |p: u32| capacity * p as usize / 100;
        MemCtrl {
            p: Params {
                frontend: c.static_frontend_latency.0,
                backend: c.static_backend_latency.0,
                write_capacity: capacity.max(1),
                write_high: percent(c.write_high_thresh_perc),
                write_low: percent(c.write_low_thresh_perc),
                min_writes: c.min_writes_per_switch as usize,
                policy: c.mem_sched_policy,
            },
            banks: Banks::new(&c.dram, c.command_window.0),
            writes: Vec::with_capacity(capacity),
            coming: Vec::new(),
            bus: Bus::Read,
            bus_next: Bus::Read,
            next: None,
            writes_this_time: 0,
            stats: CtrlStats::default(),
        }
    }

    pub fn request(&mut self, pkt: &Pkt, at: Tick) -> Reply {
        if pkt.size == 0 {
            return Reply { at, accepted: at, ..Reply::default() };
        }
        self.stats.gap(at);
        let delay = pkt.header + pkt.payload;
        if pkt.cmd.has_data() {
            let accepted = self.write(pkt, at);
            Reply { at: accepted + self.p.frontend + delay, accepted, ..Reply::default() }
        } else {
            let (ready, from_queue) = self.read(pkt, at);
            let back = if from_queue { 0 } else { self.p.backend };
            Reply { at: ready + self.p.frontend + back + delay, accepted: at, ..Reply::default() }
        }
    }

    /// Splits a request at burst boundaries.
    fn bursts(&self, pkt: &Pkt, at: Tick) -> impl Iterator<Item = Burst> + 'static {
        let size = self.banks.burst_bytes();
        let (start, end) = (pkt.addr, pkt.addr + u64::from(pkt.size));
        let geometry = self.banks.geometry();
        let first = start.align_down(size);
        (first.0..end.0).step_by(size as usize).map(PhysAddr).map(move |addr| Burst {
            addr,
            from: start.max(addr),
            to: end.min(addr + size),
            location: geometry.decode(addr),
            arrived: at,
        })
    }

    /// When the data of a read is on the bus, and whether the write queue had it all.
    fn read(&mut self, pkt: &Pkt, at: Tick) -> (Tick, bool) {
        self.stats.read_reqs += 1;
        self.stats.bytes_read_sys += u64::from(pkt.size);
        self.run_until(at);
        let (mut ready, mut all_queued) = (at, true);
        for burst in self.bursts(pkt, at) {
            self.stats.read_bursts += 1;
            let queued = self.writes.iter().any(|w| w.addr == burst.addr && w.from <= burst.from && burst.to <= w.to);
            if queued {
                self.stats.serviced_by_write_queue += 1;
            } else {
                all_queued = false;
                ready = ready.max(self.overtaking_read(&burst).unwrap_or_else(|| self.issue_read(&burst)));
            }
        }
        (ready, all_queued)
    }

    /// Queues a write; when it was accepted.
    fn write(&mut self, pkt: &Pkt, at: Tick) -> Tick {
        self.stats.write_reqs += 1;
        self.stats.bytes_written_sys += u64::from(pkt.size);
        let mut accepted = at;
        for burst in self.bursts(pkt, at) {
            self.stats.write_bursts += 1;
            accepted = accepted.max(self.wait_for_room(accepted));
            let index = self.coming.partition_point(|w| w.arrived <= accepted);
            self.coming.insert(index, Burst { arrived: accepted, ..burst });
        }
        accepted
    }

    /// Runs on until the write queue has room.
    fn wait_for_room(&mut self, at: Tick) -> Tick {
        if self.writes.len() + self.coming.len() < self.p.write_capacity {
            return at;
        }
        self.stats.write_retries += 1;
        let mut t = at;
        // A full queue is above every threshold, so each turn brings the bus nearer to a write.
        while self.writes.len() + self.coming.len() >= self.p.write_capacity {
            match self.next_event() {
                Some(event) => {
                    t = t.max(event);
                    self.run_until(event);
                }
                None => break,
            }
        }
        t
    }

    pub fn reset_stats(&mut self) {
        self.stats = CtrlStats::default();
        self.banks.reset_stats();
    }

    pub fn collect(&self, sink: &mut StatSink) {
        self.stats.collect(sink);
    }

    /// Statistics of the DRAM behind the controller.
    pub fn collect_dram(&self, sink: &mut StatSink) {
        self.banks.collect(sink);
    }

    pub fn describe(&self) -> String {
        let next = self.next.map_or("idle".to_owned(), |t| format!("next burst at {t}"));
        format!(
            "{} writes queued of {}, {} coming; bus {:?}, {next}",
            self.writes.len(),
            self.p.write_capacity,
            self.coming.len(),
            self.bus
        )
    }

    pub fn audit(&self) -> Result<(), String> {
        if self.writes.len() > self.p.write_capacity {
            return Err(format!("{} writes queued of {}", self.writes.len(), self.p.write_capacity));
        }
        self.banks.audit()
    }
}
