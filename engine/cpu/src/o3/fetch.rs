//! Fetch: reads blocks of `fetchBufferSize` bytes from the instruction cache, takes up to `fetchWidth` micro-ops a cycle out
//! of the one block it has, predicts branches, and sends `decodeWidth` a cycle to decode.
//! Fact source: gem5 24.0 `src/cpu/o3/fetch.cc`.
//!
//! - A predicted-taken branch ends the cycle. When fetch goes on in another block, that is requested in the same cycle.
//! - One block, one access at a time: straight-line code pays the cache's latency for each block.
//! - Behind a call, a return or an indirect jump `callReturnDelay` cycles are lost (*ours*).
//! - In a decoupled front end the predictor runs ahead, and the latency of hits is hidden: `targets`.
//! - After a squash one cycle is lost. A block that arrives in the cycle of the squash stays in the buffer.
//!
//! Fetch owns the path being followed (the front end executes when an instruction is fetched) and the fetch queue.

mod archive;
mod block;
mod loops;
mod non_speculative;
mod place;
mod redirect;
mod targets;

use breakeven_base::{BranchKind, Cycle, Step, UopFlags};
use educe::Educe;

use super::config::O3Config;
use super::inst::Note;
use super::io::Io;
use super::path::Path;
use super::seq::Seq;
use super::wires::ToFetch;
use crate::memo::Boundary;
use crate::outside::Outside;
use crate::when::When;
use block::{block_of, Buffer};
use loops::LoopBuffer;
pub use non_speculative::{AtHead, Then};
use redirect::Redirection;
use targets::Targets;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Running,
    Squashing,
    Translating,
    /// The cache refused the access.
    Retry,
    WaitCache,
    Complete,
    /// Behind a trap, a placeholder, or where speculation cannot go on: until a squash, or until the placeholder is executed.
    Stopped,
    /// Behind a call, a return or an indirect jump: the target comes late.
    Target,
    /// Behind a serializing instruction, until it has retired.
    Serializing,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct FetchStats {
    pub insts: u64,
    pub branches: u64,
    pub predicted_taken: u64,
    pub cache_lines: u64,
    pub cycles: u64,
    pub squash_cycles: u64,
    pub icache_stall_cycles: u64,
    pub tlb_cycles: u64,
}

#[derive(Debug, Educe)]
#[educe(Clone)]
pub struct Fetch {
    status: Status,
    /// Where the next instruction is.
    pc: u64,
    buffer: Buffer,
    /// End of the translation, of the wait for the cache or a target, or of the access.
    at: Cycle,
    redirection: Redirection,
    /// The serializing instruction that fetch waits for.
    serializing: Seq,
    /// Decode has blocked fetch.
    stalled: bool,
    loops: LoopBuffer,
    targets: Targets,
    /// Some instruction needed the first decoder.
    first_decoder: bool,
    /// What the front end said of the instruction executed last.
    step: Step,
    /// The next micro-op to leave the fetch queue.
    queue: Seq,
    /// Slots that have left the fetch queue and have not been renamed: what the queue behind the decoders holds.
    decode_slots: u32,
    pub path: Path,
    pub stats: FetchStats,
}

impl Fetch {
    pub fn new(cfg: &O3Config) -> Self {
        Fetch {
            status: Status::Running,
            pc: 0,
            buffer: Buffer::default(),
            at: Cycle::MAX,
            redirection: Redirection::default(),
            serializing: Seq::NONE,
            stalled: false,
            loops: LoopBuffer::default(),
            targets: Targets::new(if cfg.decoupledFrontEnd { cfg.numFTQEntries } else { 0 }),
            first_decoder: false,
            step: Step::default(),
            queue: Seq::FIRST,
            decode_slots: 0,
            path: Path::new(),
            stats: FetchStats::default(),
        }
    }

    /// Fetch begins at `pc`.
    pub fn start(&mut self, pc: u64) {
        self.pc = pc;
    }

    /// Where it fetches next.
    #[inline]
    pub fn pc(&self) -> u64 {
        self.pc
    }

    #[inline]
    pub fn status(&self) -> Status {
        self.status
    }

    /// So many cycles in which nothing moves.
    pub fn count_still(&mut self, cycles: u64) {
        self.stats.cycles += cycles;
    }

    /// When something arrives.
    #[inline]
    pub fn next_event(&self) -> Cycle {
        match self.status {
            Status::Translating | Status::Retry | Status::WaitCache | Status::Target => self.at,
            Status::Squashing => self.redirection.at + 1,
            _ => Cycle::MAX,
        }
    }

