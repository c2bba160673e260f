//! Rename: finds the producer of each operand, and takes physical registers and credits for the ROB and the queues.
//! Fact source: gem5 24.0 `src/cpu/o3/rename.cc`.
//!
//! - Free entries are known by credit: what the queues reported last, less what is on its way to them.
//! - Physical registers are counted, not named: an operand's producer is the micro-op itself.
//! - A serializing instruction waits here until the ROB is empty and nothing is on its way to it; a reader of flags that several
//!   instructions wrote (*ours*: x86's partial flag stall) until everything older than its instruction has retired.

mod archive;
mod credits;
mod registers;

use breakeven_base::{Cycle, UopFlags};
use educe::Educe;

use super::config::O3Config;
use super::decode::Status;
use super::inst::InstRing;
use super::io::Io;
use super::lsq::{uses_load_queue, uses_store_queue};
use super::seq::Seq;
use super::wires::{Dispatched, Stall, ToRename};
use credits::Credits;
use registers::Registers;
pub use registers::{count_registers, REG_CLASSES};

/// Cycles by what rename did in them.
#[derive(Clone, Copy, Debug, Default)]
pub struct RenameCycles {
    pub run: u64,
    pub idle: u64,
    pub block: u64,
    pub unblock: u64,
    pub squash: u64,
    pub serialize: u64,
}

/// How often rename stopped for want of what.
#[derive(Clone, Copy, Debug, Default)]
pub struct FullEvents {
    pub rob: u64,
    pub iq: u64,
    pub lq: u64,
    pub sq: u64,
    pub regs: u64,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct RenameStats {
    pub renamed: u64,
    pub operands: u64,
    pub serializing: u64,
    pub temp_serializing: u64,
    pub cycles: RenameCycles,
    pub full: FullEvents,
    pub undone: u64,
}

#[derive(Debug, Educe)]
#[educe(Clone)]
pub struct Rename {
    status: Status,
    /// Dispatch has blocked rename.
    stalled: bool,
    /// Latch and skid buffer: the next micro-op to be renamed, and the next to arrive.
    next: Seq,
    end: Seq,
    registers: Registers,
    credits: Credits,
    /// The instruction that must wait for an empty ROB; 0: none.
    serialize: Seq,
    /// The one that has waited.
    serialize_done: Seq,
    /// The next instruction, whichever comes, must wait.
    serialize_next: bool,
    /// The youngest that has retired, as readers of flags know.
    retired: Seq,
    /// What has to retire before the next micro-op, which reads flags; 0: it does not wait for that.
    stall_until: Seq,
    pub stats: RenameStats,
}

impl Rename {
    pub fn new(cfg: &O3Config) -> Self {
        Rename {
            status: Status::Running,
            stalled: false,
            next: Seq::FIRST,
            end: Seq::FIRST,
            registers: Registers::new(cfg),
            credits: Credits::new(cfg),
            serialize: Seq::NONE,
            serialize_done: Seq::NONE,
            serialize_next: false,
            retired: Seq::NONE,
            stall_until: Seq::NONE,
            stats: RenameStats::default(),
        }
    }

    /// The next micro-op to be renamed.
    #[inline]
    pub fn next(&self) -> Seq {
        self.next
    }
    /// The next micro-op to arrive.
    #[inline]
    pub fn end(&self) -> Seq {
        self.end
    }
    /// The youngest that has retired, as readers of flags know.
    pub fn retired(&self) -> Seq {
        self.retired
    }
    #[inline]
    pub fn status(&self) -> Status {
        self.status
    }
    /// Whether a serializing instruction waits here, and not for flags: then for stores, too.
    pub fn waits_for_stores(&self) -> bool {
        !self.stall_until.is_some()
    }

    pub fn describe(&self) -> String {
        let c = &self.credits;
        format!(
            "rename: {:?}, {} micro-ops from {} on, stalled by dispatch: {}; free: ROB {}, IQ, LQ, SQ {:?}, registers {:?}; {} on their way to dispatch",
            self.status, self.end - self.next, self.next, self.stalled, c.rob, c.queues, self.registers.free(), c.in_progress
        )
    }

