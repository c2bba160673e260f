//! The data side's way into the cache, and a memory reference's way through it.

use breakeven_base::{clone_by_field, Bus, FrontEnd, MemRef, Tick, UopFlags};
use breakeven_memory::{HeldEnd, Port, Request, Stored};

use super::super::config::O3Config;
use super::ports::Ports;
use super::{acts_on_line, Counts, NEVER, PAGE};
use crate::when::When;
use crate::CoreCtx;

/// The data side's way into the cache.
#[derive(Debug)]
pub struct Gate {
    pub load_ports: Ports,
    pub store_ports: Ports,
    /// The cache refuses everything until this cycle; [`NEVER`]: it does not.
    pub blocked_until: u64,
    /// The instant of the last answer in each of the coming cycles.
    answers: Box<[Tick; ANSWERS]>,
    serial_responses: bool,
    /// The access that an emulated misaligned one holds up executes at this cycle.
    pub stalled_until: u64,
    /// Stores join a miss until it leaves the cache.
    stores_join: bool,
    /// The first miss that has not left may leave in this cycle; [`NEVER`]: all have.
    pub held_until: u64,
}

clone_by_field!(Gate {
    load_ports,
    store_ports,
    blocked_until,
    answers,
    serial_responses,
    stalled_until,
    stores_join,
    held_until
});

/// What became of one packet.
pub enum Sent {
    Done {
        at: Tick,
        level: u8,
    },
    /// No port is free in this cycle.
    NoPort,
    Blocked,
    /// It waits with its line's miss for the miss to leave the cache.
    Held,
}

/// Cycles ahead in which answers at one instant are noticed; beyond them they are hardly ever.
const ANSWERS: usize = 1024;

impl Gate {
    pub fn new(cfg: &O3Config) -> Self {
        Gate {
            load_ports: Ports::new(cfg.cacheLoadPorts),
            store_ports: Ports::new(cfg.cacheStorePorts),
            blocked_until: NEVER,
            answers: Box::new([Tick::ZERO; ANSWERS]),
            serial_responses: cfg.quirks.serialResponses,
            stalled_until: 0,
            // Under TSO gem5 has one store under way: none could join it.
            stores_join: cfg.quirks.gem5StoresJoinMisses && !cfg.needsTSO && !cfg.lsq.storesLeaveOnMiss,
            held_until: NEVER,
        }
    }

    /// Whether the cache gives another answer at the instant `at`, which then comes first. Answers come a tick apart: the second one
    /// misses the clock edge.
    #[inline]
    #[allow(clippy::cast_possible_truncation)] // reduced
    fn collides(&mut self, at: Tick, when: &When) -> bool {
        let last = &mut self.answers[when.cycle_of(at) as usize % ANSWERS];
        std::mem::replace(last, at) == at
    }

    /// Hands one packet to the cache.
    #[inline]
    pub fn send<F: FrontEnd, B: Bus>(
        &mut self,
        is_load: bool,
        request: &Request,
        cx: &mut CoreCtx<'_, F, B>,
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
        let answer = match (self.stores_join, is_load) {
            (true, true) => cx.mem.load(when.tick, request),
            (true, false) => cx.mem.store(when.tick, request),
            (false, _) => cx.mem.access(Port::Data, when.tick, request).into(),
        };
        match answer {
            Stored::Done { at, level } => Sent::Done { at: self.answered(at, when), level },
            Stored::Blocked { retry } => {
                ports.give_back();
                counts.blocked_by_cache += 1;
                self.blocked_until = when.cycle_of(retry).max(when.cycle + 1);
                Sent::Blocked
            }
            Stored::Held { until } => {
                self.held_until = self.held_until.min(when.cycle_of(until));
                Sent::Held
            }
        }
    }

    /// What `packets` still waits for of misses that have left the cache by now. Whether it waits for no more. `known`: the last
    /// line asked for.
    pub fn end_held<F: FrontEnd, B: Bus>(
        &mut self,
        packets: &mut Packets,
        line: u32,
        known: &mut Option<HeldEnd>,
        cx: &mut CoreCtx<'_, F, B>,
        when: &When,
    ) -> bool {
        let line_of = |paddr: u64| paddr & !u64::from(line - 1);
        while packets.held > 0 {
            let paddr = packets.lines[0];
            // Most have the line of the one before.
            if known.is_none_or(|end| end.line != line_of(paddr)) {
                *known = cx.mem.held_end(when.tick, paddr);
            }
            let Some(end) = *known else { return false };
            let at = self.answered(end.of(paddr), when);
            packets.held -= 1;
            packets.lines[0] = packets.lines[1];
            packets.sent(packets.sent, at, end.level);
        }
        true
    }

    /// When an answer that the cache gives at `at` is taken.
    #[inline]
    pub fn answered(&mut self, at: Tick, when: &When) -> Tick {
        let late = self.serial_responses && self.collides(at, when);
        at + u64::from(late)
    }
}

/// A memory reference's way through the cache: one packet, or one a line.
#[derive(Clone, Copy, Debug, Default)]
pub struct Packets {
    /// Bytes sent.
    pub sent: u16,
    /// When the last of their responses comes, and from how far.
    pub at: Tick,
    pub level: u8,
    /// How many of them wait with a miss, and the lines of the first and the last such.
    pub held: u8,
    pub lines: [u64; 2],
}

impl Packets {
    /// The next packet, and the bytes that will have been sent with it.
    #[inline]
    #[allow(clippy::cast_possible_truncation)] // at most the reference's size
    pub fn next(&self, m: &MemRef, line: u32, flags: UopFlags, pc: u64) -> (Request, u16) {
        let vaddr = m.vaddr.wrapping_add(u64::from(self.sent));
        let to_line_end = u64::from(line) - (vaddr & u64::from(line - 1));
        let rest = m.size.saturating_sub(self.sent).max(1);
        let size = if acts_on_line(m.kind) { rest } else { u64::from(rest).min(to_line_end) as u16 };
        let to_page_end = PAGE - (m.vaddr & (PAGE - 1));
        let paddr = match u64::from(self.sent) {
            sent if sent >= to_page_end => m.paddr2.wrapping_add(sent - to_page_end),
            sent => m.paddr.wrapping_add(sent),
        };
        let non_temporal = flags.any(UopFlags::NON_TEMPORAL);
        let request = Request { paddr, size, kind: m.kind, uncacheable: m.uncacheable, non_temporal, pc };
        (request, self.sent + size)
    }

    /// A packet has been sent.
    #[inline]
    pub fn sent(&mut self, sent: u16, at: Tick, level: u8) {
        self.sent = sent;
        self.at = self.at.max(at);
        self.level = self.level.max(level);
    }

    /// A packet has been sent, and waits with a miss.
    #[inline]
    pub fn waits(&mut self, sent: u16, paddr: u64) {
        self.sent = sent;
        self.lines[usize::from(self.held.min(1))] = paddr;
        self.held = self.held.saturating_add(1);
    }
}