    pub fn describe(&self) -> String {
        format!(
            "fetch: {:?} at {:#x}, next to decode {}, stalled by decode: {}; {} forks open",
            self.status,
            self.pc,
            self.queue,
            self.stalled,
            self.path.open()
        )
    }

    /// One cycle. `wire`: stalls by decode, what has committed, whether there is a squash. Out: micro-ops to decode.
    pub fn tick<X: Outside>(&mut self, io: &mut Io, cx: &mut X, when: &When, wire: &ToFetch, squashed: bool) {
        let now = when.cycle;
        if self.next_event() <= now {
            self.arrival(io, cx, when);
        }
        wire.stall.apply(&mut self.stalled);
        if !squashed {
            if wire.committed.is_some() {
                cx.train(wire.committed);
                if self.status == Status::Serializing && wire.committed >= self.serializing {
                    self.status = Status::Running;
                    io.activity.moved = true;
                }
            }
            if self.redirection.correction.is_some() && now >= self.redirection.at {
                self.train_correction(cx);
            }
            if self.status == Status::Squashing && now > self.redirection.at {
                self.status = Status::Running;
                io.activity.moved = true;
            }
        }
        match self.status {
            Status::Complete => {
                self.status = Status::Running;
                self.fetch_block(io, cx, when);
            }
            Status::Running => {
                if !self.in_buffer(io) && self.at_instruction(io) && !self.is_decoded(io, cx) {
                    self.request_block(io, cx, when);
                    self.stats.icache_stall_cycles += 1;
                } else {
                    self.fetch_block(io, cx, when);
                }
            }
            Status::WaitCache | Status::Retry => self.stats.icache_stall_cycles += 1,
            Status::Translating => self.stats.tlb_cycles += 1,
            Status::Squashing => self.stats.squash_cycles += 1,
            Status::Stopped | Status::Target | Status::Serializing => {}
        }
        self.send_to_decode(io, now);
    }

    #[cold]
    fn train_correction<X: Outside>(&mut self, cx: &mut X) {
        if let Some((seq, target)) = self.redirection.correction.take() {
            cx.correct(seq, target, true, false);
        }
    }

    #[inline]
    fn send_to_decode(&mut self, io: &mut Io, now: Cycle) {
        let full = io.rules.decode_queue > 0 && self.decode_slots >= io.rules.decode_queue;
        let tail = io.ring.tail();
        if self.stalled || full || self.queue == tail {
            return;
        }
        if !io.rules.fuses && !self.first_decoder {
            // A slot each.
            let sent = (tail - self.queue).min(io.rules.widths.decode.into());
            self.queue += sent;
            #[allow(clippy::cast_possible_truncation)] // at most the width
            {
                io.wires.at(now + io.rules.delays.fetch_to_decode).decode.arrived += sent as u16;
                self.decode_slots += sent as u32;
            }
            io.activity.moved = true;
            return;
        }
        let mut sent = 0;
        let mut slots = 0;
        while self.queue < tail {
            let cost = io.cost(self.queue);
            let next_cycle = sent > 0 && io.ring.note(self.queue).intersects(Note::FIRST_DECODER);
            if slots + cost > io.rules.widths.decode || next_cycle {
                break;
            }
            slots += cost;
            sent += 1;
            self.queue += 1;
        }
        io.wires.at(now + io.rules.delays.fetch_to_decode).decode.arrived += sent;
        self.decode_slots += slots;
        io.activity.moved = true;
    }

    /// Rename has taken so many slots out of the queue behind the decoders.
    #[inline]
    pub fn slots_renamed(&mut self, slots: u32) {
        self.decode_slots = self.decode_slots.saturating_sub(slots);
    }

    /// The next micro-op begins an instruction.
    #[inline]
    fn at_instruction(&self, io: &Io) -> bool {
        let tail = io.ring.tail();
        tail == self.path.placed || io.ring.flags(tail).any(UopFlags::FIRST)
    }

    /// What comes next goes on with an instruction out of the decoder, and needs no bytes.
    #[inline]
    fn is_decoded<X: Outside>(&self, io: &Io, cx: &mut X) -> bool {
        io.ring.tail() == self.path.placed && cx.in_microcode()
    }

