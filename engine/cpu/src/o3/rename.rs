//! Rename: finds out who makes each operand, and takes physical registers and the promise of a place in the ROB and the queues.
//! Fact source: gem5 24.0 `src/cpu/o3/rename.cc`.
//!
//! - Free places are known by credit: what the queues said last, less what is on its way to them.
//! - Physical registers are counted, not named: an operand's producer is the micro-op itself.
//! - A serialising instruction waits here until the ROB is empty and nothing is on its way to it; a reader of flags that several
//!   instructions wrote (*ours*: x86's partial flag stall) until everything older than its instruction has retired.

use breakeven_base::{clone_by_field, Reg, UopFlags};

use super::config::O3Config;
use super::decode::Status;
use super::inst::{note, InstRing, Seq};
use super::iq::{producer, Producer};
use super::lsq::{uses_load_queue, uses_store_queue};
use super::wires::{Wire, BLOCK, UNBLOCK};
use super::O3;

/// Integer, floating point and SIMD.
pub const REG_CLASSES: usize = 2;
/// Architectural registers from this number on are floating-point or SIMD registers; both front ends lay them out so.
const FIRST_FLOAT: usize = 32;
/// Of each class, an architectural register has one physical register for good.
const ARCHITECTURAL: u32 = 32;

#[inline]
fn class_of(reg: Reg) -> usize {
    usize::from(reg.index() >= FIRST_FLOAT)
}

#[derive(Clone, Copy, Debug, Default)]
pub struct RenameStats {
    pub renamed: u64,
    pub operands: u64,
    pub serializing: u64,
    pub temp_serializing: u64,
    pub run_cycles: u64,
    pub idle_cycles: u64,
    pub block_cycles: u64,
    pub unblock_cycles: u64,
    pub squash_cycles: u64,
    pub serialize_cycles: u64,
    pub rob_full: u64,
    pub iq_full: u64,
    pub lq_full: u64,
    pub sq_full: u64,
    pub regs_full: u64,
    pub undone: u64,
}

#[derive(Debug)]
pub struct Rename {
    pub status: Status,
    stalled: bool,
    /// Who makes each register's value; as long as a register's number can be.
    map: [Producer; 1 << u8::BITS],
    free_regs: [u32; REG_CLASSES],
    /// Registers of squashed micro-ops, free once the ROB has been walked.
    freeing: [u32; REG_CLASSES],
    // Credit.
    rob: i64,
    queues: [i64; 3],
    rob_empty: bool,
    in_progress: i64,
    in_progress_rob: i64,
    loads: i64,
    stores: i64,
    /// The instruction that must wait for an empty ROB; 0: none.
    serialize: Seq,
    /// The one that has waited.
    serialize_done: Seq,
    /// Whatever comes next has to wait.
    serialize_next: bool,
    /// The youngest that has retired, as readers of flags know.
    retired: Seq,
    /// What has to retire before the next micro-op, which reads flags; 0: it does not wait for that.
    stall_until: Seq,
    pub stats: RenameStats,
}

clone_by_field!(Rename {
    status,
    stalled,
    map,
    free_regs,
    freeing,
    rob,
    queues,
    rob_empty,
    in_progress,
    in_progress_rob,
    loads,
    stores,
    serialize,
    serialize_done,
    serialize_next,
    retired,
    stall_until,
    stats,
});

impl Rename {
    pub fn new(cfg: &O3Config) -> Self {
        Rename {
            status: Status::Running,
            stalled: false,
            map: [0; 1 << u8::BITS],
            free_regs: [cfg.numPhysIntRegs, cfg.numPhysFloatRegs].map(|n| n - ARCHITECTURAL),
            freeing: [0; REG_CLASSES],
            rob: i64::from(cfg.numROBEntries),
            queues: [cfg.numIQEntries, cfg.LQEntries, cfg.SQEntries].map(i64::from),
            rob_empty: true,
            in_progress: 0,
            in_progress_rob: 0,
            loads: 0,
            stores: 0,
            serialize: 0,
            serialize_done: 0,
            serialize_next: false,
            retired: 0,
            stall_until: 0,
            stats: RenameStats::default(),
        }
    }

