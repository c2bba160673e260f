//! The way of a packet through a crossbar and of its response back.

use super::{Direction, XBar};
use crate::cache::Cache;
use crate::config::Link;
use crate::layer::Slot;
use crate::network::{Components, Network};
use crate::packet::{Cmd, Pkt, Reply};
use breakeven_base::Tick;

impl XBar {
    /// `pkt` from requester `source` arrives at `at`.
    pub fn request(&mut self, net: &mut Network, source: usize, pkt: Pkt, at: Tick) -> Reply {
        let slot = if net.untimed { self.slot_at(at) } else { self.book(&pkt, at, net.now) };
        self.forward(net, source, pkt, slot)
    }

    /// Takes the layer that `pkt`, which arrives at `at`, goes through; nothing will arrive before `floor`.
    pub fn book(&mut self, pkt: &Pkt, at: Tick, floor: Tick) -> Slot {
        let payload = self.payload_of(pkt);
        let (start, offset) =
            self.pass(Direction::Request(pkt.write_buffers), self.route(pkt.addr).0, at, floor, payload);
        Slot { start, offset }
    }

    /// `pkt` goes through its layer in the time that has been booked for it.
    pub fn forward(&mut self, net: &mut Network, source: usize, pkt: Pkt, slot: Slot) -> Reply {
        let to = self.route(pkt.addr).1;
        let payload = self.payload_of(&pkt);
        let start = slot.start;
        let header = pkt.header + slot.offset + self.forward;
        self.packets += 1;
        self.bytes += if pkt.cmd.has_data() { u64::from(pkt.size) } else { 0 };
        let coherent = matches!(to, Link::Memory(_) | Link::None);
        if coherent && pkt.cmd == Cmd::CleanEvict {
            return Reply { at: start, accepted: start, ..Reply::default() };
        }
        if coherent && pkt.cmd.is_maintenance() {
            return Reply { at: start + header, accepted: start, ..Reply::default() };
        }
        let down = Pkt { header, payload, ..pkt };
        let r = match self.snoop(&mut net.caches, &pkt, start, header) {
            Some(response) => response,
            None => net.send(to, self.source, down, start),
        };
        if net.untimed {
            return Reply { accepted: r.accepted.max(start), ..r };
        }
        self.respond(source, &pkt, start, r, net.now)
    }

    fn respond(&mut self, source: usize, pkt: &Pkt, start: Tick, r: Reply, floor: Tick) -> Reply {
        let accepted = r.accepted.max(start);
        if matches!(pkt.cmd, Cmd::WritebackDirty | Cmd::WritebackClean | Cmd::CleanEvict | Cmd::WriteClean) {
            return Reply { accepted, ..r };
        }
        let payload = if pkt.cmd.is_read() { r.payload.max(self.payload(pkt.size)) } else { r.payload };
        let (begin, offset) = self.pass(Direction::Response, source, r.at, floor, payload);
        self.packets += 1;
        self.bytes += if pkt.cmd.is_read() { u64::from(pkt.size) } else { 0 };
        Reply { at: begin + offset + self.response, payload, accepted, ..r }
    }

    /// Snoops the other caches on the bus (the requester's is handling `pkt`, and not among `caches` meanwhile): invalidates
    /// copies as needed; the response of the one that must respond.
    fn snoop(&self, caches: &mut Components<Cache>, pkt: &Pkt, start: Tick, header: u64) -> Option<Reply> {
        if pkt.uncached || !(pkt.cmd.is_read() || pkt.cmd.needs_writable() || pkt.cmd == Cmd::CleanInvalidReq) {
            return None;
        }
        let mut response = None;
        for &i in &self.snooped {
            let Some(c) = caches.get_mut(i) else { continue };
            let Some(line) = c.tags.find(pkt.addr) else { continue };
            if c.tags.dirty(line) && pkt.cmd.is_read() {
                response = Some(c.snoop_response(pkt.cmd, start, header));
            }
            if pkt.cmd.needs_writable() || pkt.cmd == Cmd::CleanInvalidReq {
                c.tags.invalidate(line);
            }
        }
        response
    }
}