    /// One cycle. In: micro-ops from decode, credits, stalls by dispatch, freed registers, whether there is a squash. Out:
    /// micro-ops to dispatch and the ROB, stalls to decode; returns the slots renamed.
    pub fn tick(&mut self, io: &mut Io, now: Cycle, wire: &ToRename, squashed: bool) -> u32 {
        self.receive(wire, squashed);
        let arrived = u64::from(wire.arrived);
        self.end += arrived;
        let to_decode = now + io.rules.delays.rename_to_decode;
        let mut slots = 0;
        if squashed {
            if matches!(self.status, Status::Blocked | Status::Unblocking | Status::SerializeStall) {
                io.wires.at(to_decode).decode.stall = Stall::Unblock;
            }
            self.status = Status::Squashing;
            self.serialize = Seq::NONE;
            self.serialize_done = Seq::NONE;
            self.stall_until = Seq::NONE;
            self.stats.cycles.squash += 1;
        } else {
            slots = self.advance(io, now, arrived);
        }
        // Registers of committed instructions come back at the end of the cycle.
        self.registers.give_back(wire.free_regs);
        // Either may let rename go on in the next cycle: that is not skipped.
        io.activity.moved |= wire.rob_squashing || wire.free_regs.iter().any(|n| *n > 0);
        slots
    }

    /// Takes in what the later stages report.
    #[inline]
    fn receive(&mut self, wire: &ToRename, squashed: bool) {
        self.credits.update(wire);
        self.retired = self.retired.max(wire.retired);
        wire.stall.apply(&mut self.stalled);
        if !squashed && !wire.rob_squashing {
            self.registers.free_squashed();
        }
    }

    /// Blocks, unblocks or renames. The slots renamed.
    #[inline]
    fn advance(&mut self, io: &mut Io, now: Cycle, arrived: u64) -> u32 {
        let to_decode = now + io.rules.delays.rename_to_decode;
        if self.next == self.end && self.status == Status::Running && !self.stalled {
            self.stats.cycles.idle += 1;
            if io.rules.quirks.gem5RenameBlocksIdle && self.must_stall() {
                self.block(io, to_decode);
            }
            return 0;
        }
        if self.must_stall() || self.stays_blocked(io) {
            self.block(io, to_decode);
            if self.status == Status::SerializeStall {
                self.stats.cycles.serialize += 1;
            } else {
                self.stats.cycles.block += 1;
            }
            return 0;
        }
        let skid = self.end - arrived - self.next;
        let was_blocked = self.status == Status::Blocked;
        match self.status {
            Status::Blocked => {
                self.status = Status::Unblocking;
                if skid == 0 {
                    self.unblock(io, to_decode);
                }
            }
            Status::SerializeStall => {
                self.status = Status::Unblocking;
                self.serialize_done = self.next;
                self.serialize = Seq::NONE;
                self.stall_until = Seq::NONE;
                // The instruction itself does not wait in the skid buffer.
                if skid == 1 {
                    self.unblock(io, to_decode);
                }
            }
            Status::Squashing => self.status = Status::Running,
            _ => {}
        }
        let unblocking = self.status == Status::Unblocking;
        let skid_only = unblocking && io.rules.quirks.gem5SkidBufferFirst;
        let end = if skid_only { self.end - arrived } else { self.end };
        let mut slots = 0;
        if end == self.next {
            self.stats.cycles.idle += 1;
        } else {
            if unblocking {
                self.stats.cycles.unblock += 1;
            } else {
                self.stats.cycles.run += 1;
            }
            let first = self.next;
            let blocked;
            (blocked, slots) = self.rename_until(io, end, now);
            if blocked && was_blocked && self.next == first && self.status == Status::Unblocking {
                // With one of two full queues the stage unblocks, and is blocked again at once (`gem5RenameUnblocks`).
                self.status = Status::Blocked;
                io.activity.stalled_retry = true;
                return slots;
            }
            if blocked {
                self.block(io, to_decode);
                return slots;
            }
        }
        if unblocking && self.next == self.end {
            self.unblock(io, to_decode);
        }
        slots
    }

