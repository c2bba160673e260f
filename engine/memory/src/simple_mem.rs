//! gem5 `SimpleMemory`: a latency, and a bandwidth that keeps the port busy.
//!
//! `write_buffer_size` (ours; 0: unlimited, as in gem5): so many writes can be under way; a further one is accepted when the
//! first of them is done. Write buffers, which wait for acceptance only, wait then. Reads do not look into the buffers.
//!
//! A read goes before write-backs that wait for the port while their write buffer is not full: the cache that sends both
//! sends its misses first.

use breakeven_base::{StatSink, Tick, Unit};

use crate::config::SimpleMemoryConfig;
use crate::layer::Layer;
use crate::packet::{Pkt, Reply};
use educe::Educe;

#[derive(Clone, Copy, Default)]
struct Traffic {
    reads: u64,
    writes: u64,
    bytes_read: u64,
    bytes_written: u64,
}

#[derive(Educe)]
#[educe(Clone)]
pub(crate) struct SimpleMemory {
    latency: u64,
    /// gem5 rounds to whole ticks (`MemoryBandwidth.getValue`): above 2 TB/s there is no limit.
    ticks_per_byte: u64,
    port: Layer,
    /// When each of the write buffers is free again.
    buffers: Vec<Tick>,
    traffic: Traffic,
}
impl SimpleMemory {
    pub fn new(c: &SimpleMemoryConfig) -> Self {
        let ticks_per_byte = if c.bandwidth > 0.0 { (1e12 / c.bandwidth).round() as u64 } else { 0 };
        SimpleMemory {
            latency: c.latency.0,
            ticks_per_byte,
            port: Layer::default(),
            buffers: vec![Tick::ZERO; c.write_buffer_size as usize],
            traffic: Traffic::default(),
        }
    }

    pub fn request(&mut self, pkt: &Pkt, at: Tick, floor: Tick) -> Reply {
        let busy = u64::from(pkt.size).saturating_mul(self.ticks_per_byte);
        let buffer = if pkt.cmd.has_data() { self.buffers.iter_mut().min() } else { None };
        let taken = buffer.as_ref().map_or(at, |free| at.max(**free));
        let start = self.port.book(taken, floor, pkt.write_buffers, |s| s + busy);
        let t = &mut self.traffic;
        if pkt.cmd.is_read() {
            t.reads += 1;
            t.bytes_read += u64::from(pkt.size);
        } else if pkt.cmd.has_data() {
            t.writes += 1;
            t.bytes_written += u64::from(pkt.size);
        }
        let done = start + pkt.header + pkt.payload + self.latency;
        let accepted = if let Some(free) = buffer {
            *free = done;
            taken
        } else {
            start
        };
        Reply { at: done, accepted, ..Reply::default() }
    }

    pub fn reset_stats(&mut self) {
        self.traffic = Traffic::default();
        self.port.occupancy = 0;
    }

    pub fn collect(&self, sink: &mut StatSink) {
        let t = &self.traffic;
        sink.count("numReads::total", t.reads, Unit::Count, "Number of read requests responded to by this memory");
        sink.count("numWrites::total", t.writes, Unit::Count, "Number of write requests responded to by this memory");
        sink.count("bytesRead::total", t.bytes_read, Unit::Byte, "Number of bytes read from this memory");
        sink.count("bytesWritten::total", t.bytes_written, Unit::Byte, "Number of bytes written to this memory");
    }

    pub fn describe(&self, now: Tick) -> String {
        let held = self.buffers.iter().filter(|&&free| free > now).count();
        format!("port {}; {held} of {} write buffers held", self.port.describe(now), self.buffers.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{Cmd, WRITEBACKS};
    use breakeven_base::PhysAddr;

    #[test]
    fn a_read_goes_before_a_write_back_that_waits() {
        // A tick a byte.
        let path = "system.mem_ctrl".to_owned();
        let mut m =
            SimpleMemory::new(&SimpleMemoryConfig { path, latency: Tick(0), bandwidth: 1e12, write_buffer_size: 0 });
        let read = Pkt::new(Cmd::ReadSharedReq, PhysAddr(0), 64, 1);
        let write =
            |write_buffers| Pkt { write_buffers, ..Pkt::new(Cmd::WritebackDirty, PhysAddr(64), 64, WRITEBACKS) };
        let mut starts = |pkt: &Pkt, at| m.request(pkt, Tick(at), Tick::ZERO).at.0;
        assert_eq!([starts(&read, 0), starts(&write(8), 10)], [0, 64]);
        assert_eq!(starts(&read, 20), 64, "the write-back has not started");
        // It starts at 128 instead, and then it is not interrupted.
        assert_eq!(starts(&read, 130), 192);
        assert_eq!([starts(&write(0), 200), starts(&read, 210)], [256, 320], "out of a full write buffer");
    }
}
