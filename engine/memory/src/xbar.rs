//! Crossbars and buses (gem5 `CoherentXBar`): latencies forward and back, one layer a destination, one a requester.
//!
//! A request pays `frontend_latency + forward_latency` and the snoop filter's look-up, a response `response_latency`;
//! both wait for their layer, which a packet occupies for `header_latency` cycles and its payload (size / width).
//! Caches side by side on a bus are snooped: the one that holds a line dirty answers instead of the level below.

mod forward;

use breakeven_base::{PhysAddr, StatSink, Tick, Unit};

use crate::config::{Link, Route, XBarConfig};
use crate::layer::{Layer, Slot};
use crate::packet::Pkt;
use crate::util::EdgeClock;
use educe::Educe;

/// A packet's direction.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    /// With [`Pkt::write_buffers`].
    Request(u16),
    Response,
}

#[derive(Educe)]
#[educe(Clone)]
pub(crate) struct XBar {
    clock: EdgeClock,
    forward: u64,
    response: u64,
    header: u64,
    width: u64,
    limited: bool,
    routes: Vec<Route>,
    /// One a route, and one for addresses without a route.
    requests: Vec<Layer>,
    /// One a requester.
    responses: Vec<Layer>,
    /// Caches whose memory side is here.
    snooped: Vec<u16>,
    /// Its number among the requesters of other crossbars.
    source: usize,
    packets: u64,
    bytes: u64,
}
impl XBar {
    pub fn new(c: &XBarConfig, requesters: usize, snooped: Vec<u16>, source: usize) -> Self {
        let clock = EdgeClock::new(c.clock.period());
        XBar {
            clock,
            forward: clock.cycles(c.frontend_latency + c.forward_latency + c.snoop_filter_latency),
            response: clock.cycles(c.response_latency),
            header: clock.cycles(c.header_latency),
            width: u64::from(c.width.max(1)),
            limited: c.bandwidth_limit,
            routes: c.routes.clone(),
            requests: (0..=c.routes.len()).map(|_| Layer::default()).collect(),
            responses: (0..requesters).map(|_| Layer::default()).collect(),
            snooped,
            source,
            packets: 0,
            bytes: 0,
        }
    }

    /// Where what has no route of its own goes.
    pub fn default_route(&self) -> Link {
        self.routes.iter().find(|r| r.range.is_none()).map_or(Link::None, |r| r.to)
    }

    pub fn route(&self, addr: PhysAddr) -> (usize, Link) {
        let hit = self.routes.iter().enumerate().find(|(_, r)| r.range.is_none_or(|g| g.contains(addr)));
        hit.map_or((self.routes.len(), Link::None), |(i, r)| (i, r.to))
    }

    /// Ticks that `size` bytes of data need behind the header.
    fn payload(&self, size: u32) -> u64 {
        u64::from(size).div_ceil(self.width) * self.clock.period
    }

    /// Ticks that `pkt`'s data needs behind the header, here or on the way here.
    fn payload_of(&self, pkt: &Pkt) -> u64 {
        if pkt.cmd.has_data() {
            pkt.payload.max(self.payload(pkt.size))
        } else {
            pkt.payload
        }
    }

    /// Books a layer: when the packet wins arbitration, and ticks from there to the next clock edge.
    fn pass(&mut self, way: Direction, layer: usize, at: Tick, floor: Tick, payload: u64) -> (Tick, u64) {
        let (clock, header) = (self.clock, self.header);
        let (layers, write_buffers) = match way {
            Direction::Request(write_buffers) => (&mut self.requests, write_buffers),
            Direction::Response => (&mut self.responses, 0),
        };
        let start = match layers.get_mut(layer) {
            Some(l) if self.limited => l.book(at, floor, write_buffers, |s| clock.edge(s) + header + payload),
            _ => at,
        };
        (start, self.clock.edge(start) - start)
    }

    /// A slot at `start` on a layer that the packet keeps booked while it waits.
    pub fn slot_at(&self, start: Tick) -> Slot {
        Slot { start, offset: self.clock.edge(start) - start }
    }

    pub fn reset_stats(&mut self) {
        (self.packets, self.bytes) = (0, 0);
        for l in self.requests.iter_mut().chain(&mut self.responses) {
            l.occupancy = 0;
        }
    }

    pub fn collect(&self, sink: &mut StatSink) {
        sink.count("pktCount::total", self.packets, Unit::Count, "Packet count");
        sink.count("pktSize::total", self.bytes, Unit::Byte, "Cumulative packet size");
        for (kind, layers) in [("req", &self.requests), ("resp", &self.responses)] {
            for (i, l) in layers.iter().enumerate().filter(|(_, l)| l.occupancy > 0) {
                sink.count(&format!("{kind}Layer{i}.occupancy"), l.occupancy, Unit::Tick, "Layer occupancy (ticks)");
            }
        }
    }

    pub fn describe(&self, now: Tick) -> String {
        let list = |layers: &[Layer]| layers.iter().map(|l| l.describe(now)).collect::<Vec<_>>().join(", ");
        format!("request layers: {}; response layers: {}", list(&self.requests), list(&self.responses))
    }
}