    /// So many cycles in which nothing moves.
    pub fn count_still(&mut self, cycles: u64, io: &Io) {
        let empty = self.next == self.end && self.status == Status::Running && !self.stalled;
        let stalls = !empty && (self.must_stall() || self.stays_blocked(io));
        let counts = &mut self.stats.cycles;
        *match (stalls, self.status) {
            (false, _) => &mut counts.idle,
            (true, Status::SerializeStall) => &mut counts.serialize,
            (true, _) => &mut counts.block,
        } += cycles;
    }

    fn must_stall(&self) -> bool {
        let c = &self.credits;
        self.stalled
            || c.room_in_rob() <= 0
            || c.room_in_iq() <= 0
            || (c.room_for_loads() <= 0 && c.room_for_stores() <= 0)
            || self.registers.exhausted()
            || (self.status == Status::SerializeStall && !self.stall_is_over())
    }

    /// Whether a blocked stage's first micro-op finds its half of the load-store queue full. gem5 looks at both halves together
    /// and unblocks without effect (`gem5RenameUnblocks`).
    #[inline]
    fn stays_blocked(&self, io: &Io) -> bool {
        self.status == Status::Blocked && !io.rules.quirks.gem5RenameUnblocks && self.next < self.end && {
            let flags = io.ring.flags(self.next);
            let (loads, stores) = (self.credits.room_for_loads(), self.credits.room_for_stores());
            flags.any(UopFlags::MEM) && (uses_load_queue(flags) && loads <= 0 || uses_store_queue(flags) && stores <= 0)
        }
    }

    /// Whether what the next micro-op waits for has come about.
    fn stall_is_over(&self) -> bool {
        if !self.stall_until.is_some() {
            self.credits.drained()
        } else {
            self.retired >= self.stall_until
        }
    }

    fn block(&mut self, io: &mut Io, to_decode: Cycle) {
        if self.status == Status::Blocked {
            return;
        }
        io.activity.moved = true;
        if self.status != Status::Unblocking && self.status != Status::SerializeStall {
            io.wires.at(to_decode).decode.stall = Stall::Block;
        }
        if self.status != Status::SerializeStall {
            self.status = Status::Blocked;
        }
    }

    fn unblock(&mut self, io: &mut Io, to_decode: Cycle) {
        io.activity.moved = true;
        io.wires.at(to_decode).decode.stall = Stall::Unblock;
        self.status = Status::Running;
    }

    /// Renames up to `end`. Whether the stage has to block, and the slots renamed.
    fn rename_until(&mut self, io: &mut Io, end: Seq, now: Cycle) -> (bool, u32) {
        let (rob, iq) = (self.credits.room_in_rob(), self.credits.room_in_iq());
        if rob <= 0 || iq <= 0 {
            return (true, 0);
        }
        let mut blocked = false;
        let mut end = end;
        let room = rob.min(iq).unsigned_abs();
        if room < end - self.next {
            let full = if iq < rob { &mut self.stats.full.iq } else { &mut self.stats.full.rob };
            *full += 1;
            end = self.next + room;
            blocked = true;
        }
        if self.serialize_next {
            if self.credits.drained() {
                self.serialize_next = false;
            } else {
                self.serialize = self.next;
            }
        }
        let mut slots = 0;
        let (mut sent, mut sent_rob) = (0, 0);
        let registers = self.registers.suffice_for(end - self.next);
        while self.next < end {
            let seq = self.next;
            let cost = io.cost(seq);
            if slots + cost > io.rules.widths.rename || !self.has_room(io, seq, registers) {
                break;
            }
            let flags = io.ring.flags(seq);
            if self.must_serialize(&io.ring, seq) {
                if flags.any(UopFlags::SERIALIZE_BEFORE) {
                    self.stats.serializing += 1;
                } else {
                    self.stats.temp_serializing += 1;
                }
                if self.status == Status::Running {
                    io.wires.at(now + io.rules.delays.rename_to_decode).decode.stall = Stall::Block;
                }
                self.status = Status::SerializeStall;
                io.activity.moved = true;
                break;
            }
            if flags.any(UopFlags::SERIALIZE_AFTER) && flags.any(UopFlags::LAST) {
                self.stats.serializing += 1;
                if seq + 1 < end {
                    self.serialize = seq + 1;
                } else {
                    self.serialize_next = true;
                }
            }
            self.rename_one(io, seq);
            slots += cost;
            sent += 1;
            #[allow(clippy::cast_possible_truncation)] // 0 or 1
            {
                sent_rob += cost as u16;
            }
            self.next += 1;
        }
        if sent > 0 {
            io.traced(self.next - u64::from(sent)..self.next, |trace, ring, seq| trace.renamed(ring.slot(seq).0, now));
            io.activity.moved = true;
            self.credits.in_progress += i64::from(sent);
            self.credits.in_progress_rob += i64::from(sent_rob);
            self.stats.renamed += u64::from(sent);
            io.wires.at(now + io.rules.delays.rename_to_iew).iew.arrived += sent;
            io.wires.at(now + io.rules.delays.rename_to_rob).commit.arrived += sent;
        }
        (blocked || self.next < end, slots)
    }