    pub fn describe(&self) -> String {
        format!(
            "rename: {:?}, stalled by dispatch: {}; free: ROB {}, IQ, LQ, SQ {:?}, registers {:?}; {} on their way to dispatch",
            self.status, self.stalled, self.rob, self.queues, self.free_regs, self.in_progress
        )
    }

    /// Registers that a committed micro-op frees, by class.
    #[inline]
    pub fn frees(ring: &InstRing, seq: Seq, counts: &mut [u16; REG_CLASSES]) {
        if ring.note(seq) & note::ELIMINATED != 0 {
            return;
        }
        for dst in ring.uop(seq).dst {
            if dst.is_some() {
                counts[class_of(dst)] += 1;
            }
        }
    }

    /// Takes the youngest renamed micro-op's renaming back.
    #[inline]
    pub fn undo(&mut self, seq: Seq, ring: &InstRing) {
        let s = ring.at(seq);
        let eliminated = s.note & note::ELIMINATED != 0;
        for i in [1, 0] {
            let dst = s.uop.dst[i];
            if dst.is_some() {
                self.map[dst.index()] = s.replaced[i];
                self.freeing[class_of(dst)] += u32::from(!eliminated);
                self.stats.undone += 1;
            }
        }
    }

    #[inline]
    fn room_in_rob(&self) -> i64 {
        self.rob - self.in_progress_rob
    }
    #[inline]
    fn room_in_iq(&self) -> i64 {
        self.queues[0] - self.in_progress
    }
    #[inline]
    fn room_for_loads(&self) -> i64 {
        self.queues[1] - self.loads
    }
    #[inline]
    fn room_for_stores(&self) -> i64 {
        self.queues[2] - self.stores
    }

    fn must_stall(&self) -> bool {
        self.stalled
            || self.room_in_rob() <= 0
            || self.room_in_iq() <= 0
            || (self.room_for_loads() <= 0 && self.room_for_stores() <= 0)
            || self.free_regs.contains(&0)
            || (self.status == Status::SerializeStall && !self.stall_is_over())
    }

    /// Whether what the next micro-op waits for has come about.
    fn stall_is_over(&self) -> bool {
        if self.stall_until == 0 {
            self.rob_empty && self.in_progress == 0
        } else {
            self.retired >= self.stall_until
        }
    }

    /// Whether what waits here waits for stores, too.
    pub fn waits_for_stores(&self) -> bool {
        self.stall_until == 0
    }

    /// Takes in what the later stages say.
    #[inline]
    fn listen(&mut self, wire: &Wire) {
        if let Some(free) = wire.free_queues {
            self.queues = free.map(i64::from);
        }
        if let Some((free, empty)) = wire.free_rob {
            self.rob = i64::from(free);
            self.rob_empty = empty;
        }
        self.retired = self.retired.max(wire.retired_to_rename);
        if wire.stall_rename & BLOCK != 0 {
            self.stalled = true;
        }
        if wire.stall_rename & UNBLOCK != 0 {
            self.stalled = false;
        }
        self.in_progress -= i64::from(wire.dispatched);
        self.in_progress_rob -= i64::from(wire.dispatched_rob);
        self.loads -= i64::from(wire.to_load_queue);
        self.stores -= i64::from(wire.to_store_queue);
        if wire.squash.is_none() && !wire.rob_squashing_rename && self.freeing != [0; REG_CLASSES] {
            for (free, n) in self.free_regs.iter_mut().zip(&mut self.freeing) {
                *free += std::mem::take(n);
            }
        }
    }

    #[inline]
    fn can_rename(&self, ring: &InstRing, seq: Seq) -> bool {
        // A micro-op takes two at most.
        if self.free_regs.iter().all(|free| *free >= 2) {
            return true;
        }
        let mut need = [0; REG_CLASSES];
        Rename::frees(ring, seq, &mut need);
        need.iter().zip(self.free_regs).all(|(n, free)| u32::from(*n) <= free)
    }

