//! Decode: sends `decodeWidth` micro-ops a cycle on, and corrects direct branches whose target fetch could not know.
//! Fact source: gem5 24.0 `src/cpu/o3/decode.cc`.
//!
//! Micro-ops that arrive while the stage is stalled wait in a skid buffer, which is emptied first (`gem5SkidBufferFirst`). With a
//! loop buffer (*ours*) there is a queue behind the decoders for micro-ops that rename cannot take. The stage never stalls
//! then; fetch counts the queue's slots and stops when it is full.

use breakeven_base::{BranchKind, Cycle, UopFlags};

use super::io::Io;
use super::seq::Seq;
use super::wires::{Stall, ToDecode};
use crate::memo::archive::Archive;

/// What a stage with a skid buffer is doing (gem5's `ThreadStatus`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Status {
    #[default]
    Running,
    Squashing,
    Blocked,
    Unblocking,
    /// Rename only: waits until the ROB is empty.
    SerializeStall,
}

impl Status {
    pub const ALL: [Status; 5] =
        [Status::Running, Status::Squashing, Status::Blocked, Status::Unblocking, Status::SerializeStall];
}

#[derive(Clone, Copy, Debug, Default)]
pub struct DecodeStats {
    pub decoded: u64,
    pub resolved: u64,
    pub mispredicted: u64,
    pub run_cycles: u64,
    pub blocked_cycles: u64,
    pub unblock_cycles: u64,
    pub squash_cycles: u64,
    pub idle_cycles: u64,
}

#[derive(Clone, Debug)]
pub struct Decode {
    status: Status,
    /// Rename has blocked decode.
    stalled: bool,
    /// Latch and skid buffer: the next micro-op to be decoded, and the next to arrive.
    next: Seq,
    end: Seq,
    pub stats: DecodeStats,
}

impl Decode {
    pub fn new() -> Self {
        Decode {
            status: Status::Running,
            stalled: false,
            next: Seq::FIRST,
            end: Seq::FIRST,
            stats: DecodeStats::default(),
        }
    }

    /// The next micro-op to be decoded.
    #[inline]
    pub fn next(&self) -> Seq {
        self.next
    }
    /// The next micro-op to arrive.
    #[inline]
    pub fn end(&self) -> Seq {
        self.end
    }

    pub fn describe(&self) -> String {
        format!("decode: {:?}, {} micro-ops from {} on", self.status, self.end - self.next, self.next)
    }

    /// One cycle. In: micro-ops from fetch, stalls by rename. Out: micro-ops to rename, stalls to fetch, and the direct branch
    /// that it corrects ([`super::fetch::Fetch::correct`]); what fetch has sent behind it is dropped.
    #[inline(always)]
    pub fn tick(&mut self, io: &mut Io, now: Cycle, wire: &ToDecode, squashed: bool) -> Option<Seq> {
        // With a queue behind it the stage never stalls.
        if io.rules.decode_queue == 0 {
            wire.stall.apply(&mut self.stalled);
        }
        let arrived = u64::from(wire.arrived);
        self.end += arrived;
        let to_fetch = now + io.rules.delays.decode_to_fetch;
        if squashed {
            if matches!(self.status, Status::Blocked | Status::Unblocking) {
                io.wires.at(to_fetch).fetch.stall = Stall::Unblock;
            }
            self.status = Status::Squashing;
            self.stats.squash_cycles += 1;
            return None;
        }
        if self.stalled {
            if self.status != Status::Blocked {
                self.block(io, to_fetch);
            }
            self.stats.blocked_cycles += 1;
            return None;
        }
        match self.status {
            Status::Blocked => {
                io.activity.moved = true;
                self.status = Status::Unblocking;
                if self.end - arrived == self.next {
                    self.unblock(io, to_fetch);
                }
            }
            Status::Squashing => self.status = Status::Running,
            _ => {}
        }
        if self.next == self.end && self.status == Status::Running {
            self.stats.idle_cycles += 1;
            return None;
        }
        let unblocking = self.status == Status::Unblocking;
        let skid_only = unblocking && io.rules.quirks.gem5SkidBufferFirst;
        let end = if skid_only { self.end - arrived } else { self.end };
        if unblocking {
            self.stats.unblock_cycles += 1;
        } else {
            self.stats.run_cycles += 1;
        }
        let corrected = self.decode_until(io, end, now);
        if corrected.is_some() {
            return corrected;
        }
        if self.next < end {
            self.block(io, to_fetch);
        } else if unblocking && self.next == self.end {
            self.unblock(io, to_fetch);
        }
        None
    }

    /// So many cycles in which nothing moves.
    pub fn count_still(&mut self, cycles: u64) {
        *(if self.stalled { &mut self.stats.blocked_cycles } else { &mut self.stats.idle_cycles }) += cycles;
    }

    fn block(&mut self, io: &mut Io, to_fetch: Cycle) {
        io.activity.moved = true;
        self.status = Status::Blocked;
        let stall = &mut io.wires.at(to_fetch).fetch.stall;
        *stall = if *stall == Stall::Unblock { Stall::Unchanged } else { Stall::Block };
    }

    fn unblock(&mut self, io: &mut Io, to_fetch: Cycle) {
        io.activity.moved = true;
        io.wires.at(to_fetch).fetch.stall = Stall::Unblock;
        self.status = Status::Running;
    }

    /// The state in relative form.
    pub fn archive(&mut self, a: &mut Archive) {
        let Self { status, stalled, next, end, stats: _ } = self;
        a.one_of(status, &Status::ALL);
        a.flag(stalled);
        a.seq(next);
        a.seq(end);
    }

    /// Drops the micro-ops from `next` on.
    pub fn squash(&mut self, next: Seq) {
        self.next = self.next.min(next);
        self.end = self.end.min(next);
    }