    /// One cycle of fetch: up to `fetchWidth` micro-ops, of up to `maxTakenPredPerCycle` targets.
    fn fetch_block<X: Outside>(&mut self, io: &mut Io, cx: &mut X, when: &When) {
        self.stats.cycles += 1;
        let first = io.ring.tail();
        let mut slots = 0;
        for left in (0..io.rules.widths.targets).rev() {
            self.fetch_target(first, &mut slots, io, cx, when);
            if self.status == Status::Running && self.at_instruction(io) && !self.is_decoded(io, cx) {
                if !self.is_requested(io) {
                    self.request_block(io, cx, when);
                } else if self.targets.ready() > when.cycle + 1 {
                    self.wait_for_target(self.targets.ready());
                }
            }
            if left == 0 || !self.next_target_is_ready(when.cycle) {
                break;
            }
            // Each target is read in whole parts of the width, as an operation cache is in whole entries.
            slots = slots.next_multiple_of((io.rules.widths.fetch / io.rules.widths.targets).max(1));
        }
        io.activity.moved |= io.ring.tail() != first;
    }

    /// Fetch goes on with the next target in the same cycle: the block has just been asked for, and hits.
    fn next_target_is_ready(&mut self, now: Cycle) -> bool {
        let ready = self.targets.ready() <= now;
        if ready && self.status == Status::WaitCache {
            self.buffer.valid = true;
            self.status = Status::Running;
        }
        ready && self.status == Status::Running
    }

    /// Takes micro-ops of one target out of the buffer. `first`: the first of this cycle; `slots`: what the cycle has taken.
    fn fetch_target<X: Outside>(&mut self, first: Seq, slots: &mut u32, io: &mut Io, cx: &mut X, when: &When) {
        #[allow(clippy::cast_possible_truncation)] // far below
        let mut queued = (io.ring.tail() - self.queue) as u32;
        loop {
            let full = *slots >= io.rules.widths.fetch || queued >= io.rules.fetch_queue;
            if full && !self.may_need_no_slot(first, io) {
                break;
            }
            if self.at_instruction(io) && !self.instruction_ready(io, cx, when) {
                break;
            }
            if full && io.cost(io.ring.tail()) > 0 {
                break;
            }
            let seq = io.ring.push();
            if io.trace.is_some() {
                trace_fetched(seq, io, cx, when.cycle);
            }
            let cost = io.cost(seq);
            *slots += cost;
            queued += cost;
            if io.ring.flags(seq).any(UopFlags::LAST | UopFlags::MICRO_BRANCH)
                && self.end_instruction(seq, io, cx, when.cycle)
            {
                break;
            }
        }
    }

    /// Whether the next micro-op can be one that is fused with the one before it, which this cycle has fetched.
    fn may_need_no_slot(&self, first: Seq, io: &Io) -> bool {
        let tail = io.ring.tail();
        io.rules.fuses
            && tail > first
            && if tail < self.path.placed {
                io.cost(tail) == 0
            } else {
                io.rules.macro_fusion && io.ring.flags(tail - 1).any(UopFlags::FUSE_HEAD)
            }
    }

    /// Whether the whole of the next instruction can be taken out of the buffer now; executes it unless that has been done.
    #[inline]
    fn instruction_ready<X: Outside>(&mut self, io: &mut Io, cx: &mut X, when: &When) -> bool {
        let decoded = self.is_decoded(io, cx);
        if !decoded && !self.in_buffer(io) {
            return false;
        }
        let again = io.ring.tail() != self.path.placed;
        if !again && !self.execute_next(io, cx, when) {
            return false;
        }
        if decoded {
            return true;
        }
        let len = u64::from(io.ring.flow(io.ring.tail()).len);
        let last = self.pc.wrapping_add(len.max(1) - 1);
        if !self.buffer.second_half && (last ^ self.pc) >= u64::from(io.rules.fetch_buffer) {
            self.buffer.second_half = true;
            if !self.in_buffer(io) {
                return false;
            }
        }
        self.buffer.second_half = false;
        if again {
            self.refetch(io);
        }
        true
    }

    /// The instruction at `tail`, or what is left of it, is fetched a second time.
    fn refetch(&self, io: &mut Io) {
        let mut seq = io.ring.tail();
        loop {
            io.ring.fresh(seq);
            if io.ring.flags(seq).any(UopFlags::LAST) || seq + 1 >= self.path.placed {
                return;
            }
            seq += 1;
        }
    }

    /// The last micro-op of an instruction has been fetched: the next fetch address. True when it ends the cycle.
    #[inline]
    fn end_instruction<X: Outside>(&mut self, seq: Seq, io: &mut Io, cx: &mut X, now: Cycle) -> bool {
        // Field by field: they have just been written so, and a host cannot forward several stores to one wider load.
        let s = io.ring.at(seq);
        let (flags, noted, next_pc) = (s.uop.flags, s.note, s.flow.next_pc);
        let fall_through = s.pc.wrapping_add(s.flow.len.into());
        if !flags.any(UopFlags::BRANCH | UopFlags::TRAP | UopFlags::SERIALIZE_AFTER)
            && !noted.intersects(Note::PLACEHOLDER)
            && next_pc == fall_through
        {
            io.ring.flow_mut(seq).predicted = fall_through;
            self.pc = fall_through;
            return false;
        }
        self.end_special(seq, fall_through, io, cx, now)
    }

