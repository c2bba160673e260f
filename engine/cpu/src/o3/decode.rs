//! Decode: passes `decodeWidth` micro-ops a cycle on, and sets direct branches right whose target fetch could not know.
//! Fact source: gem5 24.0 `src/cpu/o3/decode.cc`.
//!
//! What arrives while the stage is stalled waits in a skid buffer and goes first when it goes on. With a loop buffer (*ours*)
//! there is a queue behind the decoders: what rename cannot take waits there, the stage is never stalled, and fetch counts.

use breakeven_base::{BranchKind, FrontEnd, UopFlags};

use super::inst::Seq;
use super::wires::{Wire, BLOCK, UNBLOCK};
use super::O3;

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

#[derive(Clone, Debug, Default)]
pub struct Decode {
    pub status: Status,
    /// Rename holds it back.
    stalled: bool,
    /// Slots that have left the fetch queue and are not renamed.
    pub(super) waiting: u32,
    pub stats: DecodeStats,
}

impl O3 {
    /// One cycle of decode.
    pub(super) fn decode_tick<F: FrontEnd>(&mut self, fe: &mut F, now: u64, wire: &Wire) {
        if wire.stall_decode & BLOCK != 0 && self.rules.decode_queue == 0 {
            self.decode.stalled = true;
        }
        if wire.stall_decode & UNBLOCK != 0 {
            self.decode.stalled = false;
        }
        let arrived = u64::from(wire.fetched);
        self.at.decode_in += arrived;
        let to_fetch = now + self.rules.decode_to_fetch;
        if wire.squash.is_some() {
            if matches!(self.decode.status, Status::Blocked | Status::Unblocking) {
                self.wires.at(to_fetch).stall_fetch = UNBLOCK;
            }
            self.decode.status = Status::Squashing;
            self.decode.stats.squash_cycles += 1;
            return;
        }
        if self.decode.stalled {
            if self.decode.status != Status::Blocked {
                self.block_decode(to_fetch);
            }
            self.decode.stats.blocked_cycles += 1;
            return;
        }
        match self.decode.status {
            Status::Blocked => {
                self.moved = true;
                self.decode.status = Status::Unblocking;
                if self.at.decode_in - arrived == self.at.decode {
                    self.unblock_decode(to_fetch);
                }
            }
            Status::Squashing => self.decode.status = Status::Running,
            _ => {}
        }
        if self.at.decode == self.at.decode_in && self.decode.status == Status::Running {
            self.decode.stats.idle_cycles += 1;
            return;
        }
        let unblocking = self.decode.status == Status::Unblocking;
        let end = if unblocking { self.at.decode_in - arrived } else { self.at.decode_in };
        if unblocking {
            self.decode.stats.unblock_cycles += 1;
        } else {
            self.decode.stats.run_cycles += 1;
        }
        self.decode_until(fe, end, now);
        if self.decode.status == Status::Squashing {
            return;
        }
        if self.at.decode < end {
            self.block_decode(to_fetch);
        } else if unblocking && self.at.decode == self.at.decode_in {
            self.unblock_decode(to_fetch);
        }
    }

    fn block_decode(&mut self, to_fetch: u64) {
        self.moved = true;
        self.decode.status = Status::Blocked;
        let hold = &mut self.wires.at(to_fetch).stall_fetch;
        *hold = if *hold & UNBLOCK != 0 { 0 } else { BLOCK };
    }

    fn unblock_decode(&mut self, to_fetch: u64) {
        self.moved = true;
        self.wires.at(to_fetch).stall_fetch = UNBLOCK;
        self.decode.status = Status::Running;
    }

    /// After micro-ops have been thrown away.
    #[cold]
    pub(super) fn count_waiting(&mut self) {
        self.decode.waiting = (self.at.rename..self.at.queue).map(|seq| self.cost(seq)).sum();
    }

    fn decode_until<F: FrontEnd>(&mut self, fe: &mut F, end: Seq, now: u64) {
        let mut slots = 0;
        let mut sent = 0;
        let mut corrected = false;
        while self.at.decode < end {
            let seq = self.at.decode;
            slots += self.cost(seq);
            if slots > self.rules.decode_width {
                break;
            }
            sent += 1;
            self.at.decode += 1;
            if let Some(trace) = &mut self.trace {
                trace.decoded(self.ring.slot(seq), now);
            }
            if self.ring.flags(seq).any(UopFlags::BRANCH) && self.knows_better(seq) {
                corrected = true;
                break;
            }
        }
        if sent > 0 {
            self.moved = true;
            self.decode.stats.decoded += u64::from(sent);
            self.wires.at(now + self.rules.decode_to_rename).decoded += sent;
        }
        if corrected {
            self.correct_in_decode(fe, now);
        }
    }

    /// A direct branch that is always taken, or was predicted taken, must go to its target. "Predicted taken" is the
    /// predictor's word, not where it led: the BTB may hold the next instruction (`gem5CompressedBranches`).
    fn knows_better(&mut self, seq: Seq) -> bool {
        let flow = self.ring.flow(seq);
        if self.ring.flags(seq).any(UopFlags::TRAP) {
            return false;
        }
        let goes = match flow.branch {
            BranchKind::Jump | BranchKind::Call => true,
            BranchKind::Cond => flow.taken,
            _ => false,
        };
        self.decode.stats.resolved += u64::from(goes);
        goes && flow.predicted != flow.target
    }

    /// Fetch goes on at the target; a conditional branch may still turn out not to be taken.
    #[cold]
    fn correct_in_decode<F: FrontEnd>(&mut self, fe: &mut F, now: u64) {
        let seq = self.at.decode - 1;
        self.decode.stats.mispredicted += 1;
        let target = self.ring.flow(seq).target;
        self.path.restore_fork(fe, seq, &mut self.ring);
        self.at.decode_in = seq + 1;
        self.at.queue = seq + 1;
        self.count_waiting();
        self.path.tail = seq + 1;
        self.wires.clear_fetched(now);
        self.ring.flow_mut(seq).predicted = target;
        self.fetch.redirect_from_decode(seq, target, now + self.rules.decode_to_fetch);
        if target != self.ring.flow(seq).next_pc {
            if self.path.can_fork() {
                self.path.fork(fe, target, &self.ring, true);
            } else {
                // As in fetch: nothing until the branch, which is wrong now, executes.
                self.fetch.status = super::fetch::Status::Stopped;
            }
        }
        if matches!(self.decode.status, Status::Blocked | Status::Unblocking) {
            self.wires.at(now + self.rules.decode_to_fetch).stall_fetch = UNBLOCK;
        }
        self.decode.status = Status::Squashing;
    }
}
