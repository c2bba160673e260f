//! A cache and its prefetchers: which accesses train them, and when their queues are sent.

use super::Cache;
use crate::line::LineAddr;
use crate::network::Network;
use crate::packet::{Cmd, Pkt, PREFETCHES};
use crate::prefetch::{Access, Found, Presence, NEVER};
use breakeven_base::Tick;

impl Cache {
    /// When the next prefetch may be due.
    pub fn next_prefetch(&self) -> Tick {
        self.prefetching.as_ref().map_or(NEVER, |p| p.next_due)
    }

    /// Trains the prefetchers on a demand access.
    pub(super) fn notify_prefetchers(&mut self, net: &mut Network, pkt: &Pkt, at: Tick, found: Found) {
        let access = Access { requestor: pkt.requestor, ..net.trigger };
        let Cache { prefetching: Some(pf), tags, mshrs, .. } = self else { return };
        pf.observe(pkt, &access, at, found, |line| tags.find(line.addr()).is_some() || mshrs.find(line, at).is_some());
        net.next_prefetch = net.next_prefetch.min(pf.next_due);
    }

    /// Sends what is due by `until`.
    pub(super) fn run_prefetches(&mut self, net: &mut Network, until: Tick) {
        while self.next_prefetch() <= until {
            self.send_prefetch(net, until);
        }
    }

    /// Sends one prefetch if one can go by `until`; else finds out when the next can.
    pub(crate) fn send_prefetch(&mut self, net: &mut Network, until: Tick) {
        let Some(pf) = &self.prefetching else { return };
        let (registers, next) = (pf.registers, pf.next());
        self.mshrs.retire(net.now);
        let at = next.map_or(NEVER, |(_, ready)| self.prefetch_slot(registers, ready));
        let Cache { prefetching: Some(pf), tags, mshrs, writes, .. } = self else { return };
        pf.next_due = at;
        if at > until {
            return;
        }
        let there = |line: LineAddr| {
            if mshrs.find(line, at).is_some() {
                Some(Presence::Mshr)
            } else if tags.find(line.addr()).is_some() {
                Some(Presence::Cache)
            } else {
                writes.holds(line, at).then_some(Presence::WriteBuffer)
            }
        };
        let Some((turn, (line, pc))) = next.and_then(|(turn, _)| Some((turn, pf.pop(turn, there)?))) else { return };
        if net.is_uncached(line.addr()) {
            return;
        }
        let pkt = Pkt::new(Cmd::HardPFReq, line.addr(), net.line_bytes, PREFETCHES);
        let trigger = std::mem::replace(&mut net.trigger, Access { addr: line.addr(), pc, requestor: PREFETCHES });
        let sent = self.miss(net, pkt, at, turn as u8 + 1).accepted;
        net.trigger = trigger;
        if let Some(pf) = &mut self.prefetching {
            pf.sent = sent;
        }
    }

    /// The instant from `at` on at which a prefetch may take a register.
    fn prefetch_slot(&self, registers: usize, mut at: Tick) -> Tick {
        loop {
            if let Some(t) = self.blocked(at).or_else(|| self.mshrs.below_from(registers, at)) {
                at = t;
            } else {
                return at;
            }
        }
    }
}