    fn decode_until(&mut self, io: &mut Io, end: Seq, now: Cycle) -> Option<Seq> {
        let mut slots = 0;
        let mut sent = 0;
        let mut corrected = None;
        while self.next < end {
            let seq = self.next;
            slots += io.cost(seq);
            if slots > io.rules.widths.decode {
                break;
            }
            sent += 1;
            self.next += 1;
            if io.ring.flags(seq).any(UopFlags::BRANCH) && self.must_correct(seq, io) {
                corrected = Some(seq);
                break;
            }
        }
        if sent > 0 {
            io.traced(self.next - u64::from(sent)..self.next, |trace, ring, seq| trace.decoded(ring.slot(seq).0, now));
            io.activity.moved = true;
            self.stats.decoded += u64::from(sent);
            io.wires.at(now + io.rules.delays.decode_to_rename).rename.arrived += sent;
        }
        if corrected.is_some() {
            self.drop_fetched(io, now);
        }
        corrected
    }

    /// Whether a direct branch that is always taken, or was predicted taken, was not predicted to its target. "Predicted
    /// taken" is the predictor's word, not where it led: the BTB may hold the next instruction (`gem5CompressedBranches`).
    fn must_correct(&mut self, seq: Seq, io: &Io) -> bool {
        let flow = io.ring.flow(seq);
        if io.ring.flags(seq).any(UopFlags::TRAP) {
            return false;
        }
        let goes = match flow.branch {
            BranchKind::Jump | BranchKind::Call => true,
            BranchKind::Cond => flow.taken,
            _ => false,
        };
        self.stats.resolved += u64::from(goes);
        goes && flow.predicted != flow.target
    }

    /// The branch decoded last was mispredicted: what fetch has sent behind it is void.
    #[cold]
    fn drop_fetched(&mut self, io: &mut Io, now: Cycle) {
        self.stats.mispredicted += 1;
        self.end = self.next;
        io.wires.clear_fetched(now);
        if matches!(self.status, Status::Blocked | Status::Unblocking) {
            io.wires.at(now + io.rules.delays.decode_to_fetch).fetch.stall = Stall::Unblock;
        }
        self.status = Status::Squashing;
    }
}

#[cfg(test)]
mod tests {
    use super::super::config::O3Config;
    use super::super::unit_rig::{flagged, op, UnitRig};
    use super::*;

    fn fetched(n: u16) -> ToDecode {
        ToDecode { arrived: n, ..ToDecode::default() }
    }

    #[test]
    fn what_exceeds_the_width_blocks_fetch_and_goes_in_the_next_cycle() {
        let mut rig = UnitRig::new(&O3Config { decodeWidth: 2, ..O3Config::default() });
        let mut d = Decode::new();
        rig.fetch_all((0..3).map(|_| op(1, 0)));
        assert_eq!(d.tick(&mut rig.io, rig.now, &fetched(3), false), None);
        assert_eq!((rig.sent(1).rename.arrived, rig.sent(1).fetch.stall), (2, Stall::Block));
        rig.now += 1;
        d.tick(&mut rig.io, rig.now, &fetched(0), false);
        assert_eq!((rig.sent(1).rename.arrived, rig.sent(1).fetch.stall, d.next()), (1, Stall::Unblock, Seq(4)));
    }

    #[test]
    fn what_arrives_waits_for_the_skid_buffer_in_gem5_only() {
        for (gem5, decoded) in [(true, 1), (false, 2)] {
            let mut cfg = O3Config { decodeWidth: 2, ..O3Config::default() };
            cfg.quirks.gem5SkidBufferFirst = gem5;
            let (mut rig, mut d) = (UnitRig::new(&cfg), Decode::new());
            rig.fetch_all((0..4).map(|_| op(1, 0)));
            d.tick(&mut rig.io, rig.now, &fetched(3), false);
            rig.now += 1;
            d.tick(&mut rig.io, rig.now, &fetched(1), false);
            assert_eq!(rig.sent(1).rename.arrived, decoded);
        }
    }

    #[test]
    fn a_jump_that_fetch_took_for_straight_is_corrected_and_what_follows_is_dropped() {
        let mut rig = UnitRig::new(&O3Config::default());
        let mut d = Decode::new();
        rig.fetch(op(1, 0));
        let jump = rig.fetch(flagged(op(0, 0), UopFlags::BRANCH));
        rig.fetch_all([op(1, 0), op(1, 0)]);
        let flow = rig.io.ring.flow_mut(jump);
        (flow.branch, flow.target, flow.predicted) = (BranchKind::Jump, 0x9000, 0x800c);
        rig.io.wires.at(rig.now + 1).decode.arrived = 1;
        assert_eq!(d.tick(&mut rig.io, rig.now, &fetched(3), false), Some(jump));
        assert_eq!((rig.sent(1).rename.arrived, rig.sent(1).decode.arrived), (2, 0));
        assert_eq!((d.next(), d.end(), d.stats.mispredicted), (jump + 1, jump + 1, 1));
        // A conditional branch is corrected only when it was predicted taken.
        for (taken, corrected) in [(false, None), (true, Some(Seq(3)))] {
            let mut d = Decode { next: Seq(3), end: Seq(3), ..Decode::new() };
            let flow = rig.io.ring.flow_mut(Seq(3));
            (flow.branch, flow.target, flow.predicted, flow.taken) = (BranchKind::Cond, 0x9000, 0x8010, taken);
            rig.io.ring.uop_mut(Seq(3)).flags |= UopFlags::BRANCH;
            assert_eq!(d.tick(&mut rig.io, rig.now, &fetched(1), false), corrected);
        }
    }
}