    /// Whether the next micro-op must wait: for an empty ROB, or for the flags.
    #[inline]
    fn must_serialize(&mut self, ring: &InstRing, seq: Seq) -> bool {
        const WAITS: u32 = UopFlags::SERIALIZE_BEFORE | UopFlags::FLAG_STALL;
        let flags = ring.flags(seq);
        if self.serialize_done == seq || !(self.serialize == seq || flags.any(WAITS)) {
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
        self.stall_until = if waits { first - 1 } else { 0 };
        waits
    }
}

impl O3 {
    /// One cycle of rename.
    pub(super) fn rename_tick(&mut self, now: u64, wire: &Wire) {
        self.rename.listen(wire);
        let arrived = u64::from(wire.decoded);
        self.at.rename_in += arrived;
        let to_decode = now + self.rules.rename_to_decode;
        if wire.squash.is_some() {
            let r = &mut self.rename;
            if matches!(r.status, Status::Blocked | Status::Unblocking | Status::SerializeStall) {
                self.wires.at(to_decode).stall_decode = UNBLOCK;
            }
            r.status = Status::Squashing;
            r.serialize = 0;
            r.serialize_done = 0;
            r.stall_until = 0;
            r.stats.squash_cycles += 1;
        } else {
            self.rename_signals(now, arrived);
        }
        // Registers of committed instructions come back at the end of the cycle.
        for (free, n) in self.rename.free_regs.iter_mut().zip(wire.free_regs) {
            *free += u32::from(n);
        }
    }

    #[inline]
    fn rename_signals(&mut self, now: u64, arrived: u64) {
        let to_decode = now + self.rules.rename_to_decode;
        if self.at.rename == self.at.rename_in && self.rename.status == Status::Running && !self.rename.stalled {
            self.rename.stats.idle_cycles += 1;
            // Full queues are told even when nothing is there to rename.
            if self.rename.must_stall() {
                self.block_rename(to_decode);
            }
            return;
        }
        if self.rename.must_stall() {
            self.block_rename(to_decode);
            if self.rename.status == Status::SerializeStall {
                self.rename.stats.serialize_cycles += 1;
            } else {
                self.rename.stats.block_cycles += 1;
            }
            return;
        }
        let skid = self.at.rename_in - arrived - self.at.rename;
        let was_blocked = self.rename.status == Status::Blocked;
        match self.rename.status {
            Status::Blocked => {
                self.rename.status = Status::Unblocking;
                if skid == 0 {
                    self.unblock_rename(to_decode);
                }
            }
            Status::SerializeStall => {
                self.rename.status = Status::Unblocking;
                self.rename.serialize_done = self.at.rename;
                self.rename.serialize = 0;
                self.rename.stall_until = 0;
                // The instruction itself does not wait in the skid buffer.
                if skid == 1 {
                    self.unblock_rename(to_decode);
                }
            }
            Status::Squashing => self.rename.status = Status::Running,
            _ => {}
        }
        let unblocking = self.rename.status == Status::Unblocking;
        let end = if unblocking { self.at.rename_in - arrived } else { self.at.rename_in };
        if end == self.at.rename {
            self.rename.stats.idle_cycles += 1;
        } else {
            if unblocking {
                self.rename.stats.unblock_cycles += 1;
            } else {
                self.rename.stats.run_cycles += 1;
            }
            let first = self.at.rename;
            let blocked = self.rename_until(end, now);
            if blocked && was_blocked && self.at.rename == first && self.rename.status == Status::Unblocking {
                // gem5 goes on for a moment whenever one of two full queues could have room, and is blocked again.
                self.rename.status = Status::Blocked;
                self.stalled_retry = true;
                return;
            }
            if blocked {
                self.block_rename(to_decode);
                return;
            }
        }
        if unblocking && self.at.rename == self.at.rename_in {
            self.unblock_rename(to_decode);
        }
    }

    fn block_rename(&mut self, to_decode: u64) {
        if self.rename.status == Status::Blocked {
            return;
        }
        self.moved = true;
        if self.rename.status != Status::Unblocking && self.rename.status != Status::SerializeStall {
            self.wires.at(to_decode).stall_decode = BLOCK;
        }
        if self.rename.status != Status::SerializeStall {
            self.rename.status = Status::Blocked;
        }
    }

    fn unblock_rename(&mut self, to_decode: u64) {
        self.moved = true;
        self.wires.at(to_decode).stall_decode = UNBLOCK;
        self.rename.status = Status::Running;
    }

