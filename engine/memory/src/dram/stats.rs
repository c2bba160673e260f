//! What the controller counts, under gem5's names.

use breakeven_base::{StatSink, Tick, Unit};

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CtrlStats {
    pub read_reqs: u64,
    pub write_reqs: u64,
    pub read_bursts: u64,
    pub write_bursts: u64,
    pub serviced_by_write_queue: u64,
    pub merged_write_bursts: u64,
    pub write_retries: u64,
    pub bytes_read_sys: u64,
    pub bytes_written_sys: u64,
    total_gap: u64,
    last_arrival: Tick,
}

impl CtrlStats {
    /// A request arrives.
    pub fn gap(&mut self, at: Tick) {
        if self.last_arrival != Tick::ZERO {
            self.total_gap += at - self.last_arrival;
        }
        self.last_arrival = at.max(self.last_arrival);
    }

    #[allow(clippy::cast_precision_loss)] // counters stay far below 2^53
    pub fn collect(&self, sink: &mut StatSink) {
        let c = Unit::Count;
        sink.count("readReqs", self.read_reqs, c, "Number of read requests accepted");
        sink.count("writeReqs", self.write_reqs, c, "Number of write requests accepted");
        let d = "Number of controller read bursts, including those serviced by the write queue";
        sink.count("readBursts", self.read_bursts, c, d);
        let d = "Number of controller write bursts, including those merged in the write queue";
        sink.count("writeBursts", self.write_bursts, c, d);
        let d = "Number of controller read bursts serviced by the write queue";
        sink.count("servicedByWrQ", self.serviced_by_write_queue, c, d);
        let d = "Number of controller write bursts merged with an existing one";
        sink.count("mergedWrBursts", self.merged_write_bursts, c, d);
        sink.count("numWrRetry", self.write_retries, c, "Number of times write queue was full causing retry");
        let d = "Total read bytes from the system interface side";
        sink.count("bytesReadSys", self.bytes_read_sys, Unit::Byte, d);
        let d = "Total written bytes from the system interface side";
        sink.count("bytesWrittenSys", self.bytes_written_sys, Unit::Byte, d);
        sink.count("totGap", self.total_gap, Unit::Tick, "Total gap between requests");
        let requests = self.read_reqs + self.write_reqs;
        if requests > 0 {
            let avg = self.total_gap as f64 / requests as f64;
            sink.real("avgGap", avg, Unit::TickPerCount, "Average gap between requests");
        }
    }
}
