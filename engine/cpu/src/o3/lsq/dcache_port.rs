//! The data-cache port of the load-store queue, and the progress of one access through it (two packets across a line).

use breakeven_base::{Cycle, MemRef, PhysAddr, Tick, UopFlags};
use breakeven_memory::{MissResponse, MshrId, Request, Response};
use educe::Educe;

use super::super::config::O3Config;
use super::super::seq::Seq;
use super::ports::Ports;
use super::{Counts, NEVER};
use crate::outside::{Outside, Packet};
use crate::when::When;

/// The data-cache port: bandwidth a cycle, back pressure, responses.
#[derive(Debug, Educe)]
#[educe(Clone)]
pub struct DcachePort {
    pub load_ports: Ports,
    pub store_ports: Ports,
    /// The cache is blocked until this cycle; [`NEVER`]: it is not.
    pub blocked_until: Cycle,
    /// The instant of the last response in each of the coming cycles.
    pub answers: Box<[Tick; ANSWERS]>,
    /// The last cycle for which there has been one.
    pub last_answer: Cycle,
    pub serial_responses: bool,
    /// An emulated misaligned access stalls the following ones until this cycle.
    pub stalled_until: Cycle,
    /// Misses stay pending in their MSHR until it is sent (`gem5StoresJoinMisses`).
    pub misses_wait: bool,
    /// When the first pending MSHR may be sent; [`NEVER`]: none is pending.
    pub pending_until: Cycle,
}

/// What became of one packet.
pub enum Sent {
    Done {
        at: Tick,
        level: u8,
    },
    /// No port is free in this cycle.
    NoPort,
    Blocked,
    /// Its MSHR has not been sent: the response time is not known yet.
    Pending,
}

/// Cycles ahead in which responses at one instant are told apart; later ones are rare.
pub const ANSWERS: usize = 1024;

impl DcachePort {
    pub fn new(cfg: &O3Config) -> Self {
        DcachePort {
            load_ports: Ports::new(cfg.cacheLoadPorts),
            store_ports: Ports::new(cfg.cacheStorePorts),
            blocked_until: NEVER,
            answers: Box::new([Tick::ZERO; ANSWERS]),
            last_answer: Cycle::ZERO,
            serial_responses: cfg.quirks.serialResponses,
            stalled_until: Cycle::ZERO,
            // Under TSO gem5 has one store under way: none could join it.
            misses_wait: cfg.quirks.gem5StoresJoinMisses && !cfg.needsTSO && !cfg.lsq.storesLeaveOnMiss,
            pending_until: NEVER,
        }
    }

    /// Whether another response has been booked for the instant `at`. Responses are sent one a tick (gem5): the second misses
    /// the clock edge.
    #[inline]
    #[allow(clippy::cast_possible_truncation)] // reduced
    fn collides(&mut self, at: Tick, when: &When) -> bool {
        let cycle = when.cycle_of(at);
        self.last_answer = self.last_answer.max(cycle);
        let last = &mut self.answers[cycle.0 as usize % ANSWERS];
        std::mem::replace(last, at) == at
    }

    /// Sends one packet to the cache.
    #[inline]
    pub fn send<X: Outside>(
        &mut self,
        is_load: bool,
        packet: Packet,
        mut request: Request,
        cx: &mut X,
        when: &When,
        counts: &mut Counts,
    ) -> Sent {
        if self.blocked_until != NEVER {
            return Sent::Blocked;
        }
        let ports = if is_load { &mut self.load_ports } else { &mut self.store_ports };
        if !ports.take(when.cycle) {
            return Sent::NoPort;
        }
        request.may_wait = self.misses_wait;
        match cx.access(packet, when.tick, &request) {
            Response::Done { at, level } => Sent::Done { at: self.answered(at, when), level },
            Response::Blocked { retry } => {
                ports.give_back();
                counts.blocked_by_cache += 1;
                self.blocked_until = when.cycle_of(retry).max(when.cycle + 1);
                Sent::Blocked
            }
            Response::Pending { until, .. } => {
                self.pending_until = self.pending_until.min(when.cycle_of(until));
                Sent::Pending
            }
        }
    }

    /// Collects response times of pending packets whose MSHR has been sent by now. Whether none is left. `known`: the last line
    /// looked up.
    pub fn end_pending<X: Outside>(
        &mut self,
        seq: Seq,
        access: &mut SplitAccess,
        line: u32,
        known: &mut Option<MissResponse>,
        cx: &mut X,
        when: &When,
    ) -> bool {
        while access.pending > 0 {
            let paddr = access.lines[0];
            let id = MshrId::of(paddr, line);
            // Most are in the line looked up last.
            if known.is_none_or(|end| end.id != id) {
                *known = cx.response_of(seq, when.tick, id);
            }
            let Some(end) = *known else { return false };
            let at = self.answered(end.of(paddr), when);
            access.pending -= 1;
            access.lines[0] = access.lines[1];
            access.sent(access.sent, at, end.level);
        }
        true
    }

    /// When a response that the cache sends at `at` is received.
    #[inline]
    pub fn answered(&mut self, at: Tick, when: &When) -> Tick {
        let late = self.serial_responses && self.collides(at, when);
        at + u64::from(late)
    }
}

/// Progress of one memory reference: one packet, or one a line.
#[derive(Clone, Copy, Debug, Default)]
pub struct SplitAccess {
    /// Bytes sent.
    pub sent: u16,
    /// When the last response arrives, and the level that supplied it.
    pub at: Tick,
    pub level: u8,
    /// Packets with a pending MSHR, and the addresses of the first and the last of them.
    pub pending: u8,
    pub lines: [PhysAddr; 2],
}

impl SplitAccess {
    /// The next packet, and the bytes that will have been sent with it.
    #[inline]
    #[allow(clippy::cast_possible_truncation)] // at most the reference's size
    pub fn next(&self, m: &MemRef, line: u32, flags: UopFlags, pc: u64) -> (Request, u16) {
        let vaddr = m.vaddr.wrapping_add(u64::from(self.sent));
        let to_line_end = u64::from(line) - (vaddr & u64::from(line - 1));
        let rest = m.size.saturating_sub(self.sent).max(1);
        let size = if m.kind.acts_on_line() { rest } else { u64::from(rest).min(to_line_end) as u16 };
        let paddr = m.paddr_of(self.sent);
        let non_temporal = flags.any(UopFlags::NON_TEMPORAL);
        let request =
            Request { paddr, size, kind: m.kind, uncacheable: m.uncacheable, non_temporal, pc, may_wait: false };
        (request, self.sent + size)
    }

    /// A packet has been sent.
    #[inline]
    pub fn sent(&mut self, sent: u16, at: Tick, level: u8) {
        self.sent = sent;
        self.at = self.at.max(at);
        self.level = self.level.max(level);
    }

    /// A packet has been sent; its MSHR is pending.
    #[inline]
    pub fn waits(&mut self, sent: u16, paddr: PhysAddr) {
        self.sent = sent;
        self.lines[usize::from(self.pending.min(1))] = paddr;
        self.pending = self.pending.saturating_add(1);
    }
}