    /// Renames up to `end`. Whether the stage has to block.
    fn rename_until(&mut self, end: Seq, now: u64) -> bool {
        let (rob, iq) = (self.rename.room_in_rob(), self.rename.room_in_iq());
        if rob <= 0 || iq <= 0 {
            return true;
        }
        let mut blocked = false;
        let mut end = end;
        let room = rob.min(iq).unsigned_abs();
        if room < end - self.at.rename {
            let full = if iq < rob { &mut self.rename.stats.iq_full } else { &mut self.rename.stats.rob_full };
            *full += 1;
            end = self.at.rename + room;
            blocked = true;
        }
        if self.rename.serialize_next {
            if self.rename.rob_empty && self.rename.in_progress == 0 {
                self.rename.serialize_next = false;
            } else {
                self.rename.serialize = self.at.rename;
            }
        }
        let mut slots = 0;
        let (mut sent, mut sent_rob) = (0, 0);
        while self.at.rename < end {
            let seq = self.at.rename;
            let cost = self.cost(seq);
            if slots + cost > self.rules.rename_width || !self.can_rename_now(seq) {
                break;
            }
            let flags = self.ring.flags(seq);
            if self.rename.must_serialize(&self.ring, seq) {
                if flags.any(UopFlags::SERIALIZE_BEFORE) {
                    self.rename.stats.serializing += 1;
                } else {
                    self.rename.stats.temp_serializing += 1;
                }
                if self.rename.status == Status::Running {
                    self.wires.at(now + self.rules.rename_to_decode).stall_decode = BLOCK;
                }
                self.rename.status = Status::SerializeStall;
                self.moved = true;
                break;
            }
            if flags.any(UopFlags::SERIALIZE_AFTER) && flags.any(UopFlags::LAST) {
                self.rename.stats.serializing += 1;
                if seq + 1 < end {
                    self.rename.serialize = seq + 1;
                } else {
                    self.rename.serialize_next = true;
                }
            }
            self.rename_one(seq, now);
            slots += cost;
            sent += 1;
            #[allow(clippy::cast_possible_truncation)] // 0 or 1
            {
                sent_rob += cost as u16;
            }
            self.at.rename += 1;
        }
        if sent > 0 {
            self.moved = true;
            self.decode.waiting = self.decode.waiting.saturating_sub(slots);
            self.rename.in_progress += i64::from(sent);
            self.rename.in_progress_rob += i64::from(sent_rob);
            self.rename.stats.renamed += u64::from(sent);
            self.wires.at(now + self.rules.rename_to_iew).renamed += sent;
            self.wires.at(now + self.rules.rename_to_rob).to_rob += sent;
        }
        blocked || self.at.rename < end
    }

    /// Room in the load and store queue, and registers.
    #[inline]
    fn can_rename_now(&mut self, seq: Seq) -> bool {
        let flags = self.ring.flags(seq);
        if flags.any(UopFlags::MEM) {
            if uses_load_queue(flags) && self.rename.room_for_loads() <= 0 {
                self.rename.stats.lq_full += 1;
                return false;
            }
            if uses_store_queue(flags) && self.rename.room_for_stores() <= 0 {
                self.rename.stats.sq_full += 1;
                return false;
            }
        }
        if !self.rename.can_rename(&self.ring, seq) {
            self.rename.stats.regs_full += 1;
            return false;
        }
        true
    }

    #[inline]
    fn rename_one(&mut self, seq: Seq, now: u64) {
        let s = self.ring.at_mut(seq);
        let uop = s.uop;
        let r = &mut self.rename;
        s.sources = uop.src.map(|reg| r.map[reg.index()]);
        let eliminated = s.note & note::ELIMINATED != 0;
        for i in 0..2 {
            let dst = uop.dst[i];
            if dst.is_some() {
                s.replaced[i] = r.map[dst.index()];
                r.map[dst.index()] = if eliminated { s.sources[0] } else { producer(seq, i) };
                r.free_regs[class_of(dst)] -= u32::from(!eliminated);
                r.stats.operands += 1;
            }
        }
        if uop.flags.any(UopFlags::MEM) {
            r.loads += i64::from(uses_load_queue(uop.flags));
            r.stores += i64::from(uses_store_queue(uop.flags));
        }
        if let Some(trace) = &mut self.trace {
            trace.renamed(self.ring.slot(seq), now);
        }
    }
}