    /// Room in the load and store queue, and registers. `registers`: there are enough for all of this cycle.
    #[inline]
    fn has_room(&mut self, io: &Io, seq: Seq, registers: bool) -> bool {
        let flags = io.ring.flags(seq);
        if flags.any(UopFlags::MEM) {
            if uses_load_queue(flags) && self.credits.room_for_loads() <= 0 {
                self.stats.full.lq += 1;
                return false;
            }
            if uses_store_queue(flags) && self.credits.room_for_stores() <= 0 {
                self.stats.full.sq += 1;
                return false;
            }
        }
        if !registers && !self.registers.has_room_for(&io.ring, seq) {
            self.stats.full.regs += 1;
            return false;
        }
        true
    }

    /// Whether the next micro-op must wait: for an empty ROB, or for the flags.
    #[inline]
    fn must_serialize(&mut self, ring: &InstRing, seq: Seq) -> bool {
        const WAITS: UopFlags = UopFlags::SERIALIZE_BEFORE.union(UopFlags::FLAG_STALL);
        let flags = ring.flags(seq);
        if self.serialize != seq && !flags.any(WAITS) || self.serialize_done == seq {
            return false;
        }
        self.serialize == seq || flags.any(UopFlags::SERIALIZE_BEFORE) || self.must_stall_for_flags(ring, seq)
    }

    /// Whether something older than the instruction of this reader of flags has not retired.
    #[cold]
    fn must_stall_for_flags(&mut self, ring: &InstRing, seq: Seq) -> bool {
        let mut first = seq;
        while first > self.retired + 1 && !ring.flags(first).any(UopFlags::FIRST) {
            first -= 1;
        }
        let waits = first > self.retired + 1;
        self.stall_until = if waits { first - 1 } else { Seq::NONE };
        waits
    }

    #[inline]
    fn rename_one(&mut self, io: &mut Io, seq: Seq) {
        self.stats.operands += self.registers.rename(&mut io.ring, seq);
        let flags = io.ring.flags(seq);
        if flags.any(UopFlags::MEM) {
            self.credits.loads += i64::from(uses_load_queue(flags));
            self.credits.stores += i64::from(uses_store_queue(flags));
        }
    }

    /// Squash: restores the rename map as it was before `next`, youngest micro-op first.
    pub fn squash(&mut self, next: Seq, ring: &InstRing) {
        for seq in next.until(self.next).rev() {
            self.stats.undone += self.registers.undo(ring, seq);
        }
        self.next = self.next.min(next);
        self.end = self.end.min(next);
    }

    /// Squash: renamed micro-ops that dispatch will never see.
    pub fn drop_dispatched(&mut self, dropped: &Dispatched) {
        self.credits.take_off(dropped);
    }
}

#[cfg(test)]
mod tests;
