//! Crossbars and buses (gem5 `CoherentXBar`): latencies forward and back, one layer a destination, one a requester.
//!
//! A request pays `frontend_latency + forward_latency` and the snoop filter's look-up, a response `response_latency`;
//! both wait for their layer, which a packet occupies for `header_latency` cycles and its payload (size / width).
//! Caches side by side on a bus are snooped: the one that holds a line dirty answers instead of the level below.

use breakeven_base::{StatSink, Unit};

use crate::config::{Link, Route, XBarConfig};
use crate::layer::Layer;
use crate::packet::{Cmd, Pkt, Reply};
use crate::util::EdgeClock;
use crate::MemorySystem;
use educe::Educe;

/// A packet's direction; packets out of a write buffer have low priority against other requests.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Request,
    FromWriteBuffer,
    Response,
}

/// A packet's slot on a layer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Slot {
    pub start: u64,
    /// Ticks from there to the crossbar's next clock edge.
    offset: u64,
}

impl Slot {
    /// Where there is no crossbar.
    pub fn at(start: u64) -> Self {
        Slot { start, offset: 0 }
    }
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
    packets: u64,
    bytes: u64,
}
impl XBar {
    pub fn new(c: &XBarConfig, requesters: usize, snooped: Vec<u16>) -> Self {
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
            packets: 0,
            bytes: 0,
        }
    }

    pub fn route(&self, addr: u64) -> (usize, Link) {
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
    fn pass(&mut self, way: Way, layer: usize, at: u64, floor: u64, payload: u64) -> (u64, u64) {
        let (clock, header) = (self.clock, self.header);
        let layers = if way == Way::Response { &mut self.responses } else { &mut self.requests };
        let start = match layers.get_mut(layer) {
            Some(l) if self.limited => {
                l.book(at, floor, way == Way::FromWriteBuffer, |s| clock.edge(s) + header + payload)
            }
            _ => at,
        };
        (start, self.clock.edge(start) - start)
    }

    /// A slot at `start` on a layer that the packet keeps booked while it waits.
    pub fn slot_at(&self, start: u64) -> Slot {
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

    pub fn describe(&self, now: u64) -> String {
        let list = |layers: &[Layer]| layers.iter().map(|l| l.describe(now)).collect::<Vec<_>>().join(", ");
        format!("request layers: {}; response layers: {}", list(&self.requests), list(&self.responses))
    }
}

impl MemorySystem {
    /// `pkt` from requester `source` arrives at crossbar `xi` at `at`.
    pub(crate) fn xbar_request(&mut self, xi: usize, source: usize, pkt: Pkt, at: u64) -> Reply {
        let slot = self.xbar_books(xi, &pkt, at);
        self.xbar_forwards(xi, source, pkt, slot)
    }

    /// Takes the layer that `pkt`, which arrives at `at`, goes through.
    pub(crate) fn xbar_books(&mut self, xi: usize, pkt: &Pkt, at: u64) -> Slot {
        let now = self.now;
        let x = &mut self.xbars[xi];
        let payload = x.payload_of(pkt);
        let way = if pkt.low_priority { Way::FromWriteBuffer } else { Way::Request };
        let (start, offset) = x.pass(way, x.route(pkt.addr).0, at, now, payload);
        Slot { start, offset }
    }

    /// `pkt` goes through its layer in the time that has been booked for it.
    pub(crate) fn xbar_forwards(&mut self, xi: usize, source: usize, pkt: Pkt, slot: Slot) -> Reply {
        let x = &mut self.xbars[xi];
        let to = x.route(pkt.addr).1;
        let payload = x.payload_of(&pkt);
        let start = slot.start;
        let header = pkt.header + slot.offset + x.forward;
        x.packets += 1;
        x.bytes += if pkt.cmd.has_data() { u64::from(pkt.size) } else { 0 };
        let coherent = matches!(to, Link::Memory(_) | Link::None);
        if coherent && pkt.cmd == Cmd::CleanEvict {
            return Reply { at: start, accepted: start, ..Reply::default() };
        }
        if coherent && pkt.cmd.is_maintenance() {
            return Reply { at: start + header, accepted: start, ..Reply::default() };
        }
        let down = Pkt { header, payload, ..pkt };
        let owner = self.snoop(xi, source, &pkt);
        let r = match owner {
            Some(ci) => self.snoop_response(ci, pkt.cmd, start, header),
            None => self.send(to, self.source_of_xbar(xi), down, start),
        };
        self.xbar_responds(xi, source, &pkt, start, r)
    }

    fn xbar_responds(&mut self, xi: usize, source: usize, pkt: &Pkt, start: u64, r: Reply) -> Reply {
        let now = self.now;
        let accepted = r.accepted.max(start);
        if matches!(pkt.cmd, Cmd::WritebackDirty | Cmd::WritebackClean | Cmd::CleanEvict | Cmd::WriteClean) {
            return Reply { accepted, ..r };
        }
        let x = &mut self.xbars[xi];
        let payload = if pkt.cmd.is_read() { r.payload.max(x.payload(pkt.size)) } else { r.payload };
        let (begin, offset) = x.pass(Way::Response, source, r.at, now, payload);
        x.packets += 1;
        x.bytes += if pkt.cmd.is_read() { u64::from(pkt.size) } else { 0 };
        Reply { at: begin + offset + x.response, payload, accepted, ..r }
    }

    /// Snoops the other caches on the bus: invalidates copies as needed; the cache that must respond.
    fn snoop(&mut self, xi: usize, source: usize, pkt: &Pkt) -> Option<usize> {
        if pkt.uncached || !(pkt.cmd.is_read() || pkt.cmd.needs_writable() || pkt.cmd == Cmd::CleanInvalidReq) {
            return None;
        }
        let mut owner = None;
        for n in 0..self.xbars[xi].snooped.len() {
            let ci = usize::from(self.xbars[xi].snooped[n]);
            if self.source_of_cache(ci) == source {
                continue;
            }
            let tags = &mut self.caches[ci].tags;
            let Some(i) = tags.find(pkt.addr) else { continue };
            if tags.dirty(i) && pkt.cmd.is_read() {
                owner = Some(ci);
            }
            if pkt.cmd.needs_writable() || pkt.cmd == Cmd::CleanInvalidReq {
                tags.invalidate(i);
            }
        }
        owner
    }

    /// The cache beside the requester supplies the line.
    fn snoop_response(&mut self, ci: usize, cmd: Cmd, start: u64, header: u64) -> Reply {
        let c = &mut self.caches[ci];
        let at = c.clock.edge(start) + c.p.tag + header;
        Reply { at, accepted: start, dirty: cmd == Cmd::ReadExReq, ..Reply::default() }
    }
}