    /// As [`Fetch::end_instruction`], for a branch, a trap, a placeholder or a serializing instruction.
    #[inline(never)]
    fn end_special<X: Outside>(&mut self, seq: Seq, fall_through: u64, io: &mut Io, cx: &mut X, now: Cycle) -> bool {
        let s = io.ring.at(seq);
        let (pc, flags, noted) = (s.pc, s.uop.flags, s.note);
        let (next_pc, len, branch) = (s.flow.next_pc, s.flow.len, s.flow.branch);
        let mut taken = false;
        let mut goes_to = fall_through;
        if noted.intersects(Note::PLACEHOLDER) {
            // Behind a serializing one fetch goes on (nothing of that leaves rename before), and on a wrong path; else it stops.
            let on = flags.any(UopFlags::SERIALIZE_AFTER) || self.path.open() > 0;
            if on && noted.intersects(Note::WAITS) && len > 0 && self.path.can_fork() {
                self.path.fork(cx, fall_through, &io.ring, false);
            } else {
                self.status = Status::Stopped;
            }
        } else if flags.any(UopFlags::TRAP) {
            if len == 0 || !self.path.can_fork() {
                self.status = Status::Stopped;
            } else {
                self.path.fork(cx, fall_through, &io.ring, true);
            }
        } else {
            if flags.any(UopFlags::BRANCH) {
                let p = cx.predict(seq, pc, len, branch);
                self.stats.branches += 1;
                self.stats.predicted_taken += u64::from(p.taken);
                taken = p.taken;
                goes_to = p.target;
                if taken && !flags.any(UopFlags::MICRO_BRANCH) {
                    let late = if comes_late(branch) { io.rules.call_return_delay } else { 0 };
                    if self.targets.decoupled() {
                        let block = block_of(goes_to, io.rules.fetch_buffer);
                        self.targets.taken(block, late, io.rules.widths.targets, now);
                    } else if late > 0 {
                        self.wait_for_target(now + 1 + u64::from(late));
                    }
                }
                if taken && goes_to <= pc {
                    io.activity.boundary = Some(Boundary::Loop { head: goes_to });
                }
                if taken && io.rules.loop_buffer > 0 {
                    self.loops.taken_branch(pc, fall_through, goes_to, io.rules.loop_buffer);
                }
            }
            if goes_to != next_pc {
                self.fork_or_stop(goes_to, io, cx);
            }
        }
        let waits = flags.any(UopFlags::SERIALIZE_AFTER) && flags.any(UopFlags::LAST);
        if waits && io.rules.serializing_stops_fetch && self.status == Status::Running {
            self.status = Status::Serializing;
            self.serializing = seq;
        }
        let flow = io.ring.flow_mut(seq);
        (flow.predicted, flow.taken) = (goes_to, taken);
        // Behind a micro-branch the same instruction continues, in the same cycle; mispredicted, the front end knows where.
        self.pc = match (flags.any(UopFlags::LAST), goes_to == next_pc) {
            (true, _) => goes_to,
            (false, true) => pc,
            (false, false) => cx.pc(),
        };
        taken && !flags.any(UopFlags::MICRO_BRANCH) || self.status != Status::Running
    }

    /// Nothing is fetched before `at`.
    fn wait_for_target(&mut self, at: Cycle) {
        self.status = Status::Target;
        self.at = at;
    }

    /// The target queue is empty: what comes next is read from the instruction cache, and fetch waits for it.
    fn restart_targets(&mut self) {
        if self.targets.decoupled() {
            self.targets.restart();
            self.buffer.valid = false;
        }
    }
}

/// Whether the target of such a branch takes the predictor longer.
fn comes_late(branch: BranchKind) -> bool {
    use BranchKind::{Call, Indirect, IndirectCall, Return};
    matches!(branch, Call | Indirect | IndirectCall | Return)
}

#[cold]
fn trace_fetched<X: Outside>(seq: Seq, io: &mut Io, cx: &mut X, now: Cycle) {
    let Some(trace) = &mut io.trace else { return };
    let (pc, mut text) = (io.ring.pc(seq), String::new());
    cx.disassemble(pc, &mut text);
    trace.fetched(io.ring.slot(seq).0, now, seq.0, pc, io.ring.flags(seq).any(UopFlags::FIRST), &text);
}
